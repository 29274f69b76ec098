"""One column of a user's table: true and false, whole numbers, real numbers, or text.

**Types stay as the user chose them.** Text is never turned into numbers, so `01`, `1` and `1.0` are three levels of a
text column. A CSV file has no types. There, a column is numeric

- as a *factor* if every value is written as the number itself is printed (`1`, `-3`, `0.5`, `1e-07`; not `01`, `+1`,
  `1.50`) and no number is written in two ways (`1` and `1.0`); otherwise its levels are text, as written;
- as a *quantity* (targets, predictions, costs, inputs, and columns that are cut into ranges) if every value is a number
  in any notation, without leading zeros: how a quantity is written does not matter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, time
from decimal import Decimal
from typing import Any

import numpy as np
import polars as pl

from recombine.data.limits import MAX_NAME_LENGTH
from recombine.errors import InputError

EXACT = 2**53
"""Whole numbers from here on are no longer all different as real numbers."""
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,18}")
_REAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_LEADING_ZERO = r"^[+-]?0[0-9]"


@dataclass(frozen=True, eq=False)
class DataColumn:
    """A column with values of one type.

    **Attributes:**

    - `values`: of type Boolean, an integer, Float64 or String; null where there is no value.
    - `untyped`: from a CSV file, so that text may stand for numbers.
    """

    name: str
    values: pl.Series
    untyped: bool = False

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_text(self) -> bool:
        """Whether the values are text, whatever the text may stand for."""
        return self.values.dtype == pl.String

    def quantities(self) -> np.ndarray:
        """Numbers `(rows,)` as float64 with NaN where there is none, or text as objects with `None`.

        Whole numbers that would collapse as real numbers (from 2^53 on) are labels, so they are returned as text.
        """
        values = self.values
        if self.untyped and self.is_text:
            numbers = _as_quantities(values)
            values = values if numbers is None else numbers
        if values.dtype.is_integer() and len(values) and _largest(values) >= EXACT:
            values = values.cast(pl.String)
        if values.dtype.is_numeric() or values.dtype == pl.Boolean:
            return values.cast(pl.Float64).to_numpy()
        return np.array(values.to_list(), dtype=object)


def as_column(field: str, values: Any, *, name: str = "", untyped: bool = False) -> DataColumn:
    """A list, an array, a tensor or a series as a column; what is not a column of one type is refused.

    ```python
    >>> from recombine.data.columns import as_column
    >>> as_column("factor 'size'", [1, 2, None]).values.to_list()
    [1, 2, None]
    >>> as_column("factor 'size'", [1, "2"])
    Traceback (most recent call last):
    recombine.errors.InputError: factor 'size': got 'values of mixed types (int, str)', expected values of one type

    ```
    """
    try:
        series = _as_series(field, values)
    except InputError:
        raise
    except Exception as error:  # somebody's class may raise anything when it is read
        reason = " ".join(str(error).split())[:120]
        expected = f"a column of numbers or text ({reason})" if reason else "a column of numbers or text"
        raise InputError(field, _kind(values), expected) from None
    return DataColumn(name, series.alias(name), untyped)


def number_as_written(text: str) -> int | float | None:
    """The number that a text is, if the number prints as that text; `None` otherwise.

    ```python
    >>> from recombine.data.columns import number_as_written
    >>> [number_as_written(text) for text in ("7", "07", "0.5", "0.50", "1e-7", "x")]
    [7, None, 0.5, None, 1e-07, None]

    ```
    """
    if _INTEGER.fullmatch(text):
        whole = int(text)
        return whole if -(2**63) <= whole < 2**63 else None
    if not _REAL.fullmatch(text) or len(text) > 30:
        return None
    number = float(text)
    if not np.isfinite(number):
        return None
    return number if _exponent(repr(number)) == _exponent(text) else None


def number_in_any_notation(value: Any) -> int | float | None:
    """The number that a value is, or that a text writes in any notation (`07`, `0.50`); `None` otherwise."""
    if isinstance(value, str):
        exact = number_as_written(value)
        if exact is not None:
            return exact
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if np.isfinite(number) else None


def _exponent(text: str) -> str:
    """Exponents as one of many programs writes them: `1e-07`, `1e-7` and `1E-7` are the same."""
    return re.sub(r"e\+?(-?)0*(?=[0-9])", r"e\1", text.lower())


def numbers_as_written(distinct: list[str]) -> dict[str, int | float] | None:
    """The numbers that the different texts of an untyped column are; `None` if it is a column of text."""
    numbers = {text: number_as_written(text) for text in distinct}
    known = {text: number for text, number in numbers.items() if number is not None}
    if len(known) < len(numbers) or len(set(known.values())) < len(known):
        return None
    kinds = {type(number) for number in known.values()}
    if len(kinds) > 1 and max(abs(number) for number in known.values()) >= EXACT:
        return None
    return known


def _as_quantities(text: pl.Series) -> pl.Series | None:
    stripped = text.str.strip_chars()
    stripped = stripped.set(stripped == "", None)
    numbers = stripped.cast(pl.Float64, strict=False)
    if numbers.null_count() != stripped.null_count() or stripped.str.contains(_LEADING_ZERO).any():
        return None
    return numbers


def _largest(values: pl.Series) -> int:
    ends = [values.min(), values.max()]
    return max((abs(int(end)) for end in ends if end is not None), default=0)  # type: ignore[arg-type]


def _as_series(field: str, values: Any) -> pl.Series:
    if isinstance(values, pl.Series):
        return _normalised(field, values)
    if isinstance(values, list | tuple | range):
        return _from_list(field, list(values))
    if isinstance(values, np.ma.MaskedArray):
        return _from_list(field, _one_axis(field, values).tolist())
    if hasattr(values, "isna") and hasattr(values, "to_numpy"):  # pandas
        dtype = getattr(values, "dtype", None)
        if not isinstance(dtype, np.dtype) or dtype.kind not in "biuf":
            listed = zip(values.tolist(), values.isna().tolist(), strict=True)
            return _from_list(field, [None if missing else value for value, missing in listed])
        values = values.to_numpy()
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values.float() if "bfloat16" in str(values.dtype) else values
    if isinstance(values, str | bytes | dict | set) or not hasattr(values, "__len__"):
        raise InputError(field, _kind(values), "a column with a value for each row")
    array = _one_axis(field, np.asarray(values))
    if array.dtype.kind in "biu":
        return pl.Series(array)
    if array.dtype.kind == "f":
        return pl.Series(array.astype(np.float64))
    if array.dtype.kind == "M":
        return _normalised(field, pl.Series(array.astype("datetime64[us]")))
    if array.dtype.kind in "UOST":
        return _from_list(field, array.tolist())
    if str(array.dtype) == "bfloat16":
        return pl.Series(array.astype(np.float64))
    raise InputError(field, f"values of type {array.dtype.name}", "numbers or text")


def _one_axis(field: str, array: Any) -> Any:
    if array.ndim != 1:
        raise InputError(field, f"shape {array.shape}", "one axis, with a value for each row")
    return array


def _from_list(field: str, values: list[Any]) -> pl.Series:
    """Values that are all of one kind; `None` and NaN (as pandas has it) are missing."""
    if set(map(type, values)) == {str}:  # the common case, without a look at each value
        return _text(field, values)
    plain = [value.item() if isinstance(value, np.generic) else value for value in values]
    plain = [None if _is_missing(value) else value for value in plain]
    kinds = {_kind_of_value(value) for value in plain if value is not None}
    if not kinds:
        return pl.Series(plain, dtype=pl.String)
    if kinds == {"int", "float"} and all(abs(value) < EXACT for value in plain if isinstance(value, int)):
        kinds = {"float"}
    if len(kinds) > 1:
        got = f"values of mixed types ({', '.join(sorted(kinds))})"
        raise InputError(field, got, "values of one type")
    (kind,) = kinds
    if kind == "int":
        return _integers(field, plain)
    if kind == "float":
        return pl.Series([None if value is None else float(value) for value in plain], dtype=pl.Float64)
    if kind == "bytes":
        plain = [None if value is None else value.decode("utf-8") for value in plain]
    if kind in {"str", "bytes"}:
        return _text(field, [None if value is None else str(value) for value in plain])
    if kind == "Decimal":
        return pl.Series([None if value is None else str(value) for value in plain], dtype=pl.String)
    if kind in {"bool", "date", "time"}:
        return _normalised(field, pl.Series(plain))
    raise InputError(field, f"values of type {kind}", "numbers or text")


def _is_missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _kind_of_value(value: Any) -> str:
    for kind in (bool, int, float, str, bytes, Decimal, date, time):
        if isinstance(value, kind):
            return kind.__name__
    return type(value).__name__


def _integers(field: str, values: list[int | None]) -> pl.Series:
    known = [value for value in values if value is not None]
    for dtype, low, high in ((pl.Int64, -(2**63), 2**63), (pl.UInt64, 0, 2**64)):
        if low <= min(known) and max(known) < high:
            return pl.Series(values, dtype=dtype)
    largest = max(known, key=abs)
    got = f"a whole number of {largest.bit_length()} bits"
    raise InputError(field, got, "whole numbers of at most 64 bits; write larger ones as text")


def _text(field: str, values: list[str | None]) -> pl.Series:
    longest = max((value for value in values if value is not None), key=len, default="")
    if len(longest) > MAX_NAME_LENGTH:
        got = f"{longest[:40]}… ({len(longest):,} characters)"
        raise InputError(field, got, f"text of at most {MAX_NAME_LENGTH:,} characters")
    try:
        return pl.Series(values, dtype=pl.String)
    except UnicodeEncodeError as error:
        expected = "text that can be written in UTF-8 (no lone surrogates)"
        raise InputError(field, str(error.object), expected) from None


def _normalised(field: str, series: pl.Series) -> pl.Series:
    """A Polars series as one of the few types that columns have."""
    dtype = series.dtype
    if str(dtype) in {"Int128", "UInt128"}:
        return (
            _integers(field, series.to_list()) if series.null_count() < len(series) else series.cast(pl.Int64)
        )
    if dtype == pl.Boolean or dtype.is_integer():
        return series
    if dtype.is_float():
        return series.cast(pl.Float64)
    if dtype == pl.Null:
        return series.cast(pl.String)
    if dtype == pl.Object:
        return _from_list(field, series.to_list())
    if isinstance(dtype, pl.Decimal):
        return series.cast(pl.Float64)
    if isinstance(dtype, pl.Categorical | pl.Enum | pl.Date | pl.Datetime | pl.Time):
        return series.cast(pl.String)
    if dtype == pl.String:
        longest = int(series.str.len_chars().max() or 0)  # type: ignore[arg-type]
        if longest > MAX_NAME_LENGTH:
            got = f"a text of {longest:,} characters"
            raise InputError(field, got, f"text of at most {MAX_NAME_LENGTH:,} characters")
        return series
    raise InputError(field, f"values of type {dtype!r}", "numbers or text")


def _kind(values: Any) -> str:
    return type(values).__name__
