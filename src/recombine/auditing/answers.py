"""What a model should have said and what it said, row by row: quantities of any shape, or classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from jaxtyping import Bool, Float

from recombine.errors import InputError

Kind = Literal["regression", "classification"]

MOST_CLASSES = {"i": 200, "u": 200, "b": 2, "f": 10}
"""Whole numbers with more different values than this are quantities; fewer, if they are stored as real numbers."""
FAR_OUTSIDE = 0.25
"""Scores of two classes are taken as log-odds if more than this share lies outside -0.5 to 1.5."""


@dataclass(frozen=True, eq=False)
class Answers:
    """Targets and answers of all rows.

    - `targets`, `answers`: `(rows, outputs)` for quantities, `(rows, classes)` one-hot for classes.
    - `known`: `(rows,)`, whether there is a target.
    - `shape`: of one answer as it was given: `()` for a number, `(28, 28)` for a picture.
    - `classes`: names, in the order of the columns; empty for quantities.
    - `notes`: what was taken for granted.
    """

    kind: Kind
    targets: Float[np.ndarray, "rows outputs"]
    answers: Float[np.ndarray, "rows outputs"]
    known: Bool[np.ndarray, " rows"]
    shape: tuple[int, ...]
    classes: tuple[Any, ...]
    notes: tuple[str, ...]

    @property
    def measure(self) -> str:
        """What the error of a row is."""
        return "share of wrong labels" if self.classes else "mean squared error"

    def row_errors(self, of: Float[np.ndarray, "rows outputs"] | None = None) -> Float[np.ndarray, " rows"]:
        """The error of every row, NaN without a target; `of` are other answers than the model's."""
        answers = self.answers if of is None else of
        errors = np.empty(len(self.targets))
        step = max(1, 2**22 // max(1, self.targets.shape[1]))
        for start in range(0, len(errors), step):
            rows = slice(start, start + step)
            errors[rows] = difference(answers[rows], self.targets[rows], self.kind)
        return np.where(self.known, errors, np.nan)


def difference(a: np.ndarray, b: np.ndarray, kind: Kind) -> Float[np.ndarray, " rows"]:
    """Mean squared difference of rows; for classes the share of wrong labels, half the squared distance."""
    squares = (a.astype(np.float64, copy=False) - b) ** 2
    return squares.sum(axis=1) / 2 if kind == "classification" else squares.mean(axis=1)


def read_answers(
    target: np.ndarray | None,
    prediction: np.ndarray,
    *,
    kind: Kind | None = None,
    classes: Sequence[Any] | None = None,
    columns: Sequence[str] = (),
) -> Answers:
    """Brings targets and predictions into one form.

    **Arguments:**

    - `target`: `(rows, ...)` numbers, or `(rows,)` labels; NaN or None where it is not known; `None` for no targets.
    - `prediction`: the same; or `(rows, classes)` scores if the targets are labels.
    - `kind`: what it is; by default told from the values.
    - `classes`: the labels that the columns of scores stand for; by default as `columns` are called, if they are
        called after labels, or else the sorted labels.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.answers import read_answers
    >>> found = read_answers(np.array(["cat", "dog"]), np.array([[0.2, 0.8], [0.1, 0.9]]))
    >>> found.classes, found.answers.argmax(axis=1).tolist()
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
    found = np.asarray(values)
    if found.ndim < 1 or not len(found):
        raise InputError(field, f"shape {found.shape}", "one entry for every row")
    if found.dtype.kind not in "fiubOUS":
        raise InputError(field, f"values of type {found.dtype}", "real numbers or labels")
    if found.dtype.kind in "US":
        found = found.astype(object)
    if found.ndim > 1 and 1 in found.shape[1:] and found[0].size == 1:
        found = found.reshape(len(found))
    return found


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
    if not whole or len(values) > MOST_CLASSES[target.dtype.kind]:
        return "regression"
    if prediction.ndim == 2:
        if values.min() >= 0 and values.max() < prediction.shape[1]:
            notes.append(f"{prediction.shape[1]} scores for every row: the largest is the answer")
            return "classification"
        return "regression"
    if len(values) == 2:
        notes.append("targets of two values were taken as classes (kind='regression' for quantities)")
        return "classification"
    if bool((prediction == np.round(prediction)).all()) and np.isin(prediction, values).all():
        notes.append("whole numbers were taken as classes (kind='regression' for quantities)")
        return "classification"
    return "regression"


def _quantities(target: np.ndarray, prediction: np.ndarray, notes: list[str]) -> Answers:
    if object in (target.dtype, prediction.dtype):
        raise InputError("kind", "regression, but there are words", "numbers, or kind='classification'")
    nothing = target.ndim == 1 and prediction.ndim > 1 and np.isnan(target.astype(float)).all()
    if nothing:
        target = np.full(prediction.shape, np.nan, dtype=np.float32)
    if target.shape != prediction.shape:
        raise InputError("prediction", f"shape {prediction.shape}", f"the targets' shape {target.shape}")
    check_finite("prediction", prediction)
    wide = np.float32 if prediction.dtype == np.float32 else np.float64
    outputs = prediction.reshape(len(prediction), -1).astype(wide, copy=False)
    wanted = target.reshape(len(target), -1).astype(wide, copy=False)
    if np.isinf(wanted).any():
        check_finite("target", np.where(np.isnan(wanted), 0.0, wanted))
    if not outputs.shape[1]:
        raise InputError("prediction", f"shape {prediction.shape}", "at least one number for every row")
    known = ~np.isnan(wanted).any(axis=1)
    if known.any() and not (wanted[known] != wanted[known][:1]).any():
        raise InputError("target", "one and the same value in every row", "targets that differ")
    return Answers("regression", wanted, outputs, known, prediction.shape[1:], (), tuple(notes))


def _labels(
    target: np.ndarray,
    prediction: np.ndarray,
    classes: Sequence[Any] | None,
    columns: Sequence[str],
    notes: list[str],
) -> Answers:
    if target.ndim != 1:
        raise InputError("target", f"shape {target.shape}", "(rows,) labels, since this is classification")
    if prediction.ndim > 2:
        raise InputError(
            "prediction", f"shape {prediction.shape}", "(rows,) labels or (rows, classes) scores"
        )
    names, known = _names(target)
    right = set(names[known].tolist())
    levels = sorted(right, key=_order) if classes is None else _given_classes(classes, right)
    if prediction.ndim == 2:
        check_finite("prediction", prediction)
        if classes is None:
            levels = _levels_of_scores(levels, prediction.shape[1], columns, notes)
        elif len(levels) != prediction.shape[1]:
            raise _other_count(prediction.shape[1], len(levels))
        number = prediction.argmax(axis=1)
    elif _is_score(prediction, levels):
        check_finite("prediction", prediction)
        number = (prediction > _threshold(prediction, levels, notes)).astype(int)
    else:
        said = _said(prediction, levels, right, given=classes is not None, notes=notes)
        levels += sorted(set(said) - set(levels), key=_order)
        place = {level: i for i, level in enumerate(levels)}
        number = np.array([place[one] for one in said])
    unknown = sorted(right - set(levels), key=_order)
    if unknown:
        raise InputError("target", unknown[0], f"one of the classes {', '.join(map(str, levels[:12]))}")
    if len(levels) < 2:
        raise InputError("target", f"the one label {levels[0] if levels else None!r}", "at least two classes")
    place = {level: i for i, level in enumerate(levels)}
    wanted = np.array([place.get(one, 0) for one in names.tolist()])
    hot = np.eye(len(levels), dtype=np.float32)
    return Answers("classification", hot[wanted], hot[number], known, (), tuple(levels), tuple(notes))


def _given_classes(classes: Sequence[Any], right: set[Any]) -> list[Any]:
    """Classes as the user names them; words that stand for numbers, if the targets are numbers."""
    levels = [_name(one) for one in classes]
    if right and all(isinstance(one, int | float) for one in right):
        levels = [_number(one) for one in levels]
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


def _said(
    prediction: np.ndarray, levels: Sequence[Any], right: set[Any], *, given: bool, notes: list[str]
) -> list[Any]:
    """Predicted labels; refused if none of them, or with `given` classes any, is strange to the targets."""
    said = _names(prediction)[0].tolist()
    if None in said:
        raise InputError("prediction", f"no answer in row {said.index(None) + 1}", "an answer in every row")
    strange = sorted(set(said) - set(levels), key=_order)
    if right and not set(said) & right:
        shown = ", ".join(map(str, levels[:6]))
        raise InputError(
            "prediction", said[0], f"labels among those of the targets, {shown} (none of them is)"
        )
    if strange and given:
        raise InputError("prediction", strange[0], f"one of the classes {', '.join(map(str, levels[:12]))}")
    if strange and right:
        listed = ", ".join(repr(one) for one in strange[:4]) + (" …" if len(strange) > 4 else "")
        notes.append(f"no target is {listed}, which the model answers at times")
    return said


def _names(values: np.ndarray) -> tuple[np.ndarray, Bool[np.ndarray, " rows"]]:
    """Labels as plain values, None where there is none."""
    if values.dtype.kind == "f":
        plain = [None if one != one else _name(one) for one in values.tolist()]
    else:
        plain = [None if one is None or one != one else _name(one) for one in values.tolist()]
    found = np.empty(len(plain), dtype=object)
    found[:] = plain
    return found, np.array([one is not None for one in plain])


def _name(one: Any) -> Any:
    """One label: whole numbers as integers, other things that are no number as words."""
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
    """The labels that columns of scores stand for: as the columns are called, by number, or in sorted order."""
    named = [[one for one in levels if _called(column, one)] for column in columns]
    if len(named) == len(levels) == count and all(len(one) == 1 for one in named):
        found = [one[0] for one in named]
        if len(set(found)) == count:
            return found
    if all(isinstance(one, int) and 0 <= one < count for one in levels):
        return list(range(count))
    if len(levels) != count:
        raise _other_count(count, len(levels))
    shown = ", ".join(map(str, levels[:6])) + (" …" if count > 6 else "")
    notes.append(
        f"columns of scores were taken as {shown}, in this order (classes=[...] or --classes names another)"
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
    """Above which the second class is meant."""
    middle = 0.5
    if all(isinstance(one, int | float) for one in levels):
        middle = (float(levels[0]) + float(levels[1])) / 2
    if middle == 0.5 and ((scores < -0.5) | (scores > 1.5)).mean() > FAR_OUTSIDE:
        middle = 0.0
    notes.append(f"scores above {middle:g} were taken as {levels[1]!r}, others as {levels[0]!r}")
    return middle


def check_finite(field: str, values: np.ndarray) -> None:
    """Refuses numbers that are not finite, and says in which rows."""
    if values.dtype.kind not in "f":
        return
    bad = ~np.isfinite(values).reshape(len(values), -1).all(axis=1)
    if bad.any():
        row, number = int(bad.argmax()), int(bad.sum())
        many = f" (and {number - 1} more rows)" if number > 1 else ""
        raise InputError(field, f"a value that is not finite in row {row + 1}{many}", "finite numbers")
