"""Rays against solids: known hits, and marching in small steps as the slow way to the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.tasks.ray_casting import (
    BOX,
    CYLINDER,
    FLOOR,
    SKY,
    SPHERE,
    Solids,
    blocked,
    camera,
    cast,
    mirrored,
)


def solid(
    shape: int, *, x: float = 0.0, y: float = 0.0, z: float = 1.0, size: float = 1.0, turn: float = 0.0
) -> Solids:
    values = (np.array([[value]], dtype=np.float32) for value in (x, y, z, size, turn))
    return Solids(*values, np.array([[shape]]))


def rays(*pairs: tuple[tuple[float, ...], tuple[float, ...]]) -> tuple:
    """Starts and directions of length 1."""
    start, way = (np.array(side, dtype=np.float32).T for side in zip(*pairs, strict=True))
    return np.zeros(len(pairs), dtype=int), tuple(start), tuple(way / np.linalg.norm(way, axis=0))


@pytest.mark.parametrize("shape", [SPHERE, BOX, CYLINDER])
def test_a_ray_to_the_middle_meets_the_near_side(shape: int) -> None:
    hits = cast(
        solid(shape), *rays(((5, 0, 1), (-1, 0, 0)), ((0, 0, 9), (0, 1e-4, -1)), ((5, 5, 1), (-1, 0, 0)))
    )
    assert hits.solid.tolist() == [0, 0, SKY]
    np.testing.assert_allclose(np.stack(hits.place)[:, :2].T, [[1, 0, 1], [0, 0, 2]], atol=1e-3)
    np.testing.assert_allclose(np.stack(hits.normal)[:, :2].T, [[1, 0, 0], [0, 0, 1]], atol=1e-3)


def test_the_floor_is_behind_everything_and_the_sky_above() -> None:
    hits = cast(
        solid(SPHERE), *rays(((5, 5, 1), (0, 0, -1)), ((5, 0, 1), (0, 0, 1)), ((0, -5, 1), (0, 1, 0)))
    )
    assert hits.solid.tolist() == [FLOOR, SKY, 0]
    assert [float(part[0]) for part in hits.normal] == [0, 0, 1]
    assert [float(part[0]) for part in hits.place] == [5, 5, 0]


def test_a_turned_box_shows_its_edge() -> None:
    hits = cast(solid(BOX, turn=np.pi / 4), *rays(((9, 0.01, 1), (-1, 0, 0)), ((9, -0.01, 1), (-1, 0, 0))))
    np.testing.assert_allclose(hits.place[0], np.sqrt(2) - 0.01, atol=1e-4)
    np.testing.assert_allclose(hits.normal[1], [np.sqrt(0.5), -np.sqrt(0.5)], atol=1e-4)


def contains(solids: Solids, shape: int, points: np.ndarray, share: float = 1.0) -> np.ndarray:
    """Whether points are in the solid, or in one of a share of its size."""
    x, y, z = (points - [solids.x[0, 0], solids.y[0, 0], solids.z[0, 0]]).T / solids.size[0, 0] / share
    cos, sin = np.cos(solids.turn[0, 0]), np.sin(solids.turn[0, 0])
    x, y = cos * x + sin * y, cos * y - sin * x
    if shape == SPHERE:
        return x * x + y * y + z * z <= 1
    inside = (np.abs(x) <= 1) & (np.abs(y) <= 1) if shape == BOX else x * x + y * y <= 1
    return inside & (np.abs(z) <= 1)


@given(
    st.sampled_from([SPHERE, BOX, CYLINDER]),
    st.tuples(st.floats(-1, 1), st.floats(-1, 1), st.floats(-1, 1)),
    st.tuples(st.floats(-3, 3), st.floats(-6, -4), st.floats(1, 6)),
    st.floats(0, 6),
    st.floats(0.5, 1.5),
)
def test_rays_stop_where_marching_enters(
    shape: int, aim: tuple, eye: tuple, turn: float, size: float
) -> None:
    solids = solid(shape, x=0.2, y=0.1, z=size, size=size, turn=turn)
    way = np.array(aim) - np.array(eye) + np.array([0, 0, 1])
    hits = cast(solids, *rays((eye, tuple(way))))
    steps = np.linspace(0, 1.5, 3001)[:, None] * way + eye
    entered = np.flatnonzero(contains(solids, shape, steps))
    below = np.flatnonzero(steps[:, 2] < 0)
    if hits.solid[0] == 0:
        place = np.array([part[0] for part in hits.place])
        assert contains(solids, shape, (place + way * 1e-3)[None])[0] or entered.size < 3
        assert not entered.size or np.linalg.norm(place - steps[entered[0]]) < 0.05
        assert sum(part[0] * w for part, w in zip(hits.normal, way, strict=True)) < 1e-3
    elif contains(solids, shape, steps, 0.99).any():
        assert below.size
        assert below[0] <= entered[0] + 1


def test_the_nearest_of_several_is_met_and_absent_ones_are_not() -> None:
    row = {"x": [0, 2, 4], "y": [0, 0, 0], "z": [1, 1, 1], "size": [1, 0.5, 0.0], "turn": [0, 0, 0]}
    values = (np.array([row[name]], dtype=np.float32) for name in ("x", "y", "z", "size", "turn"))
    solids = Solids(*values, np.array([[SPHERE, BOX, SPHERE]]))
    hits = cast(solids, *rays(((9, 0, 1), (-1, 0, 0)), ((-9, 0, 1), (1, 0, 0))))
    assert hits.solid.tolist() == [1, 0]
    assert blocked(solids, *rays(((9, 0, 1), (-1, 0, 0)), ((9, 0, 1), (1, 0, 0)))).tolist() == [True, False]


def test_a_mirror_keeps_the_angle() -> None:
    way, normal = (tuple(np.array([part]) for part in v) for v in ((0.6, 0.0, -0.8), (0.0, 0.0, 1.0)))
    assert [float(part[0]) for part in mirrored(way, normal)] == [0.6, 0.0, 0.8]


def test_the_camera_looks_at_the_origin() -> None:
    start, way = camera(3, place=(7.5, -6.5, 5.4), view=0.3)
    middle = np.array([part[4] for part in way]) * np.linalg.norm([7.5, -6.5, 5.4])
    np.testing.assert_allclose([part[4] for part in start] + middle, 0, atol=1e-5)
    assert way[2][1] > way[2][4] > way[2][7]  # upper rays point higher
