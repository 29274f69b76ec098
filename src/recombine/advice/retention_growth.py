"""Retention with some training cells more, from the retention without them.

What training does not explain of a cell is the posterior variance of a Gaussian process with the lower-order kernel
and the ridge as noise. Further cells A lower it at z by `C(z, A) (C(A, A) + ridge)^-1 C(A, z)`, C the posterior
covariance, which takes one solution of a linear system instead of an inverse.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, cg

from recombine.advice.leak import (
    BLOCK,
    counts_together,
    feature_order,
    feature_weights,
    is_exact,
    retention,
    ridged,
)
from recombine.theory import Conjunctions, OverlapKernel

PRECISION = 1e-10
"""Of conjugate gradients."""
DENSE = 50_000
"""A dense system is solved if the cube of its size is below this times the entries of the design."""
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

    `None` where the system cannot be solved.
    """
    seen = Conjunctions.of(np.concatenate([train, added]), sizes, order=order, least=1)
    design, fresh = seen.design(train), seen.design(added).toarray()
    together = counts_together(design) if design.shape[1] ** 3 < DENSE * design.nnz else None
    found = []
    for kernel in kernels:
        scale, ridge, whole = feature_weights(kernel, seen, order)
        if together is None:
            solution = _by_gradients(design, scale, ridge, fresh)
        else:
            solution = _directly(ridged(together, scale, ridge), scale, fresh)
        if solution is None:
            return None
        weights = ridge * solution * scale[:, None]
        padded = np.concatenate([weights, np.zeros((1, len(added)))])  # unseen, column -1: adds nothing
        blocks = [
            padded[seen.columns(block)].sum(axis=1)
            for block in np.split(targets, range(BLOCK, len(targets), BLOCK))
        ]
        found.append(_gain(np.concatenate(blocks), fresh @ weights, ridge) / whole)
    return found


def _directly(
    matrix: Float[np.ndarray, "columns columns"], scale: np.ndarray, rows: Float[np.ndarray, "added columns"]
) -> Float[np.ndarray, "columns added"] | None:
    """Solves `matrix x = scale row`, in place of the matrix; `None` if it is next to singular."""
    try:
        return linalg.cho_solve(linalg.cho_factor(matrix, overwrite_a=True), (rows * scale).T)
    except linalg.LinAlgError:
        return None


def _by_gradients(
    design: sparse.csr_array, scale: np.ndarray, ridge: float, rows: Float[np.ndarray, "added columns"]
) -> Float[np.ndarray, "columns added"] | None:
    """Solves `(scale design' design scale + ridge) x = scale row`; `None` if that does not converge."""
    turned, size = design.T.tocsr(), (len(scale), len(scale))
    diagonal = scale**2 * np.asarray(design.sum(axis=0)).ravel() + ridge
    matrix = LinearOperator(
        size, matvec=lambda x: scale * (turned @ (design @ (scale * x))) + ridge * x, dtype=np.float64
    )
    coarse = LinearOperator(size, matvec=lambda x: x / diagonal, dtype=np.float64)
    solved = [cg(matrix, scale * row, rtol=PRECISION, atol=0, maxiter=5000, M=coarse) for row in rows]
    return None if any(info for _, info in solved) else np.stack([x for x, _ in solved], axis=1)


def _gain(
    across: Float[np.ndarray, "targets added"], within: Float[np.ndarray, "added added"], ridge: float
) -> Float[np.ndarray, " targets"]:
    matrix = (within + within.T) / 2 + ridge * np.eye(len(within))
    return (across * np.linalg.solve(matrix, across.T).T).sum(axis=1)
