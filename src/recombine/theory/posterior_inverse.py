"""The inverse behind retention, kept so that one more training cell takes a product with it and not a new inverse.

Retention needs `X = (Phi' Phi + r)^-1`, where the rows of `Phi` are the weighted conjunctions of the training cells
(see `recombine.theory.retention`). It is stored as one triangle, or split by the levels of one factor (see
`recombine.theory.levelwise_inverse`). Added cells with features `A` change it to `X - U (1 + A U)^-1 U'` with
`U = X A'` (the Woodbury identity). Such corrections are kept next to the first inverse. A conjunction that was unseen
before has no training cell, so its row of the first inverse is 0 except for 1 / r.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int
from scipy import linalg

from recombine.theory.conjunctions import Conjunctions, Subset
from recombine.theory.cooccurrence import is_dense
from recombine.theory.levelwise_inverse import Grams, LevelwiseColumns, LevelwiseInverse

MAX_CONDITION = 1e7
"""Largest entry over the ridge up to which corrections keep nine digits."""
MAX_CORRECTIONS = 200
"""Added cells that are kept as corrections; with more, a new inverse is more exact and hardly slower."""


@dataclass(frozen=True, eq=False)
class PackedInverse:
    """A symmetric inverse: its lower triangle, column after column.

    ```python
    >>> import numpy as np
    >>> from recombine.theory.posterior_inverse import PackedInverse
    >>> PackedInverse.of(np.array([[4.0, 1.0], [1.0, 4.0]])).triangle * 15
    array([ 4., -1.,  4.])

    ```
    """

    triangle: Float[np.ndarray, " entries"]

    @staticmethod
    def of(matrix: Float[np.ndarray, "n n"]) -> PackedInverse | None:
        """The inverse of a symmetric matrix, computed in the matrix's memory; `None` if it is numerically singular."""
        factor, failed = linalg.lapack.dpotrf(matrix.T, lower=1, overwrite_a=1)
        if failed:
            return None
        inverse, _ = linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
        return PackedInverse(linalg.lapack.dtrttp(inverse, uplo="L")[0])

    def forms(
        self, columns: Int[np.ndarray, "rows subsets"], weights: Float[np.ndarray, "rows subsets"]
    ) -> Float[np.ndarray, " rows"]:
        """`phi' X phi` for rows given by their columns and weights, which are 0 for column -1."""
        n = self._width()
        if is_dense(columns.shape[1], n):
            rows = np.zeros((len(columns), n + 1))
            rows[np.arange(len(columns))[:, None], columns] = weights
            product = rows[:, :-1] @ self._full()
            return (product * rows[:, :-1]).sum(axis=1)
        starts = self._starts()
        # Columns of later sets of factors are larger, so an entry (later, earlier) is in the lower triangle. Where a
        # cell has no column, its weight is 0, so any entry in the triangle will do: the last row.
        later = np.where(columns < 0, n - 1, columns)
        begins = starts[np.where(columns < 0, 0, columns)]
        form = np.zeros(len(columns))
        for position in range(columns.shape[1]):
            own = self.triangle[begins[:, position] + later[:, position]]
            form += weights[:, position] ** 2 * own
            if position:
                entries = self.triangle[begins[:, :position] + later[:, position, None]]
                form += 2 * weights[:, position] * np.einsum("ij,ij->i", entries, weights[:, :position])
        return form

    def product(
        self, columns: Int[np.ndarray, "rows subsets"], weights: Float[np.ndarray, "rows subsets"]
    ) -> Float[np.ndarray, "columns rows"]:
        """`X phi` for rows given by their columns and weights; column -1 adds nothing."""
        product = np.zeros((self._width(), len(columns)))
        for row in range(len(columns)):
            for column, weight in zip(columns[row].tolist(), weights[row].tolist(), strict=True):
                if column >= 0:
                    product[:, row] += weight * self._row(column)
        return product

    def _width(self) -> int:
        return int((np.sqrt(8.0 * len(self.triangle) + 1) - 1) / 2 + 0.5)

    def _starts(self) -> Int[np.ndarray, " columns"]:
        """Where entry (0, j) of every column would be; entry (i, j) with i >= j is i places later."""
        column = np.arange(self._width(), dtype=np.int64)
        return column * (2 * self._width() - column - 1) // 2

    def _row(self, row: int) -> Float[np.ndarray, " columns"]:
        starts = self._starts()
        left = self.triangle[starts[:row] + row]
        return np.concatenate([left, self.triangle[starts[row] + row : starts[row] + len(starts)]])

    def _full(self) -> Float[np.ndarray, "columns columns"]:
        lower, _ = linalg.lapack.dtpttr(self._width(), self.triangle, uplo="L")
        return lower + np.tril(lower, -1).T


