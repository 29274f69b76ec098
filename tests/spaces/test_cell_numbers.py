"""Sets of numbers agree with NumPy's own functions, by marks and by sorting."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.spaces import cell_numbers
from recombine.spaces.cell_numbers import are_among, distinct_numbers, numbered

NUMBERS = st.lists(st.integers(0, 40), max_size=60).map(lambda listed: np.array(listed, dtype=np.int64))


@given(NUMBERS, st.sampled_from([None, 41, 10**15]))
def test_distinct_numbers_are_unique_and_sorted(numbers, bound):
    assert np.array_equal(distinct_numbers(numbers, bound), np.unique(numbers))


@given(NUMBERS, NUMBERS, st.sampled_from([41, 10**15]))
def test_membership_is_that_of_numpy(numbers, known, bound):
    assert np.array_equal(are_among(numbers, known, bound), np.isin(numbers, known))


@given(NUMBERS, st.sampled_from([41, 10**15]))
def test_positions_lead_back_to_the_numbers(numbers, bound):
    distinct, position = numbered(numbers, bound)
    assert np.array_equal(distinct, np.unique(numbers))
    assert np.array_equal(distinct[position], numbers)


@pytest.mark.parametrize("marks", [0, 2**27], ids=["sorted", "marked"])
def test_large_numbers_take_no_large_table(marks, monkeypatch):
    monkeypatch.setattr(cell_numbers, "MAX_MARKS", marks)
    rng = np.random.default_rng(0)
    numbers, known = rng.integers(0, 2**62, size=200), rng.integers(0, 2**62, size=50)
    known[:20] = numbers[:20]
    assert np.array_equal(are_among(numbers, known, 2**62), np.isin(numbers, known))
    assert np.array_equal(distinct_numbers(numbers, 2**62), np.unique(numbers))
