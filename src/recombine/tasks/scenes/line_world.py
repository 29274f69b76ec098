"""The line world: coloured bars on a line, the smallest world of scenes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from jaxtyping import Bool, Float

from recombine.errors import InputError
from recombine.spaces.supports import Support
from recombine.tasks.scenes.colours import hue_to_rgb
from recombine.tasks.scenes.scene_arrays import Scenes
from recombine.tasks.scenes.scene_task import SceneTask
from recombine.tasks.scenes.worlds import Attribute, World, scene_task

ATTRIBUTES = ("position", "half-width", "hue")


def line_world(
    *,
    rows: int = 50_000,
    test: int = 1000,
    size: int = 32,
    objects: int = 2,
    half_width: tuple[float, float] = (2.0, 3.5),
    gap: float = 1.0,
    smooth: bool = True,
    support: Support = None,
    on: Sequence[str] = ("hue",),
    bins: int = 4,
    delta: float = 0.2,
    seed: int = 0,
) -> SceneTask:
    """Images of 1 × `size` pixels with bars of full colour on black that never touch, the leftmost bar first.

    Half-widths and hues are uniform; positions are uniform among those that leave the bars inside the frame and at
    least a gap apart. As no pixel shows two bars, the generator has interactions of order 0 between bars (if `gap` is
    at least 1).

    **Arguments:**

    - `rows`: images for training; `test`: further images of seen cells, and of unseen cells if there are any.
    - `half_width`: range of half the bars' widths, in pixels.
    - `gap`: smallest distance between the edges of neighbouring bars, in pixels.
    - `smooth`: the brightness of a pixel is the fraction that a bar covers; otherwise it is on from one half.
    - `support`, `on`, `bins`, `delta`: which combinations of attributes training shows, see `scene_task`.

    ```python
    >>> from recombine.tasks import line_world
    >>> task = line_world(rows=1000, test=100)
    >>> task.inputs.shape, len(task.train), len(task.test_in)
    ((1100, 1, 32, 3), 1000, 100)

    ```
    """
    low, high = half_width
    if objects < 1:
        raise InputError("objects", objects, "at least 1")
    if not 0 < low <= high:
        raise InputError("half_width", half_width, "a positive lower and an upper bound in pixels")
    if gap < 0:
        raise InputError("gap", gap, "at least 0 pixels")
    min_size = 2 * high * objects + gap * (objects - 1)
    if size < min_size:
        raise InputError("size", size, f"at least {min_size:g} pixels for {objects} bars")
    attributes = (
        Attribute("position", low, size - low),
        Attribute("half-width", low, high),
        Attribute("hue"),
    )
    sample = partial(_sample, size=size, objects=objects, half_width=half_width, gap=gap)
    draw = partial(draw_lines, size=size, gap=gap, smooth=smooth)
    world = World(attributes, objects, sample, draw)
    return scene_task(world, rows=rows, test=test, support=support, on=on, bins=bins, delta=delta, seed=seed)


def draw_lines(
    latents: Float[np.ndarray, "n objects 3"], *, size: int = 32, gap: float = 1.0, smooth: bool = True
) -> Scenes:
    """Images of bars with these latents: position (of the middle, in pixels from the left edge), half-width and hue.

    ```python
    >>> import numpy as np
    >>> from recombine.tasks import draw_lines
    >>> scenes = draw_lines(np.array([[[2.0, 1.25, 0.0]]]), size=5)
    >>> scenes.images[0, 0, :, 0].tolist(), scenes.masks[0, 0].tolist()
    ([0.25, 1.0, 1.0, 0.25, 0.0], [0, 1, 1, 0, 0])

    ```
    """
    latents = np.asarray(latents, dtype=np.float64)
    if latents.ndim != 3 or latents.shape[2] != len(ATTRIBUTES):
        raise InputError("latents", latents.shape, f"(n, objects, {len(ATTRIBUTES)})")
    left = np.arange(size)
    images = np.zeros((len(latents), size, 3), dtype=np.float32)
    masks = np.zeros((len(latents), size), dtype=np.int8)
    for number in range(latents.shape[1]):
        middle, half, hue = (np.nan_to_num(latents[:, number, axis]) for axis in range(3))
        start, stop = (middle - half)[:, None], (middle + half)[:, None]
        cover = np.clip(np.minimum(left + 1, stop) - np.maximum(left, start), 0, 1).astype(np.float32)
        cover = cover if smooth else (cover >= 0.5).astype(np.float32)
        images += cover[..., None] * (hue_to_rgb(hue).astype(np.float32)[:, None] - images)
        masks[cover >= 0.5] = number + 1
    return Scenes(
        images[:, None],
        masks[:, None],
        latents,
        ATTRIBUTES,
        partial(draw_lines, size=size, gap=gap, smooth=smooth),
        partial(_legal, size=size, gap=gap),
    )


def _sample(
    rng: np.random.Generator, n: int, *, size: int, objects: int, half_width: tuple[float, float], gap: float
) -> Float[np.ndarray, "n objects 3"]:
    """Divides the space that the bars leave free at random among the gaps between them."""
    half = rng.uniform(*half_width, size=(n, objects))
    before = 2 * np.cumsum(half, axis=1) - 2 * half + gap * np.arange(objects)
    free = size - 2 * half.sum(axis=1, keepdims=True) - gap * (objects - 1)
    start = np.sort(rng.random((n, objects)), axis=1) * free + before
    return np.stack([start + half, half, rng.random((n, objects))], axis=2)


def _legal(latents: Float[np.ndarray, "n objects 3"], *, size: int, gap: float) -> Bool[np.ndarray, " n"]:
    """Bars inside the frame and a gap apart, in any order."""
    latents = np.take_along_axis(latents, np.argsort(latents[:, :, :1], axis=1), axis=1)
    start, stop = latents[..., 0] - latents[..., 1], latents[..., 0] + latents[..., 1]
    apart = (start[:, 1:] - stop[:, :-1] >= gap - 1e-9).all(axis=1)
    return apart & (start >= -1e-9).all(axis=1) & (stop <= size + 1e-9).all(axis=1)
