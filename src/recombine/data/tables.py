"""Tables that users bring: CSV, Parquet and JSON-lines files, standard input, and tables in memory.

Only the columns that are asked for are looked at. The first line of a CSV file tells whether they are there, before
the file is read. How columns get their types is explained in `recombine.data.columns`.
"""

from __future__ import annotations

import difflib
import io
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recombine.data.columns import DataColumn, as_column
from recombine.data.delimited import read_delimited, read_header
from recombine.data.files import existing_file, is_path
from recombine.data.frames import columns_in_memory
from recombine.data.json_lines import read_json_lines
from recombine.data.limits import MAX_RATIO, MAX_UNPACKED, check_name, short_name
from recombine.errors import InputError

_PARQUET = {".parquet", ".pq"}
_JSON_LINES = {".jsonl", ".ndjson", ".jl"}
_REFUSED = {
    ".json": "JSON lines (one object per line, .jsonl), CSV or Parquet",
    ".xlsx": "CSV or Parquet; save the sheet as CSV UTF-8",
    ".xls": "CSV or Parquet; save the sheet as CSV UTF-8",
    ".ods": "CSV or Parquet; save the sheet as CSV UTF-8",
    ".feather": "CSV or Parquet, or a data frame",
    ".arrow": "CSV or Parquet, or a data frame",
    ".h5": "CSV or Parquet, or a data frame",
    ".npz": "CSV or Parquet; arrays go to advise and audit as factors={...}, or to recombine audit --data",
    ".npy": "CSV or Parquet; arrays go to advise and audit as factors={...}",
    ".gz": "an unpacked CSV file, or Parquet",
    ".zip": "an unpacked CSV file, or Parquet",
    ".pkl": "CSV or Parquet (pickles are never read, since they can run any code)",
    ".pickle": "CSV or Parquet (pickles are never read, since they can run any code)",
}
_EXPECTED = "the path of a CSV, Parquet or JSON-lines file that exists"


@dataclass(frozen=True, eq=False)
class DataTable:
    """A user's table, of which columns are read one by one.

    **Attributes:**

    - `name`: of the file, for messages and reports.
    - `names`: of the columns.
    - `sources`: the columns as they came, by name.
    - `untyped`: whether it is from a CSV file, which has no types.

    ```python
    >>> from recombine.data import read_table
    >>> table = read_table({"colour": ["red", "blue"], "size": [1, 2]}, {"colour": "factors"})
    >>> table.names, table.rows(["colour", "size"])
    (['colour', 'size'], 2)

    ```
    """

    name: str
    sources: Mapping[str, Any]
    untyped: bool = False

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.sources)

    def column(self, field: str, name: str) -> DataColumn:
        """A column as values of one type; errors speak of `field`."""
        return as_column(field, self.sources[name], name=name, untyped=self.untyped)

    def rows(self, names: Sequence[str]) -> int:
        """The number of rows, which must be the same in all of these columns (by default, in the first one)."""
        lengths = {name: _length(self.sources[name]) for name in names or self.names[:1]}
        different = set(lengths.values())
        if None in different or not different:
            name = next((name for name, length in lengths.items() if length is None), None)
            got = f"column {name!r} of type {type(self.sources[name]).__name__}" if name else "no column"
            raise InputError("table", got, "columns with a value for each row")
        if len(different) > 1:
            raise InputError("table", f"columns of {sorted(different)} rows", "columns of equal length")  # type: ignore[type-var]
        (rows,) = different
        assert rows is not None
        if not rows:
            raise InputError("table", f"{self.name} without rows", "at least one row")
        return rows

    def content(self, names: Sequence[str], rows: int) -> tuple[np.ndarray | None, tuple[str, ...]]:
        """One number per row that is equal for rows which are equal in these columns.

        **Returns:**

        The numbers, and the columns whose values cannot be compared. The numbers are `None` if there are such columns,
        because nobody knows then whether rows are equal, or if there are no columns at all.
        """
        hashes = {name: _row_hashes(self.sources[name]) for name in names}
        not_compared = tuple(name for name, hashed in hashes.items() if hashed is None or len(hashed) != rows)
        if not hashes or not_compared:
            return None, not_compared
        numbered = pl.DataFrame({str(number): hashed for number, hashed in enumerate(hashes.values())})
        both = numbered.select(pl.struct(pl.all()).hash(seed=1)).to_series()
        return both.to_numpy().astype(np.uint64).view(np.int64), ()


def read_table(table: Any, needed: Mapping[str, str]) -> DataTable:
    """A file, a data frame or a mapping of columns as a table.

    **Arguments:**

    - `table`: the path of a CSV, Parquet or JSON-lines file, `"-"` for standard input, or anything in memory that
        `recombine.data.frames` knows: data frames, Arrow tables, Hugging Face datasets, lists of rows, mappings.
    - `needed`: the columns that it must have, each with the argument that names it.

    **Raises:**

    `recombine.InputError` that names the argument, and the closest column if there is one.

    ```python
    >>> from recombine.data.tables import read_table
    >>> table = read_table({"colour": ["red", "blue"], "y": [1, 2]}, {"colour": "factors"})
    >>> table.names, table.column("target", "y").quantities()
    (['colour', 'y'], array([1., 2.]))
    >>> read_table({"colour": ["red", "blue"]}, {"color": "factors"})
    Traceback (most recent call last):
    recombine.errors.InputError: factors: got 'color', expected a column of the table; did you mean 'colour'? \
(columns: colour)

    ```
    """
    if isinstance(table, DataTable):
        source = table
    elif is_path(table):
        source = _read_file(table, needed)
    else:
        source = DataTable("the table", columns_in_memory(table))
    check_columns(source.name, source.names, needed)
    return source


