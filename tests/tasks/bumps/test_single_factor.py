"""Single-factor rows: stripes as published, their controls, and any other renderer."""

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.parts import Part
from recombine.spaces import centre_hole, corner_hole
from recombine.tasks import (
    bump_code,
    bump_images,
    bumps,
    one_hot,
    ramp,
    ramp_with_presence,
    single_factor_positions,
    single_factor_renderings,
    single_factor_rows,
    with_stripes,
)


def test_each_row_shows_one_factor() -> None:
    rows = single_factor_positions([3, 2, [0.5]])
    assert (~np.isnan(rows)).sum(axis=1).tolist() == [1] * 6
    assert rows[np.isfinite(rows)].tolist() == [0, 1, 2, 0, 1, 0.5]


def test_stripes_are_those_of_the_paper() -> None:
    n = 28
    task = with_stripes(n, bumps=7 * n)
    assert len(task.inputs) == n * n + 2 * n
    assert (task.cell[n * n :] == -1).all()
    assert len(task.train) == 9 * n
    grid = np.arange(n)
    code = np.exp(-((grid - grid[:, None]) ** 2) / 2)
    inputs, targets = task.inputs[n * n :], task.targets[n * n :]
    np.testing.assert_allclose(inputs[:n], np.hstack([code, np.zeros((n, n))]), atol=1e-6)
    np.testing.assert_allclose(inputs[n:], np.hstack([np.zeros((n, n)), code]), atol=1e-6)
    for x0 in (0, 13, 27):
        np.testing.assert_allclose(targets[x0], np.tile(1 - code[x0], (n, 1)), atol=1e-6)
        np.testing.assert_allclose(targets[n + x0], np.tile(1 - code[x0], (n, 1)).T, atol=1e-6)
    assert np.isnan(task.latents[n * n :]).sum() == 2 * n
    np.testing.assert_array_equal(task.latents[n * n : n * n + n, 0], grid)


@pytest.mark.parametrize(("count", "expected"), [(0, 0), (50, 50), (196, 196), (None, 588)])
def test_bumps_are_drawn_without_replacement_from_seen_cells(count: int | None, expected: int) -> None:
    task = with_stripes(bumps=count, seed=3)
    drawn = task.train[task.cell[task.train] >= 0]
    assert len(drawn) == len(set(drawn.tolist())) == expected
    assert task.split.seen[drawn].all()
    assert len(task.train) == expected + 56


def test_the_control_has_the_same_bumps_and_no_stripes() -> None:
    mixed, control = (with_stripes(bumps=50, stripes=stripes, seed=5) for stripes in (True, False))
    np.testing.assert_array_equal(control.train, mixed.train[:50])
    assert len(control.inputs) == 784


def test_a_larger_draw_contains_a_smaller() -> None:
    small, large = (with_stripes(bumps=count, stripes=False, seed=1).train for count in (10, 100))
    np.testing.assert_array_equal(small, large[:10])


def test_cells_are_those_of_the_bump_task() -> None:
    hole = Part(centre_hole, low=6, high=22)
    mixed, plain = with_stripes(hole=hole), bumps(hole=hole)
    np.testing.assert_array_equal(mixed.inputs[:784], plain.inputs)
    np.testing.assert_allclose(mixed.targets[:784], plain.targets, atol=1e-6)
    np.testing.assert_array_equal(mixed.rows_out, plain.rows_out)
    assert mixed.blank == plain.blank == 1.0


def test_half_pixels_move_stripes_along_with_bumps() -> None:
    np.testing.assert_allclose(with_stripes(8, pixels="half").targets, with_stripes(8).targets, atol=1e-6)


def test_ramp_needs_a_presence_bit() -> None:
    assert with_stripes(8, encoding=ramp_with_presence).inputs[-1].tolist() == [0, 7, 0, 1]
    with pytest.raises(InputError, match="use ramp_with_presence"):
        with_stripes(8, encoding=ramp)


def test_with_stripes_is_the_general_builder_with_the_bump_renderer() -> None:
    hole = Part(corner_hole, low=5)
    special = with_stripes(8, hole=hole, bumps=9, seed=4)
    general = single_factor_renderings(
        (("x", 8), ("y", 8)),
        render=Part(bump_images, n=8),
        encode=Part(bump_code, n=8),
        hole=hole,
        combinations=9,
        blank=1.0,
        seed=4,
    )
    for name in ("inputs", "targets", "cell", "train", "latents"):
        np.testing.assert_allclose(getattr(special, name), getattr(general, name), atol=1e-6)


def shapes_of(positions: np.ndarray) -> np.ndarray:
    """Three factors: how many dots there are in each of three places."""
    return np.nan_to_num(positions + 1, nan=0.0)


def test_three_factors_and_a_custom_renderer() -> None:
    task = single_factor_renderings(
        {"left": 2, "middle": ["few", "many"], "right": 3},
        render=shapes_of,
        encode=Part(one_hot, n=(2, 2, 3)),
        hole=lambda s: (s.cells == 1).all(axis=1),
        combinations=4,
    )
    assert task.split.space.shape == (2, 2, 3)
    assert len(task.train) == 4 + 7
    assert task.targets[12:].tolist() == [
        [1, 0, 0],
        [2, 0, 0],
        [0, 1, 0],
        [0, 2, 0],
        [0, 0, 1],
        [0, 0, 2],
        [0, 0, 3],
    ]
    assert (task.inputs[12:].sum(axis=1) == 1).all()


@pytest.mark.parametrize(
    ("build", "line"),
    [
        (
            lambda: with_stripes(bumps=589),
            "bumps: got 589, expected a whole number of at least 0 and at most 588",
        ),
        (lambda: with_stripes(bumps=-1), "bumps: got -1"),
        (lambda: with_stripes(bumps=0, stripes=False), "train: got 'no row'"),
        (lambda: single_factor_positions([4]), r"positions: got \[4\], expected at least two factors"),
        (
            lambda: single_factor_rows(lambda p: p, Part(one_hot, n=3), [3, 3]),
            "render: got .a value that is not finite., expected finite numbers also where a factor",
        ),
        (
            lambda: single_factor_rows(lambda p: np.zeros(2), Part(one_hot, n=3), [3, 3]),
            r"render: got 'an output of shape \(2,\)', expected one row for each of 6 positions",
        ),
        (
            lambda: single_factor_renderings(
                {"a": 3, "b": 3}, render=shapes_of, encode=shapes_of, combinations=10
            ),
            "combinations: got 10, expected a whole number of at least 0 and at most 9",
        ),
    ],
)
def test_bad_settings_are_refused_in_one_line(build, line: str) -> None:
    with pytest.raises(InputError, match=line):
        build()
