import re
from pathlib import Path

import numpy as np
import pytest
from skimage.metrics import structural_similarity

import recombine.probes
from recombine.errors import InputError
from recombine.probes import (
    code_accuracy,
    position,
    position_accuracy,
    position_error,
    signal,
    squared_error,
    structural_dissimilarity,
    summarise,
    within,
)


def test_measures_on_arrays_do_not_import_jax():
    sources = {path.stem: path for path in Path(recombine.probes.__file__).parent.glob("*.py")}
    for runs_nets in ("decoders", "jacobians", "layers", "objects", "recombining", "wiring"):
        del sources[runs_nets]
    for source in sources.values():
        assert not re.search(r"^(import|from) jax[ .\n]", source.read_text(), flags=re.MULTILINE), source


def test_squared_error_is_the_mean_over_pixels(donut):
    outputs = np.random.default_rng(0).normal(size=donut.images.shape)
    expected = [np.mean((a - b) ** 2) for a, b in zip(outputs, donut.images, strict=True)]
    np.testing.assert_allclose(squared_error(outputs, donut.images), expected)


def test_squared_error_never_broadcasts():
    with pytest.raises(InputError, match="same shape"):
        squared_error(np.zeros((3, 2)), np.zeros((3, 1)))


def test_summary_of_one_sided_splits():
    summary = summarise(np.array([1.0, 2.0, 6.0]), np.ones(3, bool))
    assert (summary["in_mean"], summary["in_median"], summary["in_max"]) == (3.0, 2.0, 6.0)
    assert all(np.isnan(summary[f"out_{name}"]) for name in ("mean", "std", "median", "max"))


def test_summary_accepts_grids_and_refuses_misfits():
    assert summarise(np.ones((2, 2)), np.eye(2, dtype=bool))["out_mean"] == 1.0
    with pytest.raises(InputError, match="seen"):
        summarise(np.ones(4), np.eye(2, dtype=bool))


@pytest.mark.parametrize("polarity", ["dark", "bright"])
def test_every_bump_is_found_at_column_x_and_row_y(draw_bumps, polarity):
    bumps = draw_bumps(12, 1.0, 3, 8, polarity)
    assert position_accuracy(bumps.images, bumps.levels, polarity).all()
    np.testing.assert_array_equal(position(bumps.images, polarity), bumps.levels[:, ::-1])
    swapped = position_accuracy(bumps.images, bumps.levels[:, ::-1], polarity)
    np.testing.assert_array_equal(swapped, bumps.levels[:, 0] == bumps.levels[:, 1])


def test_tolerance_is_per_coordinate_and_error_is_euclidean(draw_bumps):
    bumps = draw_bumps(12, 1.0, 3, 8)
    diagonal = bumps.levels + 1
    assert not position_accuracy(bumps.images, diagonal).any()
    assert position_accuracy(bumps.images, diagonal, tolerance=1).all()
    np.testing.assert_allclose(position_error(bumps.images, diagonal), np.sqrt(2))


def test_a_diverged_picture_has_no_position():
    images = np.full((1, 3, 3), np.nan)
    assert not position_accuracy(images, np.zeros((1, 2)), tolerance=5).any()
    assert np.isnan(position_error(images, np.zeros((1, 2)))).all()


def test_unknown_polarity_is_refused():
    with pytest.raises(InputError, match="'dark' or 'bright'"):
        signal(np.zeros(3), "grey")


def test_within_wants_every_coordinate():
    true = np.zeros((3, 2))
    assert within(np.array([[0.5, -0.5], [0.0, 0.6], [np.nan, 0.0]]), true, 0.5).tolist() == [
        True,
        False,
        False,
    ]


def test_code_accuracy_reads_each_part(codes):
    levels = np.indices((28, 28)).reshape(2, -1).T
    for name in ("one_hot", "bump"):
        flat = codes[name].reshape(784, -1)
        assert code_accuracy(flat, levels).all()
        assert not code_accuracy(flat, (levels + np.array([0, 1])) % 28).any()
        wrong_halves = code_accuracy(np.roll(flat, 28, axis=1), levels)
        np.testing.assert_array_equal(wrong_halves, levels[:, 0] == levels[:, 1])


def test_code_accuracy_with_unequal_parts():
    codes = np.array([[0.0, 1.0, 0.0, 0.0, 1.0]])
    assert code_accuracy(codes, np.array([[1, 2]]), sizes=(2, 3)).all()
    with pytest.raises(InputError, match="codes"):
        code_accuracy(codes, np.array([[1, 2]]))


@pytest.mark.parametrize("size", [(7, 7), (28, 28), (20, 31)])
def test_structural_dissimilarity_is_that_of_scikit_image(size):
    rng = np.random.default_rng(0)
    a, b = rng.uniform(size=(2, 4, *size))
    b = 0.6 * a + 0.4 * b
    expected = [1 - structural_similarity(p, q, data_range=1.0) for p, q in zip(a, b, strict=True)]
    np.testing.assert_allclose(structural_dissimilarity(a, b), expected, atol=1e-12)


def test_structural_dissimilarity_needs_a_window():
    with pytest.raises(InputError, match="at least 7"):
        structural_dissimilarity(np.zeros((1, 6, 9)), np.zeros((1, 6, 9)))
