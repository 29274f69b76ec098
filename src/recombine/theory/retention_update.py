"""Retention after some cells are added to training, updated from the retention before.

Retention is 1 minus a relative posterior variance (see `recombine.theory.retention`). Added cells A lower the variance
at z by `C(z, A) (C(A, A) + ridge)^-1 C(A, z)`, where C is the posterior covariance before. That takes one linear solve
instead of an inverse.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from scipy import linalg, sparse

from recombine.theory.conjunctions import Conjunctions
from recombine.theory.cooccurrence import cooccurrence
from recombine.theory.overlap_kernels import OverlapKernel
from recombine.theory.posterior_inverse import ridge_matrix
from recombine.theory.retention import (
    BLOCK,
    feature_order,
    feature_weights,
    retention,
    uses_exact_kernel,
    without_constant,
)

PRECISION = 1e-10
"""Relative residual at which conjugate gradients stop."""
DENSE_ADVANTAGE = 50_000
"""The system is solved densely if the cube of its size is below this times the entries of the design."""
MAX_ADDED = 50
"""Most added cells for which an update is faster than starting again."""
MAX_FACTORS = 10
"""Most factors for which an update is faster: a row has a feature for every set of factors."""


def updated_retention(
    kernels: Sequence[OverlapKernel],
    before: Sequence[Float[np.ndarray, " targets_before"]],
    train_before: Int[np.ndarray, "train_before factors"],
    targets_before: Int[np.ndarray, "targets_before factors"],
    train: Int[np.ndarray, "train factors"],
    targets: Int[np.ndarray, "targets factors"],
    sizes: Sequence[int],
) -> list[Float[np.ndarray, " targets"]]:
    """`retention(kernels, train, targets, sizes)`, given its value `before` for fewer training cells.

    Starts from scratch where an update would be slower, inexact or impossible.

    **Arguments:**

    - `train_before`, `targets_before`: the cells that `before` belongs to; `targets` must be among `targets_before`.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import OverlapKernel, retention, updated_retention
    >>> kernels, sizes = [OverlapKernel.by_order([0, 0.3, 0.4])], (2, 3)
    >>> cells = np.indices(sizes).reshape(2, -1).T
    >>> before = retention(kernels, cells[:3], cells[3:], sizes)
    >>> updated = updated_retention(kernels, before, cells[:3], cells[3:], cells[:4], cells[4:], sizes)
    >>> np.allclose(updated, retention(kernels, cells[:4], cells[4:], sizes))
    True

    ```
    """
    codes = [
        np.ravel_multi_index(tuple(cells.T), tuple(sizes))
        for cells in (train_before, targets_before, train, targets)
    ]
    added = train[~np.isin(codes[2], codes[0])]
    position = np.minimum(np.searchsorted(codes[1], codes[3]), max(len(codes[1]) - 1, 0))
    contained = len(codes[1]) > 0 and np.array_equal(codes[1][position], codes[3])
    plain = [without_constant(kernel) for kernel in kernels]
    orders = [
        len(sizes) - 1 if uses_exact_kernel(len(cells), number) else feature_order(cells, sizes)
        for cells, number in ((train_before, len(targets_before)), (train, len(targets)))
    ]
    possible = (
        contained
        and len(added) <= MAX_ADDED
        and len(sizes) <= MAX_FACTORS
        and orders[0] == orders[1] > 0
        and all((kernel.salience > -1e-12).all() for kernel in plain)  # features need roots of saliences
    )
    if not possible:
        return retention(kernels, train, targets, sizes)
    earlier = [values[position] for values in before]
    if not len(added):
        return earlier
    gains = _gains(plain, train_before, added, targets, sizes, orders[0])
    if gains is None:
        return retention(kernels, train, targets, sizes)
    return [values + gain for values, gain in zip(earlier, gains, strict=True)]


def _gains(
    kernels: Sequence[OverlapKernel],
    train: np.ndarray,
    added: np.ndarray,
    targets: np.ndarray,
    sizes: Sequence[int],
    order: int,
) -> list[Float[np.ndarray, " targets"]] | None:
    """The increase of retention, in the space of conjunctions: `C(z, a) = r phi_z' (Phi' Phi + r)^-1 phi_a`.

    `None` if the system cannot be solved.
    """
    seen = Conjunctions.of(np.concatenate([train, added]), sizes, order=order, min_order=1)
    design, added_rows = seen.design(train), seen.design(added).toarray()
    dense = design.shape[1] ** 3 < DENSE_ADVANTAGE * design.nnz
    counts = cooccurrence(train, seen) if dense else None
    gains = []
    for kernel in kernels:
        scale, ridge, total = feature_weights(kernel, seen, order)
        if counts is None:
            solution = _solve_iteratively(design, scale, ridge, added_rows)
        else:
            solution = _solve_densely(ridge_matrix(counts, scale, ridge), scale, added_rows)
        if solution is None:
            return None
        weights = ridge * solution * scale[:, None]
        padded = np.concatenate([weights, np.zeros((1, len(added)))])  # column -1 (unseen) adds nothing
        blocks = [
            padded[seen.columns(block)].sum(axis=1)
            for block in np.split(targets, range(BLOCK, len(targets), BLOCK))
        ]
        gains.append(_gain(np.concatenate(blocks), added_rows @ weights, ridge) / total)
    return gains


def _solve_densely(
    matrix: Float[np.ndarray, "columns columns"], scale: np.ndarray, rows: Float[np.ndarray, "added columns"]
) -> Float[np.ndarray, "columns added"] | None:
    """Solves `matrix x = scale row` in the matrix's memory; `None` if it is numerically singular."""
    try:
        return linalg.cho_solve(linalg.cho_factor(matrix, overwrite_a=True), (rows * scale).T)
    except linalg.LinAlgError:
        return None


def _solve_iteratively(
    design: sparse.csr_array, scale: np.ndarray, ridge: float, rows: Float[np.ndarray, "added columns"]
) -> Float[np.ndarray, "columns added"] | None:
    """Solves `(scale design' design scale + ridge) x = scale row`; `None` if that does not converge."""
    from scipy.sparse.linalg import LinearOperator, cg

    transposed, size = design.T.tocsr(), (len(scale), len(scale))
    diagonal = scale**2 * np.asarray(design.sum(axis=0)).ravel() + ridge
    matrix = LinearOperator(
        size, matvec=lambda x: scale * (transposed @ (design @ (scale * x))) + ridge * x, dtype=np.float64
    )
    preconditioner = LinearOperator(size, matvec=lambda x: x / diagonal, dtype=np.float64)
    solved = [cg(matrix, scale * row, rtol=PRECISION, atol=0, maxiter=5000, M=preconditioner) for row in rows]
    return None if any(info for _, info in solved) else np.stack([x for x, _ in solved], axis=1)


def _gain(
    across: Float[np.ndarray, "targets added"], within: Float[np.ndarray, "added added"], ridge: float
) -> Float[np.ndarray, " targets"]:
    matrix = (within + within.T) / 2 + ridge * np.eye(len(within))  # symmetric up to rounding
    return (across * np.linalg.solve(matrix, across.T).T).sum(axis=1)
