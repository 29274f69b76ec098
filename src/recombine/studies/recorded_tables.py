"""Tables of a results page in a file of their own, so that a later page can show them without running anything."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recombine.durable import write_file
from recombine.errors import InputError
from recombine.report import Badge, Column, Row, Table

MAX_BYTES = 2**22
FILE = "tables.json"


def write_tables(tables: Mapping[str, Table], folder: Path) -> None:
    """Writes tables by title into `folder/tables.json`; nothing if there are none."""
    if not tables:
        return
    folder.mkdir(parents=True, exist_ok=True)
    plain = {
        title: {
            "caption": table.caption,
            "columns": [[column.name, column.align, column.group] for column in table.columns],
            "rows": [[_plain(entry) for entry in row.entries] for row in table.rows],
        }
        for title, table in tables.items()
    }
    write_file(folder / FILE, (json.dumps(plain, ensure_ascii=False, indent=1) + "\n").encode())


def read_tables(folder: Path | None) -> dict[str, Table]:
    """The tables of an earlier page by title; none if it had none.

    **Raises:** [`recombine.InputError`][] if the file holds something else.
    """
    file = None if folder is None else folder / FILE
    if file is None or not file.is_file():
        return {}
    if file.stat().st_size > MAX_BYTES:
        raise InputError(str(file), f"{file.stat().st_size} bytes", f"at most {MAX_BYTES}")
    try:
        plain = json.loads(file.read_text(encoding="utf-8"))
        return {title: _table(table) for title, table in plain.items()}
    except (ValueError, TypeError, AttributeError, LookupError):
        raise InputError(str(file), "other contents", "tables, as `recombine report` writes them") from None


def _plain(entry: str | Badge) -> Any:
    return entry if isinstance(entry, str) else [entry.text, entry.tone]


def _table(plain: Any) -> Table:
    columns = [Column(str(name), align, str(group)) for name, align, group in plain["columns"]]
    rows = [
        Row([entry if isinstance(entry, str) else Badge(str(entry[0]), entry[1]) for entry in row])
        for row in plain["rows"]
    ]
    return Table(columns, rows, str(plain["caption"]))
