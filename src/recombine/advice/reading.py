"""Tables from files and data frames.

Files are read only as far as needed: the first line tells whether the columns are there, before anything is loaded.
"""

from __future__ import annotations

import csv
import difflib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from recombine.errors import InputError

DELIMITERS = (",", ";", "\t", "|")


def load(table: Any, wanted: Mapping[str, str]) -> tuple[str, pl.DataFrame]:
    """The name of a table and what it holds; `wanted` gives the columns that it must have, with their roles."""
    if isinstance(table, str | Path):
        path = Path(table)
        if not path.is_file():
            raise InputError("table", str(path), "the path of a CSV or Parquet file that exists")
        if path.suffix.lower() in {".parquet", ".pq"}:
            return path.name, _read(lambda: pl.read_parquet(path), path)
        delimiter = _delimiter(path, wanted)
        return path.name, _read(
            lambda: pl.read_csv(path, separator=delimiter, infer_schema=False, encoding="utf8-lossy"), path
        )
    if isinstance(table, pl.DataFrame):
        return "the table", table
    if isinstance(table, pl.LazyFrame):
        return "the table", table.collect()
    try:
        columns = {str(name): np.asarray(table[name]) for name in table}
    except Exception as error:
        raise InputError(
            "table", type(table).__name__, "a path, a data frame, or a mapping of columns"
        ) from error
    names = [str(name) for name in table]
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError("table", twice, "columns with different names")
    series = {name: _series(name, values) for name, values in columns.items()}
    lengths = {len(values) for values in series.values()}
    if len(lengths) > 1:
        raise InputError("table", f"columns of {sorted(lengths)} rows", "columns of equal length")
    return "the table", pl.DataFrame(series)


def _series(name: str, values: np.ndarray) -> pl.Series:
    if values.dtype != object:
        return pl.Series(name, values)
    kinds = {type(value) for value in values.tolist() if value is not None and value == value}
    if len(kinds) > 1 and not kinds <= {int, float, bool}:
        return pl.Series(name, values.tolist(), dtype=pl.Object)
    return pl.Series(name, [None if value is None or value != value else value for value in values.tolist()])


def _read(load: Any, path: Path) -> pl.DataFrame:
    try:
        return load()
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise InputError("table", str(path), f"a CSV or Parquet file that can be read ({reason})") from None


def _delimiter(path: Path, wanted: Mapping[str, str]) -> str:
    """The delimiter with which the first line has the wanted columns; not much more than that line is read."""
    with path.open("rb") as file:
        head = file.read(1 << 16)
    line = head.split(b"\n", 1)[0]
    if b"\0" in head or not line.strip():
        expected = "a CSV file with column names in its first line, or a Parquet file"
        raise InputError("table", str(path), expected)
    text = line.decode("utf-8-sig", errors="replace").rstrip("\r")
    headers = {
        sign: [name.strip() for name in next(csv.reader([text], delimiter=sign))] for sign in DELIMITERS
    }
    best = max(
        DELIMITERS, key=lambda sign: (sum(name in headers[sign] for name in wanted), len(headers[sign]))
    )
    check_columns(path.name, headers[best], wanted)
    return best


def check_columns(table: str, names: Sequence[str], wanted: Mapping[str, str]) -> None:
    """Refuses a table without the wanted columns, given with the roles that want them."""
    for name, role in wanted.items():
        if name not in names:
            raise InputError(role, name, f"a column of {table}{did_you_mean(name, names)}")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError("table", twice[0], f"different column names; {table} has this one twice")


def did_you_mean(name: str, known: Sequence[Any], what: str = "columns") -> str:
    """The end of a message about a name that is not known: the nearest one that is, and a list."""
    known = [str(one) for one in known]
    near = difflib.get_close_matches(name, known, n=1)
    listed = ", ".join(known[:12]) + (", …" if len(known) > 12 else "")
    return (f"; did you mean {near[0]!r}?" if near else "") + f" ({what}: {listed})"
