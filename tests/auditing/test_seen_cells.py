"""Predictors from seen cells, against predictions by hand and by brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.auditing.outputs import decide
from recombine.auditing.seen_cells import SeenCells

GRID = np.indices((4, 5)).reshape(2, -1).T


def world(seed, kind="regression"):
    rng = np.random.default_rng(seed)
    cells = np.indices((3, 4, 2)).reshape(3, -1).T
    seen = rng.random(len(cells)) < 0.7
    seen[[0, 5, 10, 15, 20, 23]] = True
    values = rng.normal(size=(len(cells), 2))
    return SeenCells(kind, (3, 4, 2), cells[seen], values[seen], np.ones(seen.sum(), dtype=int)), cells


@given(st.integers(0, 50))
def test_the_nearest_seen_cells_share_most_levels(seed):
    known, cells = world(seed)
    result = known.mean_of(known.nearest(cells))
    for cell, prediction in zip(cells, result, strict=True):
        shared = (known.cells == cell).sum(axis=1)
        assert np.allclose(prediction, known.values[shared == shared.max()].mean(axis=0))


@given(st.integers(0, 50))
def test_the_closest_cell_is_nearest_by_level_numbers(seed):
    known, cells = world(seed)
    for power in (1, 2):
        for cell, prediction in zip(
            cells, known.first_of(known.nearest(cells, by=power), np.arange(len(known.cells))), strict=True
        ):
            apart = (np.abs(known.cells - cell) ** power).sum(axis=1)
            assert np.allclose(prediction, known.values[apart.argmin()])


def test_additive_worlds_are_extended_exactly():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(4, 3)), rng.normal(size=(5, 3))
    values = first[GRID[:, 0]] + second[GRID[:, 1]]
    seen = (GRID.sum(axis=1) % 3) > 0
    known = SeenCells("regression", (4, 5), GRID[seen], values[seen], np.ones(seen.sum(), dtype=int))
    assert np.allclose(known.additive(1, GRID), values, atol=1e-6)


def test_least_squares_is_that_of_numpy():
    known, cells = world(7)
    hot = np.concatenate([np.eye(n)[known.cells[:, i]] for i, n in enumerate(known.sizes)], axis=1)
    every = np.concatenate([np.eye(n)[cells[:, i]] for i, n in enumerate(known.sizes)], axis=1)
    weights = np.linalg.lstsq(np.c_[np.ones(len(hot)), hot], known.values, rcond=None)[0]
    assert np.allclose(known.additive(1, cells), np.c_[np.ones(len(every)), every] @ weights, atol=1e-6)


def test_means_by_factor_count_rows_or_cells():
    known = SeenCells(
        "regression", (2, 2), np.array([[0, 0], [0, 1]]), np.array([[0.0], [3.0]]), np.array([2, 1])
    )
    assert known.given_levels((0,), np.array([[0, 1]]), by_rows=True).tolist() == [[1.0]]
    assert known.given_levels((0,), np.array([[0, 1]]), by_rows=False).tolist() == [[1.5]]
    assert known.given_levels((0,), np.array([[1, 1]]), by_rows=False).tolist() == [
        [1.0]
    ]  # unseen level: the constant


def test_of_equal_votes_the_first_wins():
    assert decide(np.array([[0.4, 0.4, 0.2]]), "classification").tolist() == [[1, 0, 0]]


@pytest.mark.parametrize("kind", ["regression", "classification"])
@pytest.mark.parametrize("by_rows", [False, True])
def test_means_given_levels_are_those_of_single_cells(kind, by_rows):
    rng, sizes = np.random.default_rng(0), (4, 3, 3)
    cells = np.unique(rng.integers(sizes, size=(20, 3)), axis=0)
    values = rng.normal(size=(len(cells), 3))
    values = np.eye(3)[values.argmax(axis=1)] if kind == "classification" else values
    seen = SeenCells(kind, sizes, cells, values, rng.integers(1, 9, size=len(cells)))
    weights = seen.rows if by_rows else np.ones(len(cells))
    asked = np.indices(sizes).reshape(3, -1).T
    predicted = seen.given_levels((0, 2), asked, by_rows=by_rows)
    for cell, one in zip(asked, predicted, strict=True):
        same = (cells[:, [0, 2]] == cell[[0, 2]]).all(axis=1)
        if same.any():
            expected = np.average(values[same], axis=0, weights=weights[same])
        else:
            expected = np.average(values, axis=0, weights=seen.rows)
        if kind == "classification":
            expected = np.eye(3)[(expected > expected.max() - 1e-9).argmax()]
        np.testing.assert_allclose(one, expected, atol=1e-12)
