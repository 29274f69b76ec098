"""Bump images against a formula written out pixel by pixel, for every polarity, grid and order."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.tasks import bump_images

coordinate = st.one_of(st.floats(0, 8), st.just(math.nan))


@given(coordinate, coordinate, st.sampled_from([0.8, 1.0, 1.5]), st.sampled_from(["dark", "bright"]))
@pytest.mark.parametrize("pixels", ["integer", "half", "linspace"])
@pytest.mark.parametrize("order", ["yx", "xy"])
def test_every_pixel_is_the_published_formula(
    order: str, pixels: str, x: float, y: float, sigma: float, polarity: str
) -> None:
    n = 8
    image = bump_images(np.array([[x, y]]), n, sigma, polarity=polarity, pixels=pixels, order=order)
    assert image.shape == (1, n, n)
    assert image.dtype == np.float32
    at = {"integer": lambda k: k, "half": lambda k: k + 0.5, "linspace": lambda k: k * n / (n - 1)}[pixels]
    for row, column in itertools.product(range(n), repeat=2):
        dx, dy = (at(column) - x, at(row) - y) if order == "yx" else (at(row) - x, at(column) - y)
        squares = [d * d for d in (dx, dy) if not math.isnan(d)]
        value = math.exp(-sum(squares) / (2 * sigma**2)) if squares else 0.0
        assert image[0, row, column] == pytest.approx(1 - value if polarity == "dark" else value, abs=1e-6)


def test_dark_is_one_minus_bright_and_xy_is_the_transpose() -> None:
    positions = np.array([[1, 3], [2.5, np.nan], [np.nan, np.nan]])
    dark = bump_images(positions, 6)
    np.testing.assert_allclose(dark, 1 - bump_images(positions, 6, polarity="bright"), atol=1e-7)
    np.testing.assert_allclose(dark.transpose(0, 2, 1), bump_images(positions, 6, order="xy"), atol=1e-6)


def test_the_darkest_pixel_is_at_column_x_and_row_y() -> None:
    row, column = np.unravel_index(bump_images(np.array([[2, 5]]), 8)[0].argmin(), (8, 8))
    assert (column, row) == (2, 5)


def test_half_pixels_with_half_centres_draw_the_integer_image() -> None:
    positions = np.array([[1, 3], [0, 7]])
    np.testing.assert_allclose(
        bump_images(positions + 0.5, 8, pixels="half"), bump_images(positions, 8), atol=1e-6
    )


def test_a_stripe_is_constant_along_the_absent_factor() -> None:
    x_stripe, y_stripe = bump_images(np.array([[2, np.nan], [np.nan, 2]]), 6)
    np.testing.assert_allclose(
        x_stripe, np.tile(1 - np.exp(-((np.arange(6) - 2) ** 2) / 2), (6, 1)), atol=1e-6
    )
    np.testing.assert_allclose(y_stripe, x_stripe.T, atol=1e-6)


def test_without_any_factor_the_image_is_blank() -> None:
    nothing = np.full((1, 2), np.nan)
    assert (bump_images(nothing, 4) == 1).all()
    assert (bump_images(nothing, 4, polarity="bright") == 0).all()


def test_the_offset_crops_a_larger_canvas() -> None:
    positions = np.array([[3, 11], [20, 8]])
    large = bump_images(positions, 40)
    np.testing.assert_allclose(bump_images(positions, 28, offset=6), large[:, 6:34, 6:34], atol=1e-6)


def test_no_rows_give_no_images() -> None:
    assert bump_images(np.empty((0, 2)), 4).shape == (0, 4, 4)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"n": 3}, "n: got 3, expected a whole number of pixels from 4 to 512"),
        ({"n": 513}, "n: got 513, expected a whole number of pixels from 4 to 512"),
        ({"n": 28.0}, "n: got 28.0, expected a whole number"),
        ({"n": True}, "n: got True, expected a whole number"),
        ({"sigma": 0}, "sigma: got 0, expected a positive number of pixels, at most n = 28"),
        ({"sigma": 28.1}, "sigma: got 28.1, expected a positive number of pixels, at most n = 28"),
        ({"sigma": math.nan}, "sigma: got nan"),
        ({"sigma": "wide"}, "sigma: got 'wide'"),
        ({"polarity": "grey"}, "polarity: got 'grey', expected one of 'dark', 'bright'"),
        ({"pixels": "third"}, "pixels: got 'third', expected one of 'integer', 'half', 'linspace'"),
        ({"order": "rc"}, "order: got 'rc', expected one of 'yx', 'xy'"),
        ({"positions": np.zeros((1, 3))}, r"positions: got 'shape \(1, 3\)', expected shape \(rows, 2\)"),
        (
            {"positions": np.array([[0, np.inf]])},
            "positions: got inf, expected finite numbers, or NaN for absent",
        ),
    ],
)
def test_bad_settings_are_refused_in_one_line(changes: dict[str, object], line: str) -> None:
    settings = {"positions": np.array([[1, 2]]), "n": 28} | changes
    with pytest.raises(InputError, match=line):
        bump_images(**settings)
