"""The document model: what a report says, apart from how it looks.

A product builds one `Document`; the terminal, an HTML page, a Markdown page and a notebook are renderings of it. Text
is plain, with two marks: `` `code` `` and `**strong**`; everything else is shown unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeVar

from recombine.errors import InputError
from recombine.report.figures.canvas import RESOLUTION, png_bytes
from recombine.report.figures.style import Figure

T = TypeVar("T")

Align = Literal["left", "right", "centre"]
Tone = Literal["good", "bad", "open"]


Where = Literal["everywhere", "page", "terminal"]
"""Which renderings show something: a page has space for explanations, a terminal for the essentials."""


@dataclass(frozen=True)
class Badge:
    """A word with a tone, such as a verdict: `good`, `bad` or `open`. The word itself must carry the meaning, too."""

    text: str
    tone: Tone

    def __str__(self) -> str:
        return self.text


Entry = str | Badge


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
    """Entries of one row, a remark below it, and a name to link to (`page#name`)."""

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
    >>> from recombine.report import Column, Row, Table, Badge
    >>> columns = [Column("net"), Column("error", align="right", group="unseen cells")]
    >>> table = Table(columns, [Row(["ordinary", Badge("0.82", "bad")])])
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
    """A figure with its caption and its description.

    **Arguments:**

    - `name`: letters, digits and hyphens, different for every picture of a page: its file name and link.
    - `figure`: the figure, a function that draws it, or a PNG file. A function is called only by renderings that show
        pictures, so that the terminal never waits for one.
    - `caption`: what is shown and what to look for, written for a newcomer.
    - `alt`: what is shown, for someone who cannot see it.
    - `form`: `"vector"`, or `"image"` for figures that are mostly pixels.
    """

    name: str
    figure: Figure | Callable[[], Figure] | Path
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

    @cached_property
    def drawn(self) -> Figure:
        """The figure, drawn once."""
        if isinstance(self.figure, Path):
            raise InputError("figure", str(self.figure), "a figure or a function that draws it, not a file")
        return self.figure() if callable(self.figure) else self.figure

    @cached_property
    def png(self) -> bytes:
        """The picture as a PNG file."""
        return self.figure.read_bytes() if isinstance(self.figure, Path) else png_bytes(self.drawn)

    @property
    def width(self) -> float:
        """In inches."""
        if isinstance(self.figure, Path):
            return (
                int.from_bytes(self.png[16:20], "big") / RESOLUTION
            )  # the header starts with the width in pixels
        return float(self.drawn.get_size_inches()[0])


@dataclass(frozen=True)
class Details:
    """Blocks that are folded away until the reader opens them."""

    summary: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Code:
    """Lines of code, shown unchanged."""

    text: str


@dataclass(frozen=True)
class Fact:
    """One labelled statement, with a badge between label and text where it has a status."""

    label: str
    text: str
    badge: Badge | None = None


@dataclass(frozen=True)
class Facts:
    """Labelled statements, one below the other; the terminal aligns labels, badges and texts in columns."""

    facts: Sequence[Fact]


@dataclass(frozen=True)
class Bullets:
    """A list of short statements."""

    items: Sequence[str]
    numbered: bool = False


@dataclass(frozen=True)
class Only:
    """Blocks that only a page, or only the terminal, shows."""

    where: Where
    blocks: Sequence[Block]


Block = str | Table | Picture | Details | Code | Facts | Bullets | Only
"""A paragraph, a table, a picture, folded details, code, labelled facts, a list, or blocks for one rendering only.

The terminal leaves out pictures, details and code; everything that a reader needs there is in other blocks."""


@dataclass(frozen=True)
class Section:
    """A heading and the blocks below it. A section without a heading continues the lead."""

    heading: str
    blocks: Sequence[Block]
    where: Where = "everywhere"


@dataclass(frozen=True)
class Document:
    """A report.

    **Arguments:**

    - `title`: the heading of a page; the terminal starts with the lead.
    - `lead`: the first paragraph: the question and the answer in plain language.
    - `footer`: how it was made, by label: version, seeds, machine, date. Pages only.

    ```python
    >>> from recombine.report import Document, Section
    >>> page = Document("A demo", "Two nets were compared.", [Section("Result", ["Both **work**."])])
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
        names = [slug(section.heading) for section in self.sections if section.heading]
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

    def text(self, *, width: int | None = None) -> str:
        """The document for a terminal of `width` characters (default: the width of this one), without colours."""
        from recombine.report.terminal import document_text

        return document_text(self, width=width)

    def html(self) -> str:
        """The document as one self-contained HTML page."""
        from recombine.report.html import html

        return html(self)

    def write(self, path: Path | str) -> Path:
        """Writes the page: `.html` is one self-contained file, `.md` has its pictures in a folder next to it.

        The file is written completely or not at all. Raises [`recombine.errors.StoreError`][] if it cannot be
        written.
        """
        from recombine.report.html import write_html
        from recombine.report.markdown import write_markdown

        path = Path(path)
        writers = {".html": write_html, ".md": write_markdown}
        if path.suffix not in writers:
            raise InputError("path", str(path), "a name that ends in .html or .md")
        writers[path.suffix](self, path)
        return path


def shown(blocks: Sequence[Block], where: Where) -> Iterator[Block]:
    """The blocks that one rendering shows, with `Only` resolved."""
    for block in blocks:
        if not isinstance(block, Only):
            yield block
        elif block.where in {"everywhere", where}:
            yield from shown(block.blocks, where)


def _unfolded(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        yield block
        if isinstance(block, Details | Only):
            yield from _unfolded(block.blocks)


def _check_name(field: str, name: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*", name):
        raise InputError(field, name, "letters, digits and hyphens")


def slug(text: str) -> str:
    """A heading as a link name, the way GitHub makes them.

    ```python
    >>> from recombine.report.document import slug
    >>> slug("Why the ordinary decoder fails")
    'why-the-ordinary-decoder-fails'

    ```
    """
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", text.lower()).strip())
