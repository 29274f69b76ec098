"""Row spaces whose complement is spanned by unseen conjunctions, compared with ranks over the rationals."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.theory import Conjunctions, Determinacy, saturation
from recombine.theory.cooccurrence import cooccurrence


@st.composite
def tables(draw):
    """Many cells of a small space, sometimes without a level or a pair of levels."""
    sizes = tuple(draw(st.lists(st.integers(2, 4), min_size=1, max_size=4)))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    cells = np.indices(sizes).reshape(len(sizes), -1).T
    kept = rng.random(len(cells)) < draw(st.sampled_from([0.4, 0.8, 1.0]))
    if draw(st.booleans()):
        kept &= cells[:, 0] != rng.integers(sizes[0])
    if draw(st.booleans()) and len(sizes) > 1:
        kept &= (cells[:, 0] != rng.integers(sizes[0])) | (cells[:, 1] != rng.integers(sizes[1]))
    kept[rng.integers(len(cells))] = True
    return cells, cells[kept], sizes, draw(st.integers(1, min(3, len(sizes))))


def rank(rows):
    """By elimination with fractions."""
    rows = [[Fraction(int(entry)) for entry in row] for row in rows]
    found = 0
    for column in range(len(rows[0])):
        pivot = next((i for i in range(found, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for i in range(found + 1, len(rows)):
            if rows[i][column]:
                factor = rows[i][column] / rows[found][column]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[found], strict=True)]
        found += 1
    return found


def saturated(train, sizes, order):
    seen = Conjunctions.of(train, sizes, order=order, min_order=1)
    return saturation.saturated_row_space(seen, cooccurrence(train, seen), len(train), order)


@given(tables())
def test_a_saturated_row_space_is_the_row_space(table):
    cells, train, sizes, order = table
    every, known = Conjunctions.of(cells, sizes, order=order), Conjunctions.of(train, sizes, order=order)
    design, own = every.design(cells).toarray(), every.design(train).toarray()
    # All columns have the grid's rank; unseen conjunctions vanish on training.
    missing = known.missing(cells).any(axis=1)
    indicators = np.setdiff1d(np.arange(design.shape[1]), np.flatnonzero(own.any(axis=0)))
    nullity = rank(design[:, indicators].T) if len(indicators) else 0
    full, actual = rank(design), rank(own)
    space = saturated(train, sizes, order)
    assert (space is not None) == (actual == full - nullity)
    if space is None:
        return
    assert space.rank == actual
    quick, slow = Determinacy(sizes, order), Determinacy.of(train, sizes, order)
    quick._space = space
    assert quick.is_certain()
    assert np.array_equal(quick.determined(cells), ~missing)
    assert np.array_equal(quick.determined(cells), slow.determined(cells))
    order_of_cells = np.random.default_rng(0).permutation(cells)
    assert np.array_equal(quick.add(order_of_cells), slow.add(order_of_cells))


def test_large_tables_use_it_and_others_do_not(monkeypatch):
    cells = np.indices((4, 4, 3)).reshape(3, -1).T
    train = cells[(cells[:, 0] > 0) | (cells[:, 1] > 0)]
    seen = Conjunctions.of(train, (4, 4, 3), order=2, min_order=1)
    counts, expected = cooccurrence(train, seen), Determinacy.of(train, (4, 4, 3), 2)
    monkeypatch.setattr(saturation, "MIN_WIDTH", 0)
    monkeypatch.setattr(saturation, "MIN_CELLS_PER_EFFECT", 1)
    tried = []
    monkeypatch.setattr(Determinacy, "add", lambda self, cells: tried.append(len(cells)))
    known = Determinacy.of(train, (4, 4, 3), 2, seen=seen, counts=counts)
    assert not tried  # no elimination
    assert known.rank == expected.rank == 29  # of 30; one pair is unseen
    assert np.array_equal(known.determined(cells), expected.determined(cells))


@pytest.mark.parametrize("most", [0, 1000])
def test_many_unseen_conjunctions_are_not_tried(most, monkeypatch):
    monkeypatch.setattr(saturation, "MAX_UNSEEN", most)
    train = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    assert (saturated(train, (2, 3), 1) is None) == (most == 0)
