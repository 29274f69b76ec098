"""What the error of a row is: squared, absolute, relative, of logarithms, wrong labels, or by a user's function."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from recombine.data.argument_types import shown
from recombine.data.arrays import as_array
from recombine.errors import InputError
from recombine.tasks.task import Kind

RowErrors = Callable[[np.ndarray, np.ndarray], Float[np.ndarray, " rows"]]
"""Maps targets and predictions, `(rows, outputs)` each, to one error per row."""
BLOCK = 2**22
"""Entries of an array that are compared at a time."""


@dataclass(frozen=True, eq=False)
class ErrorMeasure:
    """How predictions are compared with targets.

    **Attributes:**

    - `name`: as `audit` takes it, `"function"` for a user's own; `title`: for reports.
    - `rows`: errors of rows; `constant`: the best single prediction for some targets `(rows, outputs)`.
    - `is_squared`: whether errors are mean squares, so that the noise in them adds up.
    """

    name: str
    title: str
    rows: RowErrors
    constant: Callable[[np.ndarray], Float[np.ndarray, " outputs"]]

    @property
    def is_squared(self) -> bool:
        """Whether the error of a mean and the scatter about it add up, as they do for squares."""
        return self.name in {"squared", "log"}

    def errors(self, targets: np.ndarray, predictions: np.ndarray) -> Float[np.ndarray, " rows"]:
        """The error of every row, in blocks, so that large outputs need no second copy."""
        if self.name == "function":
            return self.rows(targets, predictions)
        result = np.empty(len(targets))
        step = max(1, BLOCK // max(1, targets.shape[1]))
        for start in range(0, len(result), step):
            rows = slice(start, start + step)
            result[rows] = self.rows(targets[rows], predictions[rows])
        return result


def _mean(targets: np.ndarray) -> np.ndarray:
    return targets.mean(axis=0, dtype=np.float64)


def _squared(targets: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    return ((predictions.astype(np.float64, copy=False) - targets) ** 2).mean(axis=1)


def _absolute(targets: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    return np.abs(predictions.astype(np.float64, copy=False) - targets).mean(axis=1)


def _relative(targets: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    return (np.abs(predictions.astype(np.float64, copy=False) - targets) / np.abs(targets)).mean(axis=1)


def _wrong_labels(targets: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    # half the squared distance of one-hot codes
    return ((predictions.astype(np.float64, copy=False) - targets) ** 2).sum(axis=1) / 2


def _commonest(targets: np.ndarray) -> np.ndarray:
    mean = _mean(targets)
    return np.eye(len(mean))[mean.argmax()]


def _relative_median(targets: np.ndarray) -> np.ndarray:
    """The value with the smallest mean relative error: the median of the targets, weighted by one over their size."""
    order = np.argsort(targets, axis=0)
    values = np.take_along_axis(targets.astype(np.float64), order, axis=0)
    weights = np.cumsum(1 / np.abs(values), axis=0)
    middle = (weights >= weights[-1] / 2).argmax(axis=0)
    return np.take_along_axis(values, middle[None], axis=0)[0]


SQUARED = ErrorMeasure("squared", "mean squared error", _squared, _mean)
ABSOLUTE = ErrorMeasure(
    "absolute", "mean absolute error", _absolute, lambda targets: np.median(targets, axis=0)
)
RELATIVE = ErrorMeasure("relative", "mean relative error", _relative, _relative_median)
LOG = ErrorMeasure("log", "mean squared error of logarithms", _squared, _mean)
WRONG_LABELS = ErrorMeasure("labels", "share of wrong labels", _wrong_labels, _commonest)
MEASURES = {one.name: one for one in (SQUARED, ABSOLUTE, RELATIVE, LOG)}


def error_measure(
    metric: Any,
    kind: Kind,
    classes: tuple[Any, ...] = (),
    shape: tuple[int, ...] = (),
    unit: float = 1.0,
) -> ErrorMeasure:
    """The measure that the user chose, or the usual one.

    **Arguments:**

    - `metric`: `None`, one of `MEASURES`, or a function of targets and predictions, each `(rows, *shape)` numbers or
        `(rows,)` labels, that returns an error of at least 0 for every row.
    - `classes`: the labels; `shape`: of one output as the user passed it.
    - `unit`: what targets and predictions were divided by.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.error_measure import error_measure
    >>> error_measure("relative", "regression").errors(np.array([[2.0], [4.0]]), np.array([[3.0], [3.0]])).tolist()
    [0.5, 0.25]

    ```
    """
    if callable(metric):
        return _own_function(metric, kind, classes, shape, unit)
    if metric is not None and metric not in MEASURES:
        raise InputError("metric", shown(metric), f"{', '.join(MEASURES)}, or a function")
    if kind == "classification":
        if metric is not None:
            raise InputError(
                "metric", metric, "a function, or none: the error of labels is the share of wrong ones"
            )
        return WRONG_LABELS
    measure = MEASURES[metric or "squared"]
    if unit == 1 or measure.name in {"relative", "log"}:  # of which the unit cancels
        return measure
    return replace(measure, title=f"{measure.title}, in units of {unit:g}")


def _own_function(
    function: Callable[..., Any], kind: Kind, classes: tuple[Any, ...], shape: tuple[int, ...], unit: float
) -> ErrorMeasure:
    names = np.empty(len(classes), dtype=object)
    names[:] = classes

    def rows(targets: np.ndarray, predictions: np.ndarray) -> np.ndarray:
        if kind == "classification":
            targets, predictions = (names[one.argmax(axis=1)] for one in (targets, predictions))
        else:
            targets, predictions = (one.reshape(len(one), *shape) for one in (targets, predictions))
            targets, predictions = (one if unit == 1 else one * unit for one in (targets, predictions))
        try:
            errors = as_array("metric", function(targets, predictions))
        except InputError:
            raise
        except Exception as error:
            got = f"{type(error).__name__}: {str(error)[:120]}"
            raise InputError(
                "metric", got, "a function of targets and predictions that returns errors"
            ) from error
        if errors.shape != (len(targets),) or errors.dtype.kind not in "fiub":
            expected = f"one error for each of the {len(targets)} rows"
            raise InputError("metric", f"shape {errors.shape} of {errors.dtype}", expected)
        numbers = errors.astype(np.float64)
        if not np.isfinite(numbers).all() or (numbers < 0).any():
            wrong = numbers[~(np.isfinite(numbers) & (numbers >= 0))][0]
            raise InputError("metric", wrong, "finite errors of at least 0")
        return numbers

    title = f"mean of {getattr(function, '__name__', 'the function')}".replace("<lambda>", "the function")
    return ErrorMeasure("function", title, rows, _commonest if kind == "classification" else _mean)
