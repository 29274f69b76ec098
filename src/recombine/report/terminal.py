"""Tables in the terminal: aligned, wrapped to its width, and plain text where there is no terminal."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from typing import NamedTuple, TextIO

from recombine.report.content import Align, Table, Toned
from recombine.report.marks import without_marks

_GAP = "   "
_NARROWEST = 16
_STYLES = {"good": "green", "bad": "yellow", "open": "dim"}


class _Piece(NamedTuple):
    text: str
    style: str = ""


def table_text(table: Table, *, width: int | None = None) -> str:
    """The table as plain text, without colour codes.

    **Arguments:**

    - `width`: wrap the widest columns so that lines have at most so many characters; default: never wrap.

    ```python
    >>> from recombine.report import Column, Row, Table, table_text
    >>> columns = [Column("net"), Column("seen", "right", "error"), Column("unseen", "right", "error")]
    >>> print(table_text(Table(columns, [Row(["ordinary", "0.01", "0.82"])])))
               error
    net        seen   unseen
    ordinary   0.01     0.82

    ```
    """
    return "\n".join("".join(piece.text for piece in line).rstrip() for line in _lines(table, width))


def print_table(table: Table, *, file: TextIO | None = None) -> None:
    """Prints a table: on a terminal wrapped to its width and coloured, elsewhere as plain text.

    **Arguments:**

    - `file`: default standard output. `NO_COLOR` is respected.
    """
    from rich.console import Console
    from rich.text import Text

    file = file or sys.stdout
    console = Console(file=file, highlight=False)
    if not console.is_terminal:
        file.write(table_text(table) + "\n")
        return
    for line in _lines(table, console.width):
        shown = Text.assemble(*((piece.text, piece.style) for piece in line))
        shown.rstrip()
        console.print(shown, no_wrap=True, overflow="ignore", crop=False)


def _lines(table: Table, width: int | None) -> Iterator[list[_Piece]]:
    widths = _widths(table, width)
    if table.caption:
        yield from ([_Piece(line)] for line in _wrapped(without_marks(table.caption), width))
    if table.groups:
        yield [_Piece(_group_line(table, widths), "dim")]
    names = [_Piece(without_marks(column.name), "bold") for column in table.columns]
    yield from _row(table, names, widths)
    indent = " " * min(widths[0] + len(_GAP), 8)
    for row in table.rows:
        entries = [
            _Piece(without_marks(str(entry)), _STYLES[entry.tone] if isinstance(entry, Toned) else "")
            for entry in row.entries
        ]
        yield from _row(table, entries, widths)
        if row.remark:
            room = None if width is None else max(width - len(indent), _NARROWEST)
            for line in _wrapped(f"↳ {without_marks(row.remark)}", room):
                yield [_Piece(indent + line, "dim")]


def _row(table: Table, entries: list[_Piece], widths: list[int]) -> Iterator[list[_Piece]]:
    """The lines of one row; entries that are too wide go on below."""
    columns = [_wrapped(entry.text, limit) for entry, limit in zip(entries, widths, strict=True)]
    for number in range(max(map(len, columns))):
        line: list[_Piece] = []
        for index, lines in enumerate(columns):
            text = lines[number] if number < len(lines) else ""
            line.append(_Piece(_GAP if index else ""))
            line.append(
                _Piece(_aligned(text, widths[index], table.columns[index].align), entries[index].style)
            )
        yield line


def _widths(table: Table, limit: int | None) -> list[int]:
    """Natural widths, widened for group headings, then narrowed until the line fits.

    Columns give way in proportion, so that long texts are wrapped into about as many lines as short ones.
    """
    widths = []
    for index, column in enumerate(table.columns):
        texts = [column.name, *(str(row.entries[index]) for row in table.rows)]
        widths.append(max(_cells(without_marks(text)) for text in texts))
    for group in table.groups:
        covered = slice(group.start, group.start + group.span)
        missing = _cells(group.name) - sum(widths[covered]) - len(_GAP) * (group.span - 1)
        for step in range(max(missing, 0)):
            widths[group.start + step % group.span] += 1
    excess = 0 if limit is None else sum(widths) + len(_GAP) * (len(widths) - 1) - limit
    natural = list(widths)
    while excess > 0 and max(widths) > _NARROWEST:
        wide = [index for index, width in enumerate(widths) if width > _NARROWEST]
        widths[min(wide, key=lambda index: natural[index] / widths[index])] -= 1
        excess -= 1
    return widths


def _group_line(table: Table, widths: list[int]) -> str:
    line = ""
    for group in table.groups:
        start = sum(widths[: group.start]) + len(_GAP) * group.start
        inside = sum(widths[group.start : group.start + group.span]) + len(_GAP) * (group.span - 1)
        aligned = table.columns[group.start].align if group.span == 1 else "left"
        line = line.ljust(start) + _aligned(group.name, inside, aligned)
    return line


def _aligned(text: str, width: int, align: Align) -> str:
    missing = max(width - _cells(text), 0)
    left = {"left": 0, "right": missing, "centre": missing // 2}[align]
    return " " * left + text + " " * (missing - left)


def _wrapped(text: str, width: int | None) -> list[str]:
    if width is None or _cells(text) <= width:
        return [text]
    return textwrap.wrap(text, max(width, 1))


def _cells(text: str) -> int:
    """How many character cells a text takes; some characters take two or none."""
    from rich.cells import cell_len

    return cell_len(text)
