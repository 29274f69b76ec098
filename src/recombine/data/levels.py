"""The levels of a factor: the different values of a column, sorted, and which of them each row has."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Int

from recombine.data.columns import EXACT, DataColumn, numbers_as_written
from recombine.data.limits import MAX_BINS, MAX_LEVELS
from recombine.errors import InputError

SHARE_OF_NUMBERS = 0.5
"""Text in a CSV column of which at least this share of rows are numbers is taken for a slip, not for a level."""


@dataclass(frozen=True, eq=False)
class Levels:
    """The sorted levels of a factor and, for every row, the index of its level; `ranges` if the column was binned.

    ```python
    >>> from recombine.data import as_column, levels_of
    >>> shape = levels_of(as_column("factor 'shape'", ["dog", "cat", "dog"], name="shape"))
    >>> shape.levels, shape.codes.tolist()
    (['cat', 'dog'], [1, 0, 1])

    ```
    """

    levels: list[Any]
    codes: Int[np.ndarray, " rows"]
    ranges: list[str] | None = None


def levels_of(column: DataColumn) -> Levels:
    """The different values of a column as levels, exactly as the user wrote them.

    Numbers are sorted by size. Text is sorted alphabetically, or by size if all of it stands for numbers.

    ```python
    >>> from recombine.data.columns import as_column
    >>> from recombine.data.levels import levels_of
    >>> levels_of(as_column("factor 'size'", ["10", "9", "09", "10"], name="size")).levels
    ['09', '9', '10']
    >>> levels_of(as_column("factor 'size'", [10.0, 9.0, 9.0], name="size")).levels
    [9, 10]

    ```
    """
    field = f"factor {column.name!r}"
    check_no_gaps(field, column.values)
    distinct = column.values.unique()
    if len(distinct) > MAX_LEVELS:
        got = f"{len(distinct):,} levels"
        raise InputError(field, got, f"at most {MAX_LEVELS:,}; cut a column of numbers into ranges with bins")
    if column.is_text:
        return _text_levels(field, column, distinct.to_list())
    values = column.values
    if values.dtype.is_float():
        check_all_finite(field, values)
        if (values == values.round()).all() and float(values.abs().max()) < EXACT:  # type: ignore[arg-type]
            values = values.cast(pl.Int64)
    if values.dtype == pl.Boolean:
        return _coded(values, distinct.sort().to_list())
    levels = values.unique().sort()
    return Levels(levels.to_list(), np.searchsorted(levels.to_numpy(), values.to_numpy()).astype(np.int64))


def binned(column: DataColumn, bins: int) -> Levels:
    """A column of numbers cut into ranges that hold about equally many rows; ranges without rows are left out.

    ```python
    >>> from recombine.data.columns import as_column
    >>> from recombine.data.levels import binned
    >>> binned(as_column("factor 'weight'", [0.0, 1.0, 2.0, 3.0], name="weight"), 2).ranges
    ['0 to 1.5', '1.5 to 3']

    ```
    """
    field = f"factor {column.name!r}"
    asked = f"{column.name}={bins!r}"
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or not 2 <= bins <= MAX_BINS:
        raise InputError("bins", asked, f"at least 2 ranges, at most {MAX_BINS:,}")
    check_no_gaps(field, column.values)
    numbers = column.quantities()
    if numbers.dtype == object:
        raise InputError("bins", column.name, "a column of numbers")
    check_all_finite(field, pl.Series(numbers))
    edges = np.unique(np.quantile(numbers, np.linspace(0, 1, int(bins) + 1)))
    if len(edges) < 3:
        raise InputError("bins", asked, "a column with more than one value in it")
    codes = np.clip(np.searchsorted(edges, numbers, side="right") - 1, 0, len(edges) - 2)
    used, codes = np.unique(codes, return_inverse=True)
    spans = [_range(low, high) for low, high in pairwise(edges)]
    if len(set(spans)) < len(spans):  # so close together that six digits do not separate them
        spans = [f"{low!r} to {high!r}" for low, high in pairwise(edges.tolist())]
    ranges = [spans[i] for i in used]
    if len(ranges) < 2:
        raise InputError("bins", asked, "a column whose values fall into more than one range")
    return Levels(ranges, codes.astype(np.int64), ranges)


def check_no_gaps(field: str, values: pl.Series) -> None:
    """Refuses a column in which some row has no value."""
    missing = values.is_null()
    if values.dtype.is_float():
        missing = missing | values.is_nan().fill_null(True)
    if values.dtype == pl.String:
        missing = missing | (values.str.strip_chars() == "").fill_null(True)
    if missing.any():
        row = int(missing.arg_max() or 0)
        raise InputError(field, f"no value in row {row + 1}", "a level in every row")


def check_all_finite(field: str, values: pl.Series) -> None:
    """Refuses infinite numbers."""
    infinite = values.is_infinite()
    if infinite.any():
        row = int(infinite.arg_max() or 0)
        raise InputError(field, f"an infinite value in row {row + 1}", "finite numbers")


def _range(low: float, high: float) -> str:
    return f"{low:g} to {high:g}"


def _text_levels(field: str, column: DataColumn, distinct: list[str]) -> Levels:
    if column.untyped:
        numbers = numbers_as_written(distinct)
        if numbers is not None:
            as_floats = any(isinstance(number, float) for number in numbers.values())
            if as_floats and all(float(n).is_integer() for n in numbers.values()):
                as_floats = max(map(abs, numbers.values())) >= EXACT
            convert = float if as_floats else int
            ordered = sorted(numbers, key=numbers.__getitem__)
            return Levels([convert(numbers[text]) for text in ordered], _coded(column.values, ordered).codes)
        _check_slips(field, column.values)
    sizes = {text: _size(text) for text in distinct}
    if all(size is not None for size in sizes.values()):
        return _coded(column.values, sorted(distinct, key=lambda text: (sizes[text], text)))
    return _coded(column.values, sorted(distinct))


def _size(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _check_slips(field: str, values: pl.Series) -> None:
    """Refuses a word in a CSV column that otherwise holds numbers: a slip, or a missing value such as `NaN`."""
    stripped = values.str.strip_chars()
    numbers = stripped.cast(pl.Float64, strict=False)
    words = numbers.is_null() | numbers.is_nan() | numbers.is_infinite()
    share = 1 - words.sum() / len(values)
    if (
        words.any()
        and share >= SHARE_OF_NUMBERS
        and numbers_as_written(values.filter(~words).unique().to_list())
    ):
        row = int(words.arg_max() or 0)
        got = f"{values[row]!r} in row {row + 1} among numbers"
        expected = (
            "levels of one type (if it is a level, pass the column as text: a Parquet file or a data frame)"
        )
        raise InputError(field, got, expected)


def _coded(values: pl.Series, ordered: list[Any]) -> Levels:
    levels = pl.Series("level", ordered, dtype=values.dtype)
    order = pl.DataFrame({"level": levels, "code": np.arange(len(ordered), dtype=np.int64)})
    rows = pl.DataFrame({"level": values.alias("level")})
    codes = rows.join(order, on="level", how="left", maintain_order="left")["code"].to_numpy()
    return Levels(ordered, codes.astype(np.int64))
