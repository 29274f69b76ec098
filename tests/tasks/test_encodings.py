"""Encodings against slow formulas written out unit by unit, and what absence means for each."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from recombine.errors import InputError
from recombine.tasks import (
    angle_cos_sin,
    angle_scalar,
    bump_code,
    one_hot,
    ramp,
    ramp_with_presence,
    super_inputs,
)
from recombine.tasks.encodings import encoded

real_positions = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 4), st.integers(1, 3)),
    elements=st.one_of(st.floats(0, 12), st.just(math.nan)),
)


@given(real_positions, st.sampled_from([1.0, 3.0, 11.0]), st.sampled_from([0.7, 1.0, 1.5]))
def test_bump_code_is_the_published_formula(positions: np.ndarray, width: float, sigma: float) -> None:
    code = bump_code(positions, 12, width=width, sigma=sigma)
    assert code.shape == (len(positions), 12 * positions.shape[1])
    for row, expected in zip(code, positions, strict=True):
        slow = [
            0.0 if math.isnan(x) else math.exp(-((k - x) ** 2) / (2 * width * sigma**2))
            for x in expected
            for k in range(12)
        ]
        assert max(abs(a - b) for a, b in zip(row, slow, strict=True)) < 1e-6


@given(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=5))
def test_one_hot_has_one_one_per_factor(positions: list[list[int]]) -> None:
    code = one_hot(np.array(positions), (5, 6, 7))
    assert set(np.unique(code)) == {0.0, 1.0}
    blocks = np.split(code, [5, 11], axis=1)
    assert np.stack([block.argmax(axis=1) for block in blocks], axis=1).tolist() == positions
    assert all((block.sum(axis=1) == 1).all() for block in blocks)


def test_bump_code_peaks_where_one_hot_does() -> None:
    positions = np.indices((6, 6)).reshape(2, -1).T
    np.testing.assert_array_equal(bump_code(positions, 6) == 1, one_hot(positions, 6) == 1)


def test_width_multiplies_the_variance() -> None:
    positions = np.array([[3.0, 5.0]])
    np.testing.assert_allclose(bump_code(positions, 9, width=4), bump_code(positions, 9, sigma=2), rtol=1e-12)


def test_absent_factors() -> None:
    positions = np.array([[2.0, np.nan]])
    assert one_hot(positions, 3).tolist() == [[0, 0, 1, 0, 0, 0]]
    assert (bump_code(positions, 3)[:, 3:] == 0).all()
    assert ramp_with_presence(positions, 3).tolist() == [[2, 0, 1, 0]]
    with pytest.raises(
        InputError, match=r"NaN .*ramp cannot represent an absent factor, use ramp_with_presence"
    ):
        ramp(positions, 3)


def test_ramp_is_the_position_itself() -> None:
    assert ramp(np.array([[0, 27], [3.5, 2]]), 28).tolist() == [[0, 27], [3.5, 2]]


def test_angles() -> None:
    degrees = np.array([[0.0], [90.0], [180.0], [359.0]])
    assert angle_scalar(degrees).ravel().tolist() == pytest.approx([-1, -0.5, 0, 179 / 180])
    circle = angle_cos_sin(degrees)
    np.testing.assert_allclose(circle[:3], [[1, 0], [0, 1], [-1, 0]], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(circle, axis=1), 1)


def test_super_inputs_keep_one_half_and_average_the_other() -> None:
    seen = np.array([[0, 3], [1, 2], [1, 2]])  # a repeat counts twice
    train = bump_code(seen, 4)
    query = bump_code(np.array([[2, 1]]), 4)
    x_super = super_inputs(query, train, keep=0)
    y_super = super_inputs(query, train, keep=1)
    np.testing.assert_allclose(x_super, np.concatenate([query[0, :4], train[:, 4:].mean(axis=0)])[None])
    np.testing.assert_allclose(y_super, np.concatenate([train[:, :4].mean(axis=0), query[0, 4:]])[None])


@pytest.mark.parametrize("encoding", [one_hot, bump_code, ramp])
def test_every_encoding_is_factorised_and_even(encoding) -> None:
    """The metric tensor of the code over the grid is diagonal, and its volume does not depend on x and y."""
    n = 28
    code = encoding(np.indices((n, n)).reshape(2, -1).T, n).reshape(n, n, -1)
    dx, dy = np.gradient(code, axis=(0, 1))
    g00, g11, g01 = (dx**2).sum(axis=2), (dy**2).sum(axis=2), (dx * dy).sum(axis=2)
    factorisation = 1 - abs(g01).mean() / (g00 + g11).mean()
    assert factorisation == pytest.approx(1, abs=1e-6)
    volume = np.sqrt(g00 * g11 - g01**2)[6:-6, 6:-6]
    np.testing.assert_allclose(volume, volume[0, 0], rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (lambda: one_hot(np.array([[0.5]]), 3), "positions: got 0.5, expected whole level numbers below n"),
        (lambda: one_hot(np.array([[3]]), 3), "positions: got 3.0, expected whole level numbers below n"),
        (lambda: bump_code(np.array([[-1]]), 3), "positions: got -1.0, expected positions from 0 to n = 3"),
        (lambda: ramp(np.array([[np.inf]]), 3), "positions: got inf, expected positions from 0 to n = 3"),
        (lambda: bump_code(np.array([1, 2]), 3), r"positions: got 'shape \(2,\)', expected two dimensions"),
        (lambda: bump_code(np.array([[1, 2]]), (3,)), r"n: got \(3,\), expected a positive whole number"),
        (lambda: bump_code(np.array([[1]]), 2.5), "n: got 2.5"),
        (lambda: bump_code(np.array([[1]]), 3, sigma=0), "sigma: got 0, expected a positive number"),
        (lambda: bump_code(np.array([[1]]), 3, width=-1), "width: got -1, expected a positive number"),
        (lambda: angle_scalar(np.array([[np.nan]])), "degrees: got nan, expected finite numbers"),
        (lambda: super_inputs(np.eye(4), np.eye(4), keep=2), "keep: got 2, expected a factor from 0 to 1"),
        (
            lambda: super_inputs(np.eye(4), np.eye(4), keep=0, factors=3),
            "factors: got 3, expected a number that",
        ),
        (lambda: super_inputs(np.eye(4), np.eye(3), keep=0), r"train_inputs: got \(3, 3\)"),
        (lambda: encoded("bump", np.eye(2), 2), "encoding: got 'bump', expected a function"),
        (lambda: encoded(lambda p, n: p[0], np.eye(2), 2), r"encoding: got 'features of shape \(2,\)'"),
    ],
)
def test_bad_positions_are_refused_in_one_line(call, line: str) -> None:
    with pytest.raises(InputError, match=line):
        call()
