"""What the user brings: a table and columns, or arrays; from memory or from files. Nothing is unpickled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Float

from recombine.advice import Observations, observe
from recombine.advice.reading import check_columns, did_you_mean, load
from recombine.advice.table import values_of
from recombine.errors import InputError
from recombine.modularity.reading import read_arrays

Columns = str | Sequence[str]
INPUT_NAMES = ("inputs", "x", "X")
TARGET_NAMES = ("targets", "target", "y", "Y")
SEEN_NAMES = ("seen", "train", "training")
PREDICTION_NAMES = ("prediction", "predictions")
MARK = "training rows"


@dataclass(frozen=True, eq=False)
class Given:
    """A table of cells with its training rows, and whatever columns or arrays go with it.

    - `words`: factors whose levels were given as words, even if they read like numbers (a CSV file has words only).
    - `score_names`: what several columns of predictions are called.
    - `numbers`: `(rows,)` the values of factors that are numbers, before they were cut into ranges.
    """

    table: Observations
    target: np.ndarray | None
    prediction: np.ndarray | None
    inputs: Any
    words: tuple[str, ...]
    score_names: tuple[str, ...]
    numbers: Mapping[str, Float[np.ndarray, " rows"]]


def read_given(
    table: Any,
    *,
    factors: Sequence[str] | Mapping[str, Any] | None,
    seen: Any,
    target: Any = None,
    prediction: Any = None,
    inputs: Any = None,
    bins: Mapping[str, int] | None = None,
) -> Given:
    """Reads a table, and columns or arrays beside it, and checks that all have the same rows.

    - `table`: a file, a data frame or a mapping of columns; `None` if `factors` is a mapping of columns itself.
    - `seen`: as `advise` takes it, or one true or false per row.
    - `target`, `prediction`, `inputs`: names of columns, or arrays with a row for each row of the table.
    """
    if table is None:
        columns = factors if isinstance(factors, Mapping) else getattr(factors, "columns", None)
        if columns is None:
            raise InputError("table", None, "a table, or factors as a mapping of names to columns")
        table, factors = factors, [str(name) for name in columns]
    if factors is None or isinstance(factors, str) or not len(factors):
        raise InputError("factors", factors, "the names of the factor columns, such as ['colour', 'shape']")
    if len(factors) < 2:
        raise InputError("factors", list(factors), "two factors or more, since one has no combinations")
    if seen is None:
        raise InputError(
            "seen", None, "which rows are for training: 'split=train', a column, or true and false by row"
        )
    factors = list(factors)
    named = {
        field: _unless_rows(given, table)
        for field, given in (("target", target), ("prediction", prediction), ("inputs", inputs))
    }
    inputs = named["inputs"]
    wanted = {name: field for field, given in named.items() for name in _names(given)}
    condition = seen if isinstance(seen, str) else None
    if condition is not None:
        wanted[condition.split("=")[0].rstrip("!").strip()] = "seen"
    name, frame = load(table, dict.fromkeys(factors, "factors") | wanted)
    if not len(frame):
        raise InputError("table", f"{name} without rows", "at least one row")
    check_columns(name, frame.columns, dict.fromkeys(factors, "factors") | wanted)
    if condition is None:
        condition, frame = MARK, frame.with_columns(pl.Series(MARK, _mark(seen, len(frame))))
    used = [name for given in named.values() for name in _names(given)]
    clash = [name for name in used if name in factors and name not in _names(inputs)]
    if clash:
        raise InputError("factors", clash[0], "columns other than targets and predictions")
    found = replace(observe(frame, factors=factors, seen=condition, bins=bins), name=name)
    columns = {field: _column(frame, field, given) for field, given in named.items()}
    words = () if _is_csv(table) else tuple(name for name in factors if frame[name].dtype == pl.String)
    values = {name: values_of(frame, name) for name in factors if name not in words}
    numbers = {name: column for name, column in values.items() if column.dtype != object}
    scores = _names(named["prediction"])
    return Given(found, columns["target"], columns["prediction"], columns["inputs"], words, scores, numbers)


def _is_csv(table: Any) -> bool:
    return isinstance(table, str | Path) and Path(table).suffix.lower() not in {".parquet", ".pq"}


def _unless_rows(given: Any, table: Any) -> Any:
    """A list of words with an entry for every row is labels, not names of columns."""
    names = _names(given)
    if isinstance(given, str) or len(names) < 2 or isinstance(table, str | Path):
        return given
    known = [str(name) for name in getattr(table, "columns", table)]
    rows = len(table) if hasattr(table, "columns") else len(next(iter(table.values()), ()))
    if all(name in known for name in names) or len(names) != rows:
        return given
    return np.array(given, dtype=object)


def _names(given: Any) -> tuple[str, ...]:
    """The columns that an argument names; none if it is an array."""
    if isinstance(given, str):
        return (given,)
    if isinstance(given, list | tuple) and given and all(isinstance(one, str) for one in given):
        return tuple(given)
    return ()


def _mark(seen: Any, rows: int) -> np.ndarray:
    marks = np.asarray(seen)
    if marks.shape != (rows,):
        raise InputError("seen", f"shape {marks.shape}", f"true or false for each of the {rows} rows")
    if marks.dtype != bool and not np.isin(marks, [0, 1]).all():
        expected = "true or false for every row, such as split == 'train'"
        raise InputError("seen", f"values of type {marks.dtype}", expected)
    if not marks.astype(bool).any():
        raise InputError("seen", "no training row", "at least one")
    return marks.astype(bool)


def _column(frame: pl.DataFrame, field: str, given: Any) -> Any:
    """Columns by name as one array; arrays as they are, if they have the table's rows."""
    names = _names(given)
    if given is None:
        return None
    if field == "inputs":
        return frame.select(names) if names else given
    if names:
        nested = [name for name in names if frame[name].dtype.is_nested()]
        if nested:
            return plain_array(field, frame[nested[0]].to_list())
        columns = [values_of(frame, name) for name in names]
        if len(columns) == 1:
            return columns[0]
        if any(column.dtype == object for column in columns):
            raise InputError(field, list(names), "columns of numbers, if there are several")
        return np.stack(columns, axis=1)
    values = plain_array(field, given)
    if values.ndim < 1 or len(values) != len(frame):
        got = f"{len(values)} rows" if values.ndim else "a single value"
        raise InputError(field, got, f"as many as the table has, {len(frame)}")
    return values


