"""Words of the command line as arguments of `advise`."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from recombine.errors import InputError
from recombine.report.files import write_file


def parse_orders(text: str) -> tuple[int, ...]:
    """`"1,2"` as numbers."""
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and int(word) > 0 for word in words):
        raise InputError("order", text, "whole numbers from 1 on, such as 1,2")
    return tuple(int(word) for word in words)


def parse_cells(field: str, text: str) -> dict[str, str]:
    """`"size=huge,shape=cat"` as levels by factor."""
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(name.strip() and sign and level.strip() for name, sign, level in pairs):
        raise InputError(field, text, "FACTOR=LEVEL, or several of them with commas between")
    return {name.strip(): level.strip() for name, _, level in pairs}


def parse_bins(texts: Sequence[str]) -> dict[str, int]:
    """`["weight=4"]` as numbers of ranges by column."""
    found = {}
    for text in texts:
        name, _, number = text.partition("=")
        if not name.strip() or not number.strip().isdecimal():
            raise InputError("bins", text, "COLUMN=NUMBER, such as weight=4")
        found[name.strip()] = int(number)
    return found


def check_table_path(field: str, path: Path | None) -> None:
    """Refuses a table that could not be written, before anything is computed."""
    if path is None:
        return
    if path.suffix not in {".csv", ".parquet"}:
        raise InputError(field, str(path), "a file name that ends in .csv or .parquet")
    if not path.absolute().parent.is_dir():
        raise InputError(field, str(path), "a file in a folder that exists")


def write_table(table: pl.DataFrame, path: Path) -> None:
    """Writes a table whole or not at all."""
    buffer = io.BytesIO()
    table.write_csv(buffer) if path.suffix == ".csv" else table.write_parquet(buffer)
    write_file(path, buffer.getvalue())
