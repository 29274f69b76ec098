"""Representation: how well the factors can be decoded linearly from a layer.

A factor that can be decoded is present in the layer; it need not be separate from the others (see `geometry`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from jaxtyping import Bool, Float, Int, Real

from recombine.errors import InputError
from recombine.metrics.gram import as_units, centred_gram

PENALTIES = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
"""Candidates for the penalty of the ridge probe, relative to the mean squared length of a centred row."""

INNER_FOLDS = 3
"""Folds that choose the penalty where groups of rows are held out together."""


class ProbeScore(TypedDict):
    """R^2 of every factor, and the R^2 expected of a layer that has nothing to do with the factors (`chance`)."""

    r2: Float[np.ndarray, " factors"]
    chance: float


def linear_probe(
    activations: Real[np.ndarray, "rows ..."], values: Real[np.ndarray, "rows factors"]
) -> ProbeScore:
    """R^2 of ordinary least squares with an intercept from a layer to factor values, on the rows it was fitted to.

    There is no held-out data. Layers with as many units as rows would fit anything and are refused; use
    [`recombine.metrics.ridge_probe`][] for them.

    **Arguments:**

    - `activations`: `(rows, ...)`, flattened to units.
    - `values`: `(rows, factors)`.

    **Returns:**

    - `r2`: `(factors,)`, from 0 to 1; NaN for a factor that does not vary.
    - `chance`: the null value, `rank / (rows - 1)`, the expected R^2 of activations that are unrelated to the values.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import linear_probe
    >>> x = np.arange(10.0)[:, None]
    >>> linear_probe(3 * x + 1, x)["r2"].round(6).tolist()
    [1.0]

    ```
    """
    flat, values = _flat_pair(activations, values)
    rows, units = flat.shape
    if units >= rows - 1:
        raise InputError(
            "activations", f"{units} units on {rows} rows", f"fewer than {rows - 1} units; use ridge_probe"
        )
    centred = flat - flat.mean(axis=0, dtype=np.float64)
    targets = values - values.mean(axis=0)
    weights, _, rank, _ = np.linalg.lstsq(centred, targets, rcond=None)
    return ProbeScore(r2=_r2(targets, centred @ weights), chance=float(rank) / (rows - 1))


def ridge_probe(
    activations: Real[np.ndarray, "rows ..."],
    values: Real[np.ndarray, "rows factors"],
    *,
    folds: int = 5,
    penalties: Sequence[float] = PENALTIES,
    seed: int = 0,
    groups: Int[np.ndarray, " rows"] | None = None,
) -> ProbeScore:
    """Cross-validated R^2 of ridge regression with an intercept from a layer to factor values.

    Each fold is predicted from the others, `minimise |A w + b - v|^2 + lambda |w|^2`, in the dual form, which
    costs `rows^3` for any width of the layer. The penalty is chosen for every fold and factor by the exact
    leave-one-out error within the training folds, so the held-out rows play no part in the choice.

    **Arguments:**

    - `activations`: `(rows, ...)`, flattened to units; any width.
    - `values`: `(rows, factors)`.
    - `folds`, `seed`: of the cross-validation.
    - `groups`: a number for every row; rows of the same group, such as examples of one cell, are held out together.
    - `penalties`: candidates for `lambda`, in units of the mean squared length of a centred training row, so
        that the score does not depend on the layer's scale.

    **Returns:**

    - `r2`: `(factors,)`, one minus the pooled squared error of the held-out rows over the variance; at most
        1, negative if worse than the mean, NaN for a factor that does not vary.
    - `chance`: the null value 0; activations that are unrelated to the values score 0 or a little less.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import ridge_probe
    >>> x = np.arange(20.0)[:, None]
    >>> wide = x @ np.ones((1, 100))
    >>> ridge_probe(wide, x)["r2"].round(4).tolist()
    [1.0]

    ```
    """
    _, targets = _flat_pair(activations, values)
    predictions = ridge_predictions(
        activations, values, folds=folds, penalties=penalties, seed=seed, groups=groups
    )
    return ProbeScore(r2=_r2(targets, predictions), chance=0.0)


def ridge_predictions(
    activations: Real[np.ndarray, "rows ..."],
    values: Real[np.ndarray, "rows factors"],
    *,
    folds: int = 5,
    penalties: Sequence[float] = PENALTIES,
    seed: int = 0,
    groups: Int[np.ndarray, " rows"] | None = None,
) -> Float[np.ndarray, "rows factors"]:
    """The predictions of ridge regression for every row, fitted to the other folds.

    For unordered levels pass indicators as `values`; the largest prediction of a row is the decoded level.

    **Arguments:** as for [`recombine.metrics.ridge_probe`][].

    **Returns:**

    `(rows, factors)`, in the units of `values`. Null value: the mean of the training rows, which is predicted from
    activations that do not vary.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import ridge_predictions
    >>> level = np.arange(60) % 3
    >>> activity = np.eye(3)[level] + np.random.default_rng(0).normal(size=(60, 3)) / 4
    >>> predictions = ridge_predictions(activity, np.eye(3)[level])
    >>> bool((predictions.argmax(axis=1) == level).mean() > 0.9)
    True

    ```
    """
    flat, values = _flat_pair(activations, values)
    if not penalties or min(penalties) <= 0:
        raise InputError("penalties", penalties, "one or more positive numbers")
    gram = centred_gram(flat)
    fold = (
        fold_numbers(len(flat), folds, seed) if groups is None else _group_fold_numbers(groups, folds, seed)
    )
    predictions = np.empty_like(values)
    for k in range(folds):
        candidates, errors = _ridge_path(gram, values, fold != k, penalties)
        if groups is not None:  # leaving out single rows would leak the value through the rest of their group
            errors = _group_errors(gram, values, np.flatnonzero(fold != k), penalties, groups, seed)
        best = errors.argmin(axis=0)
        predictions[fold == k] = candidates[best, :, np.arange(len(best))].T
    return predictions


def fold_numbers(rows: int, folds: int = 5, seed: int = 0) -> Int[np.ndarray, " rows"]:
    """Assigns rows to cross-validation folds at random; the sizes of the folds differ by at most one.

    **Arguments:**

    - `rows`: the number of rows.
    - `folds`: the number of folds.
    - `seed`: of the random assignment.

    **Returns:**

    `(rows,)` fold numbers from 0.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import fold_numbers
    >>> np.bincount(fold_numbers(11, folds=5)).tolist()
    [3, 2, 2, 2, 2]

    ```
    """
    # Not scikit-learn's KFold: its shuffles (legacy RandomState) assign rows differently, which would change every
    # recorded score for the sake of one line.
    if not 2 <= folds <= rows:
        raise InputError("folds", folds, f"from 2 to the number of rows, {rows}")
    return np.random.default_rng(seed).permutation(np.arange(rows) % folds)


def _group_fold_numbers(groups: Int[np.ndarray, " rows"], folds: int, seed: int) -> Int[np.ndarray, " rows"]:
    """Fold numbers of rows, the same for all rows of a group."""
    distinct, group_index = np.unique(groups, return_inverse=True)
    return fold_numbers(len(distinct), folds, seed)[group_index]


def _group_errors(
    gram: Float[np.ndarray, "rows rows"],
    values: Float[np.ndarray, "rows factors"],
    rows: Int[np.ndarray, " train"],
    penalties: Sequence[float],
    groups: Int[np.ndarray, " rows"],
    seed: int,
) -> Float[np.ndarray, "penalties factors"]:
    """Squared error of every penalty when groups are held out within the training rows."""
    fold = _group_fold_numbers(groups[rows], min(INNER_FOLDS, len(np.unique(groups[rows]))), seed)
    train_gram, targets = gram[np.ix_(rows, rows)], values[rows]
    errors = np.zeros((len(penalties), values.shape[1]))
    for k in range(int(fold.max()) + 1):
        predictions, _ = _ridge_path(train_gram, targets, fold != k, penalties)
        errors += ((predictions - targets[fold == k]) ** 2).sum(axis=1)
    return errors


def _ridge_path(
    gram: Float[np.ndarray, "rows rows"],
    values: Float[np.ndarray, "rows factors"],
    train: Bool[np.ndarray, " rows"],
    penalties: Sequence[float],
) -> tuple[Float[np.ndarray, "penalties test factors"], Float[np.ndarray, "penalties factors"]]:
    """Predictions for the rows outside `train`, and squared leave-one-out errors within it, for every penalty.

    With the centred kernel `K = V diag(s) V^T` of the training rows and centred targets `y`, the dual solution is
    `V (V^T y / (s + lambda))`, so one eigendecomposition serves all penalties. The hat matrix is
    `H = 1 1^T / n + V diag(s / (s + lambda)) V^T`, and the leave-one-out residual of row `i` is
    `residual_i / (1 - H_ii)` (Golub, Heath and Wahba 1979).
    """
    # The intercept is not penalised, so everything is centred on the training rows: <a_i - m, a_j - m> in terms of
    # inner products <a_i, a_j>.
    mean_column = gram[:, train].mean(axis=1, keepdims=True)  # <a_i, mean of training rows>
    mean_square = mean_column[train].mean()
    kernel = gram - mean_column - mean_column.T + mean_square
    offset = values[train].mean(axis=0)
    targets = values[train] - offset
    n = len(targets)

    eigenvalues, vectors = np.linalg.eigh(kernel[np.ix_(train, train)])
    eigenvalues = np.maximum(eigenvalues, 0.0)[:, None]
    scale = eigenvalues.mean() or 1.0
    loadings = vectors.T @ targets
    test_kernel = kernel[np.ix_(~train, train)] @ vectors
    predictions, errors = [], []
    for penalty in penalties:
        shrinkage = eigenvalues / (eigenvalues + penalty * scale)
        residual = targets - vectors @ (shrinkage * loadings)
        leverage = 1 / n + vectors**2 @ shrinkage  # diagonal of the hat matrix, intercept included
        errors.append(((residual / (1 - leverage)) ** 2).sum(axis=0))
        predictions.append(offset + test_kernel @ (loadings / (eigenvalues + penalty * scale)))
    return np.stack(predictions), np.stack(errors)


def _r2(
    targets: Float[np.ndarray, "rows factors"], predictions: Float[np.ndarray, "rows factors"]
) -> Float[np.ndarray, " factors"]:
    total = ((targets - targets.mean(axis=0)) ** 2).sum(axis=0)
    error = ((targets - predictions) ** 2).sum(axis=0)
    return 1 - np.divide(error, total, out=np.full_like(total, np.nan), where=total > 0)


def _flat_pair(
    activations: Real[np.ndarray, "rows ..."], values: Real[np.ndarray, "rows factors"]
) -> tuple[Real[np.ndarray, "rows units"], Float[np.ndarray, "rows factors"]]:
    flat, values = as_units(activations), np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or len(values) != len(flat):
        raise InputError("values", values.shape, f"shape ({len(flat)}, factors)")
    return flat, values
