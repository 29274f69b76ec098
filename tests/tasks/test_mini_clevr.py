"""Mini-CLEVR: what the switches change and what they leave, and which scenes are drawn."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.parts import Part
from recombine.tasks import (
    draw_clevr,
    mini_clevr,
    mirror_pixels,
    random_features,
    sprites,
    with_feature_targets,
)
from recombine.tasks.clevr_light import Light
from recombine.tasks.mini_clevr import COLOURS, legal_clevr
from recombine.tasks.textures import DIM, texture

PLAIN = Light(shadows=False, mirror=False)
SMALL = {"size": 16, "samples": 1}
RED, BLUE, SPHERE, CUBE, RUBBER, METAL = 1, 2, 0, 1, 0, 1


def pair(material: int, colour: int = BLUE) -> np.ndarray:
    """A large red sphere on the left and another large sphere near it on the right, as the camera sees them."""
    return np.array(
        [[[-0.65, -0.75, 0, 1, RED, SPHERE, material], [0.65, 0.75, 0, 1, colour, SPHERE, RUBBER]]]
    )


def test_objects_only_cover_each_other_without_shadows_and_mirrors() -> None:
    """Every pixel is then that of the scene with its object alone."""
    latents = mini_clevr(rows=20, test=0, objects=3, **SMALL).scenes.latents
    scenes = draw_clevr(latents, size=16, light=PLAIN, samples=1)
    for number in range(3):
        alone = np.where(np.arange(3)[:, None] == number, latents, np.nan)
        image = draw_clevr(alone, size=16, light=PLAIN, samples=1).images
        on = scenes.masks == number + 1
        np.testing.assert_array_equal(scenes.images[on], image[on])
    empty = draw_clevr(latents * np.nan, size=16, light=PLAIN, samples=1)
    assert empty.masks.max() == 0
    np.testing.assert_allclose(empty.images[scenes.masks == 0], scenes.images[scenes.masks == 0], atol=1e-6)


def test_metal_shows_its_neighbour_and_rubber_does_not() -> None:
    light = Light(shadows=False, mirror=True)
    for material, moves in ((METAL, True), (RUBBER, False)):
        one, other = (draw_clevr(pair(material, c), size=64, light=light) for c in (BLUE, 7))
        on = one.masks == 1
        change = np.abs(one.images - other.images)[on].max()
        assert (change > 0.05) == moves
        assert (mirror_pixels(one) == (on & (material == METAL))).all()


def test_shadows_only_darken() -> None:
    latents = mini_clevr(rows=20, test=0, **SMALL).scenes.latents
    with_shadows, without = (
        draw_clevr(latents, light=Light(shadows=on, mirror=False)).images for on in (True, False)
    )
    assert (with_shadows <= without + 1e-6).all()
    assert (with_shadows < without - 0.05).any(axis=(1, 2, 3)).all()


def test_colours_are_those_of_clevr() -> None:
    """Away from highlights, channels are in proportion to the colour."""
    for code, rgb in enumerate(COLOURS.values()):
        cube = np.array([[[0, 0, 0.5, 1, code, CUBE, RUBBER]]])
        scenes = draw_clevr(cube, size=32, light=Light(gloss=((0, 1), (0, 1))), samples=1)
        shown = scenes.images[scenes.masks == 1].mean(axis=0)
        np.testing.assert_allclose(shown / shown.sum(), np.array(rgb) / sum(rgb), atol=1e-3)


def test_scenes_keep_their_distance_and_everything_can_be_seen() -> None:
    task = mini_clevr(rows=60, test=0, samples=1)
    latents = task.scenes.latents
    assert task.scenes.legal(latents).all()
    for number in range(4):
        shown = (task.masks == number + 1).sum(axis=(1, 2))
        assert (shown >= 12).tolist() == task.scenes.present[:, number].tolist()
    near = latents[:1].copy()
    near[0, 1, :2] = near[0, 0, :2] + [0.5, 0]
    assert not legal_clevr(near).any()
    assert legal_clevr(pair(METAL)).all()


def test_numbers_of_objects_are_uniform() -> None:
    counts = mini_clevr(rows=300, test=0, size=8, samples=1).scenes.present.sum(axis=1)
    assert np.bincount(counts, minlength=5)[2:].min() > 70


def test_recombined_scenes_are_drawn_alike() -> None:
    scenes = mini_clevr(rows=6, test=0, objects=2, shadows=False, mirror=False, **SMALL).scenes
    swapped = scenes[:3].replaced(2, scenes[3:])
    direct = draw_clevr(swapped.latents, light=PLAIN, **SMALL)
    np.testing.assert_array_equal(swapped.images, direct.images)
    assert swapped.legal(swapped.latents).shape == (3,)


def test_a_support_on_colours() -> None:
    task = mini_clevr(rows=200, test=20, objects=2, support="l-shaped", visible=0.0, **SMALL)
    assert task.split.space.shape == (8, 8)
    assert (task.scenes.attribute("colour")[task.rows_out] >= 4).all()
    assert task.inputs.dtype == np.float32
    assert 0 <= task.inputs.min() <= task.inputs.max() <= 1


def test_textures_are_patterns_of_objects() -> None:
    scenes = mini_clevr(rows=5, test=0, objects=2, textured=True).scenes
    assert scenes.attributes[-1] == "texture"
    changed = scenes.latents.copy()
    changed[:, 1, -1] = 1 - changed[:, 1, -1]
    again = draw_clevr(changed, light=Light(), legal=scenes.legal)
    assert (np.abs(again.images - scenes.images).max(axis=-1) > 0.02)[scenes.masks == 2].any()
    plain = Light(shadows=False, mirror=False)
    one, two = (draw_clevr(z, light=plain, samples=1) for z in (scenes.latents, changed))
    np.testing.assert_array_equal(one.images[one.masks != 2], two.images[one.masks != 2])


def test_patterns() -> None:
    place = tuple(np.random.default_rng(0).uniform(-1, 1, (3, 1000)))
    numbers = np.random.default_rng(1).random(1000)
    found = texture(place, numbers)
    assert DIM <= found.min() <= found.max() <= 1
    assert set(np.unique(found[numbers < 0.5]).round(6)) == {DIM, 1}
    assert len(np.unique(found[numbers > 0.5])) > 400


def test_random_features_are_a_convolution() -> None:
    images = np.random.default_rng(0).random((3, 12, 10, 3))
    found = random_features(images, channels=5, window=4, stride=3, seed=2)
    assert found.shape == (3, 3, 3, 5)
    patch = np.zeros_like(images)
    patch[:, 3:7, 6:10] = images[:, 3:7, 6:10]
    np.testing.assert_allclose(
        random_features(patch, channels=5, window=4, stride=3, seed=2)[:, 1, 2], found[:, 1, 2]
    )
    noise = random_features(np.random.default_rng(1).random((200, 8, 8, 3)) - 0.5, channels=64)
    assert (2 * (noise**2).mean()) == pytest.approx(1, rel=0.15)


def test_features_as_targets() -> None:
    part = Part(sprites, rows=6, test=2, size=16, objects=2)
    task = with_feature_targets(task=part, channels=4, seed=3)
    np.testing.assert_array_equal(task.scenes.images, part(seed=3).inputs)
    np.testing.assert_array_equal(task.inputs, random_features(task.scenes.images, channels=4))
    assert task.masks.shape == (8, 16, 16)


def test_seeds_decide_and_parts_are_enough() -> None:
    one, same, other = (Part(mini_clevr, rows=3, test=1, **SMALL)(seed=s).inputs for s in (0, 0, 1))
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"objects": 0}, "objects: got 0"),
        ({"objects": 40}, "objects: got 40, expected fewer or smaller objects"),
        ({"sizes": (0.8, 0.5)}, "sizes: got"),
        ({"samples": 0}, "samples: got 0"),
        ({"reach": 0.0}, "reach: got 0.0"),
        ({"visible": 1.0}, "visible: got 1.0"),
    ],
)
def test_errors(settings: dict, line: str) -> None:
    with pytest.raises(InputError, match=line):
        mini_clevr(**{"rows": 2, "test": 0, "size": 8, "samples": 1, **settings})


def test_bad_arrays_are_refused_in_one_line() -> None:
    with pytest.raises(InputError, match=r"latents: got \(2, 7\)"):
        draw_clevr(np.zeros((2, 7)))
    with pytest.raises(InputError, match=r"images: got \(2, 7\)"):
        random_features(np.zeros((2, 7)))
    with pytest.raises(InputError, match="window: got 9, expected from 1 to 8 pixels"):
        random_features(np.zeros((1, 8, 8, 3)), window=9)
    with pytest.raises(InputError, match="stride: got 0"):
        random_features(np.zeros((1, 8, 8, 3)), stride=0)
    with pytest.raises(
        InputError, match=r"task: got 'recombine\.tasks\.symbolic:addition', expected a task of"
    ):
        with_feature_targets(task=Part("recombine.tasks.symbolic:addition"))
