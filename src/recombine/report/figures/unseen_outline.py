"""The outline of unseen cells: the exact border of any set of cells, always drawn with the same line."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from recombine.errors import InputError
from recombine.report.figures.style import INK, UNSEEN_DASHES, Axes, styled

Vertex = tuple[int, int]
INSET = 0.06
"""How far inside of unseen cells their outline runs, in cells."""


def mask_outline(mask: Bool[np.ndarray, "nx ny"]) -> list[Float[np.ndarray, "corners 2"]]:
    """The border of the true cells of a mask, as closed polygons along cell edges.

    **Arguments:**

    - `mask`: `(nx, ny)`. Cell `(i, j)` covers the square from `(i - 0.5, j - 0.5)` to `(i + 0.5, j + 0.5)`.

    **Returns:**

    One polygon per connected border, each an array of its corners `(x, y)` in order; the last corner is
    joined to the first. Cells lie to the left of their border (with y upward), so the borders of holes run
    the other way round. Cells that touch only in a corner are separate pieces.

    ```python
    >>> import numpy as np
    >>> from recombine.report import mask_outline
    >>> mask = np.zeros((4, 4), dtype=bool)
    >>> mask[1:3, 1:4] = True
    >>> [polygon.tolist() for polygon in mask_outline(mask)]
    [[[0.5, 0.5], [2.5, 0.5], [2.5, 3.5], [0.5, 3.5]]]

    ```
    """
    mask = np.asarray(mask)
    if mask.ndim != 2 or mask.dtype != bool:
        raise InputError("mask", (mask.dtype.name, mask.shape), "a boolean array with two axes, x and y")
    following = _directed_edges(mask)
    polygons = []
    while following:
        start = min(following)
        corners, vertex, direction = [], start, following[start][0]
        while True:
            step = _next_step(following[vertex], direction)
            if step != direction or vertex == start:
                corners.append(vertex)
            following[vertex].remove(step)
            if not following[vertex]:
                del following[vertex]
            vertex, direction = (vertex[0] + step[0], vertex[1] + step[1]), step
            if vertex == start:
                break
        polygons.append(np.array(corners, dtype=np.float64) - 0.5)
    return polygons


def _directed_edges(mask: np.ndarray) -> dict[Vertex, list[Vertex]]:
    """The steps that leave each vertex along a border, with true cells on the left (y upward)."""
    inside = np.pad(mask, 1)
    following: dict[Vertex, list[Vertex]] = {}
    sides = (  # the neighbour across a side, where that side starts, where it leads
        ((0, -1), (0, 0), (1, 0)),
        ((1, 0), (1, 0), (0, 1)),
        ((0, 1), (1, 1), (-1, 0)),
        ((-1, 0), (0, 1), (0, -1)),
    )
    for i, j in np.argwhere(mask).tolist():
        for (di, dj), (oi, oj), step in sides:
            if not inside[i + 1 + di, j + 1 + dj]:
                following.setdefault((i + oi, j + oj), []).append(step)
    return following


def _next_step(steps: list[Vertex], direction: Vertex) -> Vertex:
    """Where two pieces touch in a corner, turn left and so stay with the same piece."""
    left = (-direction[1], direction[0])
    return left if left in steps else steps[0]


@styled
def outline_unseen(ax: Axes, mask: Bool[np.ndarray, "nx ny"]) -> None:
    """Outlines unseen cells on a map whose axes count levels: the one dashed line used everywhere.

    **Arguments:**

    - `mask`: `(nx, ny)`, true where a cell is unseen; any shape of region, also several pieces. The line runs a little
        inside of it, so that one sees on which side of it unseen cells are.
    """
    for polygon in mask_outline(mask):
        inner = _inset(polygon, INSET)
        closed = np.concatenate([inner, inner[:1]])
        options: dict[str, Any] = {"clip_on": False, "scalex": False, "scaley": False}
        ax.plot(*closed.T, color="white", linewidth=2.0, solid_joinstyle="miter", **options)
        ax.plot(*closed.T, color=INK, linewidth=1.0, linestyle=UNSEEN_DASHES, **options)


def _inset(polygon: Float[np.ndarray, "corners 2"], by: float) -> Float[np.ndarray, "corners 2"]:
    """Every side moved to its left, where the cells are."""
    steps = np.sign(np.roll(polygon, -1, axis=0) - polygon)
    left = np.stack([-steps[:, 1], steps[:, 0]], axis=1)
    return polygon + by * (left + np.roll(left, 1, axis=0))
