"""A report as Markdown (the GitHub kind), with its pictures as files in a folder beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from recombine.report.canvas import png_bytes, svg_bytes
from recombine.report.content import Block, Code, Details, Page, Picture, Table
from recombine.report.files import write_file
from recombine.report.marks import spans, without_marks

_SPECIAL = re.compile(r"([\\`*_\[\]<>#~&])")
_RULES = {"left": ":---", "right": "---:", "centre": ":---:"}


def markdown(page: Page, folder: str) -> str:
    """The page as Markdown.

    **Arguments:**

    - `folder`: where the pictures are, as seen from the page.
    """
    parts = [f"# {_marked(page.title)}", _marked(page.lead)]
    for section in page.sections:
        parts += [f"## {_marked(section.heading)}", *_blocks(section.blocks, folder)]
    if page.footer:
        lines = [f"{_escaped(label)}: {_marked(value)}" for label, value in page.footer.items()]
        parts += ["---", "<br>\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def write_markdown(page: Page, path: Path) -> None:
    """Writes `name.md`, and every picture as PNG and SVG in the folder `name`; pictures first."""
    folder = path.with_suffix("")
    for picture in page.pictures():
        write_file(folder / f"{picture.name}.png", png_bytes(picture.figure))
        write_file(folder / f"{picture.name}.svg", svg_bytes(picture.figure))
    write_file(path, markdown(page, folder.name).encode())


def _blocks(blocks: Sequence[Block], folder: str) -> list[str]:
    parts: list[str] = []
    for block in blocks:
        if isinstance(block, str):
            parts.append(_marked(block))
        elif isinstance(block, Table):
            parts += _table(block)
        elif isinstance(block, Picture):
            parts += _picture(block, folder)
        elif isinstance(block, Code):
            parts.append(f"```python\n{block.text}\n```")
        elif isinstance(block, Details):
            parts.append(f"<details>\n<summary>{escape(without_marks(block.summary))}</summary>")
            parts += [*_blocks(block.blocks, folder), "</details>"]
    return parts


def _picture(picture: Picture, folder: str) -> list[str]:
    target = f"{quote(folder)}/{picture.name}"
    caption = f"{_marked(picture.caption)} ([vector]({target}.svg))"
    return [f'<a id="{picture.name}"></a>\n![{_escaped(picture.alt)}]({target}.png)', caption]


def _table(table: Table) -> list[str]:
    """Groups become part of the headings, and remarks a list below, since Markdown has neither."""
    heads = [f"{column.group}: {column.name}" if column.group else column.name for column in table.columns]
    lines = [
        _line([_marked(head) for head in heads]),
        _line([_RULES[column.align] for column in table.columns]),
    ]
    remarks = []
    for row in table.rows:
        entries = [_marked(str(entry)) for entry in row.entries]
        if row.remark:
            remarks.append(f"- {entries[0]}: {_marked(row.remark)}")
        if row.anchor:
            entries[0] = f'<a id="{row.anchor}"></a>{entries[0]}'
        lines.append(_line(entries))
    parts = [_marked(table.caption)] if table.caption else []
    parts.append("\n".join(lines))
    return [*parts, "\n".join(remarks)] if remarks else parts


def _line(entries: Sequence[str]) -> str:
    return "| " + " | ".join(entry.replace("|", "\\|") for entry in entries) + " |"


def _marked(text: str) -> str:
    shapes = {"text": "{}", "code": "`{}`", "strong": "**{}**"}
    shown = "".join(
        shapes[span.kind].format(span.text if span.kind == "code" else _escaped(span.text))
        for span in spans(" ".join(text.split()))
    )
    return re.sub(r"^(\d+)([.)]) ", r"\1\\\2 ", re.sub(r"^([-+]) ", r"\\\1 ", shown))  # no accidental lists


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)
