"""Means of cells: labels that are counted give the same numbers as one-hot codes that are summed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.auditing import cells as module
from recombine.auditing.cells import means_by_cell


@given(st.integers(1, 30), st.integers(2, 20), st.integers(1, 6), st.integers(0, 2**16), st.booleans())
def test_counted_labels_are_summed_codes(rows, classes, n, seed, some):
    rng = np.random.default_rng(seed)
    codes = np.eye(classes, dtype=np.float32)[rng.integers(classes, size=rows)]
    cell = rng.integers(n, size=rows)
    counted = rng.random(rows) < 0.7 if some else None
    chosen = np.ones(rows, dtype=bool) if counted is None else counted
    expected = [
        codes[chosen & (cell == one)].mean(axis=0, dtype=np.float64)
        if (chosen & (cell == one)).any()
        else np.full(classes, np.nan)
        for one in range(n)
    ]
    before, module.MANY_CLASSES = module.MANY_CLASSES, 0
    try:
        np.testing.assert_allclose(means_by_cell(codes, cell, n, counted), expected, atol=1e-12)
    finally:
        module.MANY_CLASSES = before


@pytest.mark.parametrize("change", [0.5, 2.0, -1.0])
def test_rows_that_are_not_labels_are_summed(change):
    values = np.eye(20)[[3, 4, 4, 7]]
    values[0, 3] = change
    means = means_by_cell(values, np.array([0, 0, 1, 1]), 2)
    np.testing.assert_allclose(means, [values[:2].mean(axis=0), values[2:].mean(axis=0)])


def test_rows_of_zeros_and_of_two_ones_are_not_labels():
    values = np.zeros((2, 20))
    values[0, [2, 5]] = 1  # as many ones as rows
    np.testing.assert_allclose(means_by_cell(values, np.array([0, 1]), 2), values)