@dataclass(frozen=True, eq=False)
class PosteriorInverse:
    """`(Phi' Phi + r)^-1` for one kernel.

    **Attributes:**

    - `scale` `(columns,)`: the weight of every column; `ridge`: r.
    - `total`: the kernel of a cell with itself.
    - `base`: the first inverse, without the cells that were added since.
    - `first` `(columns,)`: the column of each conjunction in the first inverse; -1 if it was unseen then.
    - `corrections`: for each set of added cells, `U` and `(1 + A U)^-1`.
    - `whole`: whether the columns hold unseen conjunctions as well (`LevelwiseColumns`), and not only the seen ones.
    """

    scale: Float[np.ndarray, " columns"]
    ridge: float
    total: float
    base: PackedInverse | LevelwiseInverse
    first: Int[np.ndarray, " columns"]
    corrections: tuple[tuple[np.ndarray, np.ndarray], ...] = ()
    whole: bool = False

    @staticmethod
    def of(
        counts: Float[np.ndarray, "n n"], scale: Float[np.ndarray, " n"], ridge: float, total: float
    ) -> PosteriorInverse:
        """The inverse for seen conjunctions that occur together `counts` times."""
        inverse = PackedInverse.of(ridge_matrix(counts, scale, ridge))
        if inverse is None:  # numerically singular
            pseudoinverse = linalg.pinvh(ridge_matrix(counts, scale, ridge))
            inverse = PackedInverse(linalg.lapack.dtrttp(pseudoinverse, uplo="L")[0])
        return PosteriorInverse(scale, ridge, total, inverse, np.arange(len(scale)))

    @staticmethod
    def by_level(
        coding: LevelwiseColumns, grams: Grams, salience: Mapping[Subset, float], ridge: float, total: float
    ) -> PosteriorInverse | None:
        """The inverse in columns whose prior is not diagonal, split by levels; `None` if it is numerically singular.

        **Arguments:**

        - `grams`: `coding.grams` of the training cells.
        - `salience`: by set of factors, above 0.
        """
        inverse = LevelwiseInverse.of(coding, grams, salience, ridge)
        if inverse is None:
            return None
        ones = np.ones(coding.width)
        return PosteriorInverse(ones, ridge, total, inverse, np.arange(coding.width), whole=True)

    @property
    def n_added(self) -> int:
        """The number of cells that were added since the first inverse."""
        return sum(len(small) for _, small in self.corrections)

    def retention(self, columns: Int[np.ndarray, "rows subsets"]) -> Float[np.ndarray, " rows"]:
        """1 minus the relative posterior variance of cells given by their columns; -1 where they have no column.

        Only for an inverse without corrections.
        """
        weights = np.append(self.scale, 0.0)[columns]
        prior = self.total if self.whole else (weights**2).sum(axis=1)
        return (prior - self.ridge * self.base.forms(columns, weights)) / self.total

    def solve(self, columns: Int[np.ndarray, "cells subsets"]) -> Float[np.ndarray, "columns cells"]:
        """`X phi` for cells given by their columns."""
        weights = np.append(self.scale, 0.0)[columns]
        known = np.flatnonzero(self.first >= 0)
        before = np.where(columns < 0, -1, self.first[columns])
        product = np.zeros((len(self.scale), len(columns)))
        product[known] = self.base.product(before, weights)[self.first[known]]
        cell, position = np.nonzero((columns >= 0) & (before < 0))
        product[columns[cell, position], cell] += weights[cell, position] / self.ridge
        for left, small in self.corrections:
            along = np.einsum("csj,cs->jc", left[columns], weights)  # U' phi
            product -= left @ (small @ along)
        return product

    def with_conjunctions(
        self, before: Conjunctions, seen: Conjunctions, scale: np.ndarray
    ) -> PosteriorInverse:
        """The same for more seen conjunctions, none of which has a training cell yet."""
        moved = np.concatenate(
            [
                start + np.searchsorted(codes, known)
                for start, codes, known in zip(seen.starts[:-1], seen.codes, before.codes, strict=True)
            ]
        )
        if len(moved) == len(scale):
            return self
        first = np.full(len(scale), -1)
        first[moved] = self.first
        corrections = []
        for left, small in self.corrections:
            more = np.zeros((len(scale), left.shape[1]))
            more[moved] = left
            corrections.append((more, small))
        return replace(self, scale=scale, first=first, corrections=tuple(corrections))

    def with_cells(
        self, columns: Int[np.ndarray, "cells subsets"], solution: Float[np.ndarray, "columns cells"]
    ) -> PosteriorInverse:
        """The inverse with these cells in training; `solution` is `solve(columns)`."""
        weights = np.append(self.scale, 0.0)[columns]
        along = np.einsum("csj,cs->cj", solution[columns], weights)  # A U
        small = np.linalg.inv(np.eye(len(columns)) + (along + along.T) / 2)
        return replace(self, corrections=(*self.corrections, (solution, small)))


