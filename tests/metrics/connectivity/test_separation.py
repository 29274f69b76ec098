from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.metrics.connectivity import (
    Perceptron,
    block_pruned,
    extract_modules,
    joined,
    weight_threshold,
)


def test_pruning_cuts_what_joins_modules() -> None:
    weights = (np.arange(1.0, 7).reshape(2, 3), np.ones((3, 2)))
    pruned, biases = block_pruned(weights, ([0, 1], [0, 1, -1], [0, 1]), means=[np.array([9.0, 9.0, 2.0])])
    assert pruned[0].tolist() == [[1, 0, 0], [0, 5, 0]]
    assert pruned[1].tolist() == [[1, 0], [0, 1], [0, 0]]
    assert [bias.tolist() for bias in biases] == [[0, 0, 0], [2, 2]]


def test_the_separate_modules_are_the_pruned_net() -> None:
    rng = np.random.default_rng(0)
    sizes = (4, 6, 6, 4)
    weights = tuple(rng.normal(size=pair) for pair in pairwise(sizes))
    net = Perceptron(weights, tuple(rng.normal(size=size) for size in sizes[1:]), np.tanh)
    labels = tuple(rng.permutation(np.arange(size) % 2) for size in sizes)
    x = rng.normal(size=(5, 4))
    pruned = Perceptron(*block_pruned(weights, labels, biases=net.biases), net.activation)
    modules = extract_modules(net, labels)
    np.testing.assert_allclose(joined(modules, x, 4), pruned(x), atol=1e-12)
    assert not np.allclose(pruned(x), net(x))
    assert repr(modules[0]) == "Module(0: 2-3-3-2)"


def test_outputs_of_no_module_are_zero() -> None:
    net = Perceptron((np.eye(2),), (np.ones(2),))
    assert joined(extract_modules(net, ([0, 0], [0, -1])), np.zeros((1, 2)), 2).tolist() == [[1, 0]]


def test_a_module_without_inputs_outputs_its_bias() -> None:
    net = Perceptron((np.ones((1, 2)),), (np.array([3.0, 4.0]),))
    assert joined(extract_modules(net, ([0], [0, 1])), np.ones((1, 1)), 2).tolist() == [[4, 4]]


def test_bad_nets() -> None:
    with pytest.raises(InputError, match=r"biases: got \[\(2,\)\], expected vectors of \[3\] numbers"):
        Perceptron((np.ones((2, 3)),), (np.ones(2),))
    with pytest.raises(InputError, match=r"labels: got .*, expected module numbers for \[2, 2\] units"):
        block_pruned((np.eye(2),), ([0, 1], [0]))


def test_the_threshold_lies_between_two_groups_of_weights() -> None:
    """In nets like those of the paper, with three quarters of the weights small. Elsewhere the fit may fail."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        low, high = rng.uniform(-3.2, -2.5), rng.uniform(-0.9, -0.5)
        logs = np.concatenate([rng.normal(low, 0.3, 768), rng.normal(high, 0.2, 256)])
        threshold = weight_threshold(rng.choice([-1, 1], len(logs)) * 10**logs)
        assert threshold is not None
        assert low + 0.2 < np.log10(threshold) < high - 0.2


@given(st.integers(0, 1000), st.floats(-12, 3), st.integers(1, 20))
@settings(max_examples=60)
def test_the_threshold_is_guarded(seed: int, size: float, units: int) -> None:
    """Whatever the weights, it is none, or one that neither keeps nor cuts all; and nothing warns."""
    matrix = 10**size * np.random.default_rng(seed).normal(size=(units, 20))
    threshold = weight_threshold(matrix)
    if threshold is not None:
        low, high = np.percentile(np.abs(matrix), [4, 96])
        assert low <= threshold <= high


@pytest.mark.parametrize(
    "matrix", [np.zeros((9, 9)), np.ones((3, 3)), np.full((9, 9), 0.1), np.full((9, 9), 1e-9)]
)
def test_no_threshold(matrix: np.ndarray) -> None:
    assert weight_threshold(matrix) is None
