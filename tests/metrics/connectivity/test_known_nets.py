"""Nets whose modules are known: exactly block-diagonal ones, dense ones, and both with dead units among the live."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.metrics.connectivity import (
    Chain,
    Labels,
    Perceptron,
    assign_known,
    assign_unknown,
    block_pruned,
    choose_modules,
    extract_modules,
    in_block_mass,
    jacobian_ratio,
    joined,
    layer_spectra,
    live_units,
    newman_modularity,
    newman_null,
    numerical_jacobian,
    unit_purity,
)


@dataclass(frozen=True)
class Known:
    """A net of modules, its units in random order."""

    weights: Chain
    labels: Labels
    modules: int
    seed: int

    @property
    def net(self) -> Perceptron:
        rng = np.random.default_rng(self.seed)
        return Perceptron(self.weights, tuple(rng.normal(size=m.shape[1]) for m in self.weights))

    @property
    def points(self) -> np.ndarray:
        return np.random.default_rng(self.seed).uniform(-2, 2, size=(7, len(self.labels[0])))


@st.composite
def block_nets(draw: st.DrawFn, max_units: int = 8) -> Known:
    """2 to 8 modules without a connection between them, 1 to 6 units in each of 3 to 5 layers, unlike each other."""
    modules, hidden = draw(st.integers(2, max_units)), draw(st.integers(1, 3))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    outside, inside = st.integers(1, 2), st.integers(2, 6)
    sizes = [draw(st.lists(outside, min_size=modules, max_size=modules))]
    sizes += [draw(st.lists(inside, min_size=modules, max_size=modules)) for _ in range(hidden)]
    sizes += [draw(st.lists(outside, min_size=modules, max_size=modules))]
    labels = tuple(rng.permutation(np.arange(modules).repeat(size)) for size in sizes)
    weights = tuple(_weights(rng, a, b) * (a[:, None] == b) for a, b in pairwise(labels))
    return Known(weights, labels, modules, seed)


def _weights(rng: np.random.Generator, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Of both signs, none of them near zero."""
    shape = (len(before), len(after))
    return rng.uniform(0.3, 1, size=shape) * rng.choice([-1, 1], size=shape)


def partition(labels: Labels) -> list[int]:
    """Module numbers in the order of their first unit, so that equal divisions are equal whatever the names."""
    names: dict[int, int] = {}
    return [names.setdefault(int(label), len(names)) for label in np.concatenate(labels)]


@given(block_nets())
@settings(max_examples=60)
def test_a_block_diagonal_net_has_all_its_weight_in_blocks(known: Known) -> None:
    mass = in_block_mass(known.weights, known.labels)
    np.testing.assert_allclose(mass["mass"], 1, rtol=1e-12)
    np.testing.assert_allclose(mass["score"], 1, rtol=1e-12)
    for purity in unit_purity(known.weights, known.labels[0]):
        np.testing.assert_allclose(purity["purity"], 1)
        np.testing.assert_allclose(purity["participation"], 0, atol=1e-12)


@given(block_nets())
@settings(max_examples=60)
def test_newman_modularity_of_a_block_diagonal_net(known: Known) -> None:
    """Nothing joins two modules, so Q = 1 - Σ (share of degree)²."""
    degree = np.zeros(known.modules)
    for matrix, before, after in zip(known.weights, known.labels[:-1], known.labels[1:], strict=True):
        for module in range(known.modules):
            degree[module] += (
                np.abs(matrix)[before == module].sum() + np.abs(matrix)[:, after == module].sum()
            )
    expected = 1 - ((degree / degree.sum()) ** 2).sum()
    assert newman_modularity(known.weights, known.labels) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("modules", range(2, 9))
def test_equal_modules_come_near_the_largest_modularity(modules: int) -> None:
    rng = np.random.default_rng(modules)
    labels = tuple(np.arange(modules).repeat(size) for size in (1, 8, 8, 1))
    weights = tuple(_weights(rng, a, b) * (a[:, None] == b) for a, b in pairwise(labels))
    assert newman_modularity(weights, labels) == pytest.approx(1 - 1 / modules, abs=0.01)


@given(block_nets())
@settings(max_examples=60)
def test_both_assignments_find_the_modules(known: Known) -> None:
    for outputs in (None, known.labels[-1]):
        by_influence = assign_known(known.weights, inputs=known.labels[0], outputs=outputs)
        for actual, expected in zip(by_influence, known.labels, strict=True):
            np.testing.assert_array_equal(actual, expected)
    assert partition(assign_unknown(known.weights, known.modules)) == partition(known.labels)


