"""Sprites: coloured polygons that may cover each other, in the manner of Spriteworld.

The generator of Brady et al. (Provably learning object-centric representations, ICML 2023), whose images Brady et al.
2025 (Interaction asymmetry, arXiv 2411.07784) train on: polygons painted one over the other on an enlarged canvas,
which is reduced to the image by Lanczos resampling.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from recombine.errors import InputError
from recombine.spaces.supports import Support
from recombine.tasks.scenes.colours import hue_to_rgb, wrapped_hue_to_rgb
from recombine.tasks.scenes.polygons import SHAPES, apart, chords, covered, lanczos, shape_codes, shrunk
from recombine.tasks.scenes.scene_arrays import Scenes
from recombine.tasks.scenes.scene_task import SceneTask
from recombine.tasks.scenes.worlds import Attribute, World, scene_task

ATTRIBUTES = ("x", "y", "scale", "hue", "shape")
ENLARGED = 5
"""Canvas pixels per image pixel, as in the published renderer."""
MAX_DRAWS = 300
"""Draws of scenes without overlap before giving up."""
CANVAS_VALUES = 2**24
"""Values of the enlarged canvases held in memory at once."""

PUBLISHED: dict[str, Any] = {"size": 64, "objects": (2, 4), "colours": "wrap"}
"""Settings of the published images; the other published settings are the defaults."""
WIEDEMER: dict[str, Any] = {
    "size": 64,
    "objects": 2,
    "x": (0.1, 0.9),
    "y": (0.2, 0.8),
    "scale": (0.09, 0.22),
    "hue": (0.05, 0.95),
    "shapes": ("triangle", "square"),
}
"""Settings of Wiedemer et al. 2024, who train on a diagonal support."""


def sprites(
    *,
    rows: int = 10_000,
    test: int = 500,
    size: int = 64,
    objects: int | tuple[int, int] = (2, 4),
    x: tuple[float, float] = (0.1, 0.8),
    y: tuple[float, float] = (0.1, 0.8),
    scale: tuple[float, float] = (0.1, 0.15),
    hue: tuple[float, float] = (0.0, 1.0),
    shapes: Sequence[str] = ("triangle", "circle", "square"),
    colours: str = "clean",
    overlap: str = "allowed",
    gap: float = 0.0,
    outline: bool = True,
    support: Support = None,
    on: Sequence[str] = ("hue",),
    bins: int = 4,
    delta: float = 0.2,
    seed: int = 0,
) -> SceneTask:
    """Images of polygons on black. Every attribute is uniform and independent; later objects cover earlier ones.

    **Arguments:**

    - `rows`: images for training; `test`: further images of seen cells, and of unseen cells if there are any.
    - `objects`: their number, or the smallest and the largest of a uniform number.
    - `x`, `y`: of the centre, as fractions of the frame from the lower left; `scale`: the root of the area, likewise.
    - `colours`: `"clean"`, fully saturated hues; `"wrap"`, the published colours, whose saturation of 3 makes values
        overflow, so that they jump as the hue changes.
    - `overlap`: `"allowed"`, or `"none"` for scenes whose polygons are at least `gap` apart (a fraction of the frame).
    - `outline`: as in the published renderer, paint the outline too, which moves every edge outwards by a tenth of a
        pixel; without it, areas are exactly the square of the scale.
    - `support`, `on`, `bins`, `delta`: which combinations of attributes training shows, see `scene_task`.

    ```python
    >>> from recombine.tasks import sprites
    >>> task = sprites(rows=100, test=10, size=16, objects=2, scale=(0.25, 0.35), x=(0.2, 0.8), y=(0.2, 0.8))
    >>> task.scenes
    Scenes(110 of 16 × 16 pixels, 2 objects with x, y, scale, hue, shape)

    ```
    """
    min_objects, max_objects = (objects, objects) if isinstance(objects, int) else objects
    if not 1 <= min_objects <= max_objects:
        raise InputError("objects", objects, "a number or a range of numbers, at least 1")
    if size < 1:
        raise InputError("size", size, "at least 1 pixel")
    shapes = tuple(shapes)
    if not shapes or any(shape not in SHAPES for shape in shapes) or len(set(shapes)) < len(shapes):
        raise InputError("shapes", shapes, f"different ones of {', '.join(SHAPES)}")
    if overlap not in {"allowed", "none"}:
        raise InputError("overlap", overlap, "'allowed' or 'none'")
    ranges = {"x": x, "y": y, "scale": scale, "hue": hue}
    for field, (low, high) in ranges.items():
        if not 0 <= low < high or (field != "scale" and high > 1):
            raise InputError(field, (low, high), "a lower and a higher fraction")
    attributes = (
        *(Attribute(name, *ends) for name, ends in ranges.items()),
        Attribute("shape", levels=shapes),
    )
    min_gap = gap if overlap == "none" else None
    draw = partial(draw_sprites, size=size, shapes=shapes, colours=colours, gap=min_gap, outline=outline)
    sample = partial(_sample, attributes=attributes, objects=(min_objects, max_objects), gap=min_gap)
    world = World(attributes, min_objects, sample, draw)
    return scene_task(world, rows=rows, test=test, support=support, on=on, bins=bins, delta=delta, seed=seed)


def draw_sprites(
    latents: Float[np.ndarray, "n objects 5"],
    *,
    size: int = 64,
    shapes: Sequence[str] = tuple(SHAPES),
    colours: str = "clean",
    gap: float | None = None,
    outline: bool = True,
) -> Scenes:
    """Images of sprites with these latents: x, y, scale, hue and the index of the shape in `shapes`.

    A mask holds the polygon that is on top at the centre of a pixel. With a `gap`, scenes whose polygons are closer
    are not `legal` (but are drawn).

    ```python
    >>> import numpy as np
    >>> from recombine.tasks import draw_sprites
    >>> square = np.array([[[0.25, 0.75, 0.5, 0.0, 0]]])    # the upper left quarter, red
    >>> draw_sprites(square, size=4, shapes=("square",)).masks[0].tolist()
    [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]

    ```
    """
    latents = np.asarray(latents, dtype=np.float64)
    if latents.ndim != 3 or latents.shape[2] != len(ATTRIBUTES):
        raise InputError("latents", latents.shape, f"(n, objects, {len(ATTRIBUTES)})")
    if colours not in {"clean", "wrap"}:
        raise InputError("colours", colours, "'clean' or 'wrap'")
    shapes = tuple(shapes)
    rgb = (hue_to_rgb if colours == "clean" else wrapped_hue_to_rgb)(np.nan_to_num(latents[:, :, 3]))
    images = np.empty((len(latents), size, size, 3), dtype=np.float32)
    masks = np.zeros((len(latents), size, size), dtype=np.int8)
    edge = 0.5 / (size * ENLARGED) if outline else 0.0
    shrink = lanczos(size, ENLARGED).astype(np.float32)
    chunk = max(1, CANVAS_VALUES // (3 * (size * ENLARGED) ** 2))
    for start in range(0, len(latents), chunk):
        rows = slice(start, start + chunk)
        canvas = np.zeros((len(latents[rows]), 3, size * ENLARGED, size * ENLARGED), dtype=np.float32)
        for number in range(latents.shape[1]):
            inside = _inside(latents[rows, number], size * ENLARGED, shapes, edge)
            np.copyto(canvas, rgb[rows, number, :, None, None].astype(np.float32), where=inside[:, None])
            masks[rows][_inside(latents[rows, number], size, shapes, edge)] = number + 1
        images[rows] = shrunk(canvas, shrink).transpose(0, 2, 3, 1)
    again = partial(draw_sprites, size=size, shapes=shapes, colours=colours, gap=gap, outline=outline)
    return Scenes(images, masks, latents, ATTRIBUTES, again, partial(legal_sprites, shapes=shapes, gap=gap))


def legal_sprites(
    latents: Float[np.ndarray, "n objects 5"],
    *,
    shapes: Sequence[str] = tuple(SHAPES),
    gap: float | None = 0.0,
) -> Bool[np.ndarray, " n"]:
    """Whether all sprites of a scene are at least `gap` apart; always true if it is `None`."""
    legal = np.ones(len(latents), dtype=bool)
    if gap is None:
        return legal
    for one in range(latents.shape[1]):
        for other in range(one):
            for i, first in enumerate(shapes):
                for j, second in enumerate(shapes):
                    rows = np.flatnonzero((latents[:, one, 4] == i) & (latents[:, other, 4] == j))
                    a, b = latents[rows, one], latents[rows, other]
                    polygons = SHAPES[first], SHAPES[second]
                    legal[rows] &= apart(*polygons, b[:, :2] - a[:, :2], (a[:, 2], b[:, 2]), gap)
    return legal


def _inside(
    latents: Float[np.ndarray, "n 5"], size: int, shapes: tuple[str, ...], outline: float
) -> Bool[np.ndarray, "n size size"]:
    """The pixels whose centre an object covers; absent objects cover none."""
    middle = (np.arange(size) + 0.5) / size
    low = np.full((len(latents), size), np.inf)
    high, codes = -low, shape_codes(latents[:, 4])
    for code, shape in enumerate(shapes):
        rows = codes == code
        low[rows], high[rows] = chords(
            SHAPES[shape], latents[rows, :2], latents[rows, 2], middle[::-1], outline
        )
    return covered((low, high), middle)


def _sample(
    rng: np.random.Generator,
    n: int,
    *,
    attributes: tuple[Attribute, ...],
    objects: tuple[int, int],
    gap: float | None,
) -> Float[np.ndarray, "n objects 5"]:
    """Draws numbers of objects, then scenes; scenes that are not legal are drawn again with the same number."""
    min_objects, max_objects = objects
    shapes = tuple(map(str, attributes[-1].levels or ()))
    low, high = np.array([(a.low, a.high) for a in attributes[:-1]] + [(0, len(shapes))]).T
    absent = np.arange(max_objects) >= rng.integers(min_objects, max_objects + 1, size=(n, 1))
    latents, again = np.empty((n, max_objects, len(attributes))), np.arange(n)
    for _ in range(MAX_DRAWS):
        drawn = low + (high - low) * rng.random((len(again), max_objects, len(attributes)))
        drawn[..., -1] = np.floor(drawn[..., -1])
        drawn[absent[again]] = np.nan
        latents[again] = drawn
        again = again[~legal_sprites(drawn, shapes=shapes, gap=gap)]
        if not again.size:
            return latents
    raise InputError(
        "overlap", f"'none' with {max_objects} objects", "fewer or smaller objects, or a smaller gap"
    )
