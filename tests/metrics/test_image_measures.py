import numpy as np
import pytest
from skimage.metrics import structural_similarity

from recombine.errors import InputError
from recombine.metrics import (
    position,
    position_accuracy,
    position_error,
    signal,
    structural_dissimilarity,
)


@pytest.mark.parametrize("polarity", ["dark", "bright"])
def test_every_bump_is_at_column_x_and_row_y(draw_bumps, polarity):
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


def test_a_diverged_image_has_no_position():
    images = np.full((1, 3, 3), np.nan)
    assert not position_accuracy(images, np.zeros((1, 2)), tolerance=5).any()
    assert np.isnan(position_error(images, np.zeros((1, 2)))).all()


def test_unknown_polarity_is_refused():
    with pytest.raises(InputError, match="'dark' or 'bright'"):
        signal(np.zeros(3), "grey")


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
