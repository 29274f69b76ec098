"""Sprites: the published statistics, the same images from another renderer, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image, ImageDraw

from recombine.errors import InputError
from recombine.parts import Part
from recombine.spaces import near_diagonal
from recombine.tasks import WIEDEMER_SPRITES, draw_sprites, sprites
from recombine.tasks.scenes.colours import hue_to_rgb
from recombine.tasks.scenes.polygons import SHAPES

SMALL = {"size": 16, "objects": 2, "scale": (0.25, 0.35), "x": (0.2, 0.8), "y": (0.2, 0.8)}


def alone(latents: np.ndarray, number: int) -> np.ndarray:
    return np.where(np.arange(latents.shape[1])[:, None] == number, latents, np.nan)


def test_images_are_those_of_an_image_library() -> None:
    """Edges may differ, because the library rounds corners to whole pixels of the canvas."""
    latents = sprites(rows=20, test=0).scenes.latents
    result = draw_sprites(latents).images
    names = list(SHAPES)
    for scene, image in zip(latents, result, strict=True):
        canvas = Image.new("RGB", (320, 320))
        brush = ImageDraw.Draw(canvas)
        for x, y, scale, hue, shape in scene[~np.isnan(scene[:, 0])]:
            corners = 320 * (SHAPES[names[int(shape)]].vertices * scale + [x, y])
            brush.polygon(
                [tuple(corner) for corner in corners],
                fill=tuple((255 * hue_to_rgb(hue)).astype(int).tolist()),
            )
        expected = np.flipud(np.asarray(canvas.resize((64, 64), Image.Resampling.LANCZOS))) / 255
        assert ((image - expected) ** 2).sum() < 0.01 * (expected**2).sum()


def test_areas_are_exact_without_the_outline() -> None:
    latents = sprites(rows=300, test=0, objects=1, on=("object 1 hue",)).scenes.latents
    red = draw_sprites(latents * [1, 1, 1, 0, 1], outline=False).images
    areas = latents[:, 0, 2] ** 2 * 64**2
    np.testing.assert_allclose(red[..., 0].sum(axis=(1, 2)) / areas, 1, atol=0.05)
    assert red[..., 0].sum() / areas.sum() == pytest.approx(1, abs=0.01)


def test_later_objects_are_on_top() -> None:
    both = np.array([[[0.5, 0.5, 0.6, 0.0, 2], [0.5, 0.5, 0.3, 1 / 3, 2]]])
    scenes = draw_sprites(both, size=16)
    assert scenes.masks[0, 8, 8] == 2
    assert scenes.masks[0, 4, 4] == 1
    np.testing.assert_allclose(scenes.images[0, 8, 8], [0, 1, 0], atol=0.05)
    assert draw_sprites(both[:, ::-1], size=16).masks.max() == 2
    assert (draw_sprites(both[:, ::-1], size=16).masks == 1).sum() == 0


def test_sprites_that_may_not_overlap_do_not() -> None:
    task = sprites(rows=400, test=0, size=16, objects=(2, 3), scale=(0.18, 0.26), overlap="none", gap=0.05)
    latents = task.scenes.latents
    covers = [draw_sprites(alone(latents, number), size=16).masks > 0 for number in range(3)]
    assert (np.sum(covers, axis=0) <= 1).all()
    assert task.scenes.legal(latents).all()
    assert not task.scenes.legal(latents[:, [0, 0, 2]]).any()
    assert abs(task.scenes.present.sum(axis=1).mean() - 2.5) < 0.1
    assert sprites(rows=50, test=0, **SMALL).scenes.legal(latents).all()


def test_wrapped_colours_jump_where_clean_ones_run() -> None:
    hues = np.linspace(0, 1 / 6, 200)
    scenes = [[[0.5, 0.5, 2.0, hue, 2]] for hue in hues]
    clean, wrapped = (
        draw_sprites(np.array(scenes), size=2, colours=c).images[:, 0, 0] for c in ("clean", "wrap")
    )
    np.testing.assert_allclose(clean[:, 1], np.linspace(0, 1, 200), atol=1e-6)
    assert (np.diff(wrapped[:, 1]) < -0.9).sum() == 2
    np.testing.assert_allclose(wrapped[:, 2], 2 / 255, atol=1e-6)


def test_a_diagonal_support() -> None:
    settings = WIEDEMER_SPRITES | {"size": 16, "bins": 8, "delta": 0.2}
    task = sprites(rows=300, test=50, support="diagonal", on=("x", "hue"), **settings)
    assert task.split.space.names == ("object 1 x", "object 1 hue", "object 2 x", "object 2 hue")
    low, high = np.array([settings[name] for name in ("x", "hue")]).T
    unit = (task.scenes.latents[..., [0, 3]] - low) / (high - low)
    np.testing.assert_array_equal(task.latents.reshape(-1, 2, 2), task.scenes.latents[..., [0, 3]])
    assert near_diagonal(unit[task.rows_in], 0.2 + np.sqrt(0.5) / 8).all()
    assert not near_diagonal(unit[task.rows_out], 0.2 - np.sqrt(0.5) / 8).any()
    assert set(task.scenes.attribute("shape").ravel()) == {0, 1}


def test_shapes_as_a_factor() -> None:
    task = sprites(rows=200, test=20, support="l-shaped", on=("object 1 shape", "object 2 hue"), **SMALL)
    assert task.split.space.factors[0].levels == ("triangle", "circle", "square")
    assert task.split.unseen.sum() == 2


def test_seeds_decide_and_parts_are_enough() -> None:
    one, same, other = (Part(sprites, rows=20, test=5, **SMALL)(seed=s).inputs for s in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"objects": 0}, "objects: got 0"),
        ({"objects": (3, 2)}, r"objects: got \(3, 2\)"),
        ({"size": 0}, "size: got 0"),
        (
            {"shapes": ("star",)},
            r"shapes: got \('star',\), expected different ones of triangle, circle, square",
        ),
        ({"overlap": "some"}, "overlap: got 'some'"),
        ({"colours": "dull"}, "colours: got 'dull'"),
        ({"x": (0.5, 0.2)}, r"x: got \(0.5, 0.2\)"),
        ({"hue": (0.5, 1.2)}, "hue: got"),
        ({"scale": (0.6, 0.7), "objects": 4, "overlap": "none"}, "overlap: got \"'none' with 4 objects\""),
        (
            {"bins": 40, "on": ("x", "y", "hue")},
            "bins: got 40, expected fewer bins or factors than make 4096000000",
        ),
        ({"objects": (1, 3), "on": ("object 2 hue",)}, "on: got 'object 2 hue'"),
    ],
)
def test_errors(settings: dict, line: str) -> None:
    with pytest.raises(InputError, match=line):
        sprites(**{"rows": 5, "test": 0, "size": 8, **settings})


def test_latents_of_another_form_are_refused() -> None:
    with pytest.raises(InputError, match=r"latents: got \(2, 5\)"):
        draw_sprites(np.zeros((2, 5)))
