"""CSV files: with commas, semicolons, tabs or bars, in UTF-8, with any line ends. All values are read as text."""

from __future__ import annotations

import csv
import io
from collections.abc import Collection
from pathlib import Path
from typing import BinaryIO

import polars as pl

from recombine.errors import InputError

DELIMITERS = (",", ";", "\t", "|")
_MAX_HEADER = 16 * 2**20
"""Bytes of the first line: enough for a million columns."""
_EXPECTED = "a CSV file with column names in its first line, or a Parquet file"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def read_header(field: str, source: Path | bytes, needed: Collection[str]) -> tuple[str, list[str]]:
    """The delimiter and the column names, from the first line alone.

    The delimiter is the one with which most of the needed columns are there; `check_columns` looks at them before a
    large file is read.
    """
    shown = _shown(source)
    with _open(source) as file:
        binary = b"\0" in file.read(2**16)
        file.seek(0)
        line = file.readline(_MAX_HEADER)
    if line.startswith(_UTF16):
        raise InputError(field, f"{shown} in UTF-16", "a file in UTF-8; save it again as CSV UTF-8")
    line = line.split(b"\r", 1)[0].rstrip(b"\n")
    if binary:
        raise InputError(field, f"{shown}, which has null bytes", f"text; {_EXPECTED}")
    if not line.strip():
        raise InputError(field, shown, _EXPECTED)
    text = decoded(field, shown, line).removeprefix("\ufeff")
    try:
        headers = {
            sign: [name.strip() for name in next(csv.reader([text], delimiter=sign))] for sign in DELIMITERS
        }
    except csv.Error as error:
        raise InputError(field, shown, f"{_EXPECTED} ({error})") from None
    best = max(
        DELIMITERS, key=lambda sign: (sum(name in headers[sign] for name in needed), len(headers[sign]))
    )
    return best, headers[best]


def read_delimited(field: str, source: Path | bytes, delimiter: str, names: list[str]) -> pl.DataFrame:
    """All columns as text; empty lines are skipped, and an empty field is null."""
    shown = _shown(source)
    try:
        if _has_bare_returns(source):  # line ends of old Macs, which Polars does not know
            data = source if isinstance(source, bytes) else source.read_bytes()
            source = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        frame = pl.read_csv(source, separator=delimiter, infer_schema=False)
        if frame.width != len(names):
            raise ValueError(f"its first line has {len(names)} columns, its rows have {frame.width}")
    except (Exception, pl.exceptions.PanicException) as error:
        reason = " ".join(str(error).split())[:200]
        if "utf-8" in reason.lower() or "utf8" in reason.lower():
            raise _not_utf8(field, shown) from None
        raise InputError(field, shown, f"a CSV file that can be read ({reason})") from None
    frame.columns = names
    return frame.filter(~pl.all_horizontal(pl.all().is_null())) if frame.width > 1 else frame


def decoded(field: str, shown: str, data: bytes) -> str:
    """Bytes as text in UTF-8; other encodings are refused by name rather than read as wrong letters."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise _not_utf8(field, shown) from None


def _not_utf8(field: str, shown: str) -> InputError:
    way = "save it again as UTF-8, or: iconv -f latin1 -t utf-8 FILE"
    return InputError(field, f"{shown}, which is not UTF-8 (perhaps Latin-1)", f"a file in UTF-8; {way}")


def _has_bare_returns(source: Path | bytes) -> bool:
    with _open(source) as file:
        line = file.readline(_MAX_HEADER)
    return b"\r" in line.removesuffix(b"\n").removesuffix(b"\r")


def _open(source: Path | bytes) -> BinaryIO:
    return io.BytesIO(source) if isinstance(source, bytes) else source.open("rb")


def _shown(source: Path | bytes) -> str:
    return "standard input" if isinstance(source, bytes) else str(source)
