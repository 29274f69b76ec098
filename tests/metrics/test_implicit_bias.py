"""Known answers of the measures of implicit bias, on nets at, near and far from their limit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from recombine.errors import InputError
from recombine.metrics import (
    balancedness,
    inconsistency,
    kkt_residual,
    norm_ratio,
    normalised_margin,
)
from recombine.theory import group_norm
from recombine.theory.gated import GatedRows, min_group_norm_machine


def _size(parts):
    return group_norm(parts.reshape(len(parts), -1).T)


def limit(seed=0):
    """A machine at its limit, with balanced weights: `v_h² = |w_h|²`."""
    rng = np.random.default_rng(seed)
    rows = GatedRows.of(rng.normal(size=(20, 6)), rng.integers(0, 2, size=(20, 3)), n_contexts=2)
    labels = np.sign(rows.predict(rng.normal(size=(3, 2, 6))))
    machine = min_group_norm_machine(rows, labels, tolerance=1e-12)
    v = np.sqrt(np.linalg.norm(machine.weights, axis=(1, 2)))
    w = machine.weights / np.maximum(v, 1e-300)[:, None, None]
    return rows, labels, machine, w, v


def gradients(rows, labels, w, v):
    """Of `y f` in all parameters, row by row."""
    to_w = rows.indicator[:, :, :, None] * rows.inputs[:, None, None, :] * v[:, None, None]
    to_v = rows.scores(w)
    return labels[:, None] * np.concatenate([to_w.reshape(len(rows), -1), to_v], axis=1)


def _residual(theta, rows):
    found = kkt_residual(rows @ rows.T, rows @ theta, float(theta @ theta))
    assert found == pytest.approx(nnls(rows.T, theta)[1] / np.linalg.norm(theta), abs=1e-4)
    return found


def test_every_measure_is_perfect_at_the_limit():
    rows, labels, machine, w, v = limit()
    outputs = machine.predict(rows)
    assert _size(machine.weights) == pytest.approx(machine.norm)
    assert normalised_margin(outputs, labels, machine.norm) == pytest.approx(1 / machine.norm)
    assert norm_ratio(outputs, labels, machine.norm, machine.bound) == pytest.approx(1, abs=1e-6)
    assert balancedness(w, v) == pytest.approx(0, abs=1e-9)
    theta = np.concatenate([w.ravel(), v])
    assert _residual(theta, gradients(rows, labels, w, v)) < 1e-4
    assert inconsistency(outputs, outputs, labels).share == 0


def test_and_worse_away_from_it():
    rows, labels, machine, w, v = limit()
    rng = np.random.default_rng(1)
    moved = w + 0.3 * rng.normal(size=w.shape) * np.abs(w).max()
    parts = moved * v[:, None, None]
    outputs = rows.predict(parts)
    ratio = norm_ratio(outputs, labels, _size(parts), machine.bound)
    assert np.isnan(ratio) or ratio > 1.05
    theta = np.concatenate([moved.ravel(), v])
    assert _residual(theta, gradients(rows, labels, moved, v)) > 0.05
    assert balancedness(2 * w, v / 2) > 0.5


def test_a_net_with_a_wrong_row_has_no_ratio():
    assert np.isnan(norm_ratio(np.array([1.0, 1.0]), np.array([1.0, -1.0]), 1.0, 1.0))
    assert normalised_margin(np.array([1.0, 1.0]), np.array([1.0, -1.0]), 2.0) == -0.5


@given(st.integers(0, 2**16), st.floats(0.05, 0.45), st.floats(0.05, 0.45))
@settings(max_examples=20, deadline=None)
def test_independent_errors_differ_as_often_as_by_chance(seed, p, q):
    rng = np.random.default_rng(seed)
    y = np.sign(rng.normal(size=20_000))
    first, second = (y * np.where(rng.random(len(y)) < rate, -1, 1) for rate in (p, q))
    found = inconsistency(first, second, y)
    assert found.share == pytest.approx(found.by_chance, abs=0.02)
    assert abs(found.explained) < 0.15


def test_scales_do_not_matter():
    rows, labels, machine, w, v = limit(3)
    outputs = machine.predict(rows)
    for factor in (1e-6, 7.0, 1e6):
        assert norm_ratio(factor * outputs, labels, factor * machine.norm, machine.bound) == pytest.approx(
            1, abs=1e-6
        )
        assert balancedness(factor * w, factor * v) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: normalised_margin(np.ones(2), np.ones(3), 1.0), "outputs: got \\(2,\\)"),
        (lambda: normalised_margin(np.ones(2), np.zeros(2), 1.0), "labels"),
        (lambda: normalised_margin(np.full(2, np.nan), np.ones(2), 1.0), "outputs: got 'NaN"),
        (lambda: normalised_margin(np.ones(2), np.ones(2), 0.0), "size: got 0.0"),
        (lambda: norm_ratio(np.ones(2), np.ones(2), 1.0, -1.0), "smallest: got -1.0"),
        (lambda: kkt_residual(np.eye(2), np.zeros(2), 0.0), "gram, slopes, squared_norm"),
        (lambda: kkt_residual(np.eye(2), np.ones(3), 1.0), "gram: got \\(2, 2\\)"),
        (lambda: balancedness(np.zeros((2, 1)), np.zeros(2)), "incoming"),
        (lambda: balancedness(np.ones((2, 1)), np.ones(3)), "readout"),
        (lambda: inconsistency(np.ones(2), np.ones(3)), "second: got \\(3,\\)"),
    ],
)
def test_bad_input_is_refused(call, line):
    with pytest.raises(InputError, match=line):
        call()


def test_outputs_that_are_not_numbers_do_not_count_as_disagreement():
    with pytest.raises(InputError, match="first, second: got 'NaN'"):
        inconsistency(np.array([1.0, np.nan]), np.array([1.0, -1.0]))
