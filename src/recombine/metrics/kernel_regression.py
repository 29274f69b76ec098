"""A net as a kernel machine: whether a kernel between cells predicts its unseen outputs from its seen ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Literal, TypedDict, get_args

import numpy as np
from jaxtyping import Bool, Float, Int, Real

from recombine.errors import InputError
from recombine.metrics.behaviour import squared_error, summarise
from recombine.metrics.cell_kernels import additive_kernel, binary_kernel, gaussian_kernel
from recombine.metrics.representation import fold_numbers
from recombine.theory.kernel_machines import symmetric_solve

Family = Literal["factorised", "radial", "binary", "additive", "constant"]
"""Gaussian kernels with one width per factor or one for all, kernels of shared levels, and the null `K = 1`."""

Selection = Literal["seen", "probe"]
"""Choose widths by cross-validation on seen cells only, or by the total error on all cells (as published)."""

_Kernel = Callable[[np.ndarray, np.ndarray], np.ndarray]


class KernelFit(TypedDict):
    """The result of [`recombine.metrics.kernel_regression`][]."""

    family: Family
    widths: tuple[float, ...] | None
    predictions: Float[np.ndarray, " rows *shape"]
    mse: float
    in_mse: float
    out_mse: float


def kernel_regression(
    features: Real[np.ndarray, " rows *shape"],
    levels: Real[np.ndarray, "rows factors"],
    seen: Bool[np.ndarray, " rows"],
    *,
    family: Family = "binary",
    widths: Sequence[float] = (0.5, 1.0, 2.0, 4.0),
    train: Int[np.ndarray, " train"] | None = None,
    select: Selection = "seen",
    folds: int = 5,
    seed: int = 0,
    rcond: float | None = None,
) -> KernelFit:
    """Predicts a net's outputs for all cells from those for seen cells, `f(z) = sum_i K(z, z_i) alpha_i`.

    `alpha` is the minimum-norm least-squares solution of `K(train, train) alpha = features(train)`, without a
    penalty and without an intercept. Rows of the same cell are averaged first, because repeats make `K` singular
    without adding information.

    **Arguments:**

    - `features`: `(rows, ...)`, the net's outputs, or those of a stage, to be predicted.
    - `levels`: `(rows, factors)`; for the Gaussian families, positions in levels.
    - `seen`: true for the rows of seen cells.
    - `family`: the kernel. `"factorised"` tries every combination of `widths`, `"radial"` every single width;
        the others have no widths. `"constant"` predicts the mean and is the null of all others.
    - `widths`: candidates for the Gaussian families, in levels.
    - `train`: the row numbers the net was trained on, repeats allowed; default: all seen rows.
    - `select`: `"seen"` takes the widths with the smallest cross-validated error on the training cells;
        `"probe"` those with the smallest error over all rows, including unseen ones. The published comparison
        did the latter, which favours the family with more candidates.
    - `folds`, `seed`: of the cross-validation.
    - `rcond`: eigenvalues below this share of the largest count as zero; default: machine epsilon times the
        number of training cells.

    **Returns:**

    The family, the chosen `widths` (`None` if the family has none), `predictions` in the features' shape, and
    the mean squared error over all rows (`mse`), seen rows (`in_mse`) and unseen rows (`out_mse`), each from 0
    upwards. Null value: the errors of the family `"constant"`.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import kernel_regression
    >>> levels = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> features = levels @ np.array([[1.0], [10.0]])  # a sum of single-factor functions
    >>> fit = kernel_regression(features, levels, np.array([True, True, True, False]), family="additive")
    >>> np.allclose(fit["predictions"], features), fit["out_mse"] < 1e-20
    (True, True)

    ```
    """
    features, levels = np.asarray(features, dtype=np.float64), np.asarray(levels)
    seen = np.asarray(seen, dtype=bool)
    if levels.ndim != 2 or not len(features) == len(levels) == len(seen):
        raise InputError(
            "rows", (features.shape, levels.shape, seen.shape), "as many features as levels and seen"
        )
    if select not in get_args(Selection):
        raise InputError("select", select, f"one of {', '.join(get_args(Selection))}")
    train = np.flatnonzero(seen) if train is None else np.asarray(train)
    if not train.size or not seen[train].all():
        raise InputError("train", train, "at least one row, and rows of seen cells only")
    flat = features.reshape(len(features), -1)
    cells, cell_means = _average_repeats(levels[train], flat[train])
    candidates = _candidates(family, widths, levels.shape[1])

    def predict(kernel: _Kernel) -> Float[np.ndarray, "rows features"]:
        return kernel(levels, cells) @ symmetric_solve(kernel(cells, cells), cell_means, rcond=rcond)

    def selection_error(kernel: _Kernel) -> float:
        if select == "probe":
            return float(((predict(kernel) - flat) ** 2).mean())
        return _cross_validated_error(
            kernel(cells, cells), cell_means, fold_numbers(len(cells), folds, seed), rcond
        )

    chosen, *others = candidates
    if others:
        chosen = min(candidates, key=lambda widths: selection_error(candidates[widths]))
    predictions = predict(candidates[chosen])
    errors = squared_error(predictions, flat)
    summary = summarise(errors, seen)
    return KernelFit(
        family=family,
        widths=chosen or None,
        predictions=predictions.reshape(features.shape),
        mse=float(errors.mean()),
        in_mse=summary["in_mean"],
        out_mse=summary["out_mean"],
    )


def compare_kernels(
    features: Real[np.ndarray, " rows *shape"],
    levels: Real[np.ndarray, "rows factors"],
    seen: Bool[np.ndarray, " rows"],
    *,
    families: Sequence[Family] = get_args(Family),
    widths: Sequence[float] = (0.5, 1.0, 2.0, 4.0),
    train: Int[np.ndarray, " train"] | None = None,
    select: Selection = "seen",
    folds: int = 5,
    seed: int = 0,
) -> dict[Family, KernelFit]:
    """[`recombine.metrics.kernel_regression`][] with every family of kernels, on the same cells and folds.

    **Arguments:** as for [`recombine.metrics.kernel_regression`][].

    **Returns:**

    The fits by family. Their errors can be compared with each other and with those of `"constant"`, the null.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import compare_kernels
    >>> levels = np.indices((4, 4)).reshape(2, -1).T
    >>> fits = compare_kernels(levels.sum(axis=1), levels, ~(levels > 1).all(axis=1))
    >>> fits["additive"]["out_mse"] < 1e-12 < fits["constant"]["out_mse"]
    True

    ```
    """
    fit = partial(kernel_regression, widths=widths, train=train, select=select, folds=folds, seed=seed)
    return {family: fit(features, levels, seen, family=family) for family in families}


def _candidates(family: Family, widths: Sequence[float], factors: int) -> dict[tuple[float, ...], _Kernel]:
    """The kernels of a family by their widths, one per factor; the empty tuple for families without widths."""
    match family:
        case "binary":
            return {(): binary_kernel}
        case "additive":
            return {(): additive_kernel}
        case "constant":
            return {(): lambda a, b: np.ones((len(a), len(b)))}
        case "factorised":
            return {w: partial(gaussian_kernel, widths=w) for w in product(widths, repeat=factors)}
        case "radial":
            return {(w,) * factors: partial(gaussian_kernel, widths=w) for w in widths}
    raise InputError("family", family, f"one of {', '.join(get_args(Family))}")


def _average_repeats(
    levels: Real[np.ndarray, "rows factors"], features: Float[np.ndarray, "rows features"]
) -> tuple[Real[np.ndarray, "cells factors"], Float[np.ndarray, "cells features"]]:
    cells, code, counts = np.unique(levels, axis=0, return_inverse=True, return_counts=True)
    sums = np.zeros((len(cells), features.shape[1]))
    np.add.at(sums, code.ravel(), features)
    return cells, sums / counts[:, None]


def _cross_validated_error(
    kernel: Float[np.ndarray, "cells cells"],
    features: Float[np.ndarray, "cells features"],
    fold: Int[np.ndarray, " cells"],
    rcond: float | None,
) -> float:
    total = 0.0
    for k in range(fold.max() + 1):
        train, test = fold != k, fold == k
        alpha = symmetric_solve(kernel[np.ix_(train, train)], features[train], rcond=rcond)
        total += float(((kernel[np.ix_(test, train)] @ alpha - features[test]) ** 2).sum())
    return total / features.size
