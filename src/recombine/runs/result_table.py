"""Results as one table, and the table as a file."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recombine.durable import write_durably
from recombine.errors import InputError, StoreError
from recombine.runs.store.result_rows import RUN_COLUMNS, ResultRows, rows_of_result
from recombine.runs.trial_result import Result

if TYPE_CHECKING:
    import polars as pl


def table(results: Iterable[Result | ResultRows]) -> pl.DataFrame:
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

    columns = _Columns()
    for result in results:
        columns.add(rows_of_result(result) if isinstance(result, Result) else result)
    return pl.DataFrame(columns.series())


class _Columns:
    """Columns that grow row by row. Settings, which trials share, are kept once and spread over the rows at the end."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}  # in order of appearance
        self._measured: dict[str, list[Any]] = {name: [] for name in RUN_COLUMNS}
        self._settings: list[Mapping[str, Any]] = []
        self._numbers: dict[int, int] = {}  # of settings, by the identity of the dictionary
        self._number_of_row: list[int] = []

    def add(self, rows: ResultRows) -> None:
        """Adds a row for every seed of a result."""
        number = self._numbers.setdefault(id(rows.settings), len(self._settings))
        if number == len(self._settings):
            self._settings.append(rows.settings)
            self._names |= dict.fromkeys([*RUN_COLUMNS, *rows.settings])
        n, n_before = len(rows.seeds), len(self._number_of_row)
        self._number_of_row += [number] * n
        measured: dict[str, Sequence[Any]] = {
            "key": [rows.key] * n,
            "seed": rows.seeds,
            "status": rows.status,
            "seconds": [rows.seconds] * n,
        }
        for name, items in (measured | rows.named_scalars()).items():
            if name not in self._measured:
                self._measured[name] = []
                self._names.setdefault(name)
            known = self._measured[name]
            if len(known) < n_before:
                known.extend([None] * (n_before - len(known)))
            known.extend(items)

    def series(self) -> list[pl.Series]:
        """All columns, in the order in which their names appeared."""
        return [self._series(name) for name in self._names]

    def _series(self, name: str) -> pl.Series:
        measured = self._measured.get(name, [])
        measured.extend([None] * (len(self._number_of_row) - len(measured)))
        shared = [settings.get(name) for settings in self._settings]
        if name not in self._measured:
            return column(shared)[self._number_of_row].alias(name)
        if any(
            value is not None for value in shared
        ):  # a setting of one trial has the name of another's value
            own = zip(measured, self._number_of_row, strict=True)
            measured = [shared[number] if value is None else value for value, number in own]
        return column(measured).alias(name)


def export(results: Iterable[Result | ResultRows], path: str | Path) -> Path:
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
