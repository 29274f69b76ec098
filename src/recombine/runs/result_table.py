"""Results as one table, and the table as a file."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from recombine.durable import write_durably
from recombine.errors import InputError, StoreError

if TYPE_CHECKING:
    import polars as pl


class HasRows(Protocol):
    """A result, or what a table shows of it (`Store.rows`)."""

    def to_rows(self) -> list[dict[str, Any]]:
        """One dictionary per seed."""


def table(results: Iterable[HasRows]) -> pl.DataFrame:
    """One row per trial and seed; the columns are described at `Result.to_rows`.

    A setting that a trial does not have is null in its rows. A column in which one trial has a number and
    another a string is a column of strings.

    ```python
    >>> from recombine.parts import Part
    >>> from recombine.runs import Trial, run_trial, table
    >>> trial = Trial(Part("types:SimpleNamespace", n=3), probes=(Part("builtins:vars"),), seeds=(5, 6))
    >>> frame = table([run_trial(trial)])
    >>> frame.select("seed", "status", "task", "task.n", "n").rows()
    [(5, 'finished', 'SimpleNamespace', 3, 3), (6, 'finished', 'SimpleNamespace', 3, 3)]

    ```
    """
    import polars as pl

    rows = [row for result in results for row in result.to_rows()]
    names = dict.fromkeys(name for row in rows for name in row)  # in order of appearance
    return pl.DataFrame({name: column([row.get(name) for row in rows]) for name in names})


def export(results: Iterable[HasRows], path: str | Path) -> Path:
    """Writes `table(results)` to a `.csv` or `.parquet` file, whole or not at all.

    **Returns:**

    The path.
    """
    path = Path(path)
    if path.suffix.lower() not in {".csv", ".parquet"}:
        raise InputError("export", str(path), "a file name that ends in .csv or .parquet")
    return write_frame(table(results), path)


def write_frame(frame: pl.DataFrame, path: Path) -> Path:
    """Writes a frame to a `.csv` or `.parquet` file, whole or not at all."""
    buffer = io.BytesIO()
    if path.suffix.lower() == ".csv":
        frame.write_csv(buffer)
    else:
        frame.write_parquet(buffer)
    try:
        write_durably(path, buffer.getvalue())
    except OSError as error:
        raise StoreError(f"cannot write {path}: {error.strerror or error}") from error
    return path


def column(values: list[Any]) -> pl.Series:
    """Values as a column: of numbers, of booleans, or else of strings; `None` is null."""
    import polars as pl

    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} and kinds != {int}:
        return pl.Series(values, dtype=pl.Float64, strict=False)
    if kinds == {bool}:
        return pl.Series(values, dtype=pl.Boolean)
    if kinds == {int} and all(value is None or abs(value) < 2**63 for value in values):
        return pl.Series(values, dtype=pl.Int64)
    return pl.Series([None if value is None else str(value) for value in values], dtype=pl.String)
