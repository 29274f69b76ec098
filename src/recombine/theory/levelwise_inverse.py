"""The inverse behind retention, split by the levels of one factor, which takes a fifth less time than a dense one.

Write a function of up to two factors as `f(z) = g(a; rest) + h(rest)`, where a is the level of the factor with the most
levels. Two cells with different levels a share no column of g, so the columns of g form one small block for each level,
in which the prior is diagonal. Only h, in reference coding, needs a large matrix. With blocks `B`, rows `C` of g times
columns of h, and `D` for h (all with their priors), block elimination gives

    S = D - C' B^-1 C,    T = B^-1 C,    X = [B^-1 + T S^-1 T'   -T S^-1]
                                             [   -S^-1 T'          S^-1 ].

A cell has one level, so quadratic forms need `T S^-1 T'` only within a level; its other entries are never computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from jaxtyping import Float, Int
from scipy import linalg

from recombine.theory.conjunctions import Conjunctions, Subset, subsets
from recombine.theory.reference_coding import ReferenceColumns


class LevelwiseColumns:
    """The columns of all functions of up to `order` factors, first those with the split factor, level by level.

    With the split factor there is one column for every conjunction, without it those of reference coding.

    ```python
    >>> import numpy as np
    >>> from recombine.theory.levelwise_inverse import LevelwiseColumns
    >>> LevelwiseColumns((2, 3), order=1).columns(np.array([[0, 2], [1, 0]]))  # second factor, constant, first factor
    array([[ 2,  3, -1],
           [ 0,  3,  4]])

    ```
    """

    def __init__(self, sizes: Sequence[int], order: int) -> None:
        self.sizes, self.axis = tuple(sizes), int(np.argmax(sizes))
        self.others = [axis for axis in range(len(sizes)) if axis != self.axis]
        other_sizes = [self.sizes[axis] for axis in self.others]
        self.rest = ReferenceColumns(other_sizes, min(order, len(self.others)))
        self._partners = subsets(len(self.others), order - 1)  # sets of other factors that join the split one
        widths = [prod(other_sizes[axis] for axis in subset) for subset in self._partners]
        self._starts, self.levels, self.block = (
            np.cumsum([0, *widths[:-1]]).tolist(),
            self.sizes[self.axis],
            sum(widths),
        )
        self.split = self.levels * self.block
        self.width = self.split + self.rest.width

    @property
    def work(self) -> float:
        """Multiplications for one inverse, up to a factor that a dense inverse has as well."""
        return self.rest.width**2 * (self.rest.width + 3.0 * self.split)

    def columns(self, cells: Int[np.ndarray, "cells factors"]) -> Int[np.ndarray, "cells subsets"]:
        """For every cell and set of factors, its column; -1 if reference coding has none."""
        others, level = cells[:, self.others], cells[:, self.axis]
        columns = np.empty((len(cells), len(self._partners) + len(self.rest.subsets)), dtype=np.int64)
        for position, (subset, start) in enumerate(zip(self._partners, self._starts, strict=True)):
            code = np.zeros(len(cells), dtype=np.int64)
            for axis in subset:
                code = code * self.rest.sizes[axis] + others[:, axis]
            columns[:, position] = level * self.block + start + code
        rest = self.rest.columns(others)
        columns[:, len(self._partners) :] = np.where(rest < 0, -1, self.split + rest)
        return columns

    def named(self, subset: Subset, *, split: bool) -> Subset:
        """A set of other factors, with or without the split one, as positions among all factors."""
        return tuple(sorted([self.others[axis] for axis in subset] + [self.axis] * split))

    def conjunctions(
        self, seen: Conjunctions
    ) -> tuple[Int[np.ndarray, "levels block"], Int[np.ndarray, " rest"]]:
        """For every column its conjunction's column among the seen ones; -1 for the constant and for unseen ones."""
        table = {
            subset: _all_columns(codes, start, [self.sizes[axis] for axis in subset])
            for subset, codes, start in zip(seen.subsets, seen.codes, seen.starts[:-1], strict=True)
        }
        own = []
        for subset in self._partners:
            named = self.named(subset, split=True)
            own.append(np.moveaxis(table[named], named.index(self.axis), 0).reshape(self.levels, -1))
        rest = [np.full(1, -1)]
        for subset in self.rest.subsets[1:]:
            other_than_first = table[self.named(subset, split=False)][(slice(1, None),) * len(subset)]
            rest.append(other_than_first.ravel())
        return np.concatenate(own, axis=1), np.concatenate(rest)

    def grams(self, seen: Conjunctions, counts: Float[np.ndarray, "columns columns"], n_cells: int) -> Grams:
        """The parts of the product of the cells' design with itself.

        **Arguments:**

        - `seen`, `counts`: the cells' conjunctions from order 1 on, and how often two of them occur together.
        """
        own, rest = self.conjunctions(seen)
        totals = np.append(counts.diagonal(), 0.0)  # column -1 (unseen) has no cell
        blocks = np.stack([_taken(counts, level, level, np.float64) for level in own])
        across = _taken(counts, own.ravel(), rest, np.float64)
        across[:, 0] = totals[own.ravel()]  # the constant, which every cell has
        within = _taken(counts, rest, rest, np.float32)
        within[0] = within[:, 0] = totals[rest]
        within[0, 0] = n_cells
        return Grams(blocks, across.reshape(self.levels, self.block, -1), within)

    def precisions(self, salience: Mapping[Subset, float]) -> Float[np.ndarray, " block"]:
        """The prior precision of the columns of one level, up to the ridge: one over the salience."""
        return np.concatenate(
            [
                np.full(stop - start, 1 / salience[self.named(subset, split=True)])
                for subset, start, stop in zip(
                    self._partners, self._starts, [*self._starts[1:], self.block], strict=True
                )
            ]
        )


