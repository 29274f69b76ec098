"""Which cells does training determine, if effects of conjunctions up to some order add up?

A function of a cell that is a sum over its conjunctions of order at most k is fixed at a cell by its values at the
training cells if and only if the cell's row of the design matrix lies in the row space of the training rows. Rows
are written here in reference coding (a column for every conjunction of levels other than each factor's first),
which has independent columns on the whole grid, so no unseen conjunction needs special care.

The row space is kept modulo a prime. That is exact where the null vectors of the space lift to small integers:
with entries below prime / terms, a row that is orthogonal to them modulo the prime is orthogonal to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.errors import InputError
from recombine.theory.conjunctions import subsets
from recombine.theory.modular import PRIMES, Echelon

CHUNK = 512
"""Rows that are eliminated at a time."""
CHECKS = 3
"""Random null vectors that a row is held against; a row outside the space passes all with chance 10^-18."""
POOL = 64
"""Further null vectors, one of which is used up by every single cell that is added without eliminating."""


def grid_rank(sizes: Sequence[int], order: int) -> int:
    """The rank of the whole grid's design: `sum over sets J of at most k factors of prod_{j in J} (n_j - 1)`."""
    return sum(prod(sizes[axis] - 1 for axis in subset) for subset in subsets(len(sizes), order))


class Determinacy:
    """The cells that training fixes at one order, growing as cells are shown.

    **Arguments:**

    - `sizes`: the number of levels of every factor.
    - `order`: the largest conjunctions that matter.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import Determinacy
    >>> known = Determinacy((2, 2, 2), order=1)
    >>> known.show(np.array([[0, 0, 0], [0, 1, 1], [1, 0, 1]]))
    array([ True,  True,  True])
    >>> known.determined(np.array([[1, 1, 0], [0, 1, 1]]))  # every pair of levels connects, and still 110 is open
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
    def of(cells: Int[np.ndarray, "cells factors"], sizes: Sequence[int], order: int) -> Determinacy:
        """What a set of cells determines; their order does not matter, so they are shown as is quickest."""
        known = Determinacy(sizes, order)
        known.show(np.random.default_rng(0).permutation(cells))  # neighbours tell little that is new
        return known

    @property
    def rank(self) -> int:
        """How many numbers training fixes."""
        return self._space.rank + len(self._pending)

    @property
    def full_rank(self) -> int:
        """How many numbers a function of this order has, so how many fix every cell."""
        return int(self._starts[-1])

    def copy(self) -> Determinacy:
        """The same knowledge, to be enlarged on its own."""
        other = Determinacy(self.sizes, self.order, prime=self._space.prime)
        other._space, other._pending, other._pool = self._space.copy(), list(self._pending), self._pool
        return other

    def show(self, cells: Int[np.ndarray, "cells factors"]) -> Bool[np.ndarray, " cells"]:
        """Adds cells to what is known; true for those that were not determined when their turn came.

        Cells that are shown in the order of their cost are taken greedily, which is optimal: independent rows
        form a matroid.
        """
        columns = self._columns(cells)
        taken = np.zeros(len(columns), dtype=bool)
        start, window = 0, 4 * CHUNK
        waiting: list[int] = []
        while start < len(columns) and self.rank < self.full_rank:
            stop = min(start + window, len(columns))
            waiting += (start + np.flatnonzero(~self._known(columns[start:stop]))).tolist()
            window, start = 2 * window, stop
            if len(waiting) >= CHUNK or (waiting and start == len(columns)):
                fresh, start = waiting[:CHUNK], waiting[CHUNK] if len(waiting) > CHUNK else start
                taken[fresh] = self._add(columns[fresh])
                waiting, window = [], 4 * CHUNK
        return taken

    def _add(self, columns: Int[np.ndarray, "cells subsets"]) -> Bool[np.ndarray, " cells"]:
        """Adds cells in order. Their products with the null vectors tell which are new, if these are enough."""
        pool = self._null_vectors()
        shadow = Echelon(pool.shape[1], self._space.prime)
        taken = shadow.add(np.stack([pool[row].sum(axis=0) for row in columns]))
        if shadow.rank <= pool.shape[1] - CHECKS:
            for row in columns[taken]:
                self._show_one(row)
            return taken
        self._settle()
        self._pool = None
        return self._space.add(self._rows(columns))

    def determined(self, cells: Int[np.ndarray, "cells factors"]) -> Bool[np.ndarray, " cells"]:
        """Whether every function of this order that agrees on the shown cells agrees on a cell."""
        return self._known(self._columns(cells))

    def is_certain(self) -> bool:
        """Whether the answers are proven for the rationals, beyond chance: no unlucky prime can have spoilt them.

        The rank modulo a prime is at most the true rank, so a full rank is proof enough. Otherwise the null vectors
        modulo the prime must be integer vectors in disguise.
        """
        self._settle()
        return self.rank == self.full_rank or self._space.lifts_to_integers(
            self._space.prime / (2 * len(self._subsets))
        )

    def _columns(self, cells: np.ndarray) -> Int[np.ndarray, "cells subsets"]:
        """For every set of factors the column of the cell's conjunction; past the end if a level is the first."""
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
            code, first = np.zeros(len(cells), dtype=np.int64), np.zeros(len(cells), dtype=bool)
            for axis in subset:
                code = code * (self.sizes[axis] - 1) + cells[:, axis] - 1
                first |= cells[:, axis] == 0
            columns[:, position] = np.where(first, self.full_rank, self._starts[position] + code)
        return columns

    def _rows(self, columns: Int[np.ndarray, "cells subsets"]) -> Float[np.ndarray, "cells width"]:
        rows = np.zeros((len(columns), self.full_rank + 1))
        rows[np.arange(len(columns))[:, None], columns] = 1.0
        return rows[:, :-1]

    def _show_one(self, columns: Int[np.ndarray, " subsets"]) -> bool:
        """Adds one row at once: null vectors stay null if they are made orthogonal to it, at the price of one."""
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
            # Fixed numbers are random enough: the rows they are held against do not depend on them.
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
