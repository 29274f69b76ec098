"""Ray casting of spheres, boxes and cylinders that stand on a floor: what a ray meets first, and how it is lit.

Rays are lists: every ray belongs to a scene and is tried against all solids of that scene. A vector is three arrays;
directions have length 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

Vector = tuple[np.ndarray, np.ndarray, np.ndarray]
SPHERE, BOX, CYLINDER = 0, 1, 2
SMALL = 1e-3
"""Rays start this far from the surface that they leave."""
FLOOR = -1
SKY = -2


@dataclass(frozen=True, eq=False)
class Solids:
    """Solids of scenes, `(scenes, objects)` each; those of size 0 are absent.

    - `x`, `y`, `z`: of the middle; `size`: of the local frame's unit: a sphere and a cylinder have radius 1 in it, the
        cylinder and the box reach from -1 to 1 along their axes.
    - `turn`: angle about the vertical, in radians; `shape`: `SPHERE`, `BOX` or `CYLINDER`.
    """

    x: Float[np.ndarray, "scenes objects"]
    y: Float[np.ndarray, "scenes objects"]
    z: Float[np.ndarray, "scenes objects"]
    size: Float[np.ndarray, "scenes objects"]
    turn: Float[np.ndarray, "scenes objects"]
    shape: Int[np.ndarray, "scenes objects"]


@dataclass(frozen=True, eq=False)
class Hits:
    """What rays met: the solid's number (or `FLOOR`, `SKY`), where, the outward normal there, and the place in the
    solid's own frame (in the world's, for the floor)."""

    solid: Int[np.ndarray, " rays"]
    place: Vector
    normal: Vector
    local: Vector


def dot(a: Vector, b: Vector) -> np.ndarray:
    """The inner product of vectors."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def along(start: Vector, way: Vector, distance: np.ndarray | float) -> Vector:
    """Where one is after some distance."""
    return start[0] + distance * way[0], start[1] + distance * way[1], start[2] + distance * way[2]


def unit(a: Vector) -> Vector:
    """The vector at length 1."""
    length = np.sqrt(dot(a, a))
    return a[0] / length, a[1] / length, a[2] / length


def mirrored(way: Vector, normal: Vector) -> Vector:
    """The direction after a reflection."""
    return along(way, normal, -2 * dot(way, normal))


