"""Matrices: similarities with seen and unseen blocks, and tables whose cells are coloured by value."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Real

from recombine.errors import InputError
from recombine.report.figures.style import (
    INK,
    MAP_COLOURS,
    SEEN,
    UNSEEN,
    UNSEEN_DASHES,
    Axes,
    log_ticks,
    sentence,
    styled,
)
from recombine.report.numbers import number


@styled
def similarity_matrix(
    ax: Axes,
    matrix: Real[np.ndarray, "rows columns"],
    boundary: int | None = None,
    *,
    sides: tuple[str, str] = ("unseen", "seen"),
    limits: tuple[float, float] | None = None,
    title: str = "",
    label: str = "similarity",
) -> None:
    """Similarities between cells, seen cells first.

    **Arguments:**

    - `matrix`: similarities. With a `boundary` it is square and its first `boundary` rows and columns are
        seen cells; the others are unseen and set apart. Without, it compares two sets.
    - `sides`: without a boundary, what rows and columns are: `"seen"` or `"unseen"`.
    - `limits`: ends of the colour scale.
    """
    matrix = np.asarray(matrix, dtype=np.float64)
    low, high = limits or (float(np.nanmin(matrix)), float(np.nanmax(matrix)))
    image = ax.imshow(matrix, origin="upper", cmap=MAP_COLOURS, vmin=low, vmax=high, aspect="auto")
    ax.set_box_aspect(matrix.shape[0] / matrix.shape[1])
    ax.spines[:].set_visible(False)
    if boundary is None:
        _name_blocks(ax, [(matrix.shape[1] / 2, sides[1])], [(matrix.shape[0] / 2, sides[0])])
    else:
        n = len(matrix)
        if matrix.shape != (n, n) or not 0 < boundary < n:
            raise InputError("boundary", boundary, f"a row between 1 and {n - 1} of a square matrix")
        for line in (ax.axhline, ax.axvline):
            line(boundary - 0.5, color="white", linewidth=2.2)
            line(boundary - 0.5, color=INK, linewidth=1.1, linestyle=UNSEEN_DASHES)
        blocks = [(boundary / 2, "seen"), ((boundary + n) / 2, "unseen")]
        _name_blocks(ax, blocks, blocks)
    sentence(ax, title)
    bar = ax.figure.colorbar(image, ax=ax, location="right", shrink=0.8, aspect=22.0, label=label)
    bar.outline.set_visible(False)


def _name_blocks(ax: Axes, across: Sequence[tuple[float, str]], down: Sequence[tuple[float, str]]) -> None:
    ax.set_xticks([position - 0.5 for position, _ in across], [f"{name} cells" for _, name in across])
    ax.set_yticks([position - 0.5 for position, _ in down], [f"{name} cells" for _, name in down])
    ax.tick_params(length=0)
    ax.tick_params(axis="y", rotation=90)
    for ticks, blocks in ((ax.get_xticklabels(), across), (ax.get_yticklabels(), down)):
        for tick, (_, name) in zip(ticks, blocks, strict=True):
            tick.set_color(SEEN if name == "seen" else UNSEEN)
    for tick in ax.get_yticklabels():
        tick.set_verticalalignment("center")


@styled
def heat_table(
    ax: Axes,
    values: Real[np.ndarray, "rows columns"],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    log: bool = False,
    row_label: str = "",
    column_label: str = "",
    limits: tuple[float, float] | None = None,
    contours: Sequence[float] = (),
    text: Callable[[float], str] = number,
    texts: Sequence[Sequence[str]] = (),
    title: str = "",
    label: str = "",
) -> None:
    """A table of numbers on their colours, for example errors by image size and hole size.

    **Arguments:**

    - `values`: `(rows, columns)`; NaN leaves a cell empty.
    - `rows`, `columns`: level names; `row_label` and `column_label` name the two factors.
    - `log`: logarithmic colours.
    - `contours`: values along which lines of equal value are drawn, in the table and on the colour bar.
    - `text`: how a number is written; `texts`: what every cell says instead.
    """
    from matplotlib.colors import LogNorm, Normalize

    values = np.asarray(values, dtype=np.float64)
    if values.shape != (len(rows), len(columns)):
        raise InputError(
            "values", values.shape, f"one for each of {len(rows)} rows and {len(columns)} columns"
        )
    shown = values[np.isfinite(values) & ((values > 0) | (not log))]
    low, high = limits or (float(shown.min()), float(shown.max()))
    norm = (LogNorm if log else Normalize)(low, high if high > low else low + 1.0)
    image = ax.imshow(values, origin="upper", cmap=MAP_COLOURS, norm=norm, aspect="auto")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    ax.set_xlabel(column_label)
    ax.set_ylabel(row_label)
    for (i, j), value in np.ndenumerate(values):
        paper = image.cmap(image.norm(value)) if np.isfinite(value) else (1.0, 1.0, 1.0, 1.0)
        box = {"facecolor": paper, "edgecolor": "none", "pad": 0.8}  # a contour passes behind the number
        words = texts[i][j] if len(texts) else text(float(value))
        ax.text(j, i, words, ha="center", va="center", color=_legible_on(paper), bbox=box)
    bar = ax.figure.colorbar(image, ax=ax, location="right", aspect=22.0, label=label)
    bar.outline.set_visible(False)
    if len(contours):
        bar.add_lines(ax.contour(values, levels=sorted(contours), colors=INK, linewidths=1.0))
    if log:
        log_ticks(bar.ax.yaxis)
    sentence(ax, title)


def _legible_on(paper: Sequence[float] | np.ndarray) -> str:
    """Black or white, whichever has the larger contrast by the WCAG's definition."""
    luminance = float(np.dot([0.2126, 0.7152, 0.0722], np.asarray(paper)[:3] ** 2.2))
    return "black" if luminance > 0.18 else "white"
