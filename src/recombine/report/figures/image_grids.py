"""Grids of images: targets, outputs, and what the outputs resemble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from jaxtyping import Bool, Real

from recombine.errors import InputError
from recombine.report.figures.style import (
    INK,
    SEEN,
    SIGNED_COLOURS,
    UNSEEN,
    UNSEEN_DASHES,
    Axes,
    Figure,
    SubFigure,
    headline,
    styled,
)

Shades = Literal["dark", "bright", "signed"]
"""`"dark"`: dark on white; `"bright"`: bright on black; `"signed"`: values around zero, in two colours."""


@styled
def image_grid(
    figure: Figure | SubFigure,
    rows: Mapping[str, Real[np.ndarray, "columns height width *rgb"]],
    *,
    columns: Sequence[str] = (),
    shades: Shades = "dark",
    limits: tuple[float, float] | None = None,
    normalise: bool | Sequence[str] = False,
    marks: Real[np.ndarray, "columns 2"] | None = None,
    unseen: Bool[np.ndarray, " columns"] | None = None,
    title: str = "",
) -> None:
    """Images in rows, one row per kind (target, output, superposition) and one column per example.

    Background is always white and signal always dark, whichever polarity the images have. Images of unseen cells have
    the dashed frame.

    **Arguments:**

    - `rows`: images by row label, each `(columns, height, width)` with row 0 on top; or `(columns, height, width, 3)`
        in colour, from 0 to 1, to which shades and limits do not apply.
    - `columns`: a label above every column, for example `"x 14, y 9"`.
    - `limits`: grey values of black and white, shared by all images; default 0 and 1, and for signed
        images the largest size that occurs.
    - `normalise`: stretch every image to its own range instead, in all rows or in those named.
    - `marks`: `(columns, 2)` true positions `(x, y)` in pixels, drawn as crosses in every row.
    - `unseen`: `(columns,)`, true where a column shows an unseen cell.

    ```python
    >>> import numpy as np
    >>> from recombine.report import image_figure, image_grid
    >>> images = np.ones((3, 8, 8))
    >>> image_grid(image_figure(3, 2), {"target": images, "output": images}, unseen=np.ones(3, bool))

    ```
    """
    images = {label: np.asarray(row, dtype=np.float64) for label, row in rows.items()}
    n = _number_of_columns(images, columns)
    shared = limits or _shared_limits(images, shades)
    named = set(images) if normalise is True else set(normalise or ())
    hidden = np.zeros(n, dtype=bool) if unseen is None else np.asarray(unseen)
    panels = figure.subplots(len(images), n, squeeze=False)
    for line, (label, row) in zip(panels, images.items(), strict=True):
        for column, ax in enumerate(line):
            _draw_image(ax, row[column], shades, None if label in named else shared)
            if marks is not None:
                _mark(ax, *marks[column], ink=UNSEEN if hidden[column] else SEEN)
            if hidden[column]:
                _frame_unseen(ax)
        line[0].set_ylabel(label, rotation=0, horizontalalignment="right", verticalalignment="center")
    for ax, text in zip(panels[0], columns, strict=False):
        ax.set_title(text, fontsize=7.5, loc="center", pad=4.0)
    headline(figure, title)


def _number_of_columns(images: Mapping[str, np.ndarray], columns: Sequence[str]) -> int:
    shapes = {label: row.shape for label, row in images.items()}
    counts = {len(row) for row in images.values()}
    if len(counts) != 1 or any(len(shape) != 3 and shape[3:] != (3,) for shape in shapes.values()):
        raise InputError(
            "rows", shapes, "for every label images of shape (columns, height, width) or (..., 3)"
        )
    (n,) = counts
    if columns and len(columns) != n:
        raise InputError("columns", list(columns), f"one label for each of the {n} columns")
    return n


def _shared_limits(images: Mapping[str, np.ndarray], shades: Shades) -> tuple[float, float]:
    if shades != "signed":
        return 0.0, 1.0
    size = max(float(np.nanmax(np.abs(row))) for row in images.values())
    return (-size, size) if size > 0 else (-1.0, 1.0)


def _draw_image(ax: Axes, image: np.ndarray, shades: Shades, limits: tuple[float, float] | None) -> None:
    maps = {"dark": "gray", "bright": "gray_r", "signed": SIGNED_COLOURS}
    if shades not in maps:
        raise InputError("shades", shades, "'dark', 'bright' or 'signed'")
    if image.ndim == 3:
        ax.imshow(np.clip(np.nan_to_num(image, nan=1.0), 0, 1), origin="upper")
        _bare(ax)
        return
    low, high = limits or (_shared_limits({"": image}, shades) if shades == "signed" else _range(image))
    ax.imshow(image, origin="upper", cmap=maps[shades], vmin=low, vmax=high)
    _bare(ax)


def _bare(ax: Axes) -> None:
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set(visible=True, color="#B0B0B0", linewidth=0.6)


def _range(image: np.ndarray) -> tuple[float, float]:
    low, high = float(np.nanmin(image)), float(np.nanmax(image))
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _mark(ax: Axes, x: float, y: float, *, ink: str) -> None:
    """A cross that is open in the middle, so that it hides nothing."""
    from matplotlib.path import Path

    arms = [
        (0.0, 0.5),
        (0.0, 1.0),
        (0.0, -0.5),
        (0.0, -1.0),
        (0.5, 0.0),
        (1.0, 0.0),
        (-0.5, 0.0),
        (-1.0, 0.0),
    ]
    cross = Path(arms, [Path.MOVETO, Path.LINETO] * 4)
    ax.plot(
        [x], [y], marker=cross, color=ink, markersize=13.0, markeredgewidth=1.2, scalex=False, scaley=False
    )


def _frame_unseen(ax: Axes) -> None:
    ax.spines[:].set(color=INK, linewidth=1.1, linestyle=UNSEEN_DASHES)