def camera(size: int, *, place: tuple[float, float, float], view: float) -> tuple[Vector, Vector]:
    """Start and directions of the rays through the middles of `size` × `size` pixels, row by row from the top.

    **Arguments:**

    - `place`: of the camera, which looks at the origin; `view`: half the frame's width at distance 1.

    ```python
    >>> from recombine.tasks.ray_casting import camera
    >>> _, way = camera(2, place=(0.0, -4.0, 0.0), view=0.5)
    >>> [[round(float(part), 3) for part in ray] for ray in zip(*way)][1]
    [0.236, 0.943, 0.236]

    ```
    """
    eye = np.array(place)
    forward = -eye / np.linalg.norm(eye)
    right = np.cross(forward, [0, 0, 1.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    offsets = view * (2 * (np.arange(size) + 0.5) / size - 1)
    across, down = (grid.ravel()[:, None] for grid in np.meshgrid(offsets, offsets))
    way = forward + across * right - down * up
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    start = tuple(np.full(size * size, value, dtype=np.float32) for value in place)
    return start, tuple(way.T.astype(np.float32))  # type: ignore[return-value]


def cast(solids: Solids, scene: Int[np.ndarray, " rays"], start: Vector, way: Vector) -> Hits:
    """The first thing that every ray meets: a solid, the floor z = 0, or nothing, which is the sky."""
    entry = _entries(solids, scene, start, way)
    solid, rays = entry.argmin(axis=1), np.arange(len(scene))
    distance = entry[rays, solid]
    with np.errstate(divide="ignore", invalid="ignore"):
        floor = np.where(way[2] < 0, -start[2] / way[2], np.inf).astype(np.float32)
    solid = np.where(distance <= floor, solid, FLOOR)
    distance = np.minimum(distance, floor)
    solid[np.isinf(distance)] = SKY
    place = along(start, way, np.where(np.isinf(distance), 0, distance))
    number = np.maximum(solid, 0)
    x, y, z, size, turn, shape = (
        values[scene, number]
        for values in (solids.x, solids.y, solids.z, solids.size, solids.turn, solids.shape)
    )
    met = solid >= 0
    local = _into(place, (x, y, z), np.where(met, size, 1), (np.cos(turn), np.sin(turn)))
    nx, ny, nz = _normal(local, shape)
    cos, sin = np.cos(turn), np.sin(turn)
    normal = (
        np.where(met, cos * nx - sin * ny, 0),
        np.where(met, sin * nx + cos * ny, 0),
        np.where(met, nz, 1),
    )
    return Hits(
        solid,
        place,
        normal,
        tuple(np.where(met, a, b) for a, b in zip(local, place, strict=True)),  # type: ignore[arg-type]
    )


def blocked(
    solids: Solids, scene: Int[np.ndarray, " rays"], start: Vector, way: Vector
) -> Bool[np.ndarray, " rays"]:
    """Whether rays meet any solid."""
    return np.isfinite(_entries(solids, scene, start, way)).any(axis=1)


def _entries(
    solids: Solids, scene: Int[np.ndarray, " rays"], start: Vector, way: Vector
) -> Float[np.ndarray, "rays objects"]:
    """Distances at which rays enter the solids of their scene, infinite where they miss them."""
    found = np.full((len(scene), solids.shape.shape[1]), np.inf, dtype=np.float32)
    cos, sin = np.cos(solids.turn), np.sin(solids.turn)
    kinds: tuple[tuple[int, Callable[[Vector, Vector], tuple[np.ndarray, np.ndarray]]], ...] = (
        (SPHERE, _through_sphere),
        (BOX, _through_box),
        (CYLINDER, _through_cylinder),
    )
    near, kind_of = _near(solids, scene, start, way), solids.shape[scene]
    for kind, through in kinds:
        ray, number = np.nonzero(near & (kind_of == kind))
        at = scene[ray], number
        turned = cos[at], sin[at]
        local = _into(
            tuple(part[ray] for part in start),  # type: ignore[arg-type]
            (solids.x[at], solids.y[at], solids.z[at]),
            solids.size[at],
            turned,
        )
        ahead = _into(tuple(part[ray] for part in way), (0.0, 0.0, 0.0), solids.size[at], turned)  # type: ignore[arg-type]
        with np.errstate(divide="ignore", invalid="ignore"):
            enter, leave = through(local, ahead)
            found[ray, number] = np.where((enter < leave) & (enter > SMALL), enter, np.inf)
    return found


def _near(
    solids: Solids, scene: Int[np.ndarray, " rays"], start: Vector, way: Vector
) -> Bool[np.ndarray, "rays objects"]:
    """Which solids a ray might meet: those whose surrounding sphere it passes through. Most can be left out so."""
    reach = np.array([1, np.sqrt(3), np.sqrt(2)], dtype=np.float32)[solids.shape] * solids.size
    x, y, z = (
        middle[scene] - part[:, None]
        for middle, part in zip((solids.x, solids.y, solids.z), start, strict=True)
    )
    ahead = x * way[0][:, None] + y * way[1][:, None] + z * way[2][:, None]
    return (
        (dot((x, y, z), (x, y, z)) - ahead**2 <= (reach**2)[scene])
        & (ahead > -reach[scene])
        & (reach > 0)[scene]
    )


def _into(
    place: Vector,
    middle: tuple[np.ndarray | float, np.ndarray | float, np.ndarray | float],
    size: np.ndarray,
    turned: tuple[np.ndarray, np.ndarray],
) -> Vector:
    """Places in the frames of solids."""
    (x, y, z), (cos, sin) = (a - b for a, b in zip(place, middle, strict=True)), turned
    return (cos * x + sin * y) / size, (cos * y - sin * x) / size, z / size


def _through_sphere(o: Vector, d: Vector) -> tuple[np.ndarray, np.ndarray]:
    a, b, c = dot(d, d), dot(o, d), dot(o, o) - 1
    root = np.sqrt(b * b - a * c)  # not a number where the ray misses, so that no comparison holds
    return (-b - root) / a, (-b + root) / a


def _through_box(o: Vector, d: Vector) -> tuple[np.ndarray, np.ndarray]:
    ends = [_slab(o[axis], d[axis]) for axis in range(3)]
    low, high = (np.stack([end[side] for end in ends]) for side in (0, 1))
    return low.max(axis=0), high.min(axis=0)


def _through_cylinder(o: Vector, d: Vector) -> tuple[np.ndarray, np.ndarray]:
    flat = (np.zeros_like(o[2]), np.zeros_like(d[2]))
    enter, leave = _through_sphere((o[0], o[1], flat[0]), (d[0], d[1], flat[1]))
    low, high = _slab(o[2], d[2])
    return np.maximum(enter, low), np.minimum(leave, high)


def _slab(o: np.ndarray, d: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """When a coordinate is between -1 and 1."""
    d = np.where(np.abs(d) < 1e-9, 1e-9, d)
    one, other = (-1 - o) / d, (1 - o) / d
    return np.minimum(one, other), np.maximum(one, other)


def _normal(local: Vector, shape: Int[np.ndarray, " rays"]) -> Vector:
    """Outward normals at places on the surface of unit solids, in their own frames."""
    x, y, z = local
    largest = np.abs(np.stack(local)).argmax(axis=0)
    face = [np.where(largest == axis, np.sign(part), 0) for axis, part in enumerate(local)]
    lid = np.abs(z) > np.hypot(x, y)  # of a cylinder: at the rim both are 1
    side = (np.where(lid, 0, x), np.where(lid, 0, y), np.where(lid, np.sign(z), 0))
    found = [
        np.where(shape == SPHERE, local[axis], np.where(shape == BOX, face[axis], side[axis]))
        for axis in range(3)
    ]
    with np.errstate(divide="ignore", invalid="ignore"):  # rays that met no solid have no normal here
        return unit((found[0], found[1], found[2]))
