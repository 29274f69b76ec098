"""Row spaces modulo a prime: exact elimination at the speed of floating-point matrix products.

Residues are integers in float64. The prime is below 2^20, so sums of 1024 products stay below 2^50: every matrix
product is exact, and so is the quotient by which it is reduced.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Int

PRIMES = (1048573, 1048571, 1048559, 1048549)
"""The largest primes below 2^20."""
_INNER = 1024  # products that are summed before a reduction, see above
_SMALL = 16  # rows that are eliminated one by one rather than by halves


class Echelon:
    """The reduced echelon form, modulo a prime, of a growing set of rows.

    Basis row `i` has 1 in column `pivots[i]`, where all other rows have 0, so only the other columns are stored.

    **Attributes:**

    - `pivots` `(rank,)`, `free` `(width - rank,)`: columns with and without a pivot.
    - `tails` `(rank, width - rank)`: the basis in the columns without a pivot.

    ```python
    >>> import numpy as np
    >>> from recombine.theory.elimination import Echelon
    >>> space = Echelon(3)
    >>> space.add(np.array([[1, 1, 0], [2, 2, 0], [0, 1, 1]]))  # the second is twice the first
    array([ True, False,  True])

    ```
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
        """An independent copy. (Arrays are replaced and never changed in place, so they can be shared.)"""
        other = Echelon(0, self.prime)
        other.pivots, other.free, other.tails = self.pivots, self.free, self.tails
        return other

    def add(self, rows: Float[np.ndarray, "rows width"]) -> Bool[np.ndarray, " rows"]:
        """Adds integer rows one after another; true for those that were not in the space before their turn."""
        if not len(self.free):
            return np.zeros(len(rows), dtype=bool)
        rows = self._mod(np.array(rows, dtype=np.float64))
        remainder = self._mod(rows[:, self.free] - self._product(rows[:, self.pivots], self.tails))
        new_basis, new_pivots, independent = self._eliminate(remainder)
        if len(new_pivots):
            still_free = np.ones(len(self.free), dtype=bool)
            still_free[new_pivots] = False
            new_tails = new_basis[:, still_free]
            # Clear the new pivots from the old basis.
            old_tails = self._mod(
                self.tails[:, still_free] - self._product(self.tails[:, new_pivots], new_tails)
            )
            self.tails = np.concatenate([old_tails, new_tails])
            self.pivots = np.concatenate([self.pivots, self.free[new_pivots]])
            self.free = self.free[still_free]
        return independent

    def null_vectors(self) -> tuple[Float[np.ndarray, "rank free"], Int[np.ndarray, " free"]]:
        """A basis of the vectors orthogonal to the space: one per column without a pivot, where it is 1.

        **Returns:**

        Their entries in the columns with a pivot, and the columns without one.
        """
        return self._mod(-self.tails), self.free

    def orthogonal(self, rng: np.random.Generator, count: int) -> Int[np.ndarray, "width count"]:
        """Random vectors orthogonal to the space; a row outside it passes all of them with probability prime^-count."""
        entries, free = self.null_vectors()
        vectors = np.zeros((self.width, count), dtype=np.int64)
        mixture = rng.integers(self.prime, size=(len(free), count)).astype(np.float64)
        vectors[free] = mixture.astype(np.int64)
        if self.rank and len(free):
            vectors[self.pivots] = self._product(entries, mixture).astype(np.int64)
        return vectors

    def lifts_to_integers(self, bound: float) -> bool:
        """Whether every null vector is a vector of fractions: small multiples have integer entries up to `bound`."""
        entries, _ = self.null_vectors()
        remaining = entries
        for factor in range(1, 61):
            if not remaining.shape[1]:
                return True
            scaled = self._mod(remaining * factor)
            size = np.minimum(scaled, self.prime - scaled).max(axis=0, initial=0)
            remaining = remaining[:, np.maximum(size, factor) > bound]
        return not remaining.shape[1]

    def _eliminate(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The reduced basis of the rows, its pivots, and which rows are independent of those before; by halves."""
        if len(rows) <= _SMALL:
            return self._eliminate_few(rows)
        half = len(rows) // 2
        upper, upper_pivots, upper_independent = self._eliminate(rows[:half])
        lower = rows[half:]
        if len(upper_pivots):
            lower = self._mod(lower - self._product(lower[:, upper_pivots], upper))
        lower, lower_pivots, lower_independent = self._eliminate(lower)
        if len(upper_pivots) and len(lower_pivots):
            upper = self._mod(upper - self._product(upper[:, lower_pivots], lower))
        return (
            np.concatenate([upper, lower]),
            np.concatenate([upper_pivots, lower_pivots]),
            np.concatenate([upper_independent, lower_independent]),
        )

    def _eliminate_few(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        rows, pivots = rows.copy(), []
        independent = np.zeros(len(rows), dtype=bool)
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
            independent[i] = True
            pivots.append(column)
        return rows[independent], np.array(pivots, dtype=np.int64), independent

    def _product(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The matrix product modulo the prime, in slices whose sums are exact; columns of zeros are skipped."""
        total = np.zeros((left.shape[0], right.shape[1]))
        for start in range(0, left.shape[1], _INNER):
            inner = slice(start, start + _INNER)
            used = np.flatnonzero(left[:, inner].any(axis=0))
            if len(used):
                total = self._mod(total + left[:, inner][:, used] @ right[inner][used])
        return total

    def _mod(self, values: np.ndarray) -> np.ndarray:
        """Residues from 0 to prime - 1, in place, of integers below 2^50 in size.

        Adding one half keeps the quotient at least 2^-21 away from integers, and its rounding error is below 2^-22, so
        the floor is exact.
        """
        quotient = values + 0.5
        quotient *= 1 / self.prime
        np.floor(quotient, out=quotient)
        quotient *= self.prime
        values -= quotient
        return values
