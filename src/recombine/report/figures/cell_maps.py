"""Maps of a number over the cells of two factors with named levels; cells may be missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Real

from recombine.errors import InputError
from recombine.report.figures.canvas import PAGE_WIDTH, blank_figure
from recombine.report.figures.short_labels import short_label
from recombine.report.figures.status_grids import name_levels
from recombine.report.figures.style import INK, MAP_COLOURS, Figure, headline, log_ticks, styled
from recombine.report.figures.unseen_outline import outline_unseen
from recombine.report.numbers import number

_SIDE = 0.26
"""Side of a square in inches, where there is space for it."""


@styled
def cell_maps(
    maps: Mapping[str, tuple[Real[np.ndarray, "first second"], Bool[np.ndarray, "first second"]]],
    *,
    factors: Mapping[str, tuple[str, str]],
    levels: Mapping[str, tuple[Sequence[str], Sequence[str]]],
    label: str,
    log: bool = False,
    marks: Mapping[str, float] | None = None,
    dots: Mapping[str, Bool[np.ndarray, "first second"]] | None = None,
    title: str = "",
) -> Figure:
    """Maps side by side on one scale: a square per cell, white where there is none, unseen cells outlined.

    **Arguments:**

    - `maps`: by name, the values `(first, second)`, NaN where there is no cell, and a mask of the unseen cells.
    - `factors`, `levels`: by the same names, the two factors and their levels; the first runs to the right.
    - `label`: what the values are; `log`: whether colours are spread by their logarithms.
    - `marks`: values to be marked on the colour bar, by name; `dots`: by map, cells to be marked with a dot.

    ```python
    >>> import numpy as np
    >>> from recombine.report import cell_maps
    >>> grid = np.array([[0.1, np.nan], [0.2, 0.9]])
    >>> figure = cell_maps(
    ...     {"": (grid, grid > 0.5)}, factors={"": ("a", "b")}, levels={"": (["p", "q"], ["r", "s"])}, label="error"
    ... )

    ```
    """
    if not maps:
        raise InputError("maps", dict(maps), "at least one map")
    from matplotlib.colors import LogNorm, Normalize

    values = np.concatenate([grid[np.isfinite(grid)] for grid, _ in maps.values()])
    values = np.append(values, list((marks or {}).values()))
    high = float(values.max()) if len(values) else 1.0
    low = float(values.min()) if len(values) else 0.0
    scale: Any
    if log and high > 0:
        low = max(float(values[values > 0].min()), high * 1e-5)
        scale = LogNorm(min(low, high / 10), high)
    else:
        scale = Normalize(min(0.0, low), high if high > 0 else 1.0)
    columns = min(3, len(maps))
    rows = -(-len(maps) // columns)
    across = max(grid.shape[0] for grid, _ in maps.values())
    down = max(grid.shape[1] for grid, _ in maps.values())
    side = min(_SIDE, (PAGE_WIDTH / columns - 1.1) / across)
    width = min(PAGE_WIDTH, max(4.0, columns * (side * across + 1.1)))
    figure = blank_figure(height=min(9.0, rows * (max(side, 0.05) * down + 0.75) + 1.2), width=width)
    panels = figure.subplots(rows, columns, squeeze=False)
    for spare in panels.ravel()[len(maps) :]:
        spare.set_visible(False)
    for ax, (name, (grid, unseen)) in zip(panels.ravel(), maps.items(), strict=False):
        floor = np.where(np.isfinite(grid), np.maximum(grid, scale.vmin), np.nan)
        image = ax.imshow(np.ma.masked_invalid(floor.T), cmap=MAP_COLOURS, norm=scale, aspect="equal")
        outline_unseen(ax, unseen)
        if dots and name in dots:
            where = np.argwhere(dots[name])
            size = (14 * side) ** 2
            ax.scatter(*where.T, s=size, color="white", edgecolors=INK, linewidths=0.8, zorder=3)
        name_levels(ax, [list(map(str, names)) for names in levels[name]], side)
        ax.set_anchor("NW")
        ax.set_xlabel(short_label(factors[name][0]))
        ax.set_ylabel(short_label(factors[name][1]))
        ax.set_title(short_label(name), fontsize=8.0, loc="left")
    bar = figure.colorbar(
        image,
        ax=list(panels.ravel()),
        location="bottom",
        shrink=0.5 if width > 5 else 0.9,
        aspect=40.0,
        pad=0.04,
    )
    bar.outline.set_visible(False)
    bar.set_label(label)
    if log:
        log_ticks(bar.ax.xaxis)
    for name, value in (marks or {}).items():
        bar.ax.axvline(value, color=INK, linewidth=1.2)
        bar.ax.annotate(
            f"{name} {number(value)}",
            xy=(value, 1.0),
            xytext=(0.0, 3.0),
            xycoords=bar.ax.get_xaxis_transform(),
            textcoords="offset points",
            horizontalalignment="center",
            verticalalignment="bottom",
            annotation_clip=False,
        )
    headline(figure, title)
    return figure
