"""Overlap kernels: similarities that depend only on the factors two cells share, and the saliences in them.

A representation is compositionally structured if the similarity of two cells depends only on the set of factors at
which they agree (Lippl & Stachenfeld, arXiv 2405.16391; there only on the size of that set, a special case). Such a
kernel is a sum over conjunctions, `K(z, z') = sum over J of s_J 1[z_J = z'_J]`, and `s_J` is the raw salience of the
conjunctions of the factors in J.

Functions of a set of factors are arrays of shape `(2,) * factors`: index 1 along the axis of a factor in the set,
index 0 along the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from recombine.errors import InputError


@dataclass(frozen=True, eq=False)
class OverlapKernel:
    """A kernel given by the similarity for every set of shared factors.

    **Arguments:**

    - `similarity`: shape `(2,) * factors`, the kernel of two cells that agree exactly at the factors with index 1.

    ```python
    >>> from recombine.theory import OverlapKernel
    >>> kernel = OverlapKernel.by_count([0, 0.3, 1])  # no, one and both factors in common
    >>> kernel.gram([[0, 0], [0, 1]])
    array([[1. , 0.3],
           [0.3, 1. ]])
    >>> kernel.normalised.round(3).tolist()  # neither, second, first, both
    [[0.0, 0.3], [0.3, 0.4]]

    ```
    """

    similarity: Float[np.ndarray, ...]

    def __post_init__(self) -> None:
        similarity = np.array(self.similarity, dtype=np.float64)
        if similarity.ndim < 1 or set(similarity.shape) != {2}:
            raise InputError("similarity", similarity.shape, "an axis of length 2 for every factor")
        if not np.isfinite(similarity).all():
            raise InputError("similarity", similarity.tolist(), "finite numbers")
        similarity.setflags(write=False)
        object.__setattr__(self, "similarity", similarity)

    @staticmethod
    def by_count(similarity: Sequence[float] | np.ndarray) -> OverlapKernel:
        """The published form: `similarity[k]` for two cells with k levels in common, k = 0 to the number of factors."""
        values = np.asarray(similarity, dtype=np.float64)
        if values.ndim != 1 or len(values) < 2:
            raise InputError("similarity", values.shape, "a number for 0, 1, ... factors in common")
        return OverlapKernel(values[set_sizes(len(values) - 1)])

    @staticmethod
    def from_salience(salience: np.ndarray) -> OverlapKernel:
        """The kernel with these raw saliences, of shape `(2,) * factors`: sums over all subsets of the overlap."""
        similarity = np.array(salience, dtype=np.float64)
        for axis in range(similarity.ndim):
            similarity = np.cumsum(similarity, axis=axis)
        return OverlapKernel(similarity)

    @staticmethod
    def by_order(salience: Sequence[float] | np.ndarray) -> OverlapKernel:
        """The kernel in which each conjunction of order k has `salience[k]`, from 0 to the number of factors."""
        values = np.asarray(salience, dtype=np.float64)
        return OverlapKernel.from_salience(values[set_sizes(len(values) - 1)])

    @property
    def factors(self) -> int:
        """The number of factors."""
        return self.similarity.ndim

    @cached_property
    def salience(self) -> Float[np.ndarray, ...]:
        """Raw saliences `s_J = sum over I in J of (-1)^(|J| - |I|) kappa(I)`: Möbius inversion of the similarity."""
        salience = self.similarity
        for axis in range(salience.ndim):
            without, with_it = np.take(salience, [0], axis), np.take(salience, [1], axis)
            salience = np.concatenate([without, with_it - without], axis)
        return salience

    @property
    def normalised(self) -> Float[np.ndarray, ...]:
        """Saliences as shares of `kappa(all) - kappa(none)`; they add up to 1, with 0 for the empty set."""
        similarity = self.similarity.ravel()
        spread = similarity[-1] - similarity[0]
        if spread == 0:
            raise InputError(
                "similarity",
                similarity.tolist(),
                "cells more similar to themselves than to cells without overlap",
            )
        shares = self.salience / spread
        shares[(0,) * self.factors] = 0.0
        return shares

    @property
    def order_shares(self) -> Float[np.ndarray, " factors"]:
        """`S(k; C)` for k = 1 to C: the share of one conjunction of order k (their mean, if they differ)."""
        return order_means(self.normalised)[1:]

    def lower(self, order: int | None = None) -> OverlapKernel:
        """The kernel without conjunctions above `order`; default: only without the full conjunctions."""
        order = self.factors - 1 if order is None else order
        return OverlapKernel.from_salience(np.where(set_sizes(self.factors) <= order, self.salience, 0.0))

    def gram(self, cells: np.ndarray, others: np.ndarray | None = None) -> Float[np.ndarray, "cells others"]:
        """The Gram matrix between rows of level indices, `(rows, factors)`; `others` defaults to `cells`."""
        return self.similarity.ravel()[overlaps(cells, cells if others is None else others, self.factors)]

    def spectrum(self, sizes: Sequence[int]) -> tuple[Float[np.ndarray, ...], Int[np.ndarray, ...]]:
        """The eigenvalues of the Gram matrix of the whole grid with their multiplicities, in closed form.

        For every set A of factors, `mu_A = sum over J containing A of s_J prod_{c not in J} n_c`, with multiplicity
        `prod_{c in A} (n_c - 1)`.

        **Arguments:**

        - `sizes`: the number of levels of every factor.
        """
        if len(sizes) != self.factors or min(sizes) < 1:
            raise InputError(
                "sizes", tuple(sizes), f"a positive number of levels for each of {self.factors} factors"
            )
        values, multiplicity = self.salience, np.ones((2,) * self.factors, dtype=np.int64)
        for axis, size in enumerate(sizes):
            without, with_it = np.take(values, [0], axis), np.take(values, [1], axis)
            values = np.concatenate([with_it + size * without, with_it], axis)
            shape = [1] * self.factors
            shape[axis] = 2
            multiplicity = multiplicity * np.array([1, size - 1]).reshape(shape)
        return values, multiplicity

    def is_positive(self, sizes: Sequence[int], *, tolerance: float = 1e-8) -> bool:
        """Whether the kernel is positive semi-definite on the whole grid, and so on all its subsets."""
        values, multiplicity = self.spectrum(sizes)
        return bool((values[multiplicity > 0] >= -tolerance).all())


def set_index(subset: Iterable[int], factors: int) -> tuple[int, ...]:
    """The index of a set of factors, given by their positions, in a function of sets."""
    members = set(subset)
    return tuple(int(axis in members) for axis in range(factors))


def set_sizes(factors: int) -> Int[np.ndarray, ...]:
    """The number of factors in every set, `(2,) * factors`."""
    return np.indices((2,) * factors).sum(axis=0)


def order_means(values: Float[np.ndarray, ...]) -> Float[np.ndarray, " orders"]:
    """The mean of a function of sets over the sets of each size, from 0 to the number of factors."""
    sizes = set_sizes(values.ndim).ravel()
    return np.bincount(sizes, weights=values.ravel()) / np.bincount(sizes)


def overlaps(cells: np.ndarray, others: np.ndarray, factors: int) -> Int[np.ndarray, "cells others"]:
    """For every pair of rows, the set of shared factors, as a position in a flattened function of sets."""
    cells, others = np.asarray(cells), np.asarray(others)
    for rows in (cells, others):
        if rows.ndim != 2 or rows.shape[1] != factors:
            raise InputError("cells", rows.shape, f"(rows, {factors}) level indices")
    positions = np.zeros((len(cells), len(others)), dtype=np.int64)
    for axis in range(factors):
        positions = 2 * positions + (cells[:, axis, None] == others[None, :, axis])
    return positions
