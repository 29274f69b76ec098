"""Determinacy modulo a prime against exact fractions, graphs and brute force."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.theory import Conjunctions, Determinacy, grid_rank
from recombine.theory.elimination import PRIMES, Echelon


def exact_rank(rows):
    """Gaussian elimination with fractions, as slow as it is sure."""
    rows, rank = [[Fraction(int(v)) for v in row] for row in rows], 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((i for i in range(rank, len(rows)) if rows[i][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for i in range(rank + 1, len(rows)):
            if rows[i][column]:
                factor = rows[i][column] / rows[rank][column]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[rank], strict=True)]
        rank += 1
    return rank


def full_design(cells, sizes, order):
    """All conjunctions up to the order as columns, seen or not."""
    everything = np.array(list(product(*map(range, sizes))))
    return Conjunctions.of(everything, sizes, order=order).design(cells).toarray()


@st.composite
def tables(draw, most_cells=24):
    sizes = draw(
        st.lists(st.integers(1, 4), min_size=1, max_size=4).filter(lambda s: np.prod(s) <= most_cells)
    )
    order = draw(st.integers(0, len(sizes)))
    cells = np.array(list(product(*map(range, sizes))))
    seen = np.array(draw(st.lists(st.booleans(), min_size=len(cells), max_size=len(cells))))
    return tuple(sizes), order, cells, seen


@settings(max_examples=200)
@given(tables())
def test_determined_means_in_the_row_space_over_the_rationals(table):
    sizes, order, cells, seen = table
    known = Determinacy(sizes, order)
    known.add(cells[seen])
    train = full_design(cells[seen], sizes, order)
    rank = exact_rank(train) if seen.any() else 0
    assert known.rank == rank
    assert known.is_certain()
    for cell, determined in zip(cells, known.determined(cells), strict=True):
        assert determined == (exact_rank(np.vstack([train, full_design(cell[None], sizes, order)])) == rank)


@given(tables())
def test_all_cells_have_the_rank_in_closed_form(table):
    sizes, order, cells, _ = table
    known = Determinacy(sizes, order)
    assert known.add(cells).sum() == known.rank == known.full_rank == grid_rank(sizes, order)


@settings(max_examples=100)
@given(tables(most_cells=12))
def test_the_fewest_additions(table):
    """No smaller set of cells, targets or not, determines the targets."""
    sizes, order, cells, seen = table
    targets = cells[~seen]
    known = Determinacy(sizes, order)
    known.add(cells[seen])
    chosen = targets[known.copy().add(targets)] if len(targets) else targets
    grown = known.copy()
    grown.add(chosen)
    assert grown.determined(targets).all()
    for smaller in combinations(range(len(cells)), max(len(chosen) - 1, 0)):
        if len(chosen):
            tried = known.copy()
            tried.add(cells[list(smaller)])
            assert not tried.determined(targets).all()


@given(tables(most_cells=12), st.data())
def test_cheapest_first_is_cheapest(table, data):
    sizes, order, cells, seen = table
    targets = cells[~seen]
    cost = np.array(data.draw(st.lists(st.integers(1, 5), min_size=len(targets), max_size=len(targets))), int)
    known = Determinacy(sizes, order)
    known.add(cells[seen])
    by_cost = np.argsort(cost, kind="stable")
    taken = by_cost[known.copy().add(targets[by_cost])] if len(targets) else by_cost
    for other in combinations(range(len(targets)), len(taken)):
        tried = known.copy()
        tried.add(targets[list(other)])
        if tried.determined(targets).all():
            assert cost[list(other)].sum() >= cost[taken].sum()


@given(st.integers(1, 6), st.integers(1, 6), st.data())
def test_two_factors_are_a_graph(rows, columns, data):
    """At order 1 a cell is determined if and only if its two levels are connected."""
    cells = np.array(list(product(range(rows), range(columns))))
    seen = np.array(data.draw(st.lists(st.booleans(), min_size=len(cells), max_size=len(cells))))
    known = Determinacy((rows, columns), 1)
    known.add(cells[seen])
    group = np.arange(rows + columns)
    for i, j in cells[seen]:
        group[group == group[i]] = group[rows + j]
    np.testing.assert_array_equal(known.determined(cells), group[cells[:, 0]] == group[rows + cells[:, 1]])


def test_pairwise_connection_is_not_enough():
    known = Determinacy((2, 2, 2), 1)
    known.add(np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1]]))
    assert known.determined(np.array([[1, 1, 0]])).tolist() == [False]
    assert known.is_certain()


def test_many_cells_in_pieces_are_the_same_as_at_once():
    rng = np.random.default_rng(0)
    sizes, cells = (9, 8, 7), rng.integers(0, (9, 8, 7), size=(3000, 3))
    at_once, in_pieces = Determinacy(sizes, 2), Determinacy(sizes, 2)
    taken = at_once.add(cells)
    pieces = np.concatenate([in_pieces.add(piece) for piece in np.array_split(cells, 17)])
    np.testing.assert_array_equal(taken, pieces)
    assert taken.sum() == at_once.rank


def test_an_unlucky_prime_is_noticed():
    """Null vectors with entries beyond the bound prove nothing; an empty space has none but unit vectors."""
    space = Echelon(4, prime=7)
    space.add(np.array([[1, 2, 3, 6], [2, 5, 1, 1]]))
    assert not space.lifts_to_integers(bound=1)
    assert Echelon(4, prime=PRIMES[0]).lifts_to_integers(bound=1)


@settings(max_examples=50)
@given(st.integers(1, 60), st.integers(1, 40), st.integers(0, 10_000))
def test_the_echelon_form_is_reduced(rows, width, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.integers(0, 2, size=(rows, width)) * rng.integers(0, 2, size=(rows, 1))
    space = Echelon(width)
    taken = np.concatenate([space.add(part) for part in np.array_split(matrix, 3)])
    assert space.rank == taken.sum() == np.linalg.matrix_rank(matrix)
    assert sorted([*space.pivots, *space.free]) == list(range(width))
    entries, free = space.null_vectors()
    null = np.zeros((width, len(free)))
    null[free, np.arange(len(free))] = 1
    null[space.pivots] = entries
    assert not ((matrix @ null) % space.prime).any()


def test_bad_cells_are_named():
    with pytest.raises(InputError, match=r"cells: got \[0, 2\], expected level indices below \(2, 2\)"):
        Determinacy((2, 2), 1).add(np.array([[0, 2]]))
    with pytest.raises(InputError, match=r"\(cells, 2\) level indices"):
        Determinacy((2, 2), 1).add(np.array([[0, 1, 0]]))
    with pytest.raises(InputError, match="order: got 3"):
        Determinacy((2, 2), 3)


def test_one_cell_at_a_time_is_the_same_as_all_at_once():
    rng = np.random.default_rng(1)
    sizes = (6, 6, 6)
    cells = rng.integers(0, 6, size=(400, 3))
    at_once, one_by_one = Determinacy(sizes, 2), Determinacy(sizes, 2)
    taken = at_once.add(cells)
    single = np.concatenate([one_by_one.add(cell[None]) for cell in cells])
    np.testing.assert_array_equal(taken, single)
    everything = np.indices(sizes).reshape(3, -1).T
    np.testing.assert_array_equal(at_once.determined(everything), one_by_one.determined(everything))
    assert one_by_one.rank == at_once.rank
    assert one_by_one.is_certain()
