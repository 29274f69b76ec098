"""Retention: the share of the true value that reaches a cell without training examples.

A model that stores whole cells as well as their parts has only the parts to predict an unseen cell from. Write its
kernel as `K = K_L + s 1[z = z']`, where `K_L` holds the conjunctions of lower order and `s` is the salience of the full
conjunction. Unseen cells have no full conjunction in common with training, so minimum-norm interpolation with `K`
predicts them as ridge regression with `K_L` and ridge `s` does, and the ridge shrinks the prediction: the memorisation
leak. For whatever labels, the retention of a cell z is

    K_L(z, train) (K_L(train, train) + s)^-1 K_L(train, z) / K_L(z, z),

which is 1 minus the relative posterior variance of a Gaussian process with kernel `K_L` and noise `s`. The constant
(the salience of the empty set) is left out, because a free offset costs the model nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int
from scipy import linalg, sparse

from recombine.theory.conjunctions import Conjunctions
from recombine.theory.overlap_kernels import OverlapKernel, set_index

MAX_CELLS = 3000
"""Largest number of training cells for the exact kernel: its inverse takes the cube of this."""
MAX_WORK = 3e7
"""Largest number of training cells times unseen cells for the exact kernel; beyond, features are faster."""
FEATURE_ORDER = 2
"""Beyond these limits only conjunctions up to this order count, and the salience of all others is the ridge."""
MAX_COLUMNS = 12_000
"""Largest number of seen conjunctions of `FEATURE_ORDER`, for a matrix of its square; beyond, only single levels."""
BLOCK = 2000
"""Cells that are evaluated together, which bounds the memory for cross-kernels."""
DENSE_ADVANTAGE = 20
"""How many times faster a product of dense matrices is than one that looks up the entries that are not zero."""
MIN_RIDGE = 1e-10
"""Keeps the system solvable where whole cells have no salience; retention is then 1 for every determined cell."""


def retention(
    kernels: Sequence[OverlapKernel],
    train: Int[np.ndarray, "train factors"],
    targets: Int[np.ndarray, "targets factors"],
    sizes: Sequence[int],
) -> list[Float[np.ndarray, " targets"]]:
    """The retention of every unseen cell, between 0 and 1, for each kernel.

    **Arguments:**

    - `train`: the training cells, each once, as level indices.
    - `targets`: cells that are not among them.
    - `sizes`: the number of levels of every factor.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import OverlapKernel, retention
    >>> kernel = OverlapKernel.by_order([0, 0.3, 0.4])  # one factor 0.3, the whole cell 0.4
    >>> train, unseen = np.array([[0, 0], [0, 1], [1, 0]]), np.array([[1, 1]])
    >>> [values.round(4).tolist() for values in retention([kernel], train, unseen, (2, 2))]
    [[0.3659]]

    ```
    """
    if not len(targets) or len(sizes) == 1:  # a single factor has no parts to generalise from
        return [np.zeros(len(targets)) for _ in kernels]
    kernels = [without_constant(kernel) for kernel in kernels]
    if uses_exact_kernel(len(train), len(targets)):
        return [_from_kernel(kernel, train, targets) for kernel in kernels]
    return _from_features(kernels, train, targets, sizes)


def without_constant(kernel: OverlapKernel) -> OverlapKernel:
    """The kernel in units of its spread, with salience 0 for the empty set."""
    return OverlapKernel.from_salience(kernel.normalised)


def uses_exact_kernel(n_train: int, n_targets: int) -> bool:
    """Whether the kernel of all lower orders can be inverted for this many cells."""
    return n_train <= MAX_CELLS and n_train * n_targets <= MAX_WORK


def _from_kernel(
    kernel: OverlapKernel, train: np.ndarray, targets: np.ndarray
) -> Float[np.ndarray, " targets"]:
    lower = kernel.lower()
    ridge = max(float(kernel.salience.ravel()[-1]), MIN_RIDGE)
    inverse = np.linalg.inv(lower.gram(train) + ridge * np.eye(len(train)))
    explained = []
    for start in range(0, len(targets), BLOCK):
        across = lower.gram(targets[start : start + BLOCK], train)
        explained.append(((across @ inverse) * across).sum(axis=1))
    return np.concatenate(explained) / float(lower.similarity.ravel()[-1])


def _from_features(
    kernels: Sequence[OverlapKernel], train: np.ndarray, targets: np.ndarray, sizes: Sequence[int]
) -> list[Float[np.ndarray, " targets"]]:
    """The same in the space of conjunctions: `phi' phi - r phi' (Phi' Phi + r)^-1 phi`, with ridge r.

    This is the kernel form by the Woodbury identity, with one row and column per seen conjunction instead of one per
    training cell. A row of features has one non-zero entry per set of factors, so the quadratic form is a sum over few
    entries of the inverse.
    """
    order = feature_order(train, sizes)
    seen = Conjunctions.of(train, sizes, order=order, min_order=1)
    counts = cooccurrence_counts(seen.design(train))
    retained = []
    for kernel in kernels:
        scale, ridge, total = feature_weights(kernel, seen, order)
        inverse = _lower_inverse(counts, scale, ridge)
        blocks = np.split(targets, range(BLOCK, len(targets), BLOCK))
        if is_dense(len(seen.subsets), len(scale)):
            inverse += np.tril(inverse, -1).T - np.triu(inverse, 1)
            explained = [_explained_densely(inverse, seen.design(block) * scale, ridge) for block in blocks]
        else:
            explained = [
                _explained(inverse, np.append(scale, 0.0), seen.columns(block), ridge) for block in blocks
            ]
        del inverse  # before the next one is allocated
        retained.append(np.concatenate(explained) / total)
    return retained


def cooccurrence_counts(design: sparse.csr_array) -> Float[np.ndarray, "columns columns"]:
    """`design' design`: in how many rows two columns are both 1.

    In single precision, which is exact for counts below 2^24 and takes half the memory.
    """
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


def feature_order(train: Int[np.ndarray, "train factors"], sizes: Sequence[int]) -> int:
    """The largest order whose seen conjunctions fit into memory for a large table."""
    order = min(FEATURE_ORDER, len(sizes) - 1)
    seen = Conjunctions.of(train, sizes, order=order, min_order=1)
    return order if seen.starts[-1] <= MAX_COLUMNS else 1


def feature_weights(
    kernel: OverlapKernel, seen: Conjunctions, order: int
) -> tuple[Float[np.ndarray, " columns"], float, float]:
    """The kernel as weighted features.

    **Returns:**

    The weight of every column (the root of its salience), the ridge (the salience of all orders above `order`), and the
    kernel of a cell with itself up to `order`.
    """
    salience = [kernel.salience[set_index(subset, kernel.factors)] for subset in seen.subsets]
    scale = np.sqrt(np.repeat(np.maximum(salience, 0), [len(codes) for codes in seen.codes]))
    total = float(kernel.lower(order).similarity.ravel()[-1])
    return scale, max(float(kernel.similarity.ravel()[-1]) - total, MIN_RIDGE), total


def ridge_matrix(
    counts: Float[np.ndarray, "n n"], scale: Float[np.ndarray, " n"], ridge: float
) -> Float[np.ndarray, "n n"]:
    """`diag(scale) counts diag(scale) + ridge`, without a second array of that size."""
    matrix = counts.astype(np.float64)
    matrix *= scale[:, None]
    matrix *= scale
    matrix[np.diag_indices_from(matrix)] += ridge
    return matrix


def is_dense(entries: float, columns: int) -> bool:
    """Whether rows with so many entries that are not zero are multiplied faster with all their zeros."""
    return columns**2 < DENSE_ADVANTAGE * entries**2


def _lower_inverse(
    counts: Float[np.ndarray, "n n"], scale: Float[np.ndarray, " n"], ridge: float
) -> Float[np.ndarray, "n n"]:
    """The lower triangle of the inverse of `ridge_matrix`, in the matrix's memory: a second one may not fit."""
    factor, failed = linalg.lapack.dpotrf(ridge_matrix(counts, scale, ridge).T, lower=1, overwrite_a=1)
    if failed:  # numerically singular
        return linalg.pinvh(ridge_matrix(counts, scale, ridge))
    inverse, _ = linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
    return inverse


def _explained(
    lower: np.ndarray, scale: np.ndarray, columns: Int[np.ndarray, "rows subsets"], ridge: float
) -> Float[np.ndarray, " rows"]:
    """`phi' phi - ridge phi' inverse phi` for rows given by their columns; column -1 (unseen) has weight 0."""
    weights = scale[columns]
    form = np.zeros(len(columns))
    for position in range(columns.shape[1]):
        column = columns[:, position, None]
        entries = lower[np.maximum(column, columns), np.minimum(column, columns)]
        form += weights[:, position] * (entries * weights).sum(axis=1)
    return (weights**2).sum(axis=1) - ridge * form


def _explained_densely(
    inverse: Float[np.ndarray, "n n"], features: sparse.csr_array, ridge: float
) -> Float[np.ndarray, " rows"]:
    """`phi' phi - ridge phi' inverse phi` for rows of weighted features."""
    rows = features.toarray()
    return (rows**2).sum(axis=1) - ridge * ((rows @ inverse) * rows).sum(axis=1)
