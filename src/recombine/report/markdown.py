"""A document as GitHub-flavoured Markdown, with its pictures as files in a folder next to it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from urllib.parse import quote

from recombine.durable import write_file
from recombine.report.document import (
    Block,
    Bullets,
    Code,
    Details,
    Document,
    Fact,
    Facts,
    Picture,
    Table,
    shown,
)
from recombine.report.marks import spans, without_marks

_SPECIAL = re.compile(r"([\\`*_\[\]<>#~&])")
_RULES = {"left": ":---", "right": "---:", "centre": ":---:"}


def markdown(document: Document, folder: str) -> str:
    """The document as Markdown.

    **Arguments:**

    - `folder`: where the pictures are, relative to the page.
    """
    parts = [f"# {_marked(document.title)}", _marked(document.lead)]
    for section in document.sections:
        if section.where == "terminal":
            continue
        parts += [f"## {_marked(section.heading)}"] if section.heading else []
        parts += _blocks(section.blocks, folder)
    if document.footer:
        lines = [f"{_escaped(label)}: {_marked(value)}" for label, value in document.footer.items()]
        parts += ["---", "<br>\n".join(lines)]
    return "\n\n".join(parts) + "\n"


def write_markdown(document: Document, path: Path) -> None:
    """Writes `name.md`, and every picture as PNG in the folder `name`; pictures first."""
    folder = path.with_suffix("")
    for picture in document.pictures():
        write_file(folder / f"{picture.name}.png", picture.png)
    write_file(path, markdown(document, folder.name).encode())


def _blocks(blocks: Sequence[Block], folder: str) -> list[str]:
    parts: list[str] = []
    for block in shown(blocks, "page"):
        if isinstance(block, str):
            parts.append(_marked(block))
        elif isinstance(block, Table):
            parts += _table(block)
        elif isinstance(block, Picture):
            parts += _picture(block, folder)
        elif isinstance(block, Facts):
            lines = (f"- **{_escaped(fact.label)}**: {_statement(fact)}" for fact in block.facts)
            parts.append("\n".join(lines))
        elif isinstance(block, Bullets):
            parts.append(
                "\n".join(
                    f"{f'{number}.' if block.numbered else '-'} {_marked(item)}"
                    for number, item in enumerate(block.items, start=1)
                )
            )
        elif isinstance(block, Code):
            parts.append(f"```python\n{block.text}\n```")
        elif isinstance(block, Details):
            parts.append(f"<details>\n<summary>{escape(without_marks(block.summary))}</summary>")
            parts += [*_blocks(block.blocks, folder), "</details>"]
    return parts


def _statement(fact: Fact) -> str:
    return f"{fact.badge.text}. {_marked(fact.text)}" if fact.badge else _marked(fact.text)


def _picture(picture: Picture, folder: str) -> list[str]:
    target = f"{quote(folder)}/{picture.name}"
    caption = _marked(picture.caption)
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
