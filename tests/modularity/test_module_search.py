"""Nets that fall apart by themselves: their parts are the modules, however unequal in width or scale they are."""

import numpy as np
import pytest
from scipy.linalg import block_diag

from recombine import modularity_report
from recombine.metrics.connectivity import all_live, assign_components, live_units
from recombine.modularity.module_search import find_modules
from recombine.modularity.nulls import disconnection_p_value


def parts(*widths, depth=3, scales=None, seed=0):
    """Weights of parts without any connection between them, hidden units in random order."""
    rng = np.random.default_rng(seed)
    scales = scales or [1.0] * len(widths)
    weights = [
        block_diag(
            *[scale * rng.normal(size=(width, width)) for width, scale in zip(widths, scales, strict=True)]
        )
        for _ in range(depth)
    ]
    for layer in range(depth - 1):
        order = rng.permutation(sum(widths))
        weights[layer], weights[layer + 1] = weights[layer][:, order], weights[layer + 1][order]
    return weights


def truth(*widths):
    return np.repeat(np.arange(len(widths)), widths).tolist()


@pytest.mark.parametrize("widths", [(30, 4), (30, 3), (4, 30), (20, 5, 3), (10, 10)])
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("number_is_known", [False, True])
def test_disconnected_parts_of_any_width_are_modules(widths, depth, number_is_known):
    number = len(widths) if number_is_known else None
    report = modularity_report(parts(*widths, depth=depth), modules=number, orientation="inputs-first")
    assert report.verdict.word == "modular"
    assert report.modules == len(widths)
    assert report.labels[0].tolist() == report.labels[-1].tolist() == truth(*widths)
    assert report.mass == pytest.approx(1)
    assert "M5" not in [pitfall.code for pitfall in report.warnings]
    assert report.disconnection_p <= 0.05


@pytest.mark.parametrize("scale", [100.0, 0.01])
def test_the_scale_of_one_part_kills_nobody(scale):
    report = modularity_report(parts(8, 8, 8, scales=[1.0, scale, 1.0]))
    assert all(mask.all() for mask in report.live)
    assert report.labels[0].tolist() == truth(8, 8, 8)
    assert report.verdict.word == "modular"


def test_the_scale_of_one_part_kills_nobody_if_parts_are_loosely_connected():
    rng = np.random.default_rng(1)
    weights = [matrix + 1e-4 * rng.normal(size=matrix.shape) for matrix in parts(8, 8, scales=[1.0, 100.0])]
    assert all(mask.all() for mask in live_units(tuple(weights)))


def test_weak_units_of_a_scaled_part_are_dead_still():
    weights = parts(6, 6, depth=2, scales=[1.0, 100.0])
    weak = [int(np.flatnonzero(weights[0][0])[0]), int(np.flatnonzero(weights[0][-1])[0])]  # one of each part
    for unit in weak:
        weights[0][:, unit] *= 1e-6
    report = modularity_report(weights)
    assert sorted(np.flatnonzero(~report.live[1])) == sorted(weak)


def test_more_parts_than_modules_are_grouped():
    weights = tuple(parts(4, 4, 4, 4))
    labels = find_modules(weights, modules=2, live=all_live(weights), seed=0)
    assert sorted(np.bincount(np.concatenate(labels)).tolist()) == [32, 32]
    components = assign_components(weights)
    for part in range(4):
        members = {int(module) for at, module in zip(np.concatenate(components), np.concatenate(labels), strict=True)
                   if at == part}  # fmt: skip
        assert len(members) == 1


def test_one_weight_joins_two_parts():
    weights = [matrix.copy() for matrix in parts(5, 3)]
    weights[1][0] += 1e-3  # one unit sends to all
    assert max(int(labels.max()) for labels in assign_components(tuple(weights))) == 0
    assert disconnection_p_value(tuple(weights), all_live(tuple(weights)), permutations=20) is None


def test_single_and_dead_units_are_not_parts():
    weights = (np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 1.0]]), np.array([[0.0], [1.0], [0.0]]))
    live = live_units(weights)
    first, hidden, last = assign_components(weights, live=live)
    assert (first.tolist(), hidden.tolist(), last.tolist()) == ([-1, 0], [-1, 0, -1], [0])


def test_tiny_nets_fall_apart_by_chance():
    assert disconnection_p_value((np.eye(2),), all_live((np.eye(2),)), permutations=100) > 0.2
    report = modularity_report([np.eye(2)])
    assert report.modules == 2
    assert report.verdict.word == "undecided"
