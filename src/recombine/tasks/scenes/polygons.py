"""Regular polygons of area 1: which points they cover, and whether two of them are apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int


@dataclass(frozen=True, eq=False)
class Polygon:
    """A regular polygon of area 1 around the origin.

    **Attributes:**

    - `normals`: `(edges, 2)` outward unit vectors; `apothem`: the distance of every edge from the middle.
    - `vertices`: `(edges, 2)`.
    """

    vertices: Float[np.ndarray, "edges 2"]
    normals: Float[np.ndarray, "edges 2"]
    apothem: float


def regular(corners: int, first: float) -> Polygon:
    """The regular polygon of area 1 whose first corner lies in the direction `first`, in degrees.

    ```python
    >>> from recombine.tasks.scenes.polygons import regular
    >>> regular(4, 45).vertices.round(3).tolist()
    [[0.5, 0.5], [-0.5, 0.5], [-0.5, -0.5], [0.5, -0.5]]

    ```
    """
    step = 2 * np.pi / corners
    radius = np.sqrt(2 / (corners * np.sin(step)))
    angle = np.radians(first) + step * np.arange(corners)
    vertices, normals = (np.stack([np.cos(a), np.sin(a)], axis=1) for a in (angle, angle + step / 2))
    return Polygon(
        radius * vertices, np.where(np.abs(normals) < 1e-12, 0, normals), radius * np.cos(step / 2)
    )


SHAPES = {"triangle": regular(3, 90), "circle": regular(30, 0), "square": regular(4, 45)}


def chords(
    polygon: Polygon,
    middle: Float[np.ndarray, "n 2"],
    scale: Float[np.ndarray, " n"],
    y: Float[np.ndarray, " rows"],
    outline: float = 0.0,
) -> tuple[Float[np.ndarray, "n rows"], Float[np.ndarray, "n rows"]]:
    """The smallest and largest x of polygons at some heights; at heights without a point, the smallest is larger.

    **Arguments:**

    - `middle`, `scale`: the polygon is enlarged by `scale` and moved to `middle`.
    - `outline`: its edges are then moved outwards by this much.
    """
    # Each edge allows the half-plane across · x + up · y <= apothem · scale + outline around the middle; at a height y
    # it bounds x from above or below, depending on the sign of `across`.
    above = y - middle[:, 1:]
    low, high = np.full(above.shape, -np.inf), np.full(above.shape, np.inf)
    for across, up in polygon.normals:
        distance = polygon.apothem * scale[:, None] + outline - up * above
        if across == 0:
            high[distance < 0] = -np.inf
        elif across > 0:
            np.minimum(high, distance / across, out=high)
        else:
            np.maximum(low, distance / across, out=low)
    return middle[:, :1] + low, middle[:, :1] + high


def apart(
    first: Polygon,
    second: Polygon,
    way: Float[np.ndarray, "n 2"],
    scales: tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]],
    gap: float = 0.0,
) -> Bool[np.ndarray, " n"]:
    """Whether an edge of one of the two polygons separates them by at least `gap`.

    Convex polygons that do not overlap are always separated by an edge of one of them.

    **Arguments:**

    - `way`: from the middle of the first to the middle of the second; `scales`: of the first and the second.
    """
    separated = np.zeros(len(way), dtype=bool)
    for one, other, sign, (mine, its) in ((first, second, 1, scales), (second, first, -1, scales[::-1])):
        reach = (-one.normals @ other.vertices.T).max(axis=1)
        between = sign * way @ one.normals.T - np.outer(its, reach)
        separated |= between.max(axis=1) >= one.apothem * mine + gap
    return separated


def lanczos(size: int, enlarged: int, lobes: int = 3) -> Float[np.ndarray, "size big"]:
    """The matrix that resamples a line of `size · enlarged` pixels to `size` with Lanczos's window; rows sum to 1.

    ```python
    >>> from recombine.tasks.scenes.polygons import lanczos
    >>> lanczos(2, 1).round(6).tolist()
    [[1.0, 0.0], [0.0, 1.0]]

    ```
    """
    there = (np.arange(size * enlarged) + 0.5) / enlarged
    away = there - (np.arange(size)[:, None] + 0.5)
    weights = np.where(np.abs(away) < lobes, np.sinc(away) * np.sinc(away / lobes), 0)
    return weights / weights.sum(axis=1, keepdims=True)


def shrunk(
    canvas: Float[np.ndarray, "*n big big"], matrix: Float[np.ndarray, "size big"]
) -> Float[np.ndarray, "*n size size"]:
    """Canvases resampled along both axes by the matrix of `lanczos`, clipped to 0 and 1 after each axis."""
    for _ in range(2):  # one product of two matrices is much faster than many small ones
        flat = np.clip(canvas.reshape(-1, canvas.shape[-1]) @ matrix.T, 0, 1)
        canvas = flat.reshape(*canvas.shape[:-1], -1).swapaxes(-1, -2)
    return canvas


def covered(
    chord: tuple[Float[np.ndarray, "n rows"], Float[np.ndarray, "n rows"]], x: Float[np.ndarray, " columns"]
) -> Bool[np.ndarray, "n rows columns"]:
    """Which points of a grid lie between the ends of the chords."""
    low, high = (end.astype(np.float32)[..., None] for end in chord)
    at = x.astype(np.float32)
    return (at >= low) & (at <= high)


def shape_codes(latents: Float[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
    """Codes of shapes as whole numbers, -1 for absent objects."""
    return np.nan_to_num(latents, nan=-1).astype(int)
