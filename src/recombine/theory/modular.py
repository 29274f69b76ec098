"""Row spaces modulo a prime: exact elimination at the speed of floating-point matrix products.

Residues are whole numbers in float64. The prime is below 2^20, so that sums of 1024 products stay below 2^50: every
matrix product is exact, and so is the quotient by which it is reduced.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

PRIMES = (1048573, 1048571, 1048559, 1048549)
"""The largest primes below 2^20."""
_INNER = 1024
_SMALL = 16


class Echelon:
    """The reduced echelon form, modulo a prime, of rows that are added bit by bit.

    Basis row `i` has 1 in column `pivots[i]`, where all other rows have 0, so only the other columns are kept.

    - `pivots` `(rank,)`, `free` `(width - rank,)`: columns with and without a pivot;
    - `tails` `(rank, width - rank)`: the basis in the columns without one.
    """

    def __init__(self, width: int, prime: int = PRIMES[0]) -> None:
        self.prime = prime
        self.pivots, self.free = np.zeros(0, dtype=np.int64), np.arange(width)
        self.tails = np.zeros((0, width))

    @property
    def rank(self) -> int:
        """The dimension of the row space."""
        return len(self.pivots)

    @property
    def width(self) -> int:
        """The number of columns."""
        return len(self.pivots) + len(self.free)

    def copy(self) -> Echelon:
        """The same space, to be enlarged on its own. (Arrays are replaced, never changed, so nothing is copied.)"""
        other = Echelon(0, self.prime)
        other.pivots, other.free, other.tails = self.pivots, self.free, self.tails
        return other

    def add(self, rows: Float[np.ndarray, "rows width"]) -> Bool[np.ndarray, " rows"]:
        """Adds whole-number rows one after another; true for those that were not in the space before their turn."""
        if not len(self.free):
            return np.zeros(len(rows), dtype=bool)
        rows = self._mod(np.array(rows, dtype=np.float64))
        left = self._mod(rows[:, self.free] - self._product(rows[:, self.pivots], self.tails))
        fresh, chosen, taken = self._eliminate(left)
        if len(chosen):
            keep = np.ones(len(self.free), dtype=bool)
            keep[chosen] = False
            fresh = fresh[:, keep]
            old = self._mod(self.tails[:, keep] - self._product(self.tails[:, chosen], fresh))
            self.tails = np.concatenate([old, fresh])
            self.pivots, self.free = np.concatenate([self.pivots, self.free[chosen]]), self.free[keep]
        return taken

    def null_vectors(self) -> tuple[Float[np.ndarray, "rank free"], Int[np.ndarray, " free"]]:
        """The vectors orthogonal to the space: one per column without a pivot, 1 there.

        **Returns:**

        Their entries in the pivots' columns, and the numbers of the columns without pivot.
        """
        return self._mod(-self.tails), self.free

    def orthogonal(self, rng: np.random.Generator, count: int) -> Int[np.ndarray, "width count"]:
        """Random vectors orthogonal to the space. A row outside it is orthogonal to all with chance prime^-count."""
        entries, free = self.null_vectors()
        found = np.zeros((self.width, count), dtype=np.int64)
        mixture = rng.integers(self.prime, size=(len(free), count)).astype(np.float64)
        found[free] = mixture.astype(np.int64)
        if self.rank and len(free):
            found[self.pivots] = self._product(entries, mixture).astype(np.int64)
        return found

    def lifts_to_integers(self, bound: float) -> bool:
        """Whether every null vector is, times some small number, a vector of integers that are at most `bound`."""
        entries, _ = self.null_vectors()
        left = entries
        for factor in range(1, 61):
            if not left.shape[1]:
                return True
            scaled = self._mod(left * factor)
            size = np.minimum(scaled, self.prime - scaled).max(axis=0, initial=0)
            left = left[:, np.maximum(size, factor) > bound]
        return not left.shape[1]

    def _eliminate(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Reduced basis of the rows, its pivots, and which rows enlarged the space in their turn."""
        if len(rows) <= _SMALL:
            return self._eliminate_few(rows)
        half = len(rows) // 2
        upper, first, taken = self._eliminate(rows[:half])
        lower = rows[half:]
        if len(first):
            lower = self._mod(lower - self._product(lower[:, first], upper))
        lower, second, taken_too = self._eliminate(lower)
        if len(first) and len(second):
            upper = self._mod(upper - self._product(upper[:, second], lower))
        both = np.concatenate([upper, lower])
        return both, np.concatenate([first, second]), np.concatenate([taken, taken_too])

    def _eliminate_few(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows, pivots = rows.copy(), []
        taken = np.zeros(len(rows), dtype=bool)
        for i in range(len(rows)):
            column = int(np.argmax(rows[i] != 0))
            if rows[i, column] == 0:
                continue
            rows[i] = self._mod(rows[i] * pow(int(rows[i, column]), -1, self.prime))
            factors = rows[:, column].copy()
            factors[i] = 0
            others = np.flatnonzero(factors)
            if len(others):
                rows[others] = self._mod(rows[others] - factors[others, None] * rows[i])
            taken[i] = True
            pivots.append(column)
        return rows[taken], np.array(pivots, dtype=np.int64), taken

    def _product(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        total = np.zeros((left.shape[0], right.shape[1]))
        for start in range(0, left.shape[1], _INNER):
            inner = slice(start, start + _INNER)
            used = np.flatnonzero(left[:, inner].any(axis=0))
            if len(used):
                total = self._mod(total + left[:, inner][:, used] @ right[inner][used])
        return total

    def _mod(self, values: np.ndarray) -> np.ndarray:
        """Residues from 0 to the prime - 1, in place, of whole numbers below 2^50 in size.

        The half keeps the quotient at least 2^-21 away from whole numbers, and its rounding error is below 2^-22.
        """
        quotient = values + 0.5
        quotient *= 1 / self.prime
        np.floor(quotient, out=quotient)
        quotient *= self.prime
        values -= quotient
        return values
