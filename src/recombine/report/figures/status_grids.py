"""Grids of cells by kind: seen, determined, undetermined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import Any

import numpy as np
from jaxtyping import Int

from recombine.report.figures.canvas import PAGE_WIDTH, blank_figure
from recombine.report.figures.short_labels import short_label
from recombine.report.figures.style import (
    INK,
    METHODS,
    SEEN,
    UNSEEN,
    Axes,
    Figure,
    headline,
    sentence,
    styled,
    text_width,
)

KINDS = (SEEN, METHODS["sky"], METHODS["orange"], UNSEEN)
"""Colours of the kinds in order: from known to open."""
_LONGEST = 14
_TICK_SIZE = 7.5
_LINE = 0.14
"""Space that a tick's label needs along its axis, in inches."""


@styled
def status_grid(
    status: Int[np.ndarray, "first second"],
    kinds: Sequence[str],
    *,
    factors: Sequence[str],
    levels: Sequence[Sequence[str]],
    title: str = "",
) -> Figure:
    """Every combination of two factors as a square in the colour of its kind; white where there is none.

    **Arguments:**

    - `status`: `(first, second)` kind numbers; -1 for cells that are none of them.
    - `kinds`: their names, at most four.
    - `factors`, `levels`: names of the two factors and of their levels; the first runs to the right.

    ```python
    >>> import numpy as np
    >>> from recombine.report import status_grid
    >>> figure = status_grid(np.array([[0, 1], [1, 0]]), ("seen", "open"), factors=("a", "b"), levels=("pq", "rs"))

    ```
    """
    across, down = status.shape
    side = min(0.32, (PAGE_WIDTH - 2.6) / across)
    figure = blank_figure(height=max(1.8, side * down + 1.1))
    ax = figure.subplots()
    _squares(ax, status)
    name_levels(ax, levels, side)
    ax.set_xlabel(short_label(factors[0]))
    ax.set_ylabel(short_label(factors[1]))
    ax.legend(
        handles=_legend([status], kinds), loc="upper left", bbox_to_anchor=(1.02, 1.0), borderaxespad=0.0
    )
    sentence(ax, title)
    return figure


@styled
def status_grids(
    panels: Mapping[str, Int[np.ndarray, "first second"]],
    kinds: Sequence[str],
    *,
    factors: Sequence[str],
    levels: Sequence[Sequence[str]],
    title: str = "",
) -> Figure:
    """Several grids of the same two factors, one for each combination of the others, with one legend.

    **Arguments:**

    - `panels`: kind numbers by the panel's title, as for [`recombine.report.status_grid`][].
    - The others are those of [`recombine.report.status_grid`][].

    ```python
    >>> import numpy as np
    >>> from recombine.report import status_grids
    >>> panels = {"c = 0": np.array([[0, 1], [1, 0]]), "c = 1": np.array([[0, 0], [1, 1]])}
    >>> figure = status_grids(panels, ("seen", "open"), factors=("a", "b"), levels=("pq", "rs"))

    ```
    """
    across, down = next(iter(panels.values())).shape
    left_margin = max(text_width(_short(name), _TICK_SIZE) for name in levels[1]) + 0.4
    titles = [line for name in panels for line in name.split("\n")]
    panel_width = max(text_width(max(titles, key=len), _TICK_SIZE), min(across * 0.2, 1.8)) + 0.15
    columns = max(1, min(4, int((PAGE_WIDTH - left_margin) / panel_width), len(panels)))
    rows = ceil(len(panels) / columns)
    side = min(0.32, ((PAGE_WIDTH - left_margin) / columns - 0.15) / across)
    width = min(PAGE_WIDTH, max(4.5, left_margin + columns * max(panel_width, side * across + 0.15)))
    below = min(1.0, max(text_width(_short(name), _TICK_SIZE) for name in levels[0]))
    lines = max(name.count("\n") for name in panels) + 1
    figure = blank_figure(height=rows * (side * down + 0.13 * lines + 0.1) + below + 1.1, width=width)
    axes = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True)
    for number, ax in enumerate(axes.flat):
        if number >= len(panels):
            ax.set_visible(False)
            continue
        name, status = list(panels.items())[number]
        _squares(ax, status)
        name_levels(ax, levels, side)
        ax.set_title(name, fontsize=_TICK_SIZE, loc="left", pad=3.0)
        left, lowest = number % columns == 0, number + columns >= len(panels)
        ax.tick_params(labelleft=left, labelbottom=lowest)
        ax.set_ylabel(short_label(factors[1]) if left else "")
        ax.set_xlabel(short_label(factors[0]) if lowest else "")
    handles = _legend(list(panels.values()), kinds)
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles) if width > 6 else 2)
    headline(figure, title)
    return figure


def _squares(ax: Axes, status: np.ndarray) -> None:
    from matplotlib.colors import ListedColormap

    across, down = status.shape
    shown = np.ma.masked_less(status.T, 0)
    ax.imshow(shown, cmap=ListedColormap(KINDS), vmin=-0.5, vmax=len(KINDS) - 0.5, aspect="equal")
    ax.set_xticks(np.arange(across + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(down + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=0.8)
    ax.tick_params(which="minor", length=0)


def name_levels(ax: Axes, levels: Sequence[Sequence[str]], side: float) -> None:
    """Levels at the ticks, as many as there is space for; `side` is that of a square, in inches."""
    for axis, names in ((ax.xaxis, levels[0]), (ax.yaxis, levels[1])):
        step = max(1, ceil(_LINE / side), -(-len(names) // 20))
        axis.set_ticks(np.arange(0, len(names), step), [_short(name) for name in names][::step])
    longest = max(text_width(_short(name), _TICK_SIZE) for name in levels[0])
    if longest > side * max(1, ceil(_LINE / side)) - 0.04:
        ax.tick_params(axis="x", rotation=60 if longest < 0.5 else 90)


def _short(name: object) -> str:
    return short_label(str(name), _LONGEST)


def _legend(grids: Sequence[np.ndarray], kinds: Sequence[str]) -> list[Any]:
    """A patch for every kind that occurs."""
    from matplotlib.patches import Patch

    present = [i for i in range(len(kinds)) if any((status == i).any() for status in grids)]
    return [Patch(facecolor=KINDS[i], edgecolor=INK, linewidth=0.4, label=kinds[i]) for i in present]
