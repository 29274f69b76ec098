"""Maps over two factors: one value per cell, unseen cells outlined.

Maps are oriented like images: the first factor (`x`) runs to the right, the second (`y`) downward, level 0
of `y` on top. A bump drawn at `(x, y)` therefore sits where its cell is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from jaxtyping import Bool, Real

from recombine.errors import InputError
from recombine.report.figures.style import (
    INK,
    MAP_COLOURS,
    Axes,
    Figure,
    SubFigure,
    headline,
    log_ticks,
    panel_width,
    sentence,
    styled,
)
from recombine.report.figures.unseen_outline import outline_unseen
from recombine.report.numbers import fixed, number

Grid = Real[np.ndarray, "nx ny"]
Mask = Bool[np.ndarray, "nx ny"]


@styled
def error_map(
    ax: Axes,
    grid: Grid,
    unseen: Mask,
    *,
    blank: float | None = None,
    limits: tuple[float, float] | None = None,
    factors: tuple[str, str] = ("x", "y"),
    title: str = "",
    label: str = "mean squared error",
    colour_bar: bool = True,
) -> Any:
    """A map of errors on a logarithmic colour scale.

    **Arguments:**

    - `grid`: `(nx, ny)` errors, one per cell. Zeros take the colour of the lowest limit.
    - `unseen`: `(nx, ny)`, true where a cell is unseen.
    - `blank`: the error of a blank image, marked on the colour bar.
    - `limits`: ends of the colour scale; give several maps the same ones (see
        [`recombine.report.shared_limits`][]).
    - `factors`: names of the two factors.

    **Returns:**

    The drawn image, for a colour bar of your own.
    """
    from matplotlib.colors import LogNorm

    low, high = limits or shared_limits({"": grid}, blank=blank)
    image = _draw_map(ax, np.clip(grid, low, high), unseen, factors, norm=LogNorm(low, high))
    sentence(ax, title)
    if colour_bar:
        _error_bar(image, [ax], blank, label)
    return image


@styled
def error_map_row(
    figure: Figure | SubFigure,
    grids: Mapping[str, Grid],
    unseen: Mask,
    *,
    blank: float | None = None,
    factors: tuple[str, str] = ("x", "y"),
    title: str = "",
    label: str = "mean squared error",
) -> None:
    """Several error maps side by side on one scale, with one colour bar for all.

    **Arguments:**

    - `grids`: maps by title, each `(nx, ny)`.
    - The others are those of [`recombine.report.error_map`][].

    ```python
    >>> import numpy as np
    >>> from recombine.report import error_map_row, map_figure
    >>> grid = np.full((5, 5), 1e-4)
    >>> error_map_row(map_figure(2), {"a net": grid, "another": grid}, grid > 1, blank=0.004)

    ```
    """
    limits = shared_limits(grids, blank=blank)
    panels = figure.subplots(1, len(grids), squeeze=False)[0]
    for ax, (name, grid) in zip(panels, grids.items(), strict=True):
        image = error_map(ax, grid, unseen, limits=limits, factors=factors, title=name, colour_bar=False)
        if ax is not panels[0]:
            _leave_out_second_factor(ax)
    _error_bar(image, list(panels), blank, label)
    headline(figure, title)


@styled
def share_map(
    ax: Axes,
    grid: Grid,
    unseen: Mask,
    *,
    factors: tuple[str, str] = ("x", "y"),
    title: str = "",
    label: str = "share",
) -> None:
    """A map of shares, on a scale from 0 to 1.

    **Arguments:**

    - `grid`: `(nx, ny)` values from 0 to 1, one per cell.
    - `unseen`: `(nx, ny)`, true where a cell is unseen.
    - `label`: what the values are the share of.

    ```python
    >>> import numpy as np
    >>> from recombine.report import new_figure, share_map
    >>> figure, panels = new_figure()
    >>> share_map(panels[0, 0], np.eye(4), np.eye(4) > 0, label="share of seeds that are right")

    ```
    """
    image = _draw_map(ax, grid, unseen, factors, vmin=0.0, vmax=1.0)
    sentence(ax, title)
    _bar_below(image, [ax]).set_label(label)


@styled
def map_row(
    figure: Figure | SubFigure,
    maps: Mapping[str, Grid],
    unseen: Mask,
    *,
    factors: tuple[str, str] = ("x", "y"),
    title: str = "",
    label: str = "log10 volume",
) -> None:
    """Maps whose scale is arbitrary, such as log10 volumes of layers: each shown around its own mean.

    Colours range from 3 standard deviations below a map's mean to 3 above. Mean and standard deviation are printed
    above the map, since a nearly even map would otherwise look as rough as any other.

    **Arguments:**

    - `maps`: `(nx, ny)` values by name, for example one map per layer.
    - `unseen`: `(nx, ny)`, true where a cell is unseen.
    - `label`: what the values are.
    """
    panels = figure.subplots(1, len(maps), squeeze=False)[0]
    for ax, (name, grid) in zip(panels, maps.items(), strict=True):
        mean, deviation = float(np.nanmean(grid)), float(np.nanstd(grid))
        scores = (np.asarray(grid) - mean) / (deviation if deviation > 1e-12 else 1.0)
        image = _draw_map(ax, scores, unseen, factors, vmin=-3.0, vmax=3.0)
        ax.set_title(f"{name}\n{fixed(mean, 2)} ± {fixed(deviation, 2)}", fontsize=8.0)
        if ax is not panels[0]:
            _leave_out_second_factor(ax)
    bar = _bar_below(image, list(panels))
    bar.set_ticks([-3, 0, 3], labels=["mean − 3 sd", "mean", "mean + 3 sd"])
    bar.set_label(f"{label} (above each map: mean ± standard deviation)")
    headline(figure, title)


def shared_limits(grids: Mapping[str, Grid], *, blank: float | None = None) -> tuple[float, float]:
    """Ends of a logarithmic colour scale that suit several maps: their positive values and the blank error.

    At most five decades below the top are shown, so that one perfect cell does not stretch the scale.

    ```python
    >>> import numpy as np
    >>> from recombine.report import shared_limits
    >>> shared_limits({"a": np.array([[1e-4, 2e-3]]), "b": np.array([[0.0, 1e-3]])}, blank=0.004)
    (0.0001, 0.004)

    ```
    """
    values = np.concatenate([np.asarray(grid, dtype=np.float64).ravel() for grid in grids.values()])
    values = np.append(values, blank if blank is not None else np.nan)
    values = values[np.isfinite(values) & (values > 0)]
    if not len(values):
        raise InputError("grids", "no finite positive value", "errors to draw on a logarithmic scale")
    high = float(values.max())
    low = max(float(values.min()), high * 1e-5)
    return (low, high) if low < high else (high / 10.0, high)


def _draw_map(ax: Axes, grid: Grid, unseen: Mask, factors: tuple[str, str], **scale: Any) -> Any:
    from matplotlib.ticker import MaxNLocator

    grid, unseen = np.asarray(grid, dtype=np.float64), np.asarray(unseen)
    if grid.ndim != 2 or grid.shape != unseen.shape:
        raise InputError("grid", grid.shape, f"two axes, as the mask of unseen cells {unseen.shape}")
    image = ax.imshow(grid.T, origin="upper", cmap=MAP_COLOURS, **scale)  # row = y, column = x
    outline_unseen(ax, unseen)
    ax.set_anchor("W")  # flush with the title
    ax.spines[:].set_visible(False)
    ax.set_xlabel(factors[0])
    ax.set_ylabel(factors[1], rotation=0, labelpad=6.0)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=4, integer=True))
    return image


def _leave_out_second_factor(ax: Axes) -> None:
    """The leftmost map of a row names the levels for all."""
    ax.set_ylabel("")
    ax.tick_params(axis="y", labelleft=False)


def _error_bar(image: Any, panels: list[Axes], blank: float | None, label: str) -> None:
    bar = _bar_below(image, panels)
    log_ticks(bar.ax.xaxis)
    bar.set_label(label)
    if blank is not None:
        low, high = image.get_clim()
        side = "left" if blank < (low * high) ** 0.5 else "right"  # the label reaches inward
        bar.ax.plot([blank], [1.0], marker="v", color=INK, markersize=5, clip_on=False, scalex=False)
        bar.ax.axvline(blank, color=INK, linewidth=1.0)
        bar.ax.annotate(
            f"blank image {number(blank)}",
            xy=(blank, 1.0),
            xytext=(6.0 if side == "left" else -6.0, 1.5),
            textcoords="offset points",
            horizontalalignment=side,
            verticalalignment="bottom",
            annotation_clip=False,
        )


def _bar_below(image: Any, panels: list[Axes]) -> Any:
    """A horizontal colour bar under the panels, flush left under a single one and not too long."""
    longest = 2.2 if len(panels) == 1 else 4.0
    bar = panels[0].figure.colorbar(
        image,
        ax=panels,
        location="bottom",
        anchor=(0.0 if len(panels) == 1 else 0.5, 1.0),
        panchor=False,  # the panels stay where they are
        shrink=min(1.0, longest / sum(map(panel_width, panels))),
        aspect=30.0,
        pad=0.03,
    )
    bar.outline.set_visible(False)
    return bar
