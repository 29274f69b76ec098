"""The memorisation leak: how much of the truth reaches cells that training does not have.

A model that stores whole cells as well as their parts answers an unseen cell from the parts alone. Minimum-norm
interpolation is ridge regression on the lower orders, with the salience of whole cells as the ridge, so answers for
unseen cells come out too small. `retention` of a cell, `K_L(z, train) (K_L + ridge)^-1 K_L(train, z) / K_L(z, z)`, is
the share that remains, whatever the labels. The constant is left out: it costs the model nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy import linalg

from recombine.theory import Conjunctions, OverlapKernel
from recombine.theory.overlap_kernels import place

MOST_WORK = 3e7
"""Training cells times cells of interest up to which the kernel of all lower orders is solved exactly."""
MOST_CELLS = 3000
"""Training cells up to which it is."""
ORDER = 2
"""Beyond that: conjunctions up to this order, with the salience of all higher ones as the ridge."""
_BLOCK = 2000
_LEAST_RIDGE = 1e-10


@dataclass(frozen=True)
class Leak:
    """How much of the truth is expected to remain in answers for unseen cells.

    - `profile`: whose saliences; `median`, `low`, `high`: of the cells' retention.
    - `band`: the median for saliences of random ReLU networks of 1 and of 10 layers, if no profile was given.
    - `partners`: for every factor the levels that were seen with the fewest partners, and with how many.
    """

    profile: str
    median: float
    low: float
    high: float
    band: tuple[float, float] | None
    partners: Mapping[str, Sequence[tuple[Any, int]]]


def retention(
    kernels: Sequence[OverlapKernel],
    train: Int[np.ndarray, "train factors"],
    targets: Int[np.ndarray, "targets factors"],
    sizes: Sequence[int],
) -> list[Float[np.ndarray, " targets"]]:
    """The share of every unseen cell's answer that remains, between 0 and 1, for each of some kernels.

    **Arguments:**

    - `train`: different training cells; `targets`: cells that are not among them.
    """
    if not len(targets):
        return [np.zeros(0) for _ in kernels]
    plain = [OverlapKernel.from_salience(kernel.normalised) for kernel in kernels]
    if len(train) > MOST_CELLS or len(train) * len(targets) > MOST_WORK:
        return _by_features(plain, train, targets, sizes)
    return [_exact(kernel, train, targets) for kernel in plain]


def _exact(kernel: OverlapKernel, train: np.ndarray, targets: np.ndarray) -> Float[np.ndarray, " targets"]:
    lower = kernel.lower()
    ridge = max(float(kernel.salience.ravel()[-1]), _LEAST_RIDGE)
    inverse = np.linalg.inv(lower.gram(train) + ridge * np.eye(len(train)))
    found = []
    for start in range(0, len(targets), _BLOCK):
        across = lower.gram(targets[start : start + _BLOCK], train)
        found.append(((across @ inverse) * across).sum(axis=1))
    return np.concatenate(found) / float(lower.similarity.ravel()[-1])


def _by_features(
    kernels: Sequence[OverlapKernel], train: np.ndarray, targets: np.ndarray, sizes: Sequence[int]
) -> list[Float[np.ndarray, " targets"]]:
    """The same in the space of conjunctions: `phi' phi - r phi' (Phi' Phi + r)^-1 phi`, r the ridge.

    A row of features has one entry per set of factors, so the quadratic form is a sum of few entries of the inverse.
    """
    factors = len(sizes)
    order = min(ORDER, factors - 1)
    seen = Conjunctions.of(train, sizes, order=order, least=1)
    design = seen.design(train)
    together = (design.T @ design).toarray()
    columns = seen.columns(targets)
    found = []
    for kernel in kernels:
        salience = [kernel.salience[place(subset, factors)] for subset in seen.subsets]
        scale = np.sqrt(np.repeat(np.maximum(salience, 0), [len(codes) for codes in seen.codes]))
        low = kernel.lower(order)
        ridge = max(float(kernel.similarity.ravel()[-1] - low.similarity.ravel()[-1]), _LEAST_RIDGE)
        matrix = together * scale[:, None] * scale
        matrix[np.diag_indices_from(matrix)] += ridge
        inverse = np.pad(_inverse(matrix), (0, 1))  # unseen, column -1: adds nothing
        kept = _quadratic(inverse, np.append(scale, 0.0), columns, ridge)
        found.append(kept / float(low.similarity.ravel()[-1]))
    return found


def _inverse(matrix: Float[np.ndarray, "n n"]) -> Float[np.ndarray, "n n"]:
    """Of a positive definite matrix, in half the time that a general inverse takes."""
    factor, failed = linalg.lapack.dpotrf(matrix, lower=1, overwrite_a=1)
    if failed:
        return linalg.pinvh(matrix)
    lower, _ = linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
    lower = np.tril(lower)
    return lower + np.tril(lower, -1).T


def _quadratic(
    inverse: np.ndarray, scale: np.ndarray, columns: Int[np.ndarray, "rows subsets"], ridge: float
) -> Float[np.ndarray, " rows"]:
    """`phi' phi - ridge phi' inverse phi` of rows that are given by their columns."""
    found = []
    for start in range(0, len(columns), _BLOCK):
        block = columns[start : start + _BLOCK]
        weights = scale[block]
        form = np.zeros(len(block))
        for i in range(block.shape[1]):
            form += weights[:, i] * (inverse[block[:, i, None], block] * weights).sum(axis=1)
        found.append((weights**2).sum(axis=1) - ridge * form)
    return np.concatenate(found)
