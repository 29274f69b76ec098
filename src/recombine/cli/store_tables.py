"""Tables of what is stored: trials, one result, and data sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recombine.report import Column, Row, Table, number
from recombine.runs import Result, StoredTrial


def runs_table(entries: Sequence[StoredTrial]) -> Table:
    """The trials in a store."""
    rows = [
        Row([entry.key[:8], entry.summary or "damaged", f"{entry.size / 1024:.0f} KiB", entry.created[:16]])
        for entry in entries
    ]
    columns = [Column("key"), Column("trial"), Column("size", "right"), Column("created")]
    return Table(columns, rows)


def result_heading(result: Result) -> str:
    """One result: its key and trial, when and where it was computed."""
    return f"{result.key}  {result.trial}\n{result.created}  version {result.version}  {result.machine}"


def result_table(result: Result) -> Table:
    """The settings of a result, and every value that is one number per seed."""
    rows = result.to_rows()
    names = [name for name in rows[0] if name not in {"key", "seed"}]
    columns = [Column("")] + [Column(f"seed {seed}", "right") for seed in result.trial.seeds]
    return Table(columns, [Row([name, *(_text(row[name]) for row in rows)]) for name in names])


def data_table(entries: Sequence[Any]) -> Table:
    """The data sets that can be downloaded, and which of them are here."""
    rows = []
    for entry in entries:
        state = "not here: recombine data fetch " + entry.name
        if entry.folder is not None:
            state = f"{entry.folder} ({'as published' if entry.verified else 'damaged'})"
        rows.append(Row([entry.name, entry.purpose, state]))
    return Table([Column("name"), Column("for"), Column("where")], rows)


def _text(value: Any) -> str:
    return number(value) if isinstance(value, float) else str(value)
