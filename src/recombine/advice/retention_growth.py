"""Retention with some training cells more, from the retention without them.

What training does not explain of a cell is the posterior variance of a Gaussian process with the lower-order kernel
and the ridge as noise. Further cells A lower it at z by `C(z, A) (C(A, A) + ridge)^-1 C(A, z)`, C the posterior
covariance, which takes one solution of a linear system instead of an inverse.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse.linalg import LinearOperator, cg

from recombine.advice.leak import BLOCK, feature_order, feature_weights, is_exact, retention
from recombine.theory import Conjunctions, OverlapKernel

PRECISION = 1e-10
"""Of conjugate gradients."""
MOST_ADDED = 50
"""Further cells up to which this is quicker than starting again."""
MOST_FACTORS = 10
"""Factors up to which it is: a row has a feature for every set of them."""


def grown_retention(
    kernels: Sequence[OverlapKernel],
    kept: Sequence[Float[np.ndarray, " before"]],
    train_before: Int[np.ndarray, "less factors"],
    targets_before: Int[np.ndarray, "before factors"],
    train: Int[np.ndarray, "more factors"],
    targets: Int[np.ndarray, "targets factors"],
    sizes: Sequence[int],
) -> list[Float[np.ndarray, " targets"]]:
    """`retention(kernels, train, targets, sizes)`, given what it was (`kept`) for less training.

    - `targets`: must be among the targets from before.
    """
    codes = [
        np.ravel_multi_index(tuple(cells.T), tuple(sizes))
        for cells in (train_before, targets_before, train, targets)
    ]
    added = train[~np.isin(codes[2], codes[0])]
    place_before = np.minimum(np.searchsorted(codes[1], codes[3]), max(len(codes[1]) - 1, 0))
    same = len(codes[1]) > 0 and np.array_equal(codes[1][place_before], codes[3])
    plain = [OverlapKernel.from_salience(kernel.normalised) for kernel in kernels]
    orders = [
        len(sizes) - 1 if is_exact(len(cells), number) else feature_order(cells, sizes)
        for cells, number in ((train_before, len(targets_before)), (train, len(targets)))
    ]
    possible = (
        same
        and len(added) <= MOST_ADDED
        and len(sizes) <= MOST_FACTORS
        and orders[0] == orders[1] > 0
        and all((kernel.salience > -1e-12).all() for kernel in plain)
    )
    if not possible:
        return retention(kernels, train, targets, sizes)
    earlier = [values[place_before] for values in kept]
    if not len(added):
        return earlier
    found = _gains(plain, train_before, added, targets, sizes, orders[0])
    if found is None:
        return retention(kernels, train, targets, sizes)
    return [before + gain for before, gain in zip(earlier, found, strict=True)]


def _gains(
    kernels: Sequence[OverlapKernel],
    train: np.ndarray,
    added: np.ndarray,
    targets: np.ndarray,
    sizes: Sequence[int],
    order: int,
) -> list[Float[np.ndarray, " targets"]] | None:
    """By how much retention rises, in the space of conjunctions: `C(z, a) = r phi_z' (Phi' Phi + r)^-1 phi_a`.

    `None` where conjugate gradients do not converge.
    """
    seen = Conjunctions.of(np.concatenate([train, added]), sizes, order=order, least=1)
    design, fresh = seen.design(train), seen.design(added).toarray()
    turned, counts = design.T.tocsr(), np.asarray(design.sum(axis=0)).ravel()
    found = []
    for kernel in kernels:
        scale, ridge, whole = feature_weights(kernel, seen, order)
        size = (len(scale), len(scale))
        matrix = LinearOperator(
            size,
            matvec=lambda x, s=scale, r=ridge: s * (turned @ (design @ (s * x))) + r * x,
            dtype=np.float64,
        )
        diagonal = scale**2 * counts + ridge
        coarse = LinearOperator(size, matvec=lambda x, d=diagonal: x / d, dtype=np.float64)
        solved = [cg(matrix, scale * row, rtol=PRECISION, atol=0, maxiter=5000, M=coarse) for row in fresh]
        if any(info for _, info in solved):
            return None
        weights = np.stack([ridge * solution for solution, _ in solved], axis=1) * scale[:, None]
        padded = np.concatenate([weights, np.zeros((1, len(added)))])  # unseen, column -1: adds nothing
        blocks = [
            padded[seen.columns(block)].sum(axis=1)
            for block in np.split(targets, range(BLOCK, len(targets), BLOCK))
        ]
        found.append(_gain(np.concatenate(blocks), fresh @ weights, ridge) / whole)
    return found


def _gain(
    across: Float[np.ndarray, "targets added"], within: Float[np.ndarray, "added added"], ridge: float
) -> Float[np.ndarray, " targets"]:
    matrix = (within + within.T) / 2 + ridge * np.eye(len(within))
    return (across * np.linalg.solve(matrix, across.T).T).sum(axis=1)
