from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.studies.poisson_modularity.compositions import composition, gaussian_wedge, random_composition

HELD_OUT = [7, 10, 14, 18, 20, 22, 23, 28, 38, 42, 51, 53, 63]


def test_the_published_wedge() -> None:
    task = gaussian_wedge()
    assert (len(task.rows_in), len(task.rows_out)) == (2038, 1912)
    x, y = task.latents.T
    np.testing.assert_allclose(task.targets[:, 0], np.exp(-2 * (x**2 + y**2)), rtol=1e-5)
    assert (x**2 + y**2 < 1).all()
    seen = np.isin(np.arange(len(x)), task.rows_in)
    np.testing.assert_array_equal(x * y > 0, seen)
    np.testing.assert_array_equal(np.abs((y - x) / (y + x)) < 1, seen)  # the published form of the mask
    np.testing.assert_array_equal(task.train, task.rows_in)
    cells = task.split.space.cells[task.cell]
    np.testing.assert_array_equal(cells, np.stack([x > 0, y > 0], axis=1))


def test_the_published_composition() -> None:
    task, function = random_composition(), composition()
    assert (len(task.rows_in), len(task.rows_out)) == (3994, 999)
    np.testing.assert_allclose(function.sines.amplitude, [0.710317, 0.972796, 0.777634], atol=5e-7)
    np.testing.assert_allclose(function.sines.frequency, [2.655062, 1.672791, 2.256190], atol=5e-7)
    np.testing.assert_allclose(function.sines.phase, [3.435082, 1.161475, 6.092080], atol=5e-7)
    a, w, p = function.sines.amplitude, function.sines.frequency, function.sines.phase
    x, y = task.latents.T
    inner = a[0] * np.sin(w[0] * x + p[0]) + a[1] * np.sin(w[1] * y + p[1])
    np.testing.assert_allclose(task.targets[:, 0], a[2] * np.sin(w[2] * inner + p[2]), atol=1e-6)
    np.testing.assert_allclose(function.inner(task.latents).sum(axis=1), inner)


def test_the_held_out_cells() -> None:
    """The published number of a cell is column + 8 · row; ours has the column first."""
    task = random_composition()
    column, row = task.split.space.cells.T
    assert sorted((column + 8 * row)[~task.split.seen]) == HELD_OUT
    x, y = task.latents.T
    np.testing.assert_array_equal(
        task.split.space.cells[task.cell], np.floor(4 * (np.stack([x, y], axis=1) + 1))
    )
    assert not np.isin(task.cell[task.rows_in], task.cell[task.rows_out]).any()


@pytest.mark.parametrize("side", [2, 5])
def test_other_grids(side: int) -> None:
    task = random_composition(side=side, shown=0.8, draws=300, draw=1)
    assert task.split.seen.sum() == int(0.8 * side**2)
    assert task.cell.max() < side**2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: gaussian_wedge(draws=0), "draws: got 0, expected a whole number, at least 1"),
        (lambda: random_composition(draws=0), "draws: got 0"),
        (
            lambda: random_composition(side=1),
            r"side and shown: got \(1, 0.8\), expected two cells a side or more",
        ),
        (lambda: random_composition(shown=1.0), r"side and shown: got \(8, 1.0\)"),
        (lambda: random_composition(side=3, shown=0.2), "cells|seen|level"),
    ],
)
def test_bad_settings(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize("make", [gaussian_wedge, random_composition])
def test_a_separate_seed_draws_other_points(make):
    one, other = (make(draws=50, draw=None, seed=seed).inputs for seed in (1, 2))
    assert not np.array_equal(one[:3], other[:3])
    assert np.array_equal(one, make(draws=50, draw=1, seed=7).inputs)
