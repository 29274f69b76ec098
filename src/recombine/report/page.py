"""A report as one HTML file that needs nothing else: no network, no scripts, pictures inside."""

from __future__ import annotations

import base64
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recombine.report.canvas import PAGE_WIDTH, png_bytes, svg_bytes
from recombine.report.content import Code, Details, Page, Picture, Table, Toned, slug
from recombine.report.files import write_file
from recombine.report.marks import spans, without_marks

if TYPE_CHECKING:
    from jinja2 import Environment


def html(page: Page) -> str:
    """The page as HTML; every text is escaped.

    Pictures are inside the file, vector figures as SVG and others as PNG. They are embedded as images rather
    than as elements, so that the names inside two drawings cannot clash.
    """
    return _templates().get_template("page.html.j2").render(page=page)


def write_html(page: Page, path: Path) -> None:
    """Writes the page whole or not at all."""
    write_file(path, html(page).encode())


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
    templates.filters.update(marked=_marked, slug=slug, picture_data=_picture_data, plain=without_marks)
    templates.globals.update(kind=_kind, tone=_tone, share=_share)
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
    data = svg_bytes(picture.figure) if vector else png_bytes(picture.figure)
    return f"data:image/{'svg+xml' if vector else 'png'};base64,{base64.b64encode(data).decode()}"


def _kind(block: object) -> str:
    names: dict[type, str] = {
        str: "paragraph",
        Table: "table",
        Picture: "picture",
        Details: "details",
        Code: "code",
    }
    return names[type(block)]


def _tone(entry: object) -> str:
    return entry.tone if isinstance(entry, Toned) else ""


def _share(picture: Picture) -> int:
    """Percentage of the page's width that the figure was made for; its type is then as large as meant."""
    return min(100, round(100 * picture.figure.get_size_inches()[0] / PAGE_WIDTH))
