"""Conjunctions counted together from histograms are the product of the design with itself."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.theory import Conjunctions
from recombine.theory import cooccurrence as module
from recombine.theory.cooccurrence import cooccurrence


@st.composite
def problems(draw):
    sizes = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    cells = np.stack([rng.integers(size, size=draw(st.integers(1, 25))) for size in sizes[:1]], axis=1)
    cells = np.concatenate([cells, *(rng.integers(size, size=(len(cells), 1)) for size in sizes[1:])], axis=1)
    order = draw(st.integers(1, len(sizes)))
    return cells, Conjunctions.of(cells, sizes, order=order, min_order=draw(st.integers(0, 1)))


def by_cell(cells, seen):
    """Two conjunctions together, cell by cell."""
    counts = np.zeros((int(seen.starts[-1]),) * 2)
    for columns in seen.columns(cells):
        counts[np.ix_(columns, columns)] += 1
    return counts


@given(problems(), st.sampled_from([0, 4]))
def test_counts_are_those_of_single_cells(problem, sparsity):
    before, module.MAX_SPARSITY = module.MAX_SPARSITY, sparsity  # 0: by the design
    try:
        assert np.array_equal(cooccurrence(*problem), by_cell(*problem))
    finally:
        module.MAX_SPARSITY = before


@pytest.mark.parametrize("order", [1, 2])
def test_rare_conjunctions_take_no_large_histogram(order):
    cells = np.stack([np.arange(30) * 1000, np.arange(30) * 999, np.arange(30) % 3], axis=1)
    seen = Conjunctions.of(cells, (30_000, 30_000, 3), order=order, min_order=1)
    assert np.array_equal(cooccurrence(cells, seen), by_cell(cells, seen))


def test_orders_of_seen_conjunctions_are_parts():
    rng = np.random.default_rng(0)
    cells, more = rng.integers(4, size=(20, 3)), rng.integers(4, size=(3, 3))
    seen = Conjunctions.of(cells, (4, 4, 4), order=2)
    part = Conjunctions.of(cells, (4, 4, 4), order=2, min_order=1)
    assert seen.of_orders(2, min_order=1).subsets == part.subsets
    grown = Conjunctions.of(np.concatenate([cells, more]), (4, 4, 4), order=2)
    for one, other in zip(seen.also_of(more).codes, grown.codes, strict=True):
        assert np.array_equal(one, other)
