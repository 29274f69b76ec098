"""Representation: can the factors be read linearly from a layer?

Decodability says that a factor is there, not that it is kept apart from the others (see `geometry`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from jaxtyping import Bool, Float, Int, Real

from recombine.errors import InputError
from recombine.probes.folds import fold_numbers
from recombine.probes.gram import as_units, centred_gram

PENALTIES = (1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)
"""Candidates for the penalty of the ridge probe, relative to the size of the layer."""


INNER_FOLDS = 3
"""Folds by which the penalty is chosen where groups of rows are left out together."""


class ProbeScore(TypedDict):
    """R^2 of every factor, and what a layer that knows nothing would be expected to score."""

    r2: Float[np.ndarray, " factors"]
    chance: float


def linear_probe(
    activations: Real[np.ndarray, "rows ..."], values: Real[np.ndarray, "rows factors"]
) -> ProbeScore:
    """R^2 of ordinary least squares with an intercept from a layer to factor values, on the same rows.

    There is no held-out data. A layer with as many units as rows fits anything, so such layers are refused;
    measure them with [`recombine.probes.ridge_probe`][].

    **Arguments:**

    - `activations`: `(rows, ...)`, flattened to units.
    - `values`: `(rows, factors)`.

    **Returns:**

    - `r2`: `(factors,)`, from 0 to 1; NaN for a factor that does not vary.
    - `chance`: the expected R^2 of activations that have nothing to do with the values,
        `rank / (rows - 1)`.

    ```python
    >>> import numpy as np
    >>> from recombine.probes import linear_probe
    >>> x = np.arange(10.0)[:, None]
    >>> linear_probe(3 * x + 1, x)["r2"].round(6).tolist()
    [1.0]

    ```
    """
    flat, values = _paired(activations, values)
    rows, units = flat.shape
    if units >= rows - 1:
        raise InputError(
            "activations", f"{units} units on {rows} rows", f"fewer than {rows - 1} units; use ridge_probe"
        )
    centred = flat - flat.mean(axis=0, dtype=np.float64)
    target = values - values.mean(axis=0)
    weights, _, rank, _ = np.linalg.lstsq(centred, target, rcond=None)
    return ProbeScore(r2=_r2(target, centred @ weights), chance=float(rank) / (rows - 1))


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
    costs `rows^3` however wide the layer is. The penalty is chosen for every fold and factor by the exact
    leave-one-out error within the training folds, so the held-out rows have no part in it.

    **Arguments:**

    - `activations`: `(rows, ...)`, flattened to units; any width.
    - `values`: `(rows, factors)`.
    - `folds`, `seed`: of the cross-validation.
    - `groups`: a number for every row; rows of one group, such as examples of one cell, are left out together.
    - `penalties`: candidates for `lambda`, in units of the mean squared length of a centred training row, so
        that the score does not depend on the layer's scale.

    **Returns:**

    - `r2`: `(factors,)`, one minus the pooled squared error of the held-out rows over the variance; at most
        1, negative if worse than the mean, NaN for a factor that does not vary.
    - `chance`: 0; useless activations score at or a little below it.

    ```python
    >>> import numpy as np
    >>> from recombine.probes import ridge_probe
    >>> x = np.arange(20.0)[:, None]
    >>> wide = x @ np.ones((1, 100))
    >>> ridge_probe(wide, x)["r2"].round(4).tolist()
    [1.0]

    ```
    """
    _, wanted = _paired(activations, values)
    said = ridge_predictions(activations, values, folds=folds, penalties=penalties, seed=seed, groups=groups)
    return ProbeScore(r2=_r2(wanted, said), chance=0.0)


