"""What a report says, apart from how it looks: pages, sections, tables and pictures.

One description becomes an HTML page, a Markdown page and tables in the terminal. Text is plain, with two
marks: `` `code` `` and `**strong**`; everything else is shown as it stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeVar

from recombine.errors import InputError
from recombine.report.style import Figure

T = TypeVar("T")

Align = Literal["left", "right", "centre"]
Tone = Literal["good", "bad", "open"]


@dataclass(frozen=True)
class Toned:
    """A word with a tone, such as a verdict: `good`, `bad` or `open`. The word itself must say it, too."""

    text: str
    tone: Tone

    def __str__(self) -> str:
        return self.text


Entry = str | Toned


@dataclass(frozen=True)
class Column:
    """A column: its heading, the alignment of its entries, and a heading that neighbours share."""

    name: str
    align: Align = "left"
    group: str = ""

    def __post_init__(self) -> None:
        if self.align not in {"left", "right", "centre"}:
            raise InputError(f"align of column {self.name!r}", self.align, "'left', 'right' or 'centre'")


@dataclass(frozen=True)
class Row:
    """Entries of one row, a remark that stands below it, and a name to link to (`page#name`)."""

    entries: Sequence[Entry]
    remark: str = ""
    anchor: str = ""

    def __post_init__(self) -> None:
        if self.anchor:
            _check_name("anchor", self.anchor)


@dataclass(frozen=True)
class Table:
    """A table; every row has one entry per column.

    ```python
    >>> from recombine.report import Column, Row, Table, Toned
    >>> columns = [Column("net"), Column("error", align="right", group="unseen cells")]
    >>> table = Table(columns, [Row(["ordinary", Toned("0.82", "bad")])])
    >>> [(group.name, group.span) for group in table.groups]
    [('', 1), ('unseen cells', 1)]

    ```
    """

    columns: Sequence[Column]
    rows: Sequence[Row]
    caption: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row.entries) != len(self.columns):
                raise InputError("row", [str(entry) for entry in row.entries], f"{len(self.columns)} entries")

    @property
    def groups(self) -> list[Group]:
        """Runs of neighbouring columns that share a group; empty if no column has one."""
        groups: list[Group] = []
        for index, column in enumerate(self.columns):
            if groups and column.group and groups[-1].name == column.group:
                groups[-1] = Group(column.group, groups[-1].start, groups[-1].span + 1)
            else:
                groups.append(Group(column.group, index, 1))
        return groups if any(group.name for group in groups) else []


@dataclass(frozen=True)
class Group:
    """A heading over `span` columns from column `start` on."""

    name: str
    start: int
    span: int


@dataclass(frozen=True)
class Picture:
    """A figure with the words that go with it.

    **Arguments:**

    - `name`: letters, digits and hyphens, different for every picture of a page: its file name and link.
    - `caption`: what is shown and what to see, for someone who has never heard of it.
    - `alt`: what is shown, for someone who cannot see it.
    - `form`: `"vector"`, or `"image"` for figures that are mostly pixels.
    """

    name: str
    figure: Figure
    caption: str
    alt: str
    form: Literal["vector", "image"] = "vector"

    def __post_init__(self) -> None:
        _check_name("picture name", self.name)
        if self.form not in {"vector", "image"}:
            raise InputError(f"form of picture {self.name!r}", self.form, "'vector' or 'image'")
        for words in ("caption", "alt"):
            if not getattr(self, words).strip():
                raise InputError(f"{words} of picture {self.name!r}", "", "a sentence for a newcomer")


@dataclass(frozen=True)
class Details:
    """Blocks that are folded away until the reader asks for them."""

    summary: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Code:
    """Lines of code, shown as they stand."""

    text: str


Block = str | Table | Picture | Details | Code
"""A paragraph, a table, a picture, folded details, or code."""


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    heading: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Page:
    """A report.

    **Arguments:**

    - `lead`: the first paragraph: in plain language, what was asked and what came out.
    - `footer`: how it was made, by label: version, seeds, machine, date.

    ```python
    >>> from recombine.report import Page, Section
    >>> page = Page("A demo", "Two nets were compared.", [Section("Result", ["Both **work**."])])
    >>> path = page.write(getfixture("tmp_path") / "demo.html")
    >>> "<strong>work</strong>" in path.read_text(encoding="utf-8")
    True

    ```
    """

    title: str
    lead: str
    sections: Sequence[Section]
    footer: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = [slug(section.heading) for section in self.sections]
        names += [picture.name for picture in self.pictures()]
        names += [row.anchor for table in self._all(Table) for row in table.rows if row.anchor]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise InputError("page", twice, "different names for all sections, pictures and anchors")

    def pictures(self) -> Iterator[Picture]:
        """All pictures, in order, also those in details."""
        return self._all(Picture)

    def _all(self, kind: type[T]) -> Iterator[T]:
        return (
            block
            for section in self.sections
            for block in _unfolded(section.blocks)
            if isinstance(block, kind)
        )

    def write(self, path: Path | str) -> Path:
        """Writes the page: `.html` is one self-contained file, `.md` has its pictures in a folder beside it.

        The file is there whole or not at all. Raises [`recombine.errors.StoreError`][] if it cannot be
        written.
        """
        from recombine.report.markdown import write_markdown
        from recombine.report.page import write_html

        path = Path(path)
        writers = {".html": write_html, ".md": write_markdown}
        if path.suffix not in writers:
            raise InputError("path", str(path), "a name that ends in .html or .md")
        writers[path.suffix](self, path)
        return path


def _unfolded(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        yield block
        if isinstance(block, Details):
            yield from _unfolded(block.blocks)


def _check_name(field: str, name: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*", name):
        raise InputError(field, name, "letters, digits and hyphens")


def slug(text: str) -> str:
    """A heading as a link name, the way GitHub makes them.

    ```python
    >>> from recombine.report.content import slug
    >>> slug("Why the ordinary decoder fails")
    'why-the-ordinary-decoder-fails'

    ```
    """
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text.lower()).strip())
