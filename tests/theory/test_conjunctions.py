"""Conjunction-wise additivity, and the ridge that full conjunctions amount to."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.theory import Conjunctions, OverlapKernel, decompose, min_norm, ridge, subsets

problems = st.builds(
    lambda seed, factors, share: _problem(seed, factors, share),
    st.integers(0, 10_000),
    st.integers(1, 4),
    st.floats(0.2, 0.9),
)


def _problem(seed, factors, share):
    rng = np.random.default_rng(seed)
    sizes = tuple(rng.integers(2, 4, size=factors).tolist())
    cells = np.indices(sizes).reshape(factors, -1).T
    train = rng.random(len(cells)) < share
    train[rng.integers(len(cells))] = True
    kernel = OverlapKernel.from_salience(rng.uniform(0.1, 1, size=(2,) * factors))
    return kernel, sizes, cells, train, rng.normal(size=train.sum())


@settings(max_examples=100)
@given(problems)
def test_a_kernel_machine_is_a_sum_over_seen_conjunctions(problem):
    kernel, sizes, cells, train, weights = problem
    parts = decompose(kernel, cells[train], weights, cells)
    whole = kernel.gram(cells, cells[train]) @ weights
    np.testing.assert_allclose(sum(parts.values()), whole, atol=1e-10)
    seen = Conjunctions.of(cells[train], sizes, order=kernel.factors)
    missing = seen.missing(cells)
    for position, subset in enumerate(seen.subsets):
        assert not parts[subset][missing[:, position]].any()
    assert not parts[tuple(range(kernel.factors))][~train].any()


@settings(max_examples=100)
@given(problems)
def test_full_conjunctions_are_a_ridge_on_the_lower_ones(problem):
    kernel, _, cells, train, targets = problem
    full = kernel.salience.ravel()[-1]
    lower = kernel.lower()
    exact = min_norm(kernel.gram(cells[train]), targets)(kernel.gram(cells[~train], cells[train]))
    ridged = ridge(lower.gram(cells[train]), targets, full)(lower.gram(cells[~train], cells[train]))
    np.testing.assert_allclose(exact, ridged, atol=1e-8)


@settings(max_examples=50)
@given(problems, st.floats(0.1, 2))
def test_exemplars_share_the_ridge(problem, private):
    """Copies of a cell that differ in a private part of the representation leave a ridge of s_C + s_e / copies."""
    kernel, _, cells, train, targets = problem
    rng = np.random.default_rng(len(cells))
    copies = rng.integers(1, 4, size=train.sum())
    rows = np.repeat(np.arange(train.sum()), copies)
    gram = kernel.gram(cells[train][rows]) + private * np.eye(len(rows))
    exact = min_norm(gram, targets[rows])(kernel.gram(cells[~train], cells[train][rows]))
    lower = kernel.lower()
    penalty = kernel.salience.ravel()[-1] + private / copies
    ridged = ridge(lower.gram(cells[train]), targets, penalty)(lower.gram(cells[~train], cells[train]))
    np.testing.assert_allclose(exact, ridged, atol=1e-8)


def test_columns_are_numbered_by_subset():
    cells = np.array([[0, 0], [0, 1], [1, 0]])
    seen = Conjunctions.of(cells, (2, 2), order=2)
    assert seen.subsets == ((), (0,), (1,), (0, 1))
    assert seen.columns(np.array([[1, 1]])).tolist() == [[0, 2, 4, -1]]
    assert seen.missing(np.array([[1, 1], [0, 1]])).tolist() == [[False, False, False, True], [False] * 4]
    np.testing.assert_array_equal(seen.design(cells).sum(axis=1), 4)


def test_subsets_are_ordered_by_size():
    assert subsets(3, 2) == [(), (0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    with pytest.raises(ValueError, match="order: got 4"):
        subsets(3, 4)
