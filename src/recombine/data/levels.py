"""The levels of a factor: the different values of a column, sorted, and which of them each row has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from jaxtyping import Int

from recombine.data.columns import EXACT, DataColumn, numbers_as_written
from recombine.data.limits import MAX_BINS, MAX_LEVELS
from recombine.errors import InputError

MISSING = "(missing)"
"""The level of rows without a value, if that counts as a level."""
MAX_AUTO_BINS = 10
"""Ranges that are chosen automatically: with more, few of their combinations with other levels have rows."""
_WORDS_FOR_MISSING = ("nan", "na", "n/a", "null", "none")
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


def including_missing(column: DataColumn, read: Callable[[DataColumn], Levels]) -> Levels:
    """The levels of a column, with one more level for rows that have no value.

    Levels that are numbers then become text, since all levels of a factor are of one type. In a CSV column of numbers,
    words such as `NaN` and `NA` are missing values, too.

    **Arguments:**

    - `read`: what makes levels of the rows that have a value.

    ```python
    >>> from recombine.data.columns import as_column
    >>> from recombine.data.levels import including_missing, levels_of
    >>> size = including_missing(as_column("factor 'size'", [10, None, 9], name="size"), levels_of)
    >>> size.levels, size.codes.tolist()
    (['9', '10', '(missing)'], [1, 2, 0])

    ```
    """
    missing = gaps(column.values)
    if column.untyped and column.is_text:
        words = column.values.str.strip_chars().str.to_lowercase().is_in(_WORDS_FOR_MISSING).fill_null(True)
        written = column.values.filter(~(missing | words)).unique().to_list()
        if written and numbers_as_written(written) is not None:
            missing = missing | words
    if not missing.any():
        return read(column)
    if missing.all():
        raise InputError(f"factor {column.name!r}", "no value in any row", "levels in some rows")
    known = read(DataColumn(column.name, column.values.filter(~missing), column.untyped))
    levels = [str(level) for level in known.levels]
    if MISSING in levels:
        got = f"rows without a value next to the level {MISSING!r}"
        raise InputError(f"factor {column.name!r}", got, "another name for that level")
    codes = np.full(len(column), len(levels), dtype=np.int64)
    codes[~missing.to_numpy()] = known.codes
    ranges = None if known.ranges is None else [*known.ranges, MISSING]
    return Levels([*levels, MISSING], codes, ranges)


def automatic_bins(rows: int) -> int:
    """Into how many ranges a column is cut if the user leaves that open: the cube root of the number of rows.

    Two such columns then have more rows than combinations of ranges. There are at least 2 and at most 10 ranges.

    ```python
    >>> from recombine.data.levels import automatic_bins
    >>> [automatic_bins(rows) for rows in (5, 100, 1_000_000)]
    [2, 5, 10]

    ```
    """
    return int(np.clip(round(rows ** (1 / 3)), 2, MAX_AUTO_BINS))


def binned(column: DataColumn, bins: int | str) -> Levels:
    """A column of numbers cut into ranges that hold about equally many rows; ranges without rows are left out.

    **Arguments:**

    - `bins`: how many ranges; `"auto"` for `automatic_bins` of the number of rows.

    ```python
    >>> from recombine.data.columns import as_column
    >>> from recombine.data.levels import binned
    >>> binned(as_column("factor 'weight'", [0.0, 1.0, 2.0, 3.0], name="weight"), 2).ranges
    ['0 to 1.5', '1.5 to 3']

    ```
    """
    field = f"factor {column.name!r}"
    asked = f"{column.name}={bins!r}"
    if isinstance(bins, str) and bins == "auto":
        bins = automatic_bins(len(column))
    if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or not 2 <= bins <= MAX_BINS:
        raise InputError("bins", asked, f"at least 2 ranges, at most {MAX_BINS:,}, or 'auto'")
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
    missing = gaps(values)
    if missing.any():
        row = int(missing.arg_max() or 0)
        expected = "a level in every row (or missing='level', --missing level)"
        raise InputError(field, f"no value in row {row + 1}", expected)


def gaps(values: pl.Series) -> pl.Series:
    """Which rows have no value: null, not a number, or white space only."""
    missing = values.is_null()
    if values.dtype.is_float():
        missing = missing | values.is_nan().fill_null(True)
    if values.dtype == pl.String:
        missing = missing | (values.str.strip_chars() == "").fill_null(True)
    return missing


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
