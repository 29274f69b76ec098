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
from scipy import linalg, sparse

from recombine.theory import Conjunctions, OverlapKernel
from recombine.theory.overlap_kernels import place

MOST_WORK = 3e7
"""Training cells times cells of interest up to which the kernel of all lower orders is solved exactly."""
MOST_CELLS = 3000
"""Training cells up to which it is."""
ORDER = 2
"""Beyond that: conjunctions up to this order, with the salience of all higher ones as the ridge."""
MOST_COLUMNS = 12_000
"""Seen conjunctions up to which that can be done; beyond, only single levels are taken into account."""
BLOCK = 2000
"""Cells of interest that are looked at together."""
LEAST_RIDGE = 1e-10


@dataclass(frozen=True)
class Leak:
    """How much of the truth is expected to remain in answers for unseen cells.

    - `profile`: whose saliences; `median`, `low`, `high`: of the cells' retention.
    - `order`: up to which conjunctions count; `None` for all, which small tables allow.
    - `band`: the median for saliences of random ReLU networks of 1 and of 10 layers, if no profile was given.
    - `partners`: for every factor the levels that were seen with the fewest partners, and with how many.
    """

    profile: str
    median: float
    low: float
    high: float
    band: tuple[float, float] | None
    partners: Mapping[str, Sequence[tuple[Any, int]]]
    order: int | None = None


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
    if not len(targets) or len(sizes) == 1:  # a single factor has no parts that could carry over
        return [np.zeros(len(targets)) for _ in kernels]
    plain = [OverlapKernel.from_salience(kernel.normalised) for kernel in kernels]
    if is_exact(len(train), len(targets)):
        return [_exact(kernel, train, targets) for kernel in plain]
    return _by_features(plain, train, targets, sizes)


def is_exact(train: int, targets: int) -> bool:
    """Whether so many cells are few enough for the kernel of all lower orders."""
    return train <= MOST_CELLS and train * targets <= MOST_WORK


def _exact(kernel: OverlapKernel, train: np.ndarray, targets: np.ndarray) -> Float[np.ndarray, " targets"]:
    lower = kernel.lower()
    ridge = max(float(kernel.salience.ravel()[-1]), LEAST_RIDGE)
    inverse = np.linalg.inv(lower.gram(train) + ridge * np.eye(len(train)))
    found = []
    for start in range(0, len(targets), BLOCK):
        across = lower.gram(targets[start : start + BLOCK], train)
        found.append(((across @ inverse) * across).sum(axis=1))
    return np.concatenate(found) / float(lower.similarity.ravel()[-1])


def _by_features(
    kernels: Sequence[OverlapKernel], train: np.ndarray, targets: np.ndarray, sizes: Sequence[int]
) -> list[Float[np.ndarray, " targets"]]:
    """The same in the space of conjunctions: `phi' phi - r phi' (Phi' Phi + r)^-1 phi`, r the ridge.

    A row of features has one entry per set of factors, so the quadratic form is a sum of few entries of the inverse.
    """
    order = feature_order(train, sizes)
    seen = Conjunctions.of(train, sizes, order=order, least=1)
    together = counts_together(seen.design(train))
    found = []
    for kernel in kernels:
        scale, ridge, whole = feature_weights(kernel, seen, order)
        lower = _lower_inverse(together, scale, ridge)
        blocks = np.split(targets, range(BLOCK, len(targets), BLOCK))
        kept = [_quadratic(lower, np.append(scale, 0.0), seen.columns(block), ridge) for block in blocks]
        del lower  # before the next one is made
        found.append(np.concatenate(kept) / whole)
    return found


def counts_together(design: sparse.csr_array) -> Float[np.ndarray, "columns columns"]:
    """In how many rows every two columns occur together, in single precision: exact below 2^24, and half as large."""
    single = design.astype(np.float32)
    turned = single.T.tocsr()
    found = np.empty((single.shape[1],) * 2, dtype=np.float32)
    for start in range(0, len(found), BLOCK):
        found[start : start + BLOCK] = (turned[start : start + BLOCK] @ single).toarray()
    return found


def feature_order(train: Int[np.ndarray, "train factors"], sizes: Sequence[int]) -> int:
    """The largest conjunctions that the leak of a large table can take into account."""
    order = min(ORDER, len(sizes) - 1)
    seen = Conjunctions.of(train, sizes, order=order, least=1)
    return order if seen.starts[-1] <= MOST_COLUMNS else 1


def feature_weights(
    kernel: OverlapKernel, seen: Conjunctions, order: int
) -> tuple[Float[np.ndarray, " columns"], float, float]:
    """The size of every feature, the ridge of what is above `order`, and the kernel of a cell with itself below."""
    salience = [kernel.salience[place(subset, kernel.factors)] for subset in seen.subsets]
    scale = np.sqrt(np.repeat(np.maximum(salience, 0), [len(codes) for codes in seen.codes]))
    below = float(kernel.lower(order).similarity.ravel()[-1])
    return scale, max(float(kernel.similarity.ravel()[-1]) - below, LEAST_RIDGE), below


def ridged(
    together: Float[np.ndarray, "n n"], scale: Float[np.ndarray, " n"], ridge: float
) -> Float[np.ndarray, "n n"]:
    """`scale together scale + ridge`, without a second array of that size on the way."""
    found = together.astype(np.float64)
    found *= scale[:, None]
    found *= scale
    found[np.diag_indices_from(found)] += ridge
    return found


def _lower_inverse(
    together: Float[np.ndarray, "n n"], scale: Float[np.ndarray, " n"], ridge: float
) -> Float[np.ndarray, "n n"]:
    """The lower triangle of `(scale together scale + ridge)^-1`, in place of the matrix: a second one may not fit."""
    factor, failed = linalg.lapack.dpotrf(ridged(together, scale, ridge).T, lower=1, overwrite_a=1)
    if failed:  # next to singular
        return linalg.pinvh(ridged(together, scale, ridge))
    inverse, _ = linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
    return inverse


def _quadratic(
    lower: np.ndarray, scale: np.ndarray, columns: Int[np.ndarray, "rows subsets"], ridge: float
) -> Float[np.ndarray, " rows"]:
    """`phi' phi - ridge phi' inverse phi` of rows that are given by their columns; -1, unseen, adds nothing."""
    weights = scale[columns]
    form = np.zeros(len(columns))
    for i in range(columns.shape[1]):
        one = columns[:, i, None]
        entries = lower[np.maximum(one, columns), np.minimum(one, columns)]
        form += weights[:, i] * (entries * weights).sum(axis=1)
    return (weights**2).sum(axis=1) - ridge * form
