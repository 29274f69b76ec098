"""Tables as `.csv` and `.parquet` files that are safe to open in a spreadsheet."""

from __future__ import annotations

import io
import re
from pathlib import Path

import polars as pl

from recombine.durable import write_file
from recombine.errors import InputError

FORMULA_STARTS = "=+-@\t\r"
"""A spreadsheet runs a cell that begins with one of these as a formula.

**Reference:** https://owasp.org/www-community/attacks/CSV_Injection
"""


def csv_bytes(frame: pl.DataFrame) -> bytes:
    """A frame as CSV in which no text is run as a formula: such text gets an apostrophe in front.

    Columns of numbers are written as they are, negative ones included.

    ```python
    >>> import polars as pl
    >>> from recombine.data.export import csv_bytes
    >>> csv_bytes(pl.DataFrame({"level": ["=1+1", "-3", "01"], "error": [-0.5, 1.0, 2.0]}))
    b"level,error\\n'=1+1,-0.5\\n'-3,1.0\\n01,2.0\\n"

    ```
    """
    safe = frame.with_columns(
        pl.when(
            pl.col(pl.String).str.contains(f"^[{re.escape(FORMULA_STARTS)}]")
        )  # unescaped, "+-@" is a range
        .then("'" + pl.col(pl.String))
        .otherwise(pl.col(pl.String))
        .name.keep()
    )
    safe.columns = [f"'{name}" if name[:1] in FORMULA_STARTS and name else name for name in frame.columns]
    buffer = io.BytesIO()
    safe.write_csv(buffer)
    return buffer.getvalue()


def check_table_path(field: str, path: Path | None) -> None:
    """Refuses a table that could not be written, before anything is computed.

    ```python
    >>> from pathlib import Path
    >>> from recombine.data import check_table_path
    >>> check_table_path("--cells", Path("cells.xlsx"))
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: --cells: got 'cells.xlsx', expected a file name that ends in .csv or .parquet

    ```
    """
    if path is None:
        return
    if path.suffix not in {".csv", ".parquet"}:
        raise InputError(field, str(path), "a file name that ends in .csv or .parquet")
    if not path.absolute().parent.is_dir():
        raise InputError(field, str(path), "a file in a folder that exists")


def write_table(frame: pl.DataFrame, path: Path) -> None:
    """Writes a `.csv` or `.parquet` file, whole or not at all.

    ```python
    >>> import polars as pl
    >>> from recombine.data import write_table
    >>> path = getfixture("tmp_path") / "cells.csv"
    >>> write_table(pl.DataFrame({"colour": ["red"], "error": [0.5]}), path)
    >>> path.read_text(encoding="utf-8")
    'colour,error\\nred,0.5\\n'

    ```
    """
    if path.suffix == ".csv":
        write_file(path, csv_bytes(frame))
        return
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    write_file(path, buffer.getvalue())