def ridge_predictions(
    activations: Real[np.ndarray, "rows ..."],
    values: Real[np.ndarray, "rows factors"],
    *,
    folds: int = 5,
    penalties: Sequence[float] = PENALTIES,
    seed: int = 0,
    groups: Int[np.ndarray, " rows"] | None = None,
) -> Float[np.ndarray, "rows factors"]:
    """What ridge regression says of every row from the other folds; see [`recombine.probes.ridge_probe`][].

    For levels without order give indicators as `values`; the largest prediction of a row is the level that is read.

    ```python
    >>> import numpy as np
    >>> from recombine.probes import ridge_predictions
    >>> level = np.arange(60) % 3
    >>> activity = np.eye(3)[level] + np.random.default_rng(0).normal(size=(60, 3)) / 4
    >>> said = ridge_predictions(activity, np.eye(3)[level])
    >>> bool((said.argmax(axis=1) == level).mean() > 0.9)
    True

    ```
    """
    flat, values = _paired(activations, values)
    if not penalties or min(penalties) <= 0:
        raise InputError("penalties", penalties, "one or more positive numbers")
    gram = centred_gram(flat)
    fold = fold_numbers(len(flat), folds, seed) if groups is None else _grouped(groups, folds, seed)
    predicted = np.empty_like(values)
    for k in range(folds):
        said, left_out = _ridge_path(gram, values, fold != k, penalties)
        if groups is not None:  # others of a row's group would give it away if single rows were left out
            left_out = _left_out_groups(gram, values, np.flatnonzero(fold != k), penalties, groups, seed)
        best = left_out.argmin(axis=0)
        predicted[fold == k] = said[best, :, np.arange(len(best))].T
    return predicted


def _grouped(groups: Int[np.ndarray, " rows"], folds: int, seed: int) -> Int[np.ndarray, " rows"]:
    different, place = np.unique(groups, return_inverse=True)
    return fold_numbers(len(different), folds, seed)[place]


def _left_out_groups(
    gram: Float[np.ndarray, "rows rows"],
    values: Float[np.ndarray, "rows factors"],
    rows: Int[np.ndarray, " train"],
    penalties: Sequence[float],
    groups: Int[np.ndarray, " rows"],
    seed: int,
) -> Float[np.ndarray, "penalties factors"]:
    """Squared error of every penalty if groups are left out within the training rows."""
    inner = _grouped(groups[rows], min(INNER_FOLDS, len(np.unique(groups[rows]))), seed)
    within, wanted = gram[np.ix_(rows, rows)], values[rows]
    errors = np.zeros((len(penalties), values.shape[1]))
    for k in range(int(inner.max()) + 1):
        said, _ = _ridge_path(within, wanted, inner != k, penalties)
        errors += ((said - wanted[inner == k]) ** 2).sum(axis=1)
    return errors


def _ridge_path(
    gram: Float[np.ndarray, "rows rows"],
    values: Float[np.ndarray, "rows factors"],
    train: Bool[np.ndarray, " rows"],
    penalties: Sequence[float],
) -> tuple[Float[np.ndarray, "penalties test factors"], Float[np.ndarray, "penalties factors"]]:
    """Predictions for the rows outside `train`, and squared leave-one-out errors within it, for every penalty.

    The intercept is free, hence all is centred on `train`.
    """
    mean_column = gram[:, train].mean(axis=1, keepdims=True)  # <a_i, mean of training rows>
    mean_square = mean_column[train].mean()
    kernel = gram - mean_column - mean_column.T + mean_square
    offset = values[train].mean(axis=0)
    target = values[train] - offset
    n = len(target)

    eigenvalues, vectors = np.linalg.eigh(kernel[np.ix_(train, train)])
    eigenvalues = np.maximum(eigenvalues, 0.0)[:, None]
    scale = eigenvalues.mean() or 1.0
    loadings = vectors.T @ target
    across = kernel[np.ix_(~train, train)] @ vectors
    said, errors = [], []
    for penalty in penalties:
        shrinkage = eigenvalues / (eigenvalues + penalty * scale)
        residual = target - vectors @ (shrinkage * loadings)
        leverage = 1 / n + vectors**2 @ shrinkage  # diagonal of the hat matrix, intercept included
        errors.append(((residual / (1 - leverage)) ** 2).sum(axis=0))
        said.append(offset + across @ (loadings / (eigenvalues + penalty * scale)))
    return np.stack(said), np.stack(errors)


def _r2(
    true: Float[np.ndarray, "rows factors"], predicted: Float[np.ndarray, "rows factors"]
) -> Float[np.ndarray, " factors"]:
    total = ((true - true.mean(axis=0)) ** 2).sum(axis=0)
    error = ((true - predicted) ** 2).sum(axis=0)
    return 1 - np.divide(error, total, out=np.full_like(total, np.nan), where=total > 0)


def _paired(
    activations: Real[np.ndarray, "rows ..."], values: Real[np.ndarray, "rows factors"]
) -> tuple[Real[np.ndarray, "rows units"], Float[np.ndarray, "rows factors"]]:
    flat, values = as_units(activations), np.asarray(values, dtype=np.float64)
    if values.ndim != 2 or len(values) != len(flat):
        raise InputError("values", values.shape, f"shape ({len(flat)}, factors)")
    return flat, values
