"""How often conjunctions occur together in a set of cells: the product of a design with itself.

Two conjunctions of at most k factors occur together where a cell has the levels of both, so their count is an entry of
the histogram of the cells over the factors of either. There are few such histograms, and each takes one pass over the
cells, while the product of the design with itself takes a pass for every pair of sets of factors.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from string import ascii_letters

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse

from recombine.theory.conjunctions import Conjunctions, Subset, codes_of

DENSE_ADVANTAGE = 20
"""How many times faster a product of dense matrices is than one that looks up the entries that are not zero."""
BLOCK = 2000
"""Rows that are multiplied together, which bounds the memory for dense rows."""
MAX_SPARSITY = 4
"""Histograms are used if they have at most this many entries for each pair of conjunctions that occurs."""


def cooccurrence(
    cells: Int[np.ndarray, "cells factors"], seen: Conjunctions
) -> Float[np.ndarray, "columns columns"]:
    """In how many cells two conjunctions both occur: `design' design`.

    In single precision, which is exact for counts below 2^24 and takes half the memory.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import Conjunctions
    >>> from recombine.theory.cooccurrence import cooccurrence
    >>> cells = np.array([[0, 0], [0, 1], [1, 0]])
    >>> cooccurrence(cells, Conjunctions.of(cells, (2, 2), order=1, min_order=1))
    array([[2., 0., 1., 1.],
           [0., 1., 1., 0.],
           [1., 1., 2., 0.],
           [1., 0., 0., 1.]], dtype=float32)

    ```
    """
    cells = np.asarray(cells)
    if not _histograms_fit(seen):
        return _design_product(seen.design(cells))
    histograms = _Histograms(cells, seen)
    counts = np.zeros((int(seen.starts[-1]),) * 2, dtype=np.float32)
    starts = seen.starts.tolist()
    for one, (subset, codes) in enumerate(zip(seen.subsets, seen.codes, strict=True)):
        rows = slice(starts[one], starts[one + 1])
        for other in range(one + 1):
            columns = slice(starts[other], starts[other + 1])
            block = histograms.block(subset, seen.subsets[other])
            counts[rows, columns] = _selected(block, codes, seen.codes[other])
            if other < one:
                counts[columns, rows] = counts[rows, columns].T
    return counts


def is_dense(entries: float, columns: int) -> bool:
    """Whether rows with so many entries that are not zero are multiplied faster with all their zeros."""
    return columns**2 < DENSE_ADVANTAGE * entries**2


class _Histograms:
    """Histograms of cells over sets of factors, each computed once; over few factors, from one over more."""

    def __init__(self, cells: Int[np.ndarray, "cells factors"], seen: Conjunctions) -> None:
        self._cells, self._sizes = cells, seen.sizes
        self._tables: dict[Subset, Float[np.ndarray, ...]] = {}
        unions = {_union(one, other) for one in seen.subsets for other in seen.subsets}
        for union in sorted(unions, key=len, reverse=True):
            larger = next((known for known in self._tables if set(union) < set(known)), None)
            self._tables[union] = self._count(union) if larger is None else self._marginal(union, larger)

    def block(self, one: Subset, other: Subset) -> Float[np.ndarray, "one other"]:
        """Counts of all pairs of a conjunction of one set of factors and one of another set."""
        union = _union(one, other)
        if one == other == ():
            return self._tables[union].reshape(1, 1)
        block = np.zeros([self._sizes[axis] for axis in (*one, *other)], dtype=np.float32)
        # A view of the entries whose levels agree at shared factors; the others stay 0.
        letter = dict(zip(union, ascii_letters, strict=False))
        axes = "".join(letter[axis] for axis in (*one, *other))
        agreeing = np.einsum(f"{axes}->{''.join(letter[axis] for axis in union)}", block)
        agreeing[...] = self._tables[union]
        return block.reshape(prod(self._sizes[axis] for axis in one), -1)

    def _count(self, subset: Subset) -> Float[np.ndarray, ...]:
        shape = [self._sizes[axis] for axis in subset]
        counts = np.bincount(codes_of(self._cells, subset, self._sizes), minlength=prod(shape))
        return counts.reshape(shape).astype(np.float32)

    def _marginal(self, subset: Subset, larger: Subset) -> Float[np.ndarray, ...]:
        dropped = tuple(position for position, axis in enumerate(larger) if axis not in subset)
        return self._tables[larger].sum(axis=dropped)


def _union(one: Subset, other: Subset) -> Subset:
    return tuple(sorted({*one, *other}))


def _histograms_fit(seen: Conjunctions) -> bool:
    """Whether histograms over all levels are not much larger than the counts of conjunctions that occur."""
    all_of_set = [prod(seen.sizes[axis] for axis in subset) for subset in seen.subsets]
    return sum(all_of_set) ** 2 <= MAX_SPARSITY * max(int(seen.starts[-1]), 1) ** 2


def _selected(block: np.ndarray, rows: Sequence[int] | np.ndarray, columns: np.ndarray) -> np.ndarray:
    if len(rows) < len(block):
        block = block[rows]
    return block if len(columns) == block.shape[1] else block[:, columns]


def _design_product(design: sparse.csr_array) -> Float[np.ndarray, "columns columns"]:
    single = design.astype(np.float32)
    counts = np.zeros((single.shape[1],) * 2, dtype=np.float32)
    if is_dense(design.nnz / max(1, design.shape[0]), design.shape[1]):
        for start in range(0, single.shape[0], BLOCK):
            block = single[start : start + BLOCK].toarray()
            counts += block.T @ block
        return counts
    transposed = single.T.tocsr()
    for start in range(0, len(counts), BLOCK):
        counts[start : start + BLOCK] = (transposed[start : start + BLOCK] @ single).toarray()
    return counts