@given(block_nets())
@settings(max_examples=30)
def test_the_spectrum_of_a_block_diagonal_net(known: Known) -> None:
    for how in ({}, {"collapsed": False}, {"communities": known.labels}):
        spectra = layer_spectra(known.weights, known.modules, **how)
        assert (spectra[:, known.modules - 1] < 1e-3).all()
    if all(len(before) == known.modules for before in known.labels[:1]):
        behind = spectra[:, known.modules]
        np.testing.assert_allclose(behind[np.isfinite(behind)], 1, atol=1e-6)


@given(block_nets(max_units=6))
@settings(max_examples=12)
def test_the_number_of_modules_is_found(known: Known) -> None:
    """Modularity finds it in nets of any shape. The gap does if modules are alike, see `test_assignment`."""
    assert choose_modules(known.weights, max_modules=8) == known.modules


@given(block_nets())
@settings(max_examples=60)
def test_modules_can_be_extracted_and_joined_again(known: Known) -> None:
    net, x = known.net, known.points
    modules = extract_modules(net, known.labels)
    assert [module.number for module in modules] == list(range(known.modules))
    np.testing.assert_allclose(joined(modules, x, len(known.labels[-1])), net(x), atol=1e-9)
    pruned, biases = block_pruned(known.weights, known.labels, biases=net.biases)
    for before, after in zip(known.weights, pruned, strict=True):
        np.testing.assert_array_equal(before, after)
    np.testing.assert_array_equal(Perceptron(pruned, biases)(x), net(x))
    jacobian = numerical_jacobian(net, x)
    assert jacobian_ratio(jacobian, known.labels[0], known.labels[-1]) == pytest.approx(0, abs=1e-9)


def dense_net(seed: int, sizes: tuple[int, ...]) -> Chain:
    rng = np.random.default_rng(seed)
    return tuple(rng.normal(size=pair) / pair[0] ** 0.5 for pair in pairwise(sizes))


@pytest.mark.parametrize("modules", range(2, 9))
def test_the_spectrum_of_dense_nets(modules: int) -> None:
    """Eigenvalue K is above 0.8, but for two modules only behind the first layer and in layers of several units.

    Units that read two inputs fall into two groups by themselves (eigenvalue 2 is 0.74 on average), and between just
    two units of cosine c, eigenvalue 2 is 2c / (1 + c), or 0.78 where c is 2/π, that of random weights.
    """
    sizes = (modules, 8 * modules, 8 * modules, modules)
    results = []
    for seed in range(8):
        weights = dense_net(seed, sizes)
        results.append(
            [layer_spectra(weights, modules, collapsed=how)[:, modules - 1] for how in (True, False)]
        )
    collapsed, raw = np.stack(results, axis=1)
    np.testing.assert_allclose(collapsed[:, 0], raw[:, 0], atol=1e-9)  # both read single inputs
    assert min(collapsed[:, 1:].min(), raw[:, 1].min()) > 0.8
    if modules > 2:
        assert min(collapsed.min(), raw.min()) > 0.8
    else:
        assert raw[:, 0].mean() == pytest.approx(0.74, abs=0.05)
        assert raw[:, 2].mean() == pytest.approx(0.78, abs=0.05)


def test_dense_nets_are_as_modular_as_chance() -> None:
    """z is a standard score: beyond 3 in 0.3% of nets; with 40 shuffles, a little more often."""
    scores = []
    for seed in range(200):
        modules = 2 + seed % 7
        labels = tuple(np.arange(modules).repeat(size) for size in (1, 4, 4, 1))
        weights = dense_net(seed, tuple(len(layer) for layer in labels))
        scores.append(newman_null(weights, labels, permutations=40)["z"])
    assert np.mean(np.abs(scores) < 3) >= 0.97
    assert abs(np.mean(scores)) < 0.3
    assert np.std(scores) == pytest.approx(1, abs=0.2)


@dataclass(frozen=True)
class Diluted:
    """A net with as many dead units as live ones in every hidden layer, and where the live ones are."""

    weights: Chain
    live: tuple[np.ndarray, ...]