def check_columns(table: str, names: Sequence[str], needed: Mapping[str, str]) -> None:
    """Refuses a table that lacks a needed column, or has two columns of the same name."""
    for name, field in needed.items():
        if name not in names:
            raise InputError(field, short_name(name), f"a column of {table}{did_you_mean(name, names)}")
        check_name(field, name)
    twice = sorted({name for name in needed if list(names).count(name) > 1})
    if twice:
        raise InputError("table", twice[0], f"different column names; {table} has this one twice")


def did_you_mean(name: str, known: Collection[Any], what: str = "columns") -> str:
    """The end of a message about an unknown name: the closest known one, and a list."""
    listed = [short_name(str(one)) for one in list(known)[:1000]]
    near = difflib.get_close_matches(name, listed, n=1) if len(name) < 200 else []
    shown = ", ".join(listed[:12]) + (", …" if len(known) > 12 else "")
    return (f"; did you mean {near[0]!r}?" if near else "") + f" ({what}: {shown})"


def _read_file(table: Any, needed: Mapping[str, str]) -> DataTable:
    if str(table) == "-":
        if sys.stdin is None or not hasattr(sys.stdin, "buffer"):
            raise InputError("table", "-", "a table on standard input, which is closed here")
        return _from_bytes(sys.stdin.buffer.read(), needed)
    path = existing_file("table", table, _EXPECTED)
    kind = path.suffix.lower()
    if kind in _REFUSED:
        raise InputError("table", str(path), _REFUSED[kind])
    if kind in _PARQUET:
        return DataTable(path.name, _parquet(path, str(path)))
    if kind in _JSON_LINES:
        return DataTable(path.name, read_json_lines("table", path))
    return _delimited(path, path.name, needed)


def _from_bytes(data: bytes, needed: Mapping[str, str]) -> DataTable:
    """Standard input, whose kind shows in its first bytes."""
    name = "standard input"
    if data.startswith(b"PAR1"):
        return DataTable(name, _parquet(io.BytesIO(data), name))
    if data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
        return DataTable(name, read_json_lines("table", data))
    return _delimited(data, name, needed)


def _delimited(source: Path | bytes, name: str, needed: Mapping[str, str]) -> DataTable:
    delimiter, names = read_header("table", source, needed)
    twice = sorted({one for one in names if names.count(one) > 1})
    check_columns(name, names, needed)
    if twice:
        raise InputError("table", twice[0], f"different column names; {name} has this one twice")
    frame = read_delimited("table", source, delimiter, names)
    return DataTable(name, {one: frame[one] for one in frame.columns}, untyped=True)


def _parquet(source: Any, shown: str) -> dict[str, pl.Series]:
    try:
        _check_parquet_size(source, shown)
        frame = pl.read_parquet(source)
    except InputError:
        raise
    except (Exception, pl.exceptions.PanicException) as error:  # damaged pages make Polars panic
        reason = " ".join(str(error).split())[:200]
        raise InputError("table", shown, f"a Parquet file that can be read ({reason})") from None
    return {name: frame[name] for name in frame.columns}


def _check_parquet_size(source: Any, shown: str) -> None:
    """Refuses a file that would take too much memory: a column of equal values takes hardly any space in a file."""
    lazy = pl.scan_parquet(source)
    rows = int(lazy.select(pl.len()).collect().item())
    unpacked = rows * sum(8 if kind.is_numeric() else 16 for kind in lazy.collect_schema().dtypes())
    packed = source.stat().st_size if isinstance(source, Path) else len(source.getbuffer())
    allowed = max(MAX_UNPACKED, MAX_RATIO * packed)
    if unpacked > allowed:
        got = f"{shown} with {rows:,} rows, which take about {unpacked:,} bytes"
        raise InputError("table", got, f"at most {allowed:,} bytes")


def _length(column: Any) -> int | None:
    if isinstance(column, str | bytes) or not hasattr(column, "__len__"):
        return None
    try:
        return len(column)
    except Exception:  # arrays without axes, and classes of which nobody knows
        return None


def _row_hashes(column: Any) -> pl.Series | None:
    """A number or a value for each row of any column; `None` if its values cannot be compared."""
    try:
        if isinstance(column, pl.Series):
            return None if column.dtype == pl.Object else column.hash(seed=1)
        if isinstance(column, np.ndarray) and column.ndim > 1 and not column.dtype.hasobject:
            flat = np.ascontiguousarray(column).reshape(len(column), -1)
            return pl.Series([hash(row.tobytes()) for row in flat], dtype=pl.Int64)
        return as_column("content", column).values.hash(seed=1)
    except Exception:  # objects of the user's own, in a column that nobody asked about, may raise anything
        return None
