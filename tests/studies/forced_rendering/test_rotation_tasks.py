"""Turned digits: the images against SciPy, the published numbers of angles, honest splits and sources."""

import numpy as np
import pytest
from scipy.ndimage import rotate

from recombine.errors import InputError
from recombine.parts import Part
from recombine.studies.forced_rendering.glyphs import glyph, glyph_source
from recombine.studies.forced_rendering.rotation_tasks import (
    cross_fade,
    rotated,
    rotation_circle,
    rotation_digits,
    rotation_gap,
)
from recombine.tasks import angle_scalar, datasets


@pytest.fixture(autouse=True)
def no_data_sets(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    """A machine without any data set, whatever this one has."""
    monkeypatch.setenv("RECOMBINE_HOME", str(tmp_path))
    monkeypatch.delenv("RECOMBINE_DATA", raising=False)


def test_the_stand_in_is_a_digit_in_the_middle_of_a_black_square() -> None:
    image = glyph(4).image
    assert image.shape == (28, 28)
    assert (image.min(), image.max() <= 1, image.max() > 0.9) == (0, True, True)
    assert image[:3].sum() == image[-3:].sum() == image[:, :3].sum() == image[:, -3:].sum() == 0
    assert abs(image - image[::-1, ::-1]).max() > 0.5  # asymmetric: half a turn can be seen


def test_the_source_is_recorded() -> None:
    assert glyph_source() == "digits"
    assert glyph(4).source == "scikit-learn digits, image 4, enlarged from 8 × 8"


def test_mnist_is_preferred_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    images = np.arange(3 * 784, dtype=np.uint8).reshape(3, 28, 28)
    monkeypatch.setattr(datasets, "find", lambda name, path=None: tmp_path)
    monkeypatch.setattr(datasets, "load", lambda *a, **k: (images, np.array([5, 0, 4], dtype=np.uint8)))
    assert glyph_source() == "mnist"
    four = glyph(4)
    assert four.source == "MNIST training set, image 2"
    np.testing.assert_allclose(four.image, images[2] / 255)
    assert glyph(4, source="digits").source.startswith("scikit-learn")


def test_missing_mnist_says_what_to_do() -> None:
    with pytest.raises(datasets.DatasetError, match=r"mnist is not on this machine: call .*fetch"):
        glyph(4, source="mnist")


def test_rotation_is_scipys() -> None:
    image = glyph(4).image
    for angle, turned in zip((0.0, 33.3, 180.0), rotated(image, np.array([0.0, 33.3, 180.0])), strict=True):
        expected = rotate(image, angle, reshape=False, order=1, mode="constant", cval=0)
        np.testing.assert_allclose(turned, expected, atol=1e-6)
    np.testing.assert_allclose(rotated(image, np.array([180.0]))[0], image[::-1, ::-1], atol=1e-6)
    assert rotated(image, np.empty(0)).shape == (0, 28, 28)


def test_the_blend_goes_from_one_pose_to_the_other() -> None:
    image = glyph(4).image
    first, last = rotated(image, np.array([160.0, 200.0]))
    blend = cross_fade(first, last, np.array([0.0, 0.5, 1.0]))
    np.testing.assert_allclose(blend, [first, (first + last) / 2, last], atol=1e-6)


def test_the_full_circle() -> None:
    task = rotation_circle(40)
    assert (len(task.inputs), len(task.train), len(task.rows_out)) == (40, 40, 0)
    np.testing.assert_allclose(task.latents.ravel(), np.arange(40) * 9.0)
    np.testing.assert_allclose(
        task.inputs, np.stack([f(np.arange(40) * np.pi / 20) for f in (np.cos, np.sin)], 1), atol=1e-6
    )
    scalar = rotation_circle(40, encoding=Part(angle_scalar))
    np.testing.assert_allclose(scalar.inputs.ravel(), np.arange(40) / 20 - 1, atol=1e-6)
    assert len(scalar.train) == 40


def test_the_published_gap() -> None:
    task = rotation_gap()
    degrees = task.latents.ravel()
    assert (len(task.rows_in), len(task.rows_out)) == (888, 40)
    np.testing.assert_allclose(degrees[task.rows_out], np.arange(160.0, 200.0))
    expected = np.concatenate(
        [np.linspace(0, 160, 444, endpoint=False), np.linspace(200, 360, 444, endpoint=False)]
    )
    np.testing.assert_allclose(degrees[task.rows_in], expected)
    assert len(task.train) == 888
    assert task.split.space.names == ("angle",)
    turned = rotated(glyph(4).image, np.array([180.0]))[0]
    np.testing.assert_allclose(task.targets[degrees == 180.0][0], turned, atol=1e-6)


def test_several_digits_are_a_composition() -> None:
    task = rotation_digits((1, 4, 7), 100)
    assert task.split.space.names == ("digit", "angle")
    digit, angle = task.latents[task.rows_out].T
    assert set(digit) == {4}
    assert len(angle) == 17
    assert angle.min() >= 140
    assert angle.max() <= 200
    assert task.inputs.shape == (300, 5)
    np.testing.assert_array_equal(task.inputs[:, :3].argmax(axis=1), task.split.space.cells[:, 0])
    np.testing.assert_allclose(task.targets[150], rotated(glyph(4).image, np.array([180.0]))[0], atol=1e-6)


@pytest.mark.parametrize(
    ("build", "line"),
    [
        (lambda: glyph(10), "digit: got 10, expected a whole number from 0 to 9"),
        (lambda: glyph(source="emnist"), "source: got 'emnist', expected 'auto', 'mnist' or 'digits'"),
        (lambda: rotation_gap(gap=(200.0, 160.0)), r"gap: got \(200.0, 160.0\), expected two angles"),
        (lambda: rotation_gap(angles=0), "angles: got 0, expected a whole number from 1 to 10000"),
        (lambda: rotation_gap(gap_angles=-1), "gap_angles: got -1"),
        (lambda: rotation_digits((1, 2)), r"held_out: got 4, expected one of the digits \(1, 2\)"),
        (lambda: rotation_digits((4,), 36), "hole: got 'every cell with angle = 140.0'"),
        (lambda: rotated(np.zeros(3), np.zeros(1)), r"image: got 'shape \(3,\)', expected one grey image"),
        (lambda: rotated(np.eye(3), np.array([np.nan])), "degrees: got .*, expected a list of finite angles"),
    ],
)
def test_bad_settings_are_refused_in_one_line(build, line: str) -> None:
    with pytest.raises(InputError, match=line):
        build()
