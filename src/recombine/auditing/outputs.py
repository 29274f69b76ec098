"""Targets and predictions, row by row: quantities of any shape, or classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float

from recombine.auditing.thresholds import LOGIT_SHARE, MAX_CLASSES
from recombine.data.limits import MAX_CLASSES as MAX_LABELS
from recombine.data.limits import check_magnitude
from recombine.errors import InputError

Kind = Literal["regression", "classification"]


@dataclass(frozen=True, eq=False)
class Outputs:
    """Targets and predictions of all rows.

    - `targets`, `predictions`: the values of quantities; one-hot codes of classes.
    - `known`: whether a row has a target.
    - `shape`: of one prediction as the user passed it: `()` for a number, `(28, 28)` for an image.
    - `classes`: names, in the order of the columns; empty for quantities.
    - `notes`: assumptions that were made.
    """

    kind: Kind
    targets: Float[np.ndarray, "rows outputs"]
    predictions: Float[np.ndarray, "rows outputs"]
    known: Bool[np.ndarray, " rows"]
    shape: tuple[int, ...]
    classes: tuple[Any, ...]
    notes: tuple[str, ...]

    @property
    def measure(self) -> str:
        """What the error of a row is."""
        return "share of wrong labels" if self.classes else "mean squared error"

    def row_errors(self, of: Float[np.ndarray, "rows outputs"] | None = None) -> Float[np.ndarray, " rows"]:
        """The error of every row, NaN without a target; `of` replaces the model's predictions."""
        predictions = self.predictions if of is None else of
        errors = np.empty(len(self.targets))
        step = max(1, 2**22 // max(1, self.targets.shape[1]))
        for start in range(0, len(errors), step):
            rows = slice(start, start + step)
            errors[rows] = difference(predictions[rows], self.targets[rows], self.kind)
        return np.where(self.known, errors, np.nan)


def difference(a: np.ndarray, b: np.ndarray, kind: Kind) -> Float[np.ndarray, " rows"]:
    """The mean squared difference of rows; for classes half the squared distance, which is the share of wrong
    labels."""
    squares = (a.astype(np.float64, copy=False) - b) ** 2
    return squares.sum(axis=1) / 2 if kind == "classification" else squares.mean(axis=1)


def decide(values: Float[np.ndarray, "cells outputs"], kind: Kind) -> Float[np.ndarray, "cells outputs"]:
    """Votes for classes as the one-hot code of the winner; quantities unchanged.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.outputs import decide
    >>> decide(np.array([[0.2, 0.4, 0.4]]), "classification").tolist()
    [[0.0, 1.0, 0.0]]

    ```
    """
    if kind == "regression":
        return values
    # of equal votes the first wins, regardless of rounding
    return np.eye(values.shape[1])[(values > values.max(axis=1, keepdims=True) - 1e-9).argmax(axis=1)]


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
    >>> from recombine.auditing.outputs import read_outputs
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
    return _labels(target, prediction, classes, columns, notes)


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
    check_magnitude("prediction", prediction)
    wide = np.float32 if prediction.dtype == np.float32 else np.float64
    outputs = prediction.reshape(len(prediction), -1).astype(wide, copy=False)
    targets = target.reshape(len(target), -1).astype(wide, copy=False)
    check_magnitude("target", np.where(np.isnan(targets), 0.0, targets))  # NaN: not known
    if not outputs.shape[1]:
        raise InputError("prediction", f"shape {prediction.shape}", "at least one number for every row")
    known = ~np.isnan(targets).any(axis=1)
    if known.any() and not (targets[known] != targets[known][:1]).any():
        raise InputError("target", "the same value in every row", "targets that differ")
    return Outputs("regression", targets, outputs, known, prediction.shape[1:], (), tuple(notes))


def _without_ones(shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape without axes of length one, such as a single colour channel; the axis of rows stays."""
    return (shape[0], *(size for size in shape[1:] if size != 1))


def _labels(
    target: np.ndarray,
    prediction: np.ndarray,
    classes: Sequence[Any] | None,
    columns: Sequence[str],
    notes: list[str],
) -> Outputs:
    if target.ndim != 1:
        raise InputError("target", f"shape {target.shape}", "(rows,) labels, because this is classification")
    if prediction.ndim > 2:
        raise InputError(
            "prediction", f"shape {prediction.shape}", "(rows,) labels or (rows, classes) scores"
        )
    names, known = _label_names(target)
    right = set(names[known].tolist())
    levels = sorted(right, key=_order) if classes is None else _given_classes(classes, right)
    if prediction.ndim == 2:
        check_magnitude("prediction", prediction)
        if classes is None:
            levels = _levels_of_scores(levels, prediction.shape[1], columns, notes)
        elif len(levels) != prediction.shape[1]:
            raise _other_count(prediction.shape[1], len(levels))
        number = prediction.argmax(axis=1)
    elif _is_score(prediction, levels):
        check_magnitude("prediction", prediction)
        number = (prediction > _threshold(prediction, levels, notes)).astype(int)
    else:
        predicted = _predicted_labels(prediction, levels, right, fixed=classes is not None, notes=notes)
        levels += sorted(set(predicted) - set(levels), key=_order)
        column = {level: i for i, level in enumerate(levels)}
        number = np.array([column[one] for one in predicted])
    if len(levels) > MAX_LABELS:
        raise InputError(
            "target", f"{len(levels):,} classes", f"at most {MAX_LABELS:,}, or kind='regression'"
        )
    unknown = sorted(right - set(levels), key=_order)
    if unknown:
        raise InputError("target", unknown[0], f"one of the classes {', '.join(map(str, levels[:12]))}")
    if len(levels) < 2:
        raise InputError("target", f"the one label {levels[0] if levels else None!r}", "at least two classes")
    column = {level: i for i, level in enumerate(levels)}
    targets = np.array([column.get(one, 0) for one in names.tolist()])
    hot = np.eye(len(levels), dtype=np.float32)
    return Outputs("classification", hot[targets], hot[number], known, (), tuple(levels), tuple(notes))


def _given_classes(classes: Sequence[Any], right: set[Any]) -> list[Any]:
    """Classes as the user or the model names them, as numbers or text if the targets are."""
    levels = [_name(one) for one in classes]
    if right and all(isinstance(one, int | float) for one in right):
        levels = [_number(one) for one in levels]
    elif right and all(isinstance(one, str) for one in right):
        levels = [str(one) for one in levels]
    if len(set(levels)) != len(levels):
        raise InputError("classes", list(classes), "different labels")
    return levels


def _number(one: Any) -> Any:
    try:
        return _name(float(one))
    except ValueError:
        return one


def _is_score(prediction: np.ndarray, levels: Sequence[Any]) -> bool:
    """Whether one number a row is a score of the second of two classes, rather than a label."""
    labels = [float(one) for one in levels if isinstance(one, int | float)]
    return len(levels) == 2 and prediction.dtype.kind == "f" and not np.isin(prediction, labels).all()


def _predicted_labels(
    prediction: np.ndarray, levels: Sequence[Any], right: set[Any], *, fixed: bool, notes: list[str]
) -> list[Any]:
    """Predicted labels. They are refused if no target has any of them, or if the classes are `fixed` and one is new."""
    predicted = _label_names(prediction)[0].tolist()
    if None in predicted:
        row = predicted.index(None) + 1
        raise InputError("prediction", f"nothing in row {row}", "a prediction in every row")
    strange = sorted(set(predicted) - set(levels), key=_order)
    if right and not set(predicted) & right:
        shown = ", ".join(map(str, levels[:6]))
        raise InputError(
            "prediction", predicted[0], f"labels among those of the targets, {shown} (none of them is)"
        )
    if strange and fixed:
        raise InputError("prediction", strange[0], f"one of the classes {', '.join(map(str, levels[:12]))}")
    if strange and right:
        listed = ", ".join(repr(one) for one in strange[:4]) + (" …" if len(strange) > 4 else "")
        notes.append(f"the model sometimes predicts {listed}, which no target has")
    return predicted


def _label_names(values: np.ndarray) -> tuple[np.ndarray, Bool[np.ndarray, " rows"]]:
    """Labels as plain values, None where there is none."""
    if values.dtype.kind == "f":
        plain = [None if one != one else _name(one) for one in values.tolist()]
    else:
        plain = [None if one is None or one != one else _name(one) for one in values.tolist()]
    names = np.empty(len(plain), dtype=object)
    names[:] = plain
    return names, np.array([one is not None for one in plain])


def _name(one: Any) -> Any:
    """One label: whole numbers as integers, everything that is not a number as a string."""
    if isinstance(one, bool | np.bool_):
        return int(one)
    if isinstance(one, int | np.integer):
        return int(one)
    if isinstance(one, float | np.floating):
        return int(one) if float(one).is_integer() else float(one)
    return str(one)


def _order(one: Any) -> tuple[int, Any]:
    return (1, one) if isinstance(one, str) else (0, one)


def _levels_of_scores(levels: list[Any], count: int, columns: Sequence[str], notes: list[str]) -> list[Any]:
    """The labels that columns of scores stand for: by the names of the columns, by number, or in sorted order."""
    named = [[one for one in levels if _called(column, one)] for column in columns]
    if len(named) == len(levels) == count and all(len(one) == 1 for one in named):
        labels = [one[0] for one in named]
        if len(set(labels)) == count:
            return labels
    if all(isinstance(one, int) and 0 <= one < count for one in levels):
        return list(range(count))
    if len(levels) != count:
        raise _other_count(count, len(levels))
    shown = ", ".join(map(str, levels[:6])) + (" …" if count > 6 else "")
    notes.append(
        f"columns of scores were read as {shown}, in this order (classes=[...] or --classes sets another)"
    )
    return levels


def _called(column: str, label: Any) -> bool:
    """Whether a column of scores is named after a label: `cat`, `p_cat`, `score.cat`."""
    name, word = column.casefold(), str(label).casefold()
    return name == word or (name.endswith(word) and not name[-len(word) - 1].isalnum())


def _other_count(columns: int, classes: int) -> InputError:
    got = f"{columns} scores for {classes} classes"
    return InputError(
        "prediction", got, "a score for every class, with classes=... (--classes) if some never occur"
    )


def _threshold(scores: np.ndarray, levels: Sequence[Any], notes: list[str]) -> float:
    """The score above which the second class is predicted."""
    middle = 0.5
    if all(isinstance(one, int | float) for one in levels):
        middle = (float(levels[0]) + float(levels[1])) / 2
    if middle == 0.5 and ((scores < -0.5) | (scores > 1.5)).mean() > LOGIT_SHARE:
        middle = 0.0
    notes.append(f"scores above {middle:g} were read as {levels[1]!r}, others as {levels[0]!r}")
    return middle