def can_be_corrected(counts: Float[np.ndarray, "n n"], scale: Float[np.ndarray, " n"], ridge: float) -> bool:
    """Whether added cells can be corrected for without loss of precision; next to no ridge, they cannot."""
    return bool((counts.diagonal() * scale**2).max() <= MAX_CONDITION * ridge)


def ridge_matrix(
    counts: Float[np.ndarray, "n n"], scale: Float[np.ndarray, " n"], ridge: float
) -> Float[np.ndarray, "n n"]:
    """`diag(scale) counts diag(scale) + ridge`, without a second array of that size."""
    matrix = counts.astype(np.float64)
    matrix *= scale[:, None]
    matrix *= scale
    matrix[np.diag_indices_from(matrix)] += ridge
    return matrix


def corrected(
    inverses: Sequence[PosteriorInverse],
    added: Int[np.ndarray, "added subsets"],
    targets: Iterable[Int[np.ndarray, "targets subsets"]],
) -> tuple[list[PosteriorInverse], list[Float[np.ndarray, " targets"]]]:
    """Inverses with some cells in training, and by how much the retention of other cells grows.

    **Arguments:**

    - `added`, `targets`: cells given by their columns, targets in blocks.
    """
    after, weights, smalls = [], [], []
    for inverse in inverses:
        solution = inverse.solve(added)
        after.append(inverse.with_cells(added, solution))
        # Column -1 (unseen) adds nothing.
        weights.append(np.append(solution * inverse.scale[:, None], np.zeros((1, len(added))), axis=0))
        smalls.append(after[-1].corrections[-1][1])
    gains: list[list[np.ndarray]] = [[] for _ in inverses]
    for block in targets:
        for position, inverse in enumerate(inverses):
            across = np.zeros((len(block), len(added)))
            for column in block.T:
                across += weights[position][column]
            gain = ((across @ smalls[position]) * across).sum(axis=1)
            gains[position].append(inverse.ridge / inverse.total * gain)
    return after, [np.concatenate(one) if one else np.zeros(0) for one in gains]
