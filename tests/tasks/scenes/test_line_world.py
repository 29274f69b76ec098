"""The line world: where bars are, how they are drawn, and what is refused."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.parts import Part
from recombine.tasks import draw_lines, line_world
from recombine.tasks.scenes.colours import hue_to_rgb


@given(st.integers(0, 1000), st.integers(1, 3), st.floats(0, 2))
def test_bars_are_in_order_inside_the_frame_and_apart(seed: int, objects: int, gap: float) -> None:
    scenes = line_world(
        rows=30, test=0, objects=objects, gap=gap, on=("object 1 hue",), bins=2, seed=seed
    ).scenes
    start, stop = (scenes.latents[..., 0] + sign * scenes.latents[..., 1] for sign in (-1, 1))
    assert start.min() >= 0
    assert stop.max() <= 32 + 1e-9
    assert objects == 1 or (start[:, 1:] - stop[:, :-1]).min() >= gap - 1e-9
    assert scenes.legal(scenes.latents).all()
    assert 2 <= scenes.latents[..., 1].min() <= scenes.latents[..., 1].max() <= 3.5


def test_light_is_width() -> None:
    """The light of a bar in a channel is its width times the channel, wherever it lies."""
    scenes = line_world(rows=200, test=0).scenes
    _, half, hue = scenes.latents.transpose(2, 0, 1)
    expected = (2 * half[..., None] * hue_to_rgb(hue)).sum(axis=1)
    np.testing.assert_allclose(scenes.images.sum(axis=(1, 2)), expected, rtol=1e-5, atol=1e-4)
    assert scenes.images.dtype == np.float32
    assert 0 <= scenes.images.min() <= scenes.images.max() <= 1


def test_no_pixel_shows_two_bars() -> None:
    scenes = line_world(rows=500, test=0).scenes
    alone = [draw_lines(np.where(np.arange(2)[:, None] == o, scenes.latents, np.nan)).images for o in (0, 1)]
    np.testing.assert_allclose(alone[0] + alone[1], scenes.images, atol=1e-6)
    assert not ((alone[0].sum(axis=-1) > 0) & (alone[1].sum(axis=-1) > 0)).any()


def test_masks_are_the_half_covered_pixels() -> None:
    scenes = draw_lines(np.array([[[3.0, 1.5, 0.0], [8.4, 2.0, 0.4]]]), size=12)
    assert scenes.masks[0, 0].tolist() == [0, 1, 1, 1, 1, 0, 2, 2, 2, 2, 0, 0]
    hard = draw_lines(scenes.latents, size=12, smooth=False)
    assert set(np.unique(hard.images[..., 0, 1:5, 0])) == {1}
    np.testing.assert_array_equal(hard.masks > 0, hard.images.max(axis=-1) > 0)


def test_hues_are_those_of_the_standard_library() -> None:
    hues = np.linspace(0, 1, 61)
    expected = [colorsys.hsv_to_rgb(hue, 0.7, 1) for hue in hues]
    np.testing.assert_allclose(hue_to_rgb(hues, saturation=0.7), expected, atol=1e-12)


def test_seeds_decide_and_parts_are_enough() -> None:
    one, same, other = (Part(line_world, rows=50, test=5)(seed=s).inputs for s in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_statistics_of_the_default_world() -> None:
    """Positions are symmetric, hues uniform, and half-widths uniform from 2 to 3.5."""
    position, half, hue = line_world(rows=20_000, test=0).scenes.latents.transpose(2, 0, 1)
    assert abs(position.mean() - 16) < 0.1
    np.testing.assert_allclose(half.mean(axis=0), 2.75, atol=0.02)
    np.testing.assert_allclose(np.histogram(hue, 10, (0, 1))[0] / hue.size, 0.1, atol=0.01)


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"size": 14}, "size: got 14, expected at least 15 pixels for 2 bars"),
        ({"objects": 0}, "objects: got 0"),
        ({"half_width": (3.0, 2.0)}, "half_width: got"),
        ({"gap": -1.0}, "gap: got -1.0"),
    ],
)
def test_errors(settings: dict, line: str) -> None:
    with pytest.raises(InputError, match=line):
        line_world(**{"rows": 10, "test": 0, **settings})


def test_latents_of_another_form_are_refused() -> None:
    with pytest.raises(InputError, match=r"latents: got \(2, 3\)"):
        draw_lines(np.zeros((2, 3)))
