"""Polygons: areas, chords, separation and shrinking against slow or foreign ways to the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.path import Path
from PIL import Image

from recombine.tasks.scenes.polygons import SHAPES, apart, chords, covered, lanczos, shrunk

GRID = (np.arange(400) + 0.5) / 400 * 2 - 1


@pytest.mark.parametrize("name", SHAPES)
def test_areas_are_1_and_corners_lie_on_edges(name: str) -> None:
    polygon = SHAPES[name]
    x, y = polygon.vertices.T
    assert abs(0.5 * (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() - 1) < 1e-12
    away = polygon.vertices @ polygon.normals.T
    np.testing.assert_allclose(np.sort(away, axis=1)[:, -2:], polygon.apothem, atol=1e-12)


def test_radii_are_the_published_ones() -> None:
    radii = {name: float(np.linalg.norm(polygon.vertices[0])) for name, polygon in SHAPES.items()}
    assert {name: round(radius, 4) for name, radius in radii.items()} == {
        "triangle": 0.8774,
        "circle": 0.5663,
        "square": 0.7071,
    }


@given(st.sampled_from(list(SHAPES)), st.floats(-0.4, 0.4), st.floats(-0.4, 0.4), st.floats(0.1, 0.6))
def test_chords_cover_what_a_path_contains(name: str, x: float, y: float, scale: float) -> None:
    middle = np.array([[x, y]])
    result = covered(chords(SHAPES[name], middle, np.array([scale]), GRID[::8]), GRID[::8])[0]
    points = np.stack(np.meshgrid(GRID[::8], GRID[::8]), axis=-1).reshape(-1, 2)
    path = Path(SHAPES[name].vertices * scale + middle)
    clear = path.contains_points(points, radius=1e-4) == path.contains_points(points, radius=-1e-4)
    np.testing.assert_array_equal(result.ravel()[clear], path.contains_points(points)[clear])


def test_outlines_move_edges() -> None:
    middle, scale = np.zeros((1, 2)), np.ones(1)
    grown = covered(chords(SHAPES["square"], middle, scale, GRID, outline=0.1), GRID)
    assert grown.mean() * 4 == pytest.approx(1.2**2, rel=1e-2)


@given(
    st.sampled_from(list(SHAPES)),
    st.sampled_from(list(SHAPES)),
    st.floats(-0.6, 0.6),
    st.floats(-0.6, 0.6),
    st.floats(0.2, 0.5),
)
def test_polygons_are_apart_if_no_point_is_in_both(
    one: str, other: str, x: float, y: float, scale: float
) -> None:
    positions, scales = np.array([[-0.1, 0.05], [-0.1 + x, 0.05 + y]]), np.array([[scale], [0.3]])
    both = [
        covered(chords(SHAPES[name], positions[i : i + 1], scales[i], GRID), GRID)[0]
        for i, name in enumerate((one, other))
    ]
    shared = (both[0] & both[1]).sum()
    result = apart(SHAPES[one], SHAPES[other], positions[1:] - positions[:1], (scales[0], scales[1]))[0]
    if shared:
        assert not result
    elif not result:  # they touch by less than the grid can see
        wider = apart(
            SHAPES[one], SHAPES[other], positions[1:] - positions[:1], (scales[0], scales[1]), gap=-0.02
        )
        assert wider[0]


def test_shrinking_is_that_of_an_image_library() -> None:
    rng = np.random.default_rng(0)
    canvas = rng.integers(0, 256, (40, 40)).astype(np.uint8)
    expected = np.asarray(Image.fromarray(canvas).resize((8, 8), Image.Resampling.LANCZOS)) / 255
    result = shrunk(canvas[None] / 255.0, lanczos(8, 5))[0]
    np.testing.assert_allclose(result, expected, atol=1.5 / 255)
