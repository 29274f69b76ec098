"""Behaviour: the error of every row, and its summary over seen and unseen rows.

Every measure returns one number (or one boolean) per row; `summarise` turns these into statistics of the seen (`in`)
and the unseen (`out`) rows. Measures of images are in `image_measures`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int, Real

from recombine.errors import InputError


def squared_error(
    outputs: Real[np.ndarray, " rows *shape"], targets: Real[np.ndarray, " rows *shape"]
) -> Float[np.ndarray, " rows"]:
    """Mean squared error of every row, the mean of `(output - target)^2` over all axes but the first.

    **Arguments:**

    - `outputs`, `targets`: of the same shape, `(rows, ...)`.

    **Returns:**

    `(rows,)`, from 0 upwards. Null value: the errors of [`recombine.metrics.baseline_errors`][]. Images that are
    mostly background have small errors whatever is drawn, so always compare with these.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import squared_error
    >>> squared_error(np.zeros((2, 1, 2)), np.array([[[1.0, 1.0]], [[0.0, 1.0]]])).tolist()
    [1.0, 0.5]

    ```
    """
    outputs, targets = same_shape(outputs, targets)
    return ((outputs - targets) ** 2).reshape(len(outputs), -1).mean(axis=1)


def summarise(per_row: Real[np.ndarray, "*rows"], seen: Bool[np.ndarray, "*rows"]) -> dict[str, float]:
    """Mean, standard deviation, median and maximum of a per-row measure, over seen and over unseen rows.

    A few broken levels can account for most of a net's error, so read every mean together with its median.

    **Arguments:**

    - `per_row`: one number per row, or per cell in the shape of the space.
    - `seen`: true for the rows of seen cells; of the same shape.

    **Returns:**

    `in_mean`, `in_std`, `in_median`, `in_max` and the same for `out`. The standard deviation is that of the
    given rows (divisor: their number). All four are NaN where there are no rows.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import summarise
    >>> summary = summarise(np.array([1.0, 3.0, 10.0]), np.array([True, True, False]))
    >>> summary["in_mean"], summary["in_std"], summary["out_max"]
    (2.0, 1.0, 10.0)

    ```
    """
    per_row, seen = np.asarray(per_row, dtype=np.float64), np.asarray(seen, dtype=bool)
    if per_row.shape != seen.shape:
        raise InputError("seen", seen.shape, f"one entry for each value, shape {per_row.shape}")
    summary = {}
    for side, rows in (("in", per_row[seen]), ("out", per_row[~seen])):
        for name, measure in (("mean", np.mean), ("std", np.std), ("median", np.median), ("max", np.max)):
            summary[f"{side}_{name}"] = float(measure(rows)) if rows.size else float("nan")
    return summary


def within_tolerance(
    predictions: Real[np.ndarray, "rows factors"],
    targets: Real[np.ndarray, "rows factors"],
    tolerance: float = 0.5,
) -> Bool[np.ndarray, " rows"]:
    """Whether every coordinate is right up to a tolerance, `|prediction - target| <= tolerance`.

    The measure for encoders that output factor values; half a level is then the natural tolerance.

    **Arguments:**

    - `predictions`, `targets`: `(rows, factors)`, in the factors' own units.
    - `tolerance`: the largest error allowed in each coordinate.

    **Returns:**

    `(rows,)` booleans; their mean is an accuracy, from 0 to 1. NaN counts as wrong. Null value: with the default
    tolerance, a random level of every factor is right with probability one over the number of cells.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import within_tolerance
    >>> within_tolerance(np.array([[1.4, 2.0], [1.4, 2.6]]), np.array([[1.0, 2.0], [1.0, 2.0]])).tolist()
    [True, False]

    ```
    """
    predictions, targets = same_shape(predictions, targets)
    return (np.abs(predictions - targets) <= tolerance).all(axis=1)


def code_accuracy(
    codes: Real[np.ndarray, "rows units"],
    levels: Int[np.ndarray, "rows factors"],
    sizes: Sequence[int] | None = None,
) -> Bool[np.ndarray, " rows"]:
    """Whether a population code gives the right level of every factor: the most active unit of each part.

    **Arguments:**

    - `codes`: `(rows, units)`, the parts of the factors one after another.
    - `levels`: the true level of every factor.
    - `sizes`: the number of units of each part; default: equal parts (two halves for two factors).

    **Returns:**

    `(rows,)` booleans; their mean is an accuracy, from 0 to 1. Null value: one over the product of the sizes.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import code_accuracy
    >>> code_accuracy(np.array([[0.1, 0.9, 0.8, 0.7]]), np.array([[1, 0]])).tolist()
    [True]

    ```
    """
    codes, levels = np.asarray(codes, dtype=np.float64), np.asarray(levels)
    factors = levels.shape[1]
    if sizes is None:
        sizes = [codes.shape[1] // factors] * factors
    if len(sizes) != factors or sum(sizes) != codes.shape[1] or len(codes) != len(levels):
        raise InputError(
            "codes", codes.shape, f"{len(levels)} rows and one part of units for each of {factors} factors"
        )
    parts = np.split(codes, np.cumsum(sizes)[:-1], axis=1)
    decoded = np.stack([part.argmax(axis=1) for part in parts], axis=1)
    return (decoded == levels).all(axis=1) & ~np.isnan(codes).any(axis=1)


def same_shape(
    a: Real[np.ndarray, " ..."], b: Real[np.ndarray, " ..."]
) -> tuple[Float[np.ndarray, " ..."], Float[np.ndarray, " ..."]]:
    """Both arrays as float64, refusing shapes that differ instead of broadcasting them."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if a.shape != b.shape:
        raise InputError("shapes", (a.shape, b.shape), "two arrays of the same shape")
    return a, b
