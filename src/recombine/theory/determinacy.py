"""Determinacy: which cells training determines if the effects of conjunctions up to some order add up.

Consider functions that are sums over a cell's conjunctions of order at most k. Their value at a cell is determined by
their values at the training cells if and only if the cell's row of the design matrix lies in the row space of the
training rows. Rows are written in reference coding (one column for every conjunction of levels other than each factor's
first), whose columns are independent on the whole grid, so unseen conjunctions need no special care.

The row space is kept modulo a prime. That is exact where the null vectors of the space lift to small integers: if their
entries are below prime / terms, a row that is orthogonal to them modulo the prime is orthogonal to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.errors import InputError
from recombine.theory.conjunctions import Conjunctions, subsets
from recombine.theory.elimination import PRIMES, Echelon
from recombine.theory.saturation import is_large_enough, saturated_row_space

CHUNK = 512
"""Rows that are eliminated together."""
FIRST_CELLS = 16 * CHUNK
"""Training cells that are looked at before all the others."""
CHECKS = 3
"""Random null vectors that each row is tested with; a row outside the space passes all with probability 10^-18."""
POOL = 64
"""Further null vectors; each cell that is added without elimination uses up one of them."""


def grid_rank(sizes: Sequence[int], order: int) -> int:
    """The rank of the whole grid's design: `sum over sets J of at most k factors of prod_{j in J} (n_j - 1)`.

    ```python
    >>> from recombine.theory import grid_rank
    >>> grid_rank((4, 3), order=1), grid_rank((4, 3), order=2)
    (6, 12)

    ```
    """
    return sum(prod(sizes[axis] - 1 for axis in subset) for subset in subsets(len(sizes), order))


class Determinacy:
    """What a growing set of training cells determines at one order.

    **Arguments:**

    - `sizes`: the number of levels of every factor.
    - `order`: the largest conjunctions that have effects.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import Determinacy
    >>> known = Determinacy((2, 2, 2), order=1)
    >>> known.add(np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1]]))
    array([ True,  True,  True])
    >>> known.determined(np.array([[1, 1, 0], [0, 1, 1]]))  # all levels are seen and connected; still 110 is open
    array([False,  True])

    ```
    """

    def __init__(self, sizes: Sequence[int], order: int, *, prime: int = PRIMES[0]) -> None:
        self.sizes, self.order = tuple(int(size) for size in sizes), order
        self._subsets = subsets(len(self.sizes), order)
        widths = [prod(self.sizes[axis] - 1 for axis in subset) for subset in self._subsets]
        self._starts = np.cumsum([0, *widths])
        self._space = Echelon(int(self._starts[-1]), prime)
        self._pending: list[Int[np.ndarray, " subsets"]] = []
        self._pool: Int[np.ndarray, "width+1 vectors"] | None = None

    @staticmethod
    def of(
        cells: Int[np.ndarray, "cells factors"],
        sizes: Sequence[int],
        order: int,
        *,
        seen: Conjunctions | None = None,
        counts: Float[np.ndarray, "columns columns"] | None = None,
    ) -> Determinacy:
        """What a set of cells determines.

        **Arguments:**

        - `seen`, `counts`: the conjunctions of order 1 to at least `order` that occur in the cells, and how often two
            of them occur together, if known: many cells are then faster (see `recombine.theory.saturation`).
        """
        known = Determinacy(sizes, order)
        if seen is not None and counts is not None and is_large_enough(known.full_rank, len(cells)):
            space = saturated_row_space(seen, counts, len(cells), order)
            if space is not None:
                known._space = space
                return known
        # The order is free, and neighbours are redundant. The first few cells often determine everything.
        shuffled = np.random.default_rng(0).permutation(len(cells))
        for part in np.split(shuffled, [min(FIRST_CELLS, len(cells))]):
            if known.rank < known.full_rank:
                known.add(cells[part])
        return known

    @property
    def rank(self) -> int:
        """The number of independent rows: how many parameters training determines."""
        return self._space.rank + len(self._pending)

    @property
    def full_rank(self) -> int:
        """The number of parameters of a function of this order."""
        return int(self._starts[-1])

    def copy(self) -> Determinacy:
        """An independent copy."""
        other = Determinacy(self.sizes, self.order, prime=self._space.prime)
        other._space, other._pending, other._pool = self._space.copy(), list(self._pending), self._pool
        return other

    def add(self, cells: Int[np.ndarray, "cells factors"]) -> Bool[np.ndarray, " cells"]:
        """Adds training cells one after another; true for those that were not determined before their turn.

        If cells come in the order of their cost, the true ones are a cheapest set that determines all of them, because
        independent rows form a matroid, for which the greedy choice is optimal.
        """
        columns = self._columns(cells)
        independent = np.zeros(len(columns), dtype=bool)
        start, window = 0, 4 * CHUNK
        waiting: list[int] = []  # rows that are not in the space, until there are enough to eliminate
        while start < len(columns) and self.rank < self.full_rank:
            stop = min(start + window, len(columns))
            waiting += (start + np.flatnonzero(~self._known(columns[start:stop]))).tolist()
            window, start = 2 * window, stop
            if len(waiting) >= CHUNK or (waiting and start == len(columns)):
                chunk, start = waiting[:CHUNK], waiting[CHUNK] if len(waiting) > CHUNK else start
                independent[chunk] = self._add_chunk(columns[chunk])
                waiting, window = [], 4 * CHUNK
        return independent

    def _add_chunk(self, columns: Int[np.ndarray, "cells subsets"]) -> Bool[np.ndarray, " cells"]:
        """Adds cells in order.

        Modulo the space, a row is known by its products with the null vectors. If these are more than enough, rows that
        are independent there are independent, and a small elimination (the shadow) replaces the large one.
        """
        pool = self._null_vectors()
        shadow = Echelon(pool.shape[1], self._space.prime)
        independent = shadow.add(np.stack([pool[row].sum(axis=0) for row in columns]))
        if shadow.rank <= pool.shape[1] - CHECKS:
            for row in columns[independent]:
                self._add_one(row)
            return independent
        self._settle()
        self._pool = None
        return self._space.add(self._rows(columns))

    def determined(self, cells: Int[np.ndarray, "cells factors"]) -> Bool[np.ndarray, " cells"]:
        """For each cell, whether all functions of this order that agree on the training cells agree on it."""
        return self._known(self._columns(cells))

    def is_certain(self) -> bool:
        """Whether the verdicts are proven over the rationals: an unlucky prime cannot have spoilt them.

        The rank modulo a prime is at most the true rank, so a full rank is proof enough. Otherwise the null vectors
        modulo the prime must be small integer vectors.
        """
        self._settle()
        return self.rank == self.full_rank or self._space.lifts_to_integers(
            self._space.prime / (2 * len(self._subsets))
        )

    def _columns(self, cells: np.ndarray) -> Int[np.ndarray, "cells subsets"]:
        """For every set of factors, the column of the cell's conjunction; past the end if one level is the first."""
        cells = np.asarray(cells)
        if cells.ndim != 2 or cells.shape[1] != len(self.sizes):
            raise InputError("cells", cells.shape, f"(cells, {len(self.sizes)}) level indices")
        if len(cells) and ((cells < 0) | (cells >= self.sizes)).any():
            raise InputError(
                "cells",
                cells[((cells < 0) | (cells >= self.sizes)).any(axis=1)][0].tolist(),
                f"level indices below {self.sizes}",
            )
        columns = np.empty((len(cells), len(self._subsets)), dtype=np.int32)
        for position, subset in enumerate(self._subsets):
            code, has_first = np.zeros(len(cells), dtype=np.int64), np.zeros(len(cells), dtype=bool)
            for axis in subset:
                code = code * (self.sizes[axis] - 1) + cells[:, axis] - 1
                has_first |= cells[:, axis] == 0
            columns[:, position] = np.where(has_first, self.full_rank, self._starts[position] + code)
        return columns

    def _rows(self, columns: Int[np.ndarray, "cells subsets"]) -> Float[np.ndarray, "cells width"]:
        rows = np.zeros((len(columns), self.full_rank + 1))
        rows[np.arange(len(columns))[:, None], columns] = 1.0
        return rows[:, :-1]

    def _add_one(self, columns: Int[np.ndarray, " subsets"]) -> bool:
        """Adds one row without elimination: one null vector is used to make the others orthogonal to the row."""
        pool, prime = self._null_vectors(), self._space.prime
        products = pool[columns].sum(axis=0) % prime
        if not products.any():
            return False
        used = int(np.argmax(products != 0))
        factors = np.delete(products, used) * pow(int(products[used]), -1, prime) % prime
        self._pool = (np.delete(pool, used, axis=1) - pool[:, [used]] * factors) % prime
        self._pending.append(columns)
        if self._pool.shape[1] < CHECKS:
            self._settle()
        return True

    def _settle(self) -> None:
        """Eliminates the rows that were added one at a time."""
        if self._pending:
            self._space.add(self._rows(np.stack(self._pending)))
            self._pending, self._pool = [], None

    def _null_vectors(self) -> Int[np.ndarray, "width+1 vectors"]:
        if self._pool is None:
            # A fixed seed is random enough: the rows that are tested do not depend on it.
            vectors = self._space.orthogonal(np.random.default_rng(self.rank), CHECKS + POOL)
            self._pool = np.concatenate([vectors, np.zeros((1, CHECKS + POOL), dtype=np.int64)])
        return self._pool

    def _known(self, columns: Int[np.ndarray, "cells subsets"]) -> Bool[np.ndarray, " cells"]:
        if self.rank == self.full_rank:
            return np.ones(len(columns), dtype=bool)
        vectors, known = self._null_vectors(), np.ones(len(columns), dtype=bool)
        for check in range(CHECKS):
            vector, left = np.ascontiguousarray(vectors[:, check]), np.flatnonzero(known)
            total = np.zeros(len(left), dtype=np.int64)
            for position in range(columns.shape[1]):
                total += vector[columns[left, position]]
            known[left] = total % self._space.prime == 0
        return known