def diluted(weights: Chain, rng: np.random.Generator, size: float) -> Diluted:
    """Dead units read or write with weights of `size`, or both, whatever the modules of the others."""
    reads = [np.ones(weights[0].shape[0])]
    writes = [np.ones(weights[0].shape[0])]
    live = [np.ones(weights[0].shape[0], dtype=bool)]
    for matrix in weights[:-1]:
        units = matrix.shape[1]
        mask = rng.permutation(np.arange(2 * units) < units)
        kind = rng.integers(3, size=2 * units)
        reads.append(np.where(mask | (kind == 1), 1.0, size))
        writes.append(np.where(mask | (kind == 2), 1.0, size))
        live.append(mask)
    for ends in (reads, writes, live):
        ends.append(np.ones(weights[-1].shape[1], dtype=ends[0].dtype))
    grown = []
    for layer, matrix in enumerate(weights):
        shape = (len(live[layer]), len(live[layer + 1]))
        full = rng.normal(size=shape) * writes[layer][:, None] * reads[layer + 1]
        full[np.ix_(live[layer], live[layer + 1])] = matrix
        grown.append(full)
    return Diluted(tuple(grown), tuple(live))


@given(block_nets(), st.booleans(), st.sampled_from([1e-9, 1e-6]))
@settings(max_examples=25)
def test_dead_units_change_no_measure(known: Known, dense: bool, size: float) -> None:
    rng = np.random.default_rng(known.seed)
    weights = known.weights
    if dense:  # a few per cent of the weight joins modules
        weights = tuple(m + 0.01 * rng.normal(size=m.shape) for m in weights)
    more = diluted(weights, rng, size)
    live = live_units(more.weights)
    for result, expected in zip(live, more.live, strict=True):
        np.testing.assert_array_equal(result, expected)
    pairs = [
        (
            assign_known(more.weights, inputs=known.labels[0], live=live),
            assign_known(weights, inputs=known.labels[0]),
        ),
        (assign_unknown(more.weights, known.modules, live=live), assign_unknown(weights, known.modules)),
    ]
    for got, expected in pairs:
        assert all((labels[~mask] == -1).all() for labels, mask in zip(got, live, strict=True))
        alive = tuple(labels[mask] for labels, mask in zip(got, live, strict=True))
        assert partition(alive) == partition(expected)
    got, expected = pairs[0]
    for measure in (in_block_mass, newman_null):
        now, before = measure(more.weights, got), measure(weights, expected)
        for name in before:
            np.testing.assert_allclose(now[name], before[name], rtol=1e-9, atol=1e-12, err_msg=name)
    assert newman_modularity(more.weights, got) == pytest.approx(
        newman_modularity(weights, expected), abs=1e-12
    )
    for how, now in ((False, {}), (True, {"communities": got}), (True, {})):
        before = {"communities": expected} if now else {}
        spectra = layer_spectra(weights, known.modules, collapsed=how, **before)
        result = layer_spectra(more.weights, known.modules, collapsed=how, live=live, **now)
        np.testing.assert_allclose(result, spectra, atol=1e-6)
    purities = unit_purity(more.weights, known.labels[0], live=live)
    for purity, plain, mask in zip(purities, unit_purity(weights, known.labels[0]), live[1:], strict=True):
        np.testing.assert_allclose(purity["purity"][mask], plain["purity"])


@given(block_nets())
@settings(max_examples=30)
def test_constant_outputs_of_dead_units_go_into_the_biases(known: Known) -> None:
    """Units that read nothing are constant: with their means, separate modules do what the whole net did."""
    rng = np.random.default_rng(known.seed)
    more = diluted(known.weights, rng, 0.0)
    mute = [np.where(mask, 1, 0) for mask in more.live]
    weights = tuple(matrix * mute[layer + 1] for layer, matrix in enumerate(more.weights))
    net = Perceptron(weights, tuple(rng.normal(size=m.shape[1]) for m in weights))
    x = known.points
    means = [activity.mean(axis=0) for activity in net.activities(x)]
    labels = assign_known(weights, inputs=known.labels[0], live=more.live)
    pruned = Perceptron(*block_pruned(weights, labels, biases=net.biases, means=means))
    np.testing.assert_allclose(pruned(x), net(x), atol=1e-9)
    modules = extract_modules(net, labels, means=means)
    np.testing.assert_allclose(joined(modules, x, len(known.labels[-1])), net(x), atol=1e-9)