def plain_array(field: str, values: Any) -> np.ndarray:
    """An array, a tensor, a series or a list as a NumPy array of numbers or labels."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values.float() if "bfloat16" in str(values.dtype) else values
    try:
        found = np.asarray(values)
    except (ValueError, TypeError) as error:
        raise InputError(
            field, type(values).__name__, f"an array with a row for each row ({error})"
        ) from None
    if str(found.dtype) == "bfloat16":
        found = found.astype(np.float32)
    if found.dtype == object and found.ndim == 1 and all(_is_number(one) for one in found.tolist()):
        found = np.array([np.nan if one is None else one for one in found.tolist()], dtype=np.float64)
    return found


def _is_number(one: Any) -> bool:
    return one is None or (isinstance(one, int | float | np.number) and not isinstance(one, bool))


def read_data(
    path: Path | str,
    *,
    inputs: str | None = None,
    target: str | None = None,
    prediction: str | None = None,
    seen: str | None = None,
    factors: Sequence[str] | None = None,
) -> tuple[dict[str, Any], list[str]]:
    """An `.npz` file as arguments of `audit`, and the arrays that were left over.

    Arrays are found by the names that are given. By default these are `inputs` or `x` (not needed beside a
    `prediction`), `targets` or `y` (may be missing), `seen` or `train`, and every other array with one entry per row is
    a factor, in the file's order. Words must be stored as fixed-width strings, since nothing is unpickled.
    """
    arrays = read_arrays("data", path)

    def take(field: str, asked: str | None, names: Sequence[str], what: str) -> np.ndarray | None:
        for name in names if asked is None else [asked]:
            if name in arrays:
                return arrays.pop(name)
        if asked is not None:
            raise InputError(field, asked, f"an array of {Path(path).name}{_near(asked, arrays)}")
        if what:
            listed = ", ".join(arrays) or "nothing"
            expected = f"an array {' or '.join(names)} ({what})"
            raise InputError("data", f"{Path(path).name} with {listed}", expected)
        return None

    said = take("prediction", prediction, PREDICTION_NAMES, "")
    shown = take("inputs", inputs, INPUT_NAMES, "the model's inputs, a row each" if said is None else "")
    targets = take("target", target, TARGET_NAMES, "")
    marks = take("seen", seen, SEEN_NAMES, "true for training rows")
    rows = said if shown is None else shown
    assert rows is not None
    for name, array in (("seen", marks), ("targets", targets)):
        if array is not None and (array.ndim < 1 or len(array) != len(rows)):
            what = "predictions" if shown is None else "inputs"
            raise InputError(
                "data", f"{name} of shape {array.shape}", f"a row for each of the {len(rows)} {what}"
            )
    columns = {name: array for name, array in arrays.items() if array.shape == (len(rows),)}
    if not columns:
        listed = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "none"
        expected = f"factors: arrays with an entry for each of the {len(rows)} rows"
        raise InputError("data", f"other arrays: {listed}", expected)
    for name in factors or ():
        if name not in columns:
            raise InputError("factors", name, f"an array with an entry per row{_near(name, columns)}")
    chosen = {name: columns[name] for name in (columns if factors is None else factors)}
    given = {"factors": chosen, "seen": marks, "target": targets, "prediction": said, "inputs": shown}
    return given, [name for name in arrays if name not in chosen]


def _near(name: str, known: Iterable[str]) -> str:
    return did_you_mean(name, list(known), "arrays")
