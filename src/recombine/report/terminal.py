"""Documents and tables in the terminal: aligned, wrapped to its width, and plain text where there is no terminal."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TextIO

from recombine.report.document import (
    Align,
    Badge,
    Block,
    Bullets,
    Document,
    Facts,
    Row,
    Section,
    Table,
    shown,
)
from recombine.report.marks import without_marks

_GAP = "   "
_NARROWEST = 16
"""Columns are narrowed to this width before anything else is tried."""
_LONGEST_WORD = 24
"""Longer words in a table are broken rather than keep a column wide."""
_STYLES = {"good": "green", "bad": "yellow", "open": "dim"}
_WIDTHS = (60, 120)
_INDENT = "  "
_HANGING = "    "


class _Piece(NamedTuple):
    text: str
    style: str = ""


def terminal_width() -> int:
    """The width of the terminal within 60 to 120 characters; 100 where there is none."""
    return min(max(shutil.get_terminal_size((100, 24)).columns, _WIDTHS[0]), _WIDTHS[1])


def document_text(document: Document, *, width: int | None = None) -> str:
    """A document as plain text: the lead, then every section with its blocks indented.

    **Arguments:**

    - `width`: lines have at most so many characters; default: the width of this terminal.

    ```python
    >>> from recombine.report import Badge, Document, Fact, Facts, Section
    >>> facts = Facts([Fact("shortcut", "colour alone explains 99%", Badge("yes", "bad")), Fact("noise", "none")])
    >>> print(Document("Audit", "The model does not compose.", [Section("Findings", [facts])]).text(width=60))
    The model does not compose.
    <BLANKLINE>
    Findings
      shortcut   yes  colour alone explains 99%
      noise           none

    ```
    """
    lines = _document_lines(document, width or terminal_width())
    return "\n".join("".join(piece.text for piece in line).rstrip() for line in lines)


def print_document(document: Document, *, file: TextIO | None = None) -> None:
    """Prints a document: on a terminal with colours, elsewhere as plain text. `NO_COLOR` is respected."""
    _print(_document_lines(document, terminal_width()), file or sys.stdout)


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
    file = file or sys.stdout
    width = terminal_width() if file.isatty() else None
    _print(_lines(table, width), file)


def _print(lines: Iterator[list[_Piece]], file: TextIO) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(file=file, highlight=False)
    for line in lines:
        if not console.is_terminal:
            file.write("".join(piece.text for piece in line).rstrip() + "\n")
            continue
        shown = Text.assemble(*((piece.text, piece.style) for piece in line))
        shown.rstrip()
        console.print(shown, no_wrap=True, overflow="ignore", crop=False)


def _document_lines(document: Document, width: int) -> Iterator[list[_Piece]]:
    """Blank lines separate what has no heading; sections with headings follow each other closely."""
    lead = without_marks(document.lead).strip()
    yield from ([_Piece(line)] for line in (_wrapped(lead, width) if lead else ()))
    first, headed = not lead, False
    for section in document.sections:
        if section.where == "page":
            continue
        lines = list(_block_lines(list(shown(section.blocks, "terminal")), section, width))
        if not lines:
            continue
        if not first and not (headed and section.heading):
            yield []
        first, headed = False, bool(section.heading)
        if section.heading:
            for line in _wrapped(without_marks(section.heading), width):
                yield [_Piece(line, "bold")]
        yield from lines


def _block_lines(blocks: Sequence[Block], section: Section, width: int) -> Iterator[list[_Piece]]:
    indent = _INDENT if section.heading else ""
    for block in blocks:
        if isinstance(block, str):
            yield from _hanging(without_marks(block), width, indent)
        elif isinstance(block, Table):
            yield from ([_Piece(indent), *line] for line in _lines(block, width - len(indent)))
        elif isinstance(block, Facts):
            yield from _facts(block, width, indent)
        elif isinstance(block, Bullets):
            for number, item in enumerate(block.items, start=1):
                begin = f"{number}. " if block.numbered else "- "
                yield from _hanging(begin + without_marks(item), width, indent)


def _hanging(text: str, width: int, indent: str) -> Iterator[list[_Piece]]:
    """A paragraph whose later lines are indented further."""
    start = indent
    for line in _wrapped(text, width - len(indent), hanging=len(_HANGING)) if text.strip() else ():
        yield [_Piece(start + line)]
        start = indent + _HANGING


def _facts(block: Facts, width: int, indent: str) -> Iterator[list[_Piece]]:
    """Labels, badges and texts in columns; a text that is too long goes on below itself."""
    labels = max((_cells(without_marks(fact.label)) for fact in block.facts), default=0) + len(_GAP)
    badges = max((_cells(fact.badge.text) + 2 for fact in block.facts if fact.badge), default=0)
    begin = len(indent) + labels + badges
    for fact in block.facts:
        lines = _wrapped(without_marks(fact.text), max(width - begin, _NARROWEST)) or [""]
        badge = (
            _Piece(_aligned(fact.badge.text, badges, "left"), _STYLES[fact.badge.tone])
            if fact.badge
            else None
        )
        label = indent + _aligned(without_marks(fact.label), labels, "left")
        yield [_Piece(label), badge or _Piece(" " * badges), _Piece(lines[0])]
        yield from ([_Piece(" " * begin + line)] for line in lines[1:])


def _lines(table: Table, width: int | None) -> Iterator[list[_Piece]]:
    if table.caption:
        yield from ([_Piece(line)] for line in _wrapped(without_marks(table.caption), width))
    tables = [table] if width is None else _side_by_side(table, width)
    for part in tables:
        yield from _part_lines(part, width, remarks=part is tables[-1])


def _part_lines(table: Table, width: int | None, *, remarks: bool) -> Iterator[list[_Piece]]:
    widths = _widths(table, width)
    yield from ([_Piece(line, "dim")] for line in _group_lines(table, widths))
    names = [_Piece(without_marks(column.name), "bold") for column in table.columns]
    yield from _row(table, names, widths)
    indent = " " * min(widths[0] + len(_GAP), 8)
    for row in table.rows:
        entries = [
            _Piece(without_marks(str(entry)), _STYLES[entry.tone] if isinstance(entry, Badge) else "")
            for entry in row.entries
        ]
        yield from _row(table, entries, widths)
        if row.remark and remarks:
            space = None if width is None else max(width - len(indent), _NARROWEST)
            for line in _wrapped(f"↳ {without_marks(row.remark)}", space):
                yield [_Piece(indent + line, "dim")]


def _side_by_side(table: Table, width: int) -> list[Table]:
    """The table, or several with the same first column if it is too wide even with every column at its narrowest."""
    floors = _floors(table)
    parts, columns, used = [], [0], floors[0]
    for index in range(1, len(table.columns)):
        if used + len(_GAP) + floors[index] > width and len(columns) > 1:
            parts.append(columns)
            columns, used = [0], floors[0]
        columns, used = [*columns, index], used + len(_GAP) + floors[index]
    parts.append(columns)
    return [_with_columns(table, columns) for columns in parts] if len(parts) > 1 else [table]


def _with_columns(table: Table, columns: Sequence[int]) -> Table:
    rows = [
        Row([row.entries[index] for index in columns], remark=row.remark, anchor=row.anchor)
        for row in table.rows
    ]
    return Table([table.columns[index] for index in columns], rows)


def _row(table: Table, entries: list[_Piece], widths: list[int]) -> Iterator[list[_Piece]]:
    """The lines of one row; entries that are too wide go on below."""
    columns = [
        _wrapped(entry.text, limit, break_words=True) for entry, limit in zip(entries, widths, strict=True)
    ]
    for number in range(max(map(len, columns))):
        line: list[_Piece] = []
        for index, lines in enumerate(columns):
            text = lines[number] if number < len(lines) else ""
            line.append(_Piece(_GAP if index else ""))
            line.append(
                _Piece(_aligned(text, widths[index], table.columns[index].align), entries[index].style)
            )
        yield line


def _column_texts(table: Table, index: int) -> list[str]:
    return [without_marks(str(row.entries[index])) for row in table.rows]


def _floors(table: Table) -> list[int]:
    """How narrow columns can be: numbers are not wrapped, words are not broken unless they are very long."""
    floors = []
    for index, column in enumerate(table.columns):
        texts = _column_texts(table, index)
        pieces = without_marks(column.name).split()
        pieces += texts if column.align == "right" else [word for text in texts for word in text.split()]
        floors.append(min(max(map(_cells, pieces), default=1), _LONGEST_WORD))
    return floors


def _widths(table: Table, limit: int | None) -> list[int]:
    """Natural widths, widened for group headings; if the line is too long, narrowed until it fits.

    Columns give way in proportion, so that long texts are wrapped into about as many lines as short ones. Columns of
    text go first; then group headings are wrapped, and columns go down to their narrowest.
    """
    natural = []
    for index, column in enumerate(table.columns):
        texts = [without_marks(column.name), *_column_texts(table, index)]
        natural.append(max(map(_cells, texts)))
    widened = list(natural)
    for group in table.groups:
        covered = slice(group.start, group.start + group.span)
        missing = _cells(group.name) - sum(widened[covered]) - len(_GAP) * (group.span - 1)
        for step in range(max(missing, 0)):
            widened[group.start + step % group.span] += 1
    if limit is None:
        return widened
    space = limit - len(_GAP) * (len(widened) - 1)
    texts_only = [min(width, _NARROWEST) for width in widened]
    if sum(texts_only) <= space:
        return _narrowed(widened, texts_only, space)
    narrowest = [min(floor, width) for floor, width in zip(_floors(table), natural, strict=True)]
    return _narrowed(natural, narrowest, space)


def _narrowed(natural: list[int], narrowest: list[int], space: int) -> list[int]:
    """Takes one character at a time from the column that gave the smallest share so far."""
    widths = list(natural)
    for _ in range(max(sum(widths) - space, 0)):
        wide = [index for index, width in enumerate(widths) if width > narrowest[index]]
        if not wide:
            break
        widths[min(wide, key=lambda index: natural[index] / widths[index])] -= 1
    return widths


def _group_lines(table: Table, widths: list[int]) -> list[str]:
    """The headings over groups of columns, wrapped to the columns that they cover, and flush with their bottom."""
    headings = []
    for group in table.groups:
        inside = sum(widths[group.start : group.start + group.span]) + len(_GAP) * (group.span - 1)
        headings.append((group, inside, _wrapped(group.name, inside)))
    lines = []
    height = max((len(texts) for _, _, texts in headings), default=0)
    for number in range(height):
        line = ""
        for group, inside, texts in headings:
            start = sum(widths[: group.start]) + len(_GAP) * group.start
            above = height - len(texts)
            text = texts[number - above] if number >= above else ""
            aligned = table.columns[group.start].align if group.span == 1 else "left"
            line += " " * (start - _cells(line)) + _aligned(text, inside, aligned)
        lines.append(line)
    return lines


def _aligned(text: str, width: int, align: Align) -> str:
    missing = max(width - _cells(text), 0)
    left = {"left": 0, "right": missing, "centre": missing // 2}[align]
    return " " * left + text + " " * (missing - left)


def _wrapped(text: str, width: int | None, *, hanging: int = 0, break_words: bool = False) -> list[str]:
    """Lines of at most `width` character cells; those after the first are shorter by `hanging`.

    Words that are too long stay whole, so that paths can be copied, unless `break_words` says otherwise or they are in
    a script of wide characters, which has no spaces.
    """
    if width is None or _cells(text) <= width:
        return [text]
    lines: list[str] = []
    line = ""
    for word in text.split():
        limit = max(width - (hanging if lines else 0), 1)
        longer = f"{line} {word}" if line else word
        if _cells(longer) <= limit:
            line = longer
            continue
        if line:
            lines.append(line)
            limit = max(width - hanging, 1)
        while _cells(word) > limit and (break_words or _cells(word) > len(word)):
            head = _head(word, limit)
            lines.append(head)
            word, limit = word[len(head) :], max(width - hanging, 1)
        line = word
    return [*lines, line] if line else lines


def _head(word: str, width: int) -> str:
    """As many characters as fit into `width` cells, at least one."""
    end = 1
    while end < len(word) and _cells(word[: end + 1]) <= width:
        end += 1
    return word[:end]


def _cells(text: str) -> int:
    """How many character cells a text takes; some characters take two or none."""
    from rich.cells import cell_len

    return cell_len(text)
