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

from recombine.theory.conjunctions import Conjunctions
from recombine.theory.cooccurrence import cooccurrence
from recombine.theory.levelwise_inverse import LevelwiseColumns
from recombine.theory.overlap_kernels import OverlapKernel, set_index
from recombine.theory.posterior_inverse import PosteriorInverse

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
    order = feature_order(train, sizes)
    seen = Conjunctions.of(train, sizes, order=order, min_order=1)
    counts = cooccurrence(train, seen)
    values = []
    for kernel in kernels:  # one inverse at a time
        scale, ridge, total = feature_weights(kernel, seen, order)
        inverse = PosteriorInverse.of(counts, scale, ridge, total)
        values += retention_by_inverse([inverse], targets, seen)
    return values


def without_constant(kernel: OverlapKernel) -> OverlapKernel:
    """The kernel in units of its spread, with salience 0 for the empty set."""
    return OverlapKernel.from_salience(kernel.normalised)


def uses_exact_kernel(n_train: int, n_targets: int) -> bool:
    """Whether the kernel of all lower orders can be inverted for this many cells."""
    return n_train <= MAX_CELLS and n_train * n_targets <= MAX_WORK


def uses_features(n_train: int, n_targets: int, sizes: Sequence[int]) -> bool:
    """Whether retention is computed in the space of conjunctions, and not with the exact kernel."""
    return n_targets > 0 and len(sizes) > 1 and not uses_exact_kernel(n_train, n_targets)


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


def retention_by_inverse(
    inverses: Sequence[PosteriorInverse],
    targets: Int[np.ndarray, "targets factors"],
    coding: Conjunctions | LevelwiseColumns,
) -> list[Float[np.ndarray, " targets"]]:
    """The same in the space of conjunctions: `phi' phi - r phi' (Phi' Phi + r)^-1 phi`, with ridge r.

    This is the kernel form by the Woodbury identity, with one row and column per seen conjunction instead of one per
    training cell. A row of features has one non-zero entry per set of factors, so the quadratic form is a sum over few
    entries of the inverse.

    **Arguments:**

    - `coding`: what the inverses' columns are.
    """
    values = [np.empty(len(targets)) for _ in inverses]
    for start in range(0, len(targets), BLOCK):
        columns = coding.columns(targets[start : start + BLOCK])
        for one, inverse in zip(values, inverses, strict=True):
            one[start : start + BLOCK] = inverse.retention(columns)
    return values


def feature_order(
    train: Int[np.ndarray, "train factors"], sizes: Sequence[int], seen: Conjunctions | None = None
) -> int:
    """The largest order whose seen conjunctions fit into memory for a large table.

    **Arguments:**

    - `seen`: the conjunctions that occur in training, at least up to `FEATURE_ORDER`, if they are known.
    """
    order = min(FEATURE_ORDER, len(sizes) - 1)
    if seen is None:
        seen = Conjunctions.of(train, sizes, order=order, min_order=1)
    return order if seen.of_orders(order, min_order=1).starts[-1] <= MAX_COLUMNS else 1


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