@dataclass(frozen=True, eq=False)
class Grams:
    """Products of the design's columns: B within levels, C across, and D without the split factor."""

    blocks: Float[np.ndarray, "levels block block"]
    across: Float[np.ndarray, "levels block rest"]
    within: Float[np.ndarray, "rest rest"]


@dataclass(frozen=True, eq=False)
class LevelwiseInverse:
    """The parts of `X = (Phi' Phi + r N)^-1` in [`LevelwiseColumns`][], where N is the prior precision.

    **Attributes:**

    - `grams`: those of the training cells; several kernels share them.
    - `solved_blocks`: `B^-1`; `blocks`: the blocks of X within levels.
    - `across`: `T S^-1`, minus the part of X across; `rest`: `S^-1`, of which only the lower triangle is valid.
    """

    grams: Grams
    solved_blocks: Float[np.ndarray, "levels block block"]
    blocks: Float[np.ndarray, "levels block block"]
    across: Float[np.ndarray, "split rest"]
    rest: Float[np.ndarray, "rest rest"]

    @staticmethod
    def of(
        coding: LevelwiseColumns, grams: Grams, salience: Mapping[Subset, float], ridge: float
    ) -> LevelwiseInverse | None:
        """The inverse; `None` if it is numerically singular.

        **Arguments:**

        - `grams`: `coding.grams` of the training cells.
        - `salience`: by set of factors, above 0.
        """
        levels, block, n_rest = grams.across.shape
        try:
            factors = np.linalg.cholesky(grams.blocks + ridge * np.diag(coding.precisions(salience)))
        except np.linalg.LinAlgError:
            return None
        inverse_factors = np.linalg.inv(factors)
        transposed = inverse_factors.transpose(0, 2, 1)
        halves = inverse_factors @ grams.across  # V, with V' V = C' B^-1 C
        rest = grams.within.astype(np.float64)
        of_rest = {subset: salience[coding.named(subset, split=False)] for subset in coding.rest.subsets[1:]}
        coding.rest.add_norm(rest, of_rest, ridge)
        # LAPACK reads arrays column by column, so the transpose of a symmetric matrix is the matrix itself.
        rest = linalg.blas.dsyrk(-1.0, halves.reshape(-1, n_rest).T, 1.0, rest.T, lower=1, overwrite_c=1)
        rest, failed = linalg.lapack.dpotrf(rest, lower=1, clean=0, overwrite_a=1)
        if failed:
            return None
        rest, _ = linalg.lapack.dpotri(rest, lower=1, overwrite_c=1)
        solved = transposed @ halves  # T
        across = linalg.blas.dsymm(1.0, rest, solved.reshape(-1, n_rest).T, lower=1).T
        solved_blocks = transposed @ inverse_factors
        blocks = solved_blocks + across.reshape(levels, block, n_rest) @ solved.transpose(0, 2, 1)
        return LevelwiseInverse(grams, solved_blocks, blocks, across, rest)

    def forms(
        self, columns: Int[np.ndarray, "rows subsets"], weights: Float[np.ndarray, "rows subsets"]
    ) -> Float[np.ndarray, " rows"]:
        """`phi' X phi` for rows given by their columns and weights; column -1 adds nothing."""
        n_split, n_rest, block = *self.across.shape, self.blocks.shape[1]
        n_own = int((columns[:1] < n_split).sum() - (columns[:1] < 0).sum())
        own, rest = columns[:, :n_own], np.maximum(columns[:, n_own:] - n_split, 0)
        weights = np.where(columns < 0, 0.0, weights)
        own_weights, rest_weights = weights[:, :n_own], weights[:, n_own:]
        form = np.zeros(len(columns))
        for position in range(n_own):
            row, weight = own[:, position, None], own_weights[:, position]
            within = self.blocks.ravel().take(row * block + own % block)
            across = self.across.ravel().take(row * n_rest + rest)
            form += weight * np.einsum("ij,ij->i", within, own_weights)
            form -= 2 * weight * np.einsum("ij,ij->i", across, rest_weights)
        lower = self.rest.T.ravel()  # column by column, so without a copy
        for position in range(rest.shape[1]):
            # Columns of later sets of factors are larger, so an entry (later, earlier) is in the lower triangle.
            later, weight = rest[:, position, None], rest_weights[:, position]
            entries = lower.take(rest[:, : position + 1] * n_rest + later)
            entries[:, :-1] *= 2
            form += weight * np.einsum("ij,ij->i", entries, rest_weights[:, : position + 1])
        return form

    def product(
        self, columns: Int[np.ndarray, "rows subsets"], weights: Float[np.ndarray, "rows subsets"]
    ) -> Float[np.ndarray, "columns rows"]:
        """`X phi` for rows given by their columns and weights; column -1 adds nothing."""
        n_split, block = len(self.across), self.blocks.shape[1]
        phi = np.zeros((n_split, len(columns)))
        own_part, rest_part = np.zeros(phi.shape), np.zeros((len(self.rest), len(columns)))
        through = np.zeros(rest_part.shape)  # S^-1 T' phi
        for row in range(len(columns)):
            for column, weight in zip(columns[row].tolist(), weights[row].tolist(), strict=True):
                if 0 <= column < n_split:
                    phi[column, row] += weight
                    through[:, row] += weight * self.across[column]
                elif column >= n_split:
                    one = column - n_split
                    own_part[:, row] -= weight * self.across[:, one]
                    rest_part[:one, row] += weight * self.rest[one, :one]
                    rest_part[one:, row] += weight * self.rest[one:, one]
        gram = self.grams.across.reshape(n_split, -1)
        levels = (phi + gram @ through).reshape(-1, block, len(columns))
        own_part += (self.solved_blocks @ levels).reshape(phi.shape)
        return np.concatenate([own_part, rest_part - through])


def _all_columns(codes: np.ndarray, start: int, shape: Sequence[int]) -> Int[np.ndarray, ...]:
    columns = np.full(prod(shape), -1)
    columns[codes] = start + np.arange(len(codes))
    return columns.reshape(shape)


def _taken(
    counts: Float[np.ndarray, "columns columns"],
    rows: Int[np.ndarray, " rows"],
    columns: Int[np.ndarray, " taken"],
    dtype: type[np.floating],
) -> Float[np.ndarray, "rows taken"]:
    """Rows and columns of the counts; 0 where one of them is -1."""
    taken = np.zeros((len(rows), len(columns)), dtype=dtype)
    for position, row in enumerate(rows.tolist()):
        if row >= 0:
            taken[position] = counts[row].take(columns, mode="wrap")
    taken[:, columns < 0] = 0
    return taken
