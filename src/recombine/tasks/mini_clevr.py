"""Mini-CLEVR: solids on a grey floor, lit from one side, with shadows and mirrors that can be switched off.

After CLEVR (Johnson et al. 2017). Without shadows and mirrors, objects interact by covering each other only; a metal
object with `mirror` shows the others on its surface.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from jaxtyping import Bool, Float

from recombine.errors import InputError
from recombine.tasks.clevr_light import Light, shown
from recombine.tasks.ray_casting import BOX, CYLINDER, SPHERE, Solids, camera, cast
from recombine.tasks.scene_task import SceneTask
from recombine.tasks.scenes import Scenes
from recombine.tasks.supports import Support
from recombine.tasks.worlds import Attribute, World, scene_task

COLOURS = {
    "grey": (87, 87, 87),
    "red": (173, 35, 35),
    "blue": (42, 75, 215),
    "green": (29, 105, 20),
    "brown": (129, 74, 25),
    "purple": (129, 38, 192),
    "cyan": (41, 208, 208),
    "yellow": (255, 238, 51),
}
SHAPES = {"sphere": SPHERE, "cube": BOX, "cylinder": CYLINDER}
MATERIALS = ("rubber", "metal")
SIZES = ("small", "large")
ATTRIBUTES = ("x", "y", "angle", "size", "colour", "shape", "material")
CAMERA = (7.5, -6.5, 5.4)
VIEW = 0.3
RAYS = 2**16
"""Rays that are cast at once."""
TRIES = 300


def mini_clevr(
    *,
    rows: int = 10_000,
    test: int = 500,
    size: int = 32,
    objects: int | tuple[int, int] = (2, 4),
    reach: float = 2.4,
    sizes: tuple[float, float] = (0.5, 0.8),
    gap: float = 0.25,
    visible: float = 12 / 1024,
    shadows: bool = True,
    mirror: bool = True,
    textured: bool = False,
    samples: int = 2,
    support: Support = None,
    on: Sequence[str] = ("colour",),
    bins: int = 4,
    delta: float = 0.2,
    seed: int = 0,
) -> SceneTask:
    """Pictures of spheres, cubes and cylinders, small or large, of rubber or metal, in the eight colours of CLEVR.

    Positions are uniform, but scenes with objects too close or too well hidden are drawn again.

    **Arguments:**

    - `rows`: pictures for training; `test`: further ones of seen cells, and of unseen cells if there are any.
    - `objects`: how many, or the fewest and the most of a uniform number.
    - `reach`: positions lie within ± this; `sizes`: radius of small and of large objects (0.35 and 0.7 in CLEVR, where
        pictures are larger); `gap`: least distance between the circles that objects stand in.
    - `visible`: least share of the frame that every object must show.
    - `shadows`: hard shadows; `mirror`: metal shows what it reflects.
    - `textured`: objects and floor have patterns, and objects the attribute `texture`, a number that picks theirs.
    - `samples`: rays per pixel along each side.
    - `support`, `on`, `bins`, `delta`: which combinations of attributes training shows, see `scene_task`.

    ```python
    >>> from recombine.tasks import mini_clevr
    >>> mini_clevr(rows=4, test=1, size=16, objects=2, samples=1).scenes
    Scenes(5 of 16 × 16 pixels, 2 objects with x, y, angle, size, colour, shape, material)

    ```
    """
    fewest, most = (objects, objects) if isinstance(objects, int) else objects
    if not 1 <= fewest <= most:
        raise InputError("objects", objects, "a number or a range of numbers, at least 1")
    if not 0 < sizes[0] <= sizes[1]:
        raise InputError("sizes", sizes, "the radius of small and of large objects")
    for field, value in (("size", size), ("samples", samples)):
        if value < 1:
            raise InputError(field, value, "at least 1")
    if not reach > 0:
        raise InputError("reach", reach, "a positive distance")
    if not 0 <= visible < 1:
        raise InputError("visible", visible, "a share of the frame")
    attributes = (
        Attribute("x", -reach, reach),
        Attribute("y", -reach, reach),
        Attribute("angle", 0.0, 2 * np.pi),
        Attribute("size", levels=SIZES),
        Attribute("colour", levels=tuple(COLOURS)),
        Attribute("shape", levels=tuple(SHAPES)),
        Attribute("material", levels=MATERIALS),
        *((Attribute("texture"),) if textured else ()),
    )
    legal = partial(legal_clevr, sizes=sizes, gap=gap, visible=visible)
    draw = partial(
        draw_clevr, size=size, sizes=sizes, light=Light(shadows, mirror), samples=samples, legal=legal
    )
    world = World(attributes, fewest, partial(_sample, attributes, (fewest, most), legal), draw)
    return scene_task(world, rows=rows, test=test, support=support, on=on, bins=bins, delta=delta, seed=seed)


def draw_clevr(
    latents: Float[np.ndarray, "n objects attributes"],
    *,
    size: int = 32,
    sizes: tuple[float, float] = (0.5, 0.8),
    light: Light | None = None,
    samples: int = 2,
    legal: partial[Bool[np.ndarray, " n"]] | None = None,
) -> Scenes:
    """The pictures of given objects: x, y, angle, and codes of size, colour, shape and material; if there is an eighth
    attribute, it is the texture. A mask says which object the middle of a pixel shows.

    ```python
    >>> import numpy as np
    >>> from recombine.tasks import draw_clevr
    >>> sphere = np.array([[[0.0, 0.0, 0.0, 1, 1, 0, 0]]])
    >>> scenes = draw_clevr(sphere, size=8)
    >>> scenes.masks[0, 1:5, 2:6].tolist()
    [[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]]

    ```
    """
    latents = np.asarray(latents, dtype=np.float64)
    if latents.ndim != 3 or latents.shape[2] not in {len(ATTRIBUTES), len(ATTRIBUTES) + 1}:
        raise InputError(
            "latents", latents.shape, f"(n, objects, {len(ATTRIBUTES)}), or one more for textures"
        )
    light, legal = light or Light(), legal or partial(legal_clevr, sizes=sizes)
    images = np.empty((len(latents), size, size, 3), dtype=np.float32)
    masks = np.empty((len(latents), size, size), dtype=np.int8)
    chunk = max(1, RAYS // (size * samples) ** 2)
    rgb = np.array(list(COLOURS.values()), dtype=np.float32) / 255
    codes = np.nan_to_num(latents).astype(int)
    texture = latents[..., 7].astype(np.float32) if latents.shape[2] > len(ATTRIBUTES) else None
    start, way = camera(size * samples, place=CAMERA, view=VIEW)
    for first in range(0, len(latents), chunk):
        rows = slice(first, first + chunk)
        solids, n = solids_of(latents[rows], sizes), len(latents[rows])
        scene = np.repeat(np.arange(n), (size * samples) ** 2)
        fine = shown(
            solids,
            scene,
            _tiled(start, n),
            _tiled(way, n),
            rgb[codes[rows, :, 4]],
            codes[rows, :, 6] == 1,
            None if texture is None else texture[rows],
            light,
        )
        images[rows] = fine.reshape(n, size, samples, size, samples, 3).mean(axis=(2, 4))
        masks[rows] = _labels(solids, size)
    names = (*ATTRIBUTES, *(("texture",) if texture is not None else ()))
    again = partial(draw_clevr, size=size, sizes=sizes, light=light, samples=samples, legal=legal)
    return Scenes(np.clip(images, 0, 1), masks, latents, names, again, legal)


def solids_of(latents: Float[np.ndarray, "n objects attributes"], sizes: tuple[float, float]) -> Solids:
    """The solids that latents stand for. A cube stands in the circle of its radius; absent objects have size 0."""
    present = ~np.isnan(latents[..., 0])
    codes = np.nan_to_num(latents[..., 3:6]).astype(int)
    shape = np.array(list(SHAPES.values()))[codes[..., 2]]
    radius = np.array(sizes)[codes[..., 0]] * present
    half = np.where(shape == BOX, radius / np.sqrt(2), radius)
    x, y, turn = (np.nan_to_num(latents[..., axis]).astype(np.float32) for axis in range(3))
    return Solids(x, y, half.astype(np.float32), half.astype(np.float32), turn, shape)


def legal_clevr(
    latents: Float[np.ndarray, "n objects attributes"],
    *,
    sizes: tuple[float, float] = (0.5, 0.8),
    gap: float = 0.25,
    visible: float = 12 / 1024,
    view: int = 32,
) -> Bool[np.ndarray, " n"]:
    """Which scenes have all objects at least `gap` apart, each showing at least a share `visible` of the frame.

    The share is counted at `view` × `view` pixels.
    """
    radius = np.array(sizes)[np.nan_to_num(latents[..., 3]).astype(int)]
    distance = np.hypot(*(latents[:, :, None, axis] - latents[:, None, :, axis] for axis in (0, 1)))
    close = distance - radius[:, :, None] - radius[:, None] < gap  # false for absent objects, which are NaN
    legal = ~(close & ~np.eye(latents.shape[1], dtype=bool)).any(axis=(1, 2))
    candidates = np.flatnonzero(legal)
    for first in range(0, len(candidates), RAYS // view**2):
        rows = candidates[first : first + RAYS // view**2]
        labels = _labels(solids_of(latents[rows], sizes), view)
        for number in range(latents.shape[1]):
            hidden = (labels == number + 1).mean(axis=(1, 2)) < visible
            legal[rows] &= ~hidden | np.isnan(latents[rows, number, 0])
    return legal


def mirror_pixels(scenes: Scenes) -> Bool[np.ndarray, "n height width"]:
    """Where a metal object is on top, so that a pixel may depend on what it reflects.

    ```python
    >>> from recombine.tasks import mini_clevr, mirror_pixels
    >>> scenes = mini_clevr(rows=5, test=0, size=16, samples=1).scenes
    >>> mirror_pixels(scenes).shape
    (5, 16, 16)

    ```
    """
    metal = scenes.attribute("material") == MATERIALS.index("metal")
    metal = np.concatenate([np.zeros((len(metal), 1), dtype=bool), metal], axis=1)
    return metal[np.arange(len(metal))[:, None, None], scenes.masks]


def _labels(solids: Solids, size: int) -> np.ndarray:
    start, way = camera(size, place=CAMERA, view=VIEW)
    n = len(solids.x)
    hits = cast(solids, np.repeat(np.arange(n), size**2), _tiled(start, n), _tiled(way, n))
    return np.maximum(hits.solid + 1, 0).reshape(n, size, size)


def _tiled(vector: tuple[np.ndarray, ...], n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    x, y, z = (np.tile(part, n) for part in vector)
    return x, y, z


def _sample(
    attributes: tuple[Attribute, ...],
    objects: tuple[int, int],
    legal: partial[Bool[np.ndarray, " n"]],
    rng: np.random.Generator,
    n: int,
) -> Float[np.ndarray, "n objects attributes"]:
    """Numbers of objects first; scenes that are not legal are drawn again with the same number."""
    fewest, most = objects
    coded = np.array([a.levels is not None for a in attributes])
    low, high = np.array([(a.low, a.high) if a.levels is None else (0, len(a.levels)) for a in attributes]).T
    absent = np.arange(most) >= rng.integers(fewest, most + 1, size=(n, 1))
    latents, again = np.empty((n, most, len(attributes))), np.arange(n)
    for _ in range(TRIES):
        drawn = low + (high - low) * rng.random((len(again), most, len(attributes)))
        drawn[..., coded] = np.floor(drawn[..., coded])
        drawn[absent[again]] = np.nan
        latents[again] = drawn
        again = again[~legal(drawn)]
        if not again.size:
            return latents
    raise InputError("objects", most, "fewer or smaller objects, a smaller gap or a larger reach")
