"""Reference coding: functions of few factors in the fewest columns, and the norm of a kernel in these columns.

There is one column for every conjunction of levels other than each factor's first, and one for the constant. Unlike
indicators of all conjunctions, these columns are independent on the whole grid, and there are fewer of them.

A kernel is diagonal for indicators. In reference coding its norm follows from the decomposition of a function into
parts `f_A` that sum to 0 over each of their factors: `|f|² = sum over A of |f_A|² / (sum over J containing A of s_J /
prod of n_c for c in J but not in A)`, with saliences `s_J` and `n_c` levels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, combinations
from math import prod

import numpy as np
from jaxtyping import Float, Int

from recombine.theory.conjunctions import Conjunctions, Subset, subsets

BLOCK = 512
"""Rows that are added together, which need no further memory of the matrix's size."""


class ReferenceColumns:
    """The columns of all functions of up to `order` factors.

    ```python
    >>> import numpy as np
    >>> from recombine.theory.reference_coding import ReferenceColumns
    >>> ReferenceColumns((2, 3), order=1).columns(np.array([[0, 2], [1, 0]]))  # constant, first and second factor
    array([[ 0, -1,  3],
           [ 0,  1, -1]])

    ```
    """

    def __init__(self, sizes: Sequence[int], order: int) -> None:
        self.sizes, self.order, self.subsets = tuple(sizes), order, subsets(len(sizes), order)
        widths = [prod(self.sizes[axis] - 1 for axis in subset) for subset in self.subsets]
        self.starts = dict(zip(self.subsets, np.cumsum([0, *widths[:-1]]).tolist(), strict=True))
        self.width = sum(widths)

    def columns(self, cells: Int[np.ndarray, "cells factors"]) -> Int[np.ndarray, "cells subsets"]:
        """For every cell and set of factors, its column; -1 if one of its levels is the first."""
        columns = np.empty((len(cells), len(self.subsets)), dtype=np.int64)
        for position, subset in enumerate(self.subsets):
            code, has_first = np.full(len(cells), 0), np.zeros(len(cells), dtype=bool)
            for axis in subset:
                code = code * (self.sizes[axis] - 1) + cells[:, axis] - 1
                has_first |= cells[:, axis] == 0
            columns[:, position] = np.where(has_first, -1, self.starts[subset] + code)
        return columns

    def indicator(self, subset: Subset, levels: Sequence[int]) -> Float[np.ndarray, " width"]:
        """The function that is 1 where a cell has these levels: a first level is 1 minus all the others."""
        row = np.zeros(self.width)
        first = [axis for axis, level in zip(subset, levels, strict=True) if level == 0]
        other = {axis: level for axis, level in zip(subset, levels, strict=True) if level}
        for replaced in chain.from_iterable(combinations(first, k) for k in range(len(first) + 1)):
            axes = tuple(sorted({*other, *replaced}))
            code = np.zeros(1, dtype=np.int64)
            for axis in axes:
                size = self.sizes[axis] - 1
                step = np.array([other[axis] - 1]) if axis in other else np.arange(size)
                code = (code[:, None] * size + step).ravel()
            row[self.starts[axes] + code] = (-1.0) ** len(replaced)
        return row

    def conjunctions(self, seen: Conjunctions) -> Int[np.ndarray, " width"]:
        """For every column its conjunction's column among the seen ones; -1 for the constant and for unseen ones."""
        columns = np.full(self.width, -1)
        for subset, codes, start in zip(seen.subsets, seen.codes, seen.starts[:-1], strict=True):
            if subset not in self.starts:
                continue
            levels = np.unravel_index(codes, [self.sizes[axis] for axis in subset])
            own, code = np.all([level > 0 for level in levels], axis=0), np.zeros(len(codes), dtype=np.int64)
            for axis, level in zip(subset, levels, strict=True):
                code = code * (self.sizes[axis] - 1) + level - 1
            columns[self.starts[subset] + code[own]] = start + np.flatnonzero(own)
        return columns

    def add_norm(
        self, matrix: Float[np.ndarray, "width width"], salience: Mapping[Subset, float], weight: float
    ) -> None:
        """Adds `weight` times the kernel's squared norm, as a quadratic form, to a matrix in its memory.

        **Arguments:**

        - `salience`: by set of one or two factors, above 0.
        """
        means = [np.zeros((self.sizes[axis] - 1, self.width)) for axis in range(len(self.sizes))]
        total, constant = np.zeros(self.width), 0.0
        for subset, start in self.starts.items():
            sizes = [self.sizes[axis] for axis in subset]
            own = slice(start, start + prod(size - 1 for size in sizes))
            total[own] = 1 / prod(sizes)  # the function's mean over the grid
            if subset:
                constant += salience[subset] / prod(sizes)
            if len(subset) == self.order:
                centred: np.ndarray = np.ones((1, 1))
                for size in sizes:
                    centred = np.kron(centred, np.eye(size - 1) - 1 / size)
                matrix[own, own] += weight / salience[subset] * centred
            if len(subset) == 2:
                (one, other), (rows, columns) = subset, sizes
                means[one][:, own] = np.kron(np.eye(rows - 1), np.full((1, columns - 1), 1 / columns))
                means[other][:, own] = np.kron(np.full((1, rows - 1), 1 / rows), np.eye(columns - 1))
            elif len(subset) == 1:
                means[subset[0]][:, own] = np.eye(sizes[0] - 1)
        parts: list[np.ndarray] = [np.sqrt(weight / constant) * total[None]]
        # With pairs, the mean over all other factors is a function of each single factor.
        for axis, mean in enumerate(means if self.order == 2 else []):
            pairs = [subset for subset in self.subsets if len(subset) == 2 and axis in subset]
            share = salience[axis,] + sum(salience[p] / self.sizes[p[p[0] == axis]] for p in pairs)
            # Centred over the factor's levels: 1 - 1 / n is the product of this matrix with itself.
            size = self.sizes[axis]
            centre = np.eye(size - 1) - (1 - np.sqrt(1 / size)) / (size - 1)
            parts.append(np.sqrt(weight / share) * centre @ mean)
        factor = np.concatenate(parts)
        for start in range(0, self.width, BLOCK):
            matrix[start : start + BLOCK] += factor[:, start : start + BLOCK].T @ factor
