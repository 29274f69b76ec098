"""Targets and predictions of any form brought into one: which kind they are, and quantities of any shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recombine.auditing.label_reading import read_labels
from recombine.auditing.magnitude import columns_that_vanish, in_ordinary_units
from recombine.auditing.outputs import Outputs
from recombine.auditing.thresholds import MAX_CLASSES
from recombine.errors import InputError
from recombine.tasks.task import Kind


def read_outputs(
    target: np.ndarray | None,
    prediction: np.ndarray,
    *,
    kind: Kind | None = None,
    classes: Sequence[Any] | None = None,
    columns: Sequence[str] = (),
) -> Outputs:
    """Brings targets and predictions of any form into one.

    **Arguments:**

    - `target`: `(rows, ...)` numbers, or `(rows,)` labels; NaN or None where it is missing; `None` for no targets.
    - `prediction`: the same; or `(rows, classes)` scores if the targets are labels.
    - `kind`: by default inferred from the values.
    - `classes`: the labels that the columns of scores stand for; by default the names of the `columns` if they contain
        the labels, otherwise the sorted labels.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.output_reading import read_outputs
    >>> outputs = read_outputs(np.array(["cat", "dog"]), np.array([[0.2, 0.8], [0.1, 0.9]]))
    >>> outputs.classes, outputs.predictions.argmax(axis=1).tolist()
    (('cat', 'dog'), [1, 1])

    ```
    """
    prediction = _array("prediction", prediction)
    target = np.full(len(prediction), np.nan) if target is None else _array("target", target)
    if len(target) != len(prediction):
        raise InputError(
            "prediction", f"{len(prediction)} rows", f"as many as there are targets, {len(target)}"
        )
    if kind not in {None, "regression", "classification"}:
        raise InputError("kind", kind, "'regression' or 'classification'")
    notes: list[str] = []
    chosen = kind or _kind(target, prediction, classes, notes)
    if chosen == "regression":
        return _quantities(target, prediction, notes)
    return read_labels(target, prediction, classes, columns, notes)


def _array(field: str, values: Any) -> np.ndarray:
    array = np.asarray(values)
    if array.ndim < 1 or not len(array):
        raise InputError(field, f"shape {array.shape}", "one entry for every row")
    if array.dtype.kind not in "fiubOUS":
        raise InputError(field, f"values of type {array.dtype}", "real numbers or labels")
    if array.dtype.kind in "US":
        array = array.astype(object)
    if array.ndim > 1 and 1 in array.shape[1:] and array[0].size == 1:
        array = array.reshape(len(array))
    return array


def _kind(
    target: np.ndarray, prediction: np.ndarray, classes: Sequence[Any] | None, notes: list[str]
) -> Kind:
    if target.dtype == object or classes is not None or target.dtype == bool:
        return "classification"
    if target.ndim > 1 or prediction.dtype == object:
        return "regression" if target.ndim > 1 else "classification"
    known = target[~np.isnan(target)] if target.dtype.kind == "f" else target
    whole = bool((known == np.round(known)).all()) and len(known) > 0
    values = np.unique(known) if whole else known[:0]
    if not whole or len(values) > MAX_CLASSES[target.dtype.kind]:
        return "regression"
    if prediction.ndim == 2:
        if values.min() >= 0 and values.max() < prediction.shape[1]:
            notes.append(f"{prediction.shape[1]} scores for every row: the largest is the prediction")
            return "classification"
        return "regression"
    if len(values) == 2:
        notes.append("targets with two values were read as classes (kind='regression' for quantities)")
        return "classification"
    if bool((prediction == np.round(prediction)).all()) and np.isin(prediction, values).all():
        notes.append("whole numbers were read as classes (kind='regression' for quantities)")
        return "classification"
    return "regression"


def _quantities(target: np.ndarray, prediction: np.ndarray, notes: list[str]) -> Outputs:
    if object in (target.dtype, prediction.dtype):
        raise InputError(
            "kind", "regression, but there are labels in words", "numbers, or kind='classification'"
        )
    nothing = target.ndim == 1 and prediction.ndim > 1 and np.isnan(target.astype(float)).all()
    if nothing:
        target = np.full(prediction.shape, np.nan, dtype=np.float32)
    if _without_ones(target.shape) != _without_ones(prediction.shape):
        raise InputError("prediction", f"shape {prediction.shape}", f"the targets' shape {target.shape}")
    wide = np.float32 if prediction.dtype == np.float32 else np.float64
    outputs = prediction.reshape(len(prediction), -1).astype(wide, copy=False)
    targets = target.reshape(len(target), -1).astype(wide, copy=False)
    targets, outputs, unit = in_ordinary_units(targets, outputs)
    if unit != 1:
        notes.append(f"targets are of extreme size: targets, predictions and errors are in units of {unit:g}")
    vanishing = columns_that_vanish(targets)
    if len(vanishing):
        number = vanishing[0] + 1
        more = f" (and {len(vanishing) - 1} more)" if len(vanishing) > 1 else ""
        notes.append(
            f"output {number}{more} is so small next to the others that its squares vanish: rescale it"
        )
    if not outputs.shape[1]:
        raise InputError("prediction", f"shape {prediction.shape}", "at least one number for every row")
    known = ~np.isnan(targets).any(axis=1)
    if known.any() and not (targets[known] != targets[known][:1]).any():
        raise InputError("target", "the same value in every row", "targets that differ")
    return Outputs("regression", targets, outputs, known, prediction.shape[1:], (), tuple(notes), unit=unit)


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without axes of length one, such as a single colour channel; the axis of rows stays."""
    return (shape[0], *(size for size in shape[1:] if size != 1))
