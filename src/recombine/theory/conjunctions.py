"""Conjunctions: subsets of factors together with their levels, and additive functions of them.

A conjunction is seen if some training cell has its levels. Theorem 4.2 of Lippl & Stachenfeld (arXiv 2405.16391):
whatever the labels and the loss, a kernel machine on a compositionally structured representation is a sum of one
value per seen conjunction, and unseen conjunctions add nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse

from recombine.errors import InputError
from recombine.theory.overlap_kernels import OverlapKernel, place

Subset = tuple[int, ...]


def subsets(factors: int, order: int, *, least: int = 0) -> list[Subset]:
    """All sets of `least` to `order` factors, small ones first, as sorted positions."""
    if not 0 <= order <= factors:
        raise InputError("order", order, f"a whole number from 0 to the {factors} factors")
    return list(chain.from_iterable(combinations(range(factors), k) for k in range(least, order + 1)))


def codes_of(cells: np.ndarray, subset: Subset, sizes: Sequence[int]) -> Int[np.ndarray, " rows"]:
    """One number for the levels that every row has at the factors of a subset."""
    codes = np.zeros(len(cells), dtype=np.int64)
    for axis in subset:
        codes = codes * sizes[axis] + cells[:, axis]
    return codes


@dataclass(frozen=True, eq=False)
class Conjunctions:
    """The conjunctions up to some order that occur in some rows: the columns of a design matrix.

    **Arguments:**

    - `sizes`: the number of levels of every factor.
    - `subsets`: the sets of factors that are looked at.
    - `codes`: for each of them the codes of the levels that occur, sorted.

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
    def of(cells: np.ndarray, sizes: Sequence[int], *, order: int, least: int = 0) -> Conjunctions:
        """Those of order `least` to `order` that occur in `cells`, `(rows, factors)` level indices."""
        cells = np.asarray(cells)
        if cells.ndim != 2 or cells.shape[1] != len(sizes):
            raise InputError("cells", cells.shape, f"(rows, {len(sizes)}) level indices")
        found = tuple(subsets(len(sizes), order, least=least))
        return Conjunctions(tuple(sizes), found, tuple(np.unique(codes_of(cells, s, sizes)) for s in found))

    @property
    def starts(self) -> Int[np.ndarray, " subsets"]:
        """The first column of every subset, and at the end the number of columns."""
        return np.cumsum([0, *map(len, self.codes)])

    def columns(self, cells: np.ndarray) -> Int[np.ndarray, "rows subsets"]:
        """For every row and subset the column of its conjunction, -1 if it is not among them."""
        found = np.empty((len(cells), len(self.subsets)), dtype=np.int64)
        for position, (subset, known, start) in enumerate(
            zip(self.subsets, self.codes, self.starts[:-1], strict=True)
        ):
            code = codes_of(cells, subset, self.sizes)
            place = np.minimum(np.searchsorted(known, code), len(known) - 1)
            found[:, position] = np.where(known[place] == code, start + place, -1)
        return found

    def design(self, cells: np.ndarray) -> sparse.csr_array:
        """The zero-one design `(rows, columns)`; conjunctions that are not among the columns are left out."""
        columns = self.columns(np.asarray(cells))
        known = columns >= 0
        ends = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        shape = (len(columns), int(self.starts[-1]))
        return sparse.csr_array((np.ones(ends[-1]), columns[known], ends), shape=shape)

    def missing(self, cells: np.ndarray) -> Bool[np.ndarray, "rows subsets"]:
        """Which conjunctions of every row do not occur."""
        return self.columns(np.asarray(cells)) < 0


def decompose(
    kernel: OverlapKernel, train: np.ndarray, weights: Float[np.ndarray, " train"], cells: np.ndarray
) -> dict[Subset, Float[np.ndarray, " cells"]]:
    """What the conjunctions of each set of factors add to `f(z) = sum_i weights_i K(z, z_i)`.

    `f_J(z) = s_J times the sum of weights_i over training rows with the levels of z at J`, so 0 for conjunctions
    that training does not have. No choice of gauge is involved.

    **Arguments:**

    - `train`, `cells`: `(rows, factors)` level indices.
    - `weights`: the kernel machine's dual weights.

    **Returns:**

    For every set of factors (as positions) its part, `(cells,)`. The parts add up to f.
    """
    train, cells = np.asarray(train), np.asarray(cells)
    sizes = tuple(int(n) + 1 for n in np.concatenate([train, cells]).max(axis=0))
    seen = Conjunctions.of(train, sizes, order=kernel.factors)
    sums = np.append(seen.design(train).T @ np.asarray(weights), 0.0)  # column -1, unseen: nothing
    found = sums[seen.columns(cells)]
    return {
        subset: kernel.salience[place(subset, kernel.factors)] * found[:, position]
        for position, subset in enumerate(seen.subsets)
    }
