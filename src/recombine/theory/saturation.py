"""Row spaces of training that leaves open only what it never shows.

The indicator of a conjunction that no training cell has is a function of its order that vanishes on training, so it is
orthogonal to the row space of the design (see `recombine.theory.determinacy`). Large tables usually determine all else:
the row space is then the complement of these few vectors, and no elimination over the training cells is needed. The
proof is a Cholesky factorisation of the other columns' Gram matrix, whose entries are counts. If that succeeds after
its diagonal is lowered by more than all rounding errors together, the columns are independent (Rump, Acta Numerica 19,
2010, section 10.8.1).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations
from math import prod

import numpy as np
from jaxtyping import Float, Int
from scipy import linalg

from recombine.theory.conjunctions import Conjunctions, Subset, subsets
from recombine.theory.elimination import PRIMES, Echelon

MIN_WIDTH = 1000
"""Smaller designs are eliminated at once."""
MIN_CELLS_PER_EFFECT = 10
"""Training cells for each effect from which saturation is likely enough to be tried."""
MAX_UNSEEN = 1000
"""Most conjunctions without training cells for which it is tried."""
MARGIN = 1e-7
"""What the diagonal, scaled to 1, is lowered by: far above the rounding errors of 10,000 columns, 10^-8."""


def is_large_enough(effects: int, n_cells: int) -> bool:
    """Whether a design is so large, and has so many cells, that saturation is worth a try."""
    return effects >= MIN_WIDTH and n_cells >= MIN_CELLS_PER_EFFECT * effects


def saturated_row_space(
    seen: Conjunctions, counts: Float[np.ndarray, "columns columns"], n_cells: int, order: int
) -> Echelon | None:
    """The row space of training in reference coding, if its complement is spanned by unseen conjunctions.

    **Arguments:**

    - `seen`, `counts`: conjunctions of order 1 to at least `order` that occur, and how often two occur together.
    - `n_cells`: the number of training cells.

    **Returns:**

    `None` if that is not so, or not proven.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import Conjunctions
    >>> from recombine.theory.cooccurrence import cooccurrence
    >>> from recombine.theory.saturation import saturated_row_space
    >>> cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])  # level 2 of the second factor is unseen
    >>> seen = Conjunctions.of(cells, (2, 3), order=1, min_order=1)
    >>> saturated_row_space(seen, cooccurrence(cells, seen), 4, 1).free
    array([3])

    ```
    """
    columns = _ReferenceColumns(seen.sizes, order)
    unseen = _unseen(seen, order)
    if unseen is None:
        return None
    null = Echelon(columns.width, PRIMES[0])
    if unseen:
        null.add(np.stack([columns.indicator(subset, levels) for subset, levels in unseen]))
    if not _independent(columns, null.free, seen, counts, n_cells):
        return None
    space = Echelon(0, null.prime)
    ordered = np.argsort(null.pivots)
    space.pivots, space.free = null.free, null.pivots[ordered]
    space.tails = np.mod(-null.tails[ordered].T, null.prime)
    return space


class _ReferenceColumns:
    """The columns of reference coding: one for every conjunction of levels other than each factor's first."""

    def __init__(self, sizes: Sequence[int], order: int) -> None:
        self.sizes, self.subsets = tuple(sizes), subsets(len(sizes), order)
        widths = [prod(self.sizes[axis] - 1 for axis in subset) for subset in self.subsets]
        self.starts = dict(zip(self.subsets, np.cumsum([0, *widths[:-1]]).tolist(), strict=True))
        self.width = sum(widths)

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


def _unseen(seen: Conjunctions, order: int) -> list[tuple[Subset, Sequence[int]]] | None:
    """The conjunctions of some order that do not occur, as sets of factors with levels; `None` if they are many."""
    unseen: list[tuple[Subset, Sequence[int]]] = []
    for subset, codes in zip(seen.subsets, seen.codes, strict=True):
        shape = tuple(seen.sizes[axis] for axis in subset)
        if len(subset) > order:
            continue
        if len(unseen) + prod(shape) - len(codes) > MAX_UNSEEN:
            return None
        absent = np.setdiff1d(np.arange(prod(shape)), codes)
        unseen += [(subset, levels) for levels in np.stack(np.unravel_index(absent, shape), axis=1).tolist()]
    return unseen


def _independent(
    columns: _ReferenceColumns,
    kept: Int[np.ndarray, " kept"],
    seen: Conjunctions,
    counts: Float[np.ndarray, "columns columns"],
    n_cells: int,
) -> bool:
    """Whether these columns of the design are independent, proven over the real numbers."""
    conjunction = columns.conjunctions(seen)[kept]
    chosen, constant = conjunction[conjunction >= 0], int(0 in kept)
    if len(chosen) + constant < len(kept):
        return False  # a column is 0 on all cells
    gram = np.empty((len(kept),) * 2)
    gram[constant:, constant:] = counts[np.ix_(chosen, chosen)]
    if constant:  # the first column, which all cells have
        gram[0, 0] = n_cells
        gram[0, 1:] = gram[1:, 0] = counts.diagonal()[chosen]
    scale = 1 / np.sqrt(gram.diagonal())
    gram *= scale
    gram *= scale[:, None]
    gram[np.diag_indices_from(gram)] = 1 - max(MARGIN, 4 * np.finfo(float).eps * (len(gram) + 2) ** 2)
    _, failed = linalg.lapack.dpotrf(gram.T, lower=1, clean=0, overwrite_a=1)
    return not failed
