"""Conjunctions (subsets of factors with their levels) and functions that are sums over them.

A conjunction is seen if some training cell has its levels. By Theorem 4.2 of Lippl & Stachenfeld (arXiv 2405.16391), a
kernel machine on a compositionally structured representation is a sum of one value per seen conjunction, whatever the
labels and the loss; unseen conjunctions add nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from math import prod

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse

from recombine.errors import InputError
from recombine.spaces.cell_numbers import distinct_numbers
from recombine.theory.overlap_kernels import OverlapKernel, set_index

Subset = tuple[int, ...]
"""A set of factors, as sorted positions."""


def subsets(factors: int, order: int, *, min_order: int = 0) -> list[Subset]:
    """All sets of `min_order` to `order` factors, small ones first, as sorted positions.

    ```python
    >>> from recombine.theory import subsets
    >>> subsets(3, 2, min_order=1)
    [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]

    ```
    """
    if not 0 <= order <= factors:
        raise InputError("order", order, f"a whole number from 0 to the {factors} factors")
    return list(chain.from_iterable(combinations(range(factors), k) for k in range(min_order, order + 1)))


def codes_of(cells: np.ndarray, subset: Subset, sizes: Sequence[int]) -> Int[np.ndarray, " rows"]:
    """One number per row for its levels of the factors in a subset, in C order."""
    codes = np.zeros(len(cells), dtype=np.int64)
    for axis in subset:
        codes = codes * sizes[axis] + cells[:, axis]
    return codes


@dataclass(frozen=True, eq=False)
class Conjunctions:
    """The conjunctions up to some order that occur in a set of cells: the columns of a design matrix.

    **Arguments:**

    - `sizes`: the number of levels of every factor.
    - `subsets`: the sets of factors.
    - `codes`: for each of them, the sorted codes of the combinations of levels that occur.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import Conjunctions
    >>> seen = Conjunctions.of(np.array([[0, 0], [0, 1], [1, 0]]), (2, 2), order=1)
    >>> seen.design(np.array([[1, 1]])).toarray()  # constant, first factor 0 or 1, second factor 0 or 1
    array([[1., 0., 1., 0., 1.]])

    ```
    """

    sizes: tuple[int, ...]
    subsets: tuple[Subset, ...]
    codes: tuple[Int[np.ndarray, " values"], ...]

    @staticmethod
    def of(cells: np.ndarray, sizes: Sequence[int], *, order: int, min_order: int = 0) -> Conjunctions:
        """Those of order `min_order` to `order` that occur in `cells`, `(rows, factors)` level indices."""
        cells = np.asarray(cells)
        if cells.ndim != 2 or cells.shape[1] != len(sizes):
            raise InputError("cells", cells.shape, f"(rows, {len(sizes)}) level indices")
        sets = tuple(subsets(len(sizes), order, min_order=min_order))
        codes = tuple(
            distinct_numbers(codes_of(cells, subset, sizes), prod(sizes[axis] for axis in subset))
            for subset in sets
        )
        return Conjunctions(tuple(sizes), sets, codes)

    def of_orders(self, order: int, *, min_order: int = 0) -> Conjunctions:
        """Only those of order `min_order` to `order`, without another look at the cells."""
        kept = [position for position, one in enumerate(self.subsets) if min_order <= len(one) <= order]
        subsets = tuple(self.subsets[position] for position in kept)
        return Conjunctions(self.sizes, subsets, tuple(self.codes[position] for position in kept))

    def also_of(self, cells: Int[np.ndarray, "rows factors"]) -> Conjunctions:
        """These and those that occur in further cells."""
        codes = tuple(
            np.union1d(known, codes_of(cells, subset, self.sizes))
            for subset, known in zip(self.subsets, self.codes, strict=True)
        )
        return Conjunctions(self.sizes, self.subsets, codes)

    @property
    def starts(self) -> Int[np.ndarray, " subsets"]:
        """The first column of every subset, followed by the number of columns."""
        return np.cumsum([0, *map(len, self.codes)])

    def columns(self, cells: np.ndarray) -> Int[np.ndarray, "rows subsets"]:
        """For every row and subset, the column of its conjunction; -1 if that does not occur."""
        columns = np.empty((len(cells), len(self.subsets)), dtype=np.int64)
        for position, (subset, known, start) in enumerate(
            zip(self.subsets, self.codes, self.starts[:-1], strict=True)
        ):
            code = codes_of(cells, subset, self.sizes)
            all_of_set = prod(self.sizes[axis] for axis in subset)
            if all_of_set <= len(cells) + len(known):  # a table of all combinations is faster than a search
                column = np.full(all_of_set, -1)
                column[known] = start + np.arange(len(known))
                columns[:, position] = column[code]
                continue
            index = np.minimum(np.searchsorted(known, code), len(known) - 1)
            columns[:, position] = np.where(known[index] == code, start + index, -1)
        return columns

    def design(self, cells: np.ndarray) -> sparse.csr_array:
        """The design `(rows, columns)` of zeros and ones; conjunctions without a column are left out."""
        columns = self.columns(np.asarray(cells))
        known = columns >= 0
        ends = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        shape = (len(columns), int(self.starts[-1]))
        return sparse.csr_array((np.ones(ends[-1]), columns[known], ends), shape=shape)

    def missing(self, cells: np.ndarray) -> Bool[np.ndarray, "rows subsets"]:
        """For every row and subset, whether its conjunction does not occur."""
        return self.columns(np.asarray(cells)) < 0


def decompose(
    kernel: OverlapKernel, train: np.ndarray, weights: Float[np.ndarray, " train"], cells: np.ndarray
) -> dict[Subset, Float[np.ndarray, " cells"]]:
    """What the conjunctions of each set of factors contribute to `f(z) = sum_i weights_i K(z, z_i)`.

    `f_J(z)` is `s_J` times the sum of `weights_i` over the training rows with the levels of z at J, so it is 0 for
    unseen conjunctions. The decomposition follows from the kernel and involves no choice of coordinates.

    **Arguments:**

    - `train`, `cells`: `(rows, factors)` level indices.
    - `weights`: the kernel machine's dual weights.

    **Returns:**

    For every set of factors (as positions) its part, `(cells,)`. The parts add up to f.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import OverlapKernel, decompose, min_norm
    >>> kernel, train = OverlapKernel.by_count([0, 0.3, 1]), np.array([[0, 0], [0, 1], [1, 0]])
    >>> weights = min_norm(kernel.gram(train), np.array([-1.0, -1.0, 1.0])).weights
    >>> parts = decompose(kernel, train, weights, np.array([[1, 1]]))
    >>> [round(float(parts[subset][0]), 4) for subset in ((0,), (1,), (0, 1))]  # the cell itself is unseen
    [0.4098, -0.1902, 0.0]

    ```
    """
    train, cells = np.asarray(train), np.asarray(cells)
    sizes = tuple(int(n) + 1 for n in np.concatenate([train, cells]).max(axis=0))
    seen = Conjunctions.of(train, sizes, order=kernel.factors)
    sums = np.append(seen.design(train).T @ np.asarray(weights), 0.0)  # column -1 (unseen) adds nothing
    sums_of_cells = sums[seen.columns(cells)]
    return {
        subset: kernel.salience[set_index(subset, kernel.factors)] * sums_of_cells[:, position]
        for position, subset in enumerate(seen.subsets)
    }
