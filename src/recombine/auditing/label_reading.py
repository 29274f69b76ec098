"""Labels, predicted as labels or as scores, brought into one-hot codes of the same classes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool

from recombine.auditing.outputs import Outputs
from recombine.auditing.thresholds import LOGIT_SHARE
from recombine.data.limits import MAX_CLASSES, check_magnitude
from recombine.errors import InputError


def read_labels(
    target: np.ndarray,
    prediction: np.ndarray,
    classes: Sequence[Any] | None,
    columns: Sequence[str],
    notes: list[str],
) -> Outputs:
    """Labels as outputs.

    **Arguments:**

    - `target`: `(rows,)` labels, None or NaN where they are missing.
    - `prediction`: `(rows,)` labels, or scores of the second of two classes; or `(rows, classes)` scores.
    - `classes`, `columns`: as `read_outputs` takes them.
    - `notes`: assumptions that are made are added here.
    """
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
    if len(levels) > MAX_CLASSES:
        raise InputError(
            "target", f"{len(levels):,} classes", f"at most {MAX_CLASSES:,}, or kind='regression'"
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
    levels = [label_name(one) for one in classes]
    if right and all(isinstance(one, int | float) for one in right):
        levels = [_number(one) for one in levels]
    elif right and all(isinstance(one, str) for one in right):
        levels = [str(one) for one in levels]
    if len(set(levels)) != len(levels):
        raise InputError("classes", list(classes), "different labels")
    return levels


def _number(one: Any) -> Any:
    try:
        return label_name(float(one))
    except ValueError:
        return one


def _is_score(prediction: np.ndarray, levels: Sequence[Any]) -> bool:
    """Whether one number a row is a score of the second of two classes, rather than a label."""
    labels = [float(one) for one in levels if isinstance(one, int | float) and abs(one) < 2**63]
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
    plain = [one if type(one) is str else _plain_label(one) for one in values.tolist()]
    names = np.empty(len(plain), dtype=object)
    names[:] = plain
    return names, np.array([one is not None for one in plain])


def _plain_label(one: Any) -> Any:
    return None if one is None or one != one else label_name(one)


def label_name(one: Any) -> Any:
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
