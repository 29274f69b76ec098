"""A document as one self-contained HTML file: no network, no scripts, pictures inside."""

from __future__ import annotations

import base64
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recombine.durable import write_file
from recombine.report.document import (
    Badge,
    Bullets,
    Code,
    Details,
    Document,
    Facts,
    Picture,
    Table,
    shown,
    slug,
)
from recombine.report.figures.canvas import PAGE_WIDTH, svg_bytes
from recombine.report.marks import spans, without_marks

MIN_PAGE_WIDTH = 40.0
"""The width in rem at which the smallest type of a figure as wide as the page is still legible, about 9 pixels."""
FITS_PHONE = 26.0
"""Figures up to this width in rem shrink a little on a phone; wider ones are scrolled, and their caption says so."""

if TYPE_CHECKING:
    from jinja2 import Environment


def html(document: Document) -> str:
    """The document as an HTML page; every text is escaped.

    Pictures are inside the file, vector figures as SVG and others as PNG. They are embedded as images rather
    than as elements, so that the names inside two drawings cannot clash.
    """
    return _templates().get_template("page.html.j2").render(document=document)


def write_html(document: Document, path: Path) -> None:
    """Writes the page completely or not at all."""
    write_file(path, html(document).encode())


@cache
def _templates() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("recombine.report", package_path=""),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    templates.filters.update(
        marked=_marked, measure=_measure, slug=slug, picture_data=_picture_data, plain=without_marks
    )
    templates.globals.update(
        kind=_kind,
        tone=_tone,
        share=_share,
        min_width=_min_width,
        FITS_PHONE=FITS_PHONE,
        on_page=lambda blocks: list(shown(blocks, "page")),
    )
    return templates


def _marked(text: str) -> Any:
    from markupsafe import Markup

    shapes = {
        "text": Markup("{}"),
        "code": Markup("<code>{}</code>"),
        "strong": Markup("<strong>{}</strong>"),
    }
    return Markup("").join(shapes[span.kind].format(span.text) for span in spans(text))


def _picture_data(picture: Picture) -> str:
    vector = picture.form == "vector"
    data = svg_bytes(picture.drawn) if vector else picture.png
    return f"data:image/{'svg+xml' if vector else 'png'};base64,{base64.b64encode(data).decode()}"


def _kind(block: object) -> str:
    names: dict[type, str] = {
        str: "paragraph",
        Table: "table",
        Picture: "picture",
        Details: "details",
        Code: "code",
        Facts: "facts",
        Bullets: "bullets",
    }
    return names[type(block)]


def _tone(entry: object) -> str:
    return entry.tone if isinstance(entry, Badge) else ""


def _measure(text: str) -> str:
    """How much space a cell of a table needs: `short` texts stay on one line, others keep a minimum width."""
    length = len(without_marks(text))
    return next((name for name, limit in (("short", 20), ("medium", 60)) if length <= limit), "long")


def _share(picture: Picture) -> int:
    """Percentage of the page's width that the figure was made for; its type then has the size that was intended."""
    return min(100, round(100 * picture.width / PAGE_WIDTH))


def _min_width(picture: Picture) -> float:
    """The width in rem below which a figure is scrolled instead of shrunk, so that its text stays legible."""
    return round(MIN_PAGE_WIDTH * _share(picture) / 100, 1)
