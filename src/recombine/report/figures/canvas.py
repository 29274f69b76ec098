"""Empty figures at a size that is legible on a page, and figures as bytes that are the same every time."""

from __future__ import annotations

import io
from contextlib import suppress
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.report.figures.style import Figure, styled

PAGE_WIDTH = 7.0
"""The width of a page's text in inches."""

RESOLUTION = 200
"""Dots per inch of PNG files."""


@styled
def blank_figure(*, height: float, width: float = PAGE_WIDTH) -> Figure:
    """An empty figure that lays itself out, for code that makes its own panels.

    **Arguments:**

    - `height`, `width`: in inches; type sizes are meant for this size, so do not scale afterwards.
    """
    from matplotlib.figure import Figure as NewFigure

    if not 0 < width <= 2 * PAGE_WIDTH or height <= 0:
        raise InputError("width, height", (width, height), f"inches above 0, width up to {2 * PAGE_WIDTH}")
    return NewFigure(figsize=(width, height), dpi=RESOLUTION, layout="constrained")


@styled
def new_figure(
    columns: int = 1,
    rows: int = 1,
    *,
    width: float = PAGE_WIDTH,
    aspect: float = 0.75,
    share_x: bool = False,
    share_y: bool = False,
) -> tuple[Figure, np.ndarray[Any, np.dtype[Any]]]:
    """A figure with a grid of panels, sized for a page.

    **Arguments:**

    - `width`: of the whole figure, in inches.
    - `aspect`: height of one panel's share of the figure, over its width.
    - `share_x`, `share_y`: use the same axis limits everywhere.

    **Returns:**

    The figure, and its panels as an array of shape `(rows, columns)`.

    ```python
    >>> from recombine.report import new_figure
    >>> figure, panels = new_figure(columns=2, aspect=0.8)
    >>> panels.shape, tuple(float(inches) for inches in figure.get_size_inches().round(2))
    ((1, 2), (7.0, 2.8))

    ```
    """
    if columns < 1 or rows < 1:
        raise InputError("columns, rows", (columns, rows), "at least one of each")
    figure = blank_figure(width=width, height=rows * aspect * width / columns)
    panels = figure.subplots(rows, columns, squeeze=False, sharex=share_x, sharey=share_y)
    return figure, panels


def image_figure(columns: int, rows: int, *, label_width: float = 1.4, largest: float = 1.3) -> Figure:
    """An empty figure of the right size for [`recombine.report.image_grid`][].

    **Arguments:**

    - `label_width`: space for the row labels, in inches.
    - `largest`: side of an image in inches, if the page is wide enough.
    """
    side = min(largest, (PAGE_WIDTH - label_width) / columns - 0.08)
    width = max(label_width + columns * (side + 0.08), 4.0)
    return blank_figure(width=width, height=rows * (side + 0.08) + 0.6)


def map_figure(columns: int) -> Figure:
    """An empty figure of the right size for a row of maps with their colour bar and a headline."""
    side = min((PAGE_WIDTH - 0.4) / columns - 0.2, 2.2)
    width = max(0.4 + columns * (side + 0.2), 4.0)
    return blank_figure(width=width, height=side + 1.75)


@styled
def png_bytes(figure: Figure) -> bytes:
    """The figure as a PNG file: the same figure gives the same bytes."""
    return _saved(figure, format="png", dpi=RESOLUTION, metadata={"Software": None})


@styled
def svg_bytes(figure: Figure) -> bytes:
    """The figure as an SVG file with text as outlines: the same figure gives the same bytes."""
    nothing = {"Creator": None, "Date": None, "Format": None, "Type": None}
    return _saved(figure, format="svg", metadata=nothing)


def _saved(figure: Figure, **options: Any) -> bytes:
    import matplotlib

    _settle(figure)
    file = io.BytesIO()
    settled = figure.get_layout_engine()
    # With any layout engine, even one that does nothing, matplotlib draws once more than it has to.
    with matplotlib.rc_context({"figure.autolayout": False, "figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)
        try:
            figure.savefig(file, **options)
        finally:
            if settled is not None:
                figure.set_layout_engine(settled)
    return file.getvalue()


def _settle(figure: Figure) -> None:
    """Fixes the layout when a figure is first saved; it would otherwise move a little with every drawing."""
    from matplotlib.layout_engine import PlaceHolderLayoutEngine

    engine = figure.get_layout_engine()
    # Without axes there is nothing to lay out, which the engine would warn of.
    if figure.axes and engine is not None and not isinstance(engine, PlaceHolderLayoutEngine):
        for _ in range(2):  # the second pass knows how far labels reach
            with suppress(ValueError):  # as matplotlib does
                engine.execute(figure)
        figure.set_layout_engine("none")
