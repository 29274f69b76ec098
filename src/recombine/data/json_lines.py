"""JSON lines: one object per line, whose keys are the columns. Values keep the types that JSON gives them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from recombine.data.delimited import decoded
from recombine.data.limits import MAX_RATIO
from recombine.errors import InputError

MAX_SPARSE_VALUES = 10_000_000
"""Values of a table, missing ones included; a larger one may have ten times as many as its file holds."""


def read_json_lines(field: str, source: Path | bytes) -> dict[str, list[Any]]:
    """The columns of a file of JSON lines; a key that a line lacks is missing there (`None`)."""
    shown = "standard input" if isinstance(source, bytes) else str(source)
    text = decoded(field, shown, source if isinstance(source, bytes) else source.read_bytes())
    return columns_of_records(field, _json_objects(field, text, shown), f"lines of {shown}")


def columns_of_records(field: str, records: Iterable[Mapping[str, Any]], shown: str) -> dict[str, list[Any]]:
    """The columns of rows that are mappings; a key that a row lacks is missing there (`None`).

    ```python
    >>> from recombine.data.json_lines import columns_of_records
    >>> columns_of_records("table", [{"a": 1}, {"a": 2, "b": "x"}], "rows")
    {'a': [1, 2], 'b': [None, 'x']}

    ```
    """
    columns: dict[str, list[Any]] = {}
    present = 0
    for count, row in enumerate(records, start=1):
        for name in row:
            if name not in columns:
                columns[name] = [None] * (count - 1)
        for name, values in columns.items():
            values.append(row.get(name))
        present += len(row)
        if count * len(columns) > max(MAX_SPARSE_VALUES, MAX_RATIO * present):
            got = f"{len(columns):,} different names in the first {count:,} {shown}"
            raise InputError(field, got, "rows that mostly have the same names")
    return columns


def _json_objects(field: str, text: str, shown: str) -> Iterator[dict[str, Any]]:
    # Not str.splitlines, which would also split at separators that JSON allows within a string.
    for number, line in enumerate(text.removeprefix("\ufeff").replace("\r", "\n").split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            row = None
        if not isinstance(row, dict):
            got = f"line {number} of {shown}"
            raise InputError(field, got, 'JSON lines: an object on every line, such as {"colour": "red"}')
        yield row
