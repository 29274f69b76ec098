"""The light of mini-CLEVR: one lamp far away, light from all around, highlights, hard shadows and one reflection."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.tasks.ray_casting import (
    FLOOR,
    SKY,
    SMALL,
    Hits,
    Solids,
    Vector,
    along,
    blocked,
    cast,
    dot,
    mirrored,
    unit,
)
from recombine.tasks.textures import texture


@dataclass(frozen=True)
class Light:
    """What light does.

    - `shadows`, `mirror`: the two switches; `reflected`: the weight of what a metal surface reflects.
    - `around`: the light that reaches every surface; the lamp adds the rest.
    - `lamp`: the direction towards the lamp.
    - `gloss`: strength and exponent of highlights on rubber and on metal.
    - `floor`, `sky`: grey values; `pattern`: the texture of the floor, where surfaces have textures.
    """

    shadows: bool = True
    mirror: bool = True
    reflected: float = 0.4
    around: float = 0.3
    lamp: tuple[float, float, float] = (-0.1, -0.7, 0.9)
    gloss: tuple[tuple[float, float], tuple[float, float]] = ((0.15, 20.0), (0.5, 100.0))
    floor: float = 0.5
    sky: float = 0.5
    pattern: float = 0.7


def shown(
    solids: Solids,
    scene: Int[np.ndarray, " rays"],
    start: Vector,
    way: Vector,
    colours: Float[np.ndarray, "scenes objects 3"],
    metal: Bool[np.ndarray, "scenes objects"],
    textures: Float[np.ndarray, "scenes objects"] | None,
    light: Light,
) -> Float[np.ndarray, "rays 3"]:
    """The colour that every ray brings.

    **Arguments:**

    - `scene`, `start`, `way`: the rays, see `recombine.tasks.ray_casting`.
    - `colours`, `metal`, `textures`: of the solids.
    """
    hits = cast(solids, scene, start, way)
    shiny = metal[scene, np.maximum(hits.solid, 0)] & (hits.solid >= 0)
    found = _lit(solids, scene, hits, way, _base(hits, scene, colours, textures, light), shiny, light)
    rays = np.flatnonzero(shiny)
    if light.mirror and rays.size:
        normal, place = (_picked(vector, rays) for vector in (hits.normal, hits.place))
        back = mirrored(_picked(way, rays), normal)
        seen = shown(
            solids,
            scene[rays],
            along(place, normal, SMALL),
            back,
            colours,
            metal,
            textures,
            replace(light, mirror=False),
        )
        found[rays] += light.reflected * (seen - found[rays])
    return found


def _picked(vector: Vector, rays: Int[np.ndarray, " some"]) -> Vector:
    return vector[0][rays], vector[1][rays], vector[2][rays]


def _base(
    hits: Hits,
    scene: Int[np.ndarray, " rays"],
    colours: Float[np.ndarray, "scenes objects 3"],
    textures: Float[np.ndarray, "scenes objects"] | None,
    light: Light,
) -> Float[np.ndarray, "rays 3"]:
    """The colours of the surfaces themselves."""
    number = np.maximum(hits.solid, 0)
    base = np.where((hits.solid >= 0)[:, None], colours[scene, number], np.float32(light.floor))
    if textures is None:
        return base
    pattern = np.where(hits.solid == FLOOR, np.float32(light.pattern), np.nan_to_num(textures[scene, number]))
    spread = np.where(hits.solid == FLOOR, np.float32(0.3), np.float32(1))
    x, y, z = (part * spread for part in hits.local)
    return base * texture((x, y, z), pattern).astype(np.float32)[:, None]


def _lit(
    solids: Solids,
    scene: Int[np.ndarray, " rays"],
    hits: Hits,
    way: Vector,
    base: Float[np.ndarray, "rays 3"],
    shiny: Bool[np.ndarray, " rays"],
    light: Light,
) -> Float[np.ndarray, "rays 3"]:
    """Lambert's and Phong's light on surfaces."""
    x, y, z = (np.full(len(scene), part, dtype=np.float32) for part in light.lamp)
    lamp = unit((x, y, z))
    facing = np.maximum(dot(hits.normal, lamp), 0)
    if light.shadows:
        rays = np.flatnonzero((facing > 0) & (hits.solid != SKY))
        above = along(_picked(hits.place, rays), _picked(hits.normal, rays), SMALL)
        dark = blocked(solids, scene[rays], above, _picked(lamp, rays))
        facing[rays[dark]] = 0
    (soft, wide), (hard, narrow) = light.gloss
    towards = np.maximum(dot(mirrored(way, hits.normal), lamp), 0)
    gloss = np.where(shiny, hard * towards**narrow, soft * towards**wide)
    gloss = np.where((facing > 0) & (hits.solid >= 0), gloss, 0)
    found = base * (light.around + (1 - light.around) * facing)[:, None] + gloss[:, None]
    return np.where((hits.solid == SKY)[:, None], np.float32(light.sky), found).astype(np.float32)
