"""Which rows of a table are for training: a condition on a column, a column of true and false, or an array."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Bool

from recombine.data.arrays import as_array
from recombine.data.columns import DataColumn, number_in_any_notation
from recombine.data.tables import DataTable, did_you_mean
from recombine.errors import InputError


def parse_condition(seen: str) -> tuple[str, str, str]:
    """The column, the comparison (`=`, `!=` or nothing) and the value of `seen`.

    ```python
    >>> from recombine.spaces.training_rows import parse_condition
    >>> parse_condition("split != test"), parse_condition("train")
    (('split', '!=', 'test'), ('train', '', ''))

    ```
    """
    for sign in ("!=", "="):
        column, present, value = seen.partition(sign)
        if present and not column.endswith("!"):
            return column.strip(), sign, value.strip()
    return seen.strip(), "", ""


def training_rows(
    table: DataTable, condition: tuple[str, str, str] | None, seen: Any, rows: int
) -> Bool[np.ndarray, " rows"]:
    """True for training rows; `seen` is what the user wrote, `condition` the same as `parse_condition` reads it."""
    if condition is None:
        return _marked_rows(seen, rows)
    name, sign, value = condition
    column = table.column("seen", name)
    marks = _comparison(column, sign, value) if sign else _true_or_false(column)
    if not marks.any():
        known = ", ".join(_texts(column)[:8])
        raise InputError(
            "seen", seen, f"at least one training row; {table.name} has none ({name} is {known})"
        )
    return marks


def _marked_rows(seen: Any, rows: int) -> Bool[np.ndarray, " rows"]:
    """An array of true and false (or 1 and 0) as the training rows."""
    expected = f"true or false for each of the {rows} rows, such as split == 'train'"
    if seen is None:
        raise InputError(
            "seen", None, "which rows are for training: 'split=train', a column, or true and false by row"
        )
    marks = as_array("seen", seen)
    if marks.shape != (rows,):
        raise InputError("seen", f"shape {marks.shape}", expected)
    if marks.dtype.kind not in "biuf" or (marks.dtype != bool and not np.isin(marks, [0, 1]).all()):
        raise InputError("seen", f"values of type {marks.dtype}", expected)
    if not marks.any():
        raise InputError("seen", "no training row", "at least one")
    return marks.astype(bool)


def _comparison(column: DataColumn, sign: str, value: str) -> Bool[np.ndarray, " rows"]:
    values = column.values
    equal: pl.Series | None
    if column.is_text:
        text = values.fill_null("")
        equal = text == value
    elif values.dtype == pl.Boolean:
        truth = {"true": True, "1": True, "false": False, "0": False}.get(value.lower())
        equal = None if truth is None else (values == truth).fill_null(False)
    else:
        number = number_in_any_notation(value)
        equal = None if number is None else (values == number).fill_null(False)
    if equal is None or not equal.any():
        near = did_you_mean(value, _texts(column), "values")
        raise InputError(
            "seen", f"{column.name}{sign}{value}"[:200], f"a value that column {column.name!r} has{near}"
        )
    return (equal if sign == "=" else ~equal).to_numpy()


def _true_or_false(column: DataColumn) -> Bool[np.ndarray, " rows"]:
    values = column.values
    if not values.null_count():
        if values.dtype == pl.Boolean:
            return values.to_numpy()
        if values.dtype.is_numeric() and ((values == 0) | (values == 1)).all():
            return (values == 1).to_numpy()
        if column.is_text:
            text = values.str.to_lowercase()
            if text.is_in(["true", "false", "0", "1"]).all():
                return text.is_in(["true", "1"]).to_numpy()
    example = values[0]
    raise InputError(
        "seen",
        column.name,
        f"COLUMN=VALUE, since column {column.name!r} is not true or false (it has {example!r})",
    )


def _texts(column: DataColumn) -> list[str]:
    """The different values as text, some of them if there are many."""
    return [str(value) for value in column.values.drop_nulls().unique().sort().head(1000).to_list()]
