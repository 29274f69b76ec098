"""Weight maps: every layer's weights as squares, units sorted by module."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from recombine.report.figures.canvas import PAGE_WIDTH, blank_figure
from recombine.report.figures.style import METHODS, Axes, Figure, headline, styled

MAX_CELLS = 160
"""Rows and columns of a map; more units than this are drawn together, within their module."""
MAX_LAYERS = 12
"""Layers that are shown; of deeper nets, the first."""
COLUMNS = 4
MAX_TICKS = 12
"""Module numbers along a side of a map."""
COLOURS = "Greys"  # white is zero, black is the largest
BORDER = METHODS["green"]


@styled
def weight_maps(
    weights: Sequence[Float[np.ndarray, "before after"]],
    labels: Sequence[Int[np.ndarray, " units"]],
    *,
    titles: Sequence[str] = (),
    title: str = "",
) -> Figure:
    """|w| of every layer as a map, units sorted by module and dead units left out, modules framed on the diagonal.

    **Arguments:**

    - `weights`: matrices `(units before, units after)`; `labels`: module numbers of inputs, hidden units and outputs,
        -1 for dead ones.
    - `titles`: the text above each map.

    **Returns:**

    A matplotlib figure. Colours are relative to the largest weight of a layer, on a square-root scale.

    ```python
    >>> import numpy as np
    >>> from recombine.modularity import weight_maps
    >>> figure = weight_maps([np.eye(2), np.eye(2)], [np.arange(2)] * 3, title="Two modules")
    >>> len(figure.axes)  # two maps and the colour bar
    3

    ```
    """
    shown = min(len(weights), MAX_LAYERS)
    columns = min(shown, COLUMNS)
    rows = ceil(shown / columns)
    side = min(2.2, (PAGE_WIDTH - 0.3) / columns)
    figure = blank_figure(height=rows * (side + 0.15) + 0.9, width=max(4.0, columns * side + 0.3))
    panels = figure.subplots(rows, columns, squeeze=False)
    names = unit_layer_names(len(weights) + 1)
    for number, ax in enumerate(panels.flat):
        if number >= shown:
            ax.set_visible(False)
            continue
        image = weight_map(ax, weights[number], labels[number], labels[number + 1])
        _thin_ticks(ax)
        ax.set_ylabel(names[number])
        ax.set_xlabel(names[number + 1])
        if titles:
            ax.set_title(titles[number], fontsize=8.0)
    bar = figure.colorbar(image, ax=panels, location="bottom", aspect=40.0, pad=0.03, shrink=0.6)
    bar.set_ticks([0, 0.01, 0.1, 0.5, 1], labels=["0", "1%", "10%", "50%", "100%"])
    bar.set_label("size of a weight, relative to the largest of its layer")
    bar.outline.set_visible(False)
    headline(figure, title)
    return figure


def unit_layer_names(layers: int) -> list[str]:
    """Names of a net's layers of units.

    ```python
    >>> from recombine.report.figures.weight_maps import unit_layer_names
    >>> unit_layer_names(4)
    ['inputs', 'hidden 1', 'hidden 2', 'outputs']

    ```
    """
    return ["inputs", *(f"hidden {layer}" for layer in range(1, layers - 1)), "outputs"]


def _thin_ticks(ax: Axes) -> None:
    """Keeps the numbers of as many modules as there is space for."""
    for axis in (ax.xaxis, ax.yaxis):
        step = ceil(len(axis.get_ticklocs()) / MAX_TICKS) or 1
        names = [tick.get_text() for tick in axis.get_ticklabels()]
        axis.set_ticks(axis.get_ticklocs()[::step], names[::step])


@styled
def weight_map(
    ax: Axes,
    matrix: Float[np.ndarray, "before after"],
    before: Int[np.ndarray, " before"],
    after: Int[np.ndarray, " after"],
    *,
    ticks: bool = True,
) -> Any:
    """|w| between two layers, units sorted by module and dead ones left out, modules framed.

    **Arguments:**

    - `matrix`: `(units before, units after)`.
    - `before`, `after`: module numbers of the units, -1 for dead ones.
    - `ticks`: name the modules along both axes.

    **Returns:**

    The mesh, for a colour bar. Colours are relative to the largest weight, on a square-root scale.

    ```python
    >>> import numpy as np
    >>> from recombine.report import new_figure
    >>> from recombine.report.figures.weight_maps import weight_map
    >>> _, panels = new_figure()
    >>> weight_map(panels[0, 0], np.eye(2), np.arange(2), np.arange(2)).get_array().shape
    (2, 2)

    ```
    """
    from matplotlib.colors import PowerNorm

    rows, columns = _sorted_units(before), _sorted_units(after)
    size = np.abs(matrix)[np.ix_(rows, columns)]
    down, across = _edges(before[rows]), _edges(after[columns])
    size = _pooled(_pooled(size, down, 0), across, 1)
    shares = size / (size.max() or 1.0)
    image = ax.pcolormesh(
        across, down, shares, cmap=COLOURS, norm=PowerNorm(0.5, 0.0, 1.0), rasterized=True, shading="flat"
    )
    ax.set_box_aspect(1)
    ax.invert_yaxis()
    ax.spines[:].set_visible(True)
    _frames(ax, before[rows], after[columns], ticks=ticks)
    return image


def _sorted_units(labels: np.ndarray) -> Int[np.ndarray, " live"]:
    order = np.argsort(labels, kind="stable")
    return order[labels[order] >= 0]


def _edges(labels: np.ndarray) -> Int[np.ndarray, " edges"]:
    """Borders of the squares: every unit, or of many units equal groups that keep to a module."""
    step = ceil(len(labels) / MAX_CELLS)
    ends = [0]
    for start, stop in pairwise(_borders(labels)):
        ends += [*range(start + step, stop, step), stop]
    return np.array(ends)


def _borders(labels: np.ndarray) -> list[int]:
    changes = np.flatnonzero(np.diff(labels)) + 1
    return [0, *changes.tolist(), len(labels)]


def _pooled(size: np.ndarray, edges: np.ndarray, axis: int) -> np.ndarray:
    """Root mean squares over groups of units."""
    if len(edges) == size.shape[axis] + 1:
        return size
    shape = [-1 if one == axis else 1 for one in range(2)]
    return np.sqrt(np.add.reduceat(size**2, edges[:-1], axis=axis) / np.diff(edges).reshape(shape))


def _frames(ax: Axes, before: np.ndarray, after: np.ndarray, *, ticks: bool) -> None:
    """A frame around every module's block, and its number at both axes."""
    from matplotlib.patches import Rectangle

    spans = []
    for labels in (before, after):
        spans.append({int(labels[start]): (start, stop) for start, stop in pairwise(_borders(labels))})
    for module in spans[0].keys() & spans[1].keys():
        (top, bottom), (left, right) = spans[0][module], spans[1][module]
        block = Rectangle(
            (left, top), right - left, bottom - top, fill=False, edgecolor=BORDER, linewidth=1.0
        )
        ax.add_patch(block)
    for axis, blocks in ((ax.yaxis, spans[0]), (ax.xaxis, spans[1])):
        middles = [(start + stop) / 2 for start, stop in blocks.values()]
        axis.set_ticks(middles if ticks else [], [str(module) for module in blocks] if ticks else [])
        axis.set_tick_params(length=0)
