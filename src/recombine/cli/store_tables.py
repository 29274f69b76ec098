"""Tables of what is stored: trials, one result, and data sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from recombine.report import Column, Row, Table, number
from recombine.runs import Result, StoredTrial


def runs_listing(entries: Sequence[StoredTrial]) -> Iterator[str]:
    """The trials in a store, one per line in columns.

    Not a `Table`, whose marks, wrapping and colours would take half a minute for a hundred thousand trials.
    """
    summaries = [entry.summary or "damaged" for entry in entries]
    sizes = [f"{entry.size / 1024:.0f} KiB" for entry in entries]
    width, size_width = (max(map(len, column)) for column in (["trial", *summaries], ["size", *sizes]))
    yield f"{'key':8}   {'trial':{width}}   {'size':>{size_width}}   created"
    for entry, summary, size in zip(entries, summaries, sizes, strict=True):
        yield f"{entry.key[:8]}   {summary:{width}}   {size:>{size_width}}   {entry.created[:16]}"


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
