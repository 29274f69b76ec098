"""Maps of a layer's weights with units sorted by module."""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from recombine.report.style import METHODS, Axes, styled

MOST_CELLS = 160
"""Rows and columns of a map; more units than this are drawn together, within their module."""
COLOURS = "Greys"  # paper is no weight, ink is weight
BORDER = METHODS["green"]


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
    >>> from recombine.report.weight_maps import weight_map
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
    step = ceil(len(labels) / MOST_CELLS)
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
    shape = [-1 if place == axis else 1 for place in range(2)]
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
    for axis, places in ((ax.yaxis, spans[0]), (ax.xaxis, spans[1])):
        middles = [(start + stop) / 2 for start, stop in places.values()]
        axis.set_ticks(middles if ticks else [], [str(module) for module in places] if ticks else [])
        axis.set_tick_params(length=0)
