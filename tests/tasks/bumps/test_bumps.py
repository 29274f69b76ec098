"""The bump tasks: published constants, draws, the canvas, real positions, holes that are refused."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.parts import Part
from recombine.spaces import Space, centre_hole, corner_hole, cross_hole
from recombine.tasks import (
    Task,
    bump_code,
    bumps,
    bumps_on_canvas,
    bumps_real,
    half_pixel_hole,
    one_hot,
    ramp,
    reverse_bumps,
)

DONUT = Part(centre_hole, low=6, high=22)


def blank_error(task: Task, rows: np.ndarray) -> float:
    return float(((task.targets[rows].astype(np.float64) - task.blank) ** 2).mean())


@pytest.mark.parametrize(
    ("task", "counts", "errors"),
    [
        (bumps(hole=DONUT), (495, 289), (0.00380, 0.00401)),
        (bumps(hole=Part(centre_hole, low=10, high=18)), (703, 81), (0.00386, 0.00401)),
        (
            bumps(32, 1.5, hole=Part(corner_hole, low=12), pixels="half", polarity="bright"),
            (624, 400),
            (0.006528, 0.006636),
        ),
        (
            bumps(hole=Part(corner_hole, low=14), pixels="linspace", polarity="bright"),
            (588, 196),
            (0.003648, 0.003721),
        ),
    ],
)
def test_published_counts_and_blank_errors(
    task: Task, counts: tuple[int, int], errors: tuple[float, float]
) -> None:
    assert (len(task.rows_in), len(task.rows_out)) == counts
    assert blank_error(task, task.rows_in) == pytest.approx(errors[0], abs=1e-5)
    assert blank_error(task, task.rows_out) == pytest.approx(errors[1], abs=1e-5)


def test_mean_image_baseline() -> None:
    task = bumps(hole=DONUT)
    mean = task.targets[task.rows_in].mean(axis=0, dtype=np.float64)
    for rows, published in ((task.rows_in, 0.00372), (task.rows_out, 0.00406)):
        assert ((task.targets[rows] - mean) ** 2).mean() == pytest.approx(published, abs=1e-5)


def test_an_inner_bump_has_energy_pi_sigma_squared() -> None:
    task = bumps(hole=DONUT)
    centre = task.targets[task.split.space.index(np.array([[14, 14]]))]
    assert ((1 - centre) ** 2).mean() == pytest.approx(np.pi / 28**2, rel=3e-4)  # a sum over pixels


@pytest.mark.parametrize("pixels", ["integer", "half"])
def test_latents_are_the_column_and_row_of_the_darkest_pixel(pixels: str) -> None:
    task = bumps(n=8, pixels=pixels)
    rows, columns = np.unravel_index(task.targets.reshape(64, -1).argmin(axis=1), (8, 8))
    np.testing.assert_array_equal(task.latents, np.stack([columns, rows], axis=1))
    np.testing.assert_array_equal(task.latents, task.split.space.cells)


@pytest.mark.parametrize(("encoding", "features"), [(bump_code, 56), (Part(one_hot), 56), (partial(ramp), 2)])
def test_inputs_are_the_encoded_levels(encoding, features: int) -> None:
    task = bumps(encoding=encoding, pixels="half")
    assert task.inputs.shape == (784, features)
    np.testing.assert_allclose(task.inputs, encoding(task.split.space.cells, 28), atol=1e-6)


def test_a_hole_may_be_a_part_a_partial_a_lambda_or_a_mask() -> None:
    mask = centre_hole(Space({"x": 28, "y": 28}), low=6, high=22)
    holes = [
        DONUT,
        partial(centre_hole, low=6, high=22),
        lambda s: centre_hole(s, low=6, high=22),
        mask,
        mask.reshape(28, 28),
        tuple(mask.astype(int).tolist()),
    ]
    for hole in holes:
        np.testing.assert_array_equal(bumps(hole=hole).split.unseen, mask)
    assert bumps().split.seen.all()


def test_a_builder_survives_the_journey_through_json() -> None:
    part = Part(
        bumps, n=8, hole=Part(corner_hole, low=5), encoding=Part(bump_code, width=3.0), train=9, seed=2
    )
    there_and_back = Part.from_dict(part.to_dict())
    assert there_and_back == part
    np.testing.assert_array_equal(there_and_back().inputs, part().inputs)
    np.testing.assert_array_equal(there_and_back().train, part().train)


@pytest.mark.parametrize(("draws", "covered"), [(1000, 430), (1500, 471), (2000, 486), (20000, 495)])
def test_coverage_of_draws_with_replacement(draws: int, covered: int) -> None:
    counts = [len(np.unique(bumps(hole=DONUT, train=draws, seed=seed).train)) for seed in range(5)]
    assert np.mean(counts) == pytest.approx(covered, abs=5)


def test_draws_depend_on_the_seed_alone() -> None:
    first, again, other = (bumps(n=8, train=50, seed=seed).train for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_canvas_crops_the_middle_and_moves_the_hole() -> None:
    task = bumps_on_canvas()
    assert task.inputs.shape == (1600, 80)
    assert task.targets.shape == (1600, 28, 28)
    assert (len(task.train), len(task.rows_out)) == (2000, 289)
    inner = bumps(hole=DONUT)
    inside = ((task.latents >= 0) & (task.latents < 28)).all(axis=1)
    np.testing.assert_allclose(task.targets[inside], inner.targets, atol=1e-6)
    np.testing.assert_array_equal(task.split.seen[inside], inner.split.seen)
    corner = task.targets[0]  # a bump six pixels outside on either axis
    assert abs(corner - 1).max() < 1e-6


@pytest.mark.parametrize(
    ("build", "line"),
    [
        (lambda: bumps(n=3), "n: got 3, expected a whole number of pixels from 4 to 512"),
        (lambda: bumps(n=512), "n: got 512, expected fewer: 262144 images would take 256 GiB"),
        (lambda: bumps(sigma=-1.0), "sigma: got -1.0, expected a positive number of pixels"),
        (lambda: bumps(canvas=27), "canvas: got 27, expected a whole number from n = 28"),
        (lambda: bumps(canvas=41), "canvas: got 41"),
        (lambda: bumps(train=0), "train: got 0, expected a whole number of at least 1"),
        (lambda: bumps(train=2.5), "train: got 2.5"),
        (lambda: bumps(train=5, seed=-1), "seed: got -1, expected a whole number that is not negative"),
        (lambda: bumps(hole=lambda s: np.ones(s.n_cells, dtype=bool)), "seen: got 'no cell'"),
        (lambda: bumps(hole=Part(corner_hole, low=0)), "seen: got 'no cell'"),
        (lambda: bumps(hole=Part(corner_hole, low=28)), "hole: got 'a hole that hides no cell'"),
        (lambda: bumps(hole=Part(cross_hole, low=9, high=9)), "hole: got 'every cell with x = 9'"),
        (
            lambda: bumps(hole=np.zeros((28, 27), dtype=bool)),
            r"mask: got \(28, 27\), expected shape \(28, 28\)",
        ),
        (lambda: bumps(hole=np.full(784, np.nan)), "mask: got .* expected only true and false"),
        (
            lambda: bumps(encoding=lambda p, n: p * np.nan),
            "inputs: got 'a value that is not finite in row 0'",
        ),
    ],
)
def test_bad_settings_are_refused_in_one_line(build, line: str) -> None:
    with pytest.raises(InputError, match=line):
        build()


def test_a_cross_hole_can_be_requested() -> None:
    assert len(bumps(hole=Part(cross_hole, low=10, high=17), allow_unseen_levels=True).rows_in) == 400


@settings(max_examples=25)
@given(
    st.sampled_from([24, 28, 32, 36, 40]),
    st.sampled_from([0.2, 0.3, 0.4, 0.5, 0.6]),
    st.sampled_from(["centre", "corner"]),
    st.integers(0, 5),
)
def test_real_positions_are_on_the_right_side(n: int, p: float, where: str, seed: int) -> None:
    task = bumps_real(n, p=p, where=where, train=40, test_in=7, test_out=20, seed=seed)
    side = {24: [4, 7, 9, 12, 14], 28: [5, 8, 11, 14, 16], 32: [6, 9, 12, 16, 19]}.get(
        n, {36: [7, 10, 14, 18, 21], 40: [8, 12, 16, 20, 24]}.get(n)
    )[[0.2, 0.3, 0.4, 0.5, 0.6].index(p)]
    low = n / 2 - side / 2 if where == "centre" else n - side
    inside = ((task.latents >= low) & (task.latents < low + side)).all(axis=1)
    assert ((task.latents >= 0) & (task.latents < n)).all()
    assert np.flatnonzero(inside).tolist() == task.rows_out.tolist() == list(range(47, 67))
    assert task.train.tolist() == list(range(40))
    assert task.split.unseen.sum() == (2 * side) ** 2
    lower_edges = [task.split.space.describe(int(cell)) for cell in task.cell]
    edges = np.array([[edge["x"], edge["y"]] for edge in lower_edges])
    assert ((task.latents >= edges) & (task.latents < edges + 0.5)).all()


def test_real_positions_are_uniform_in_the_seen_region() -> None:
    task = bumps_real(n=8, p=0.5, train=40000, test_out=0)
    counts = np.bincount(task.cell, minlength=256)[task.split.seen]
    assert abs(counts / counts.mean() - 1).max() < 0.35  # 208 per cell, about 5 standard deviations
    fractions = (task.latents * 2) % 1
    assert fractions.mean() == pytest.approx(0.5, abs=0.01)


def test_floor_of_a_fraction_is_not_fooled_by_rounding() -> None:
    assert half_pixel_hole(100, p=0.29).sum() == 58**2


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"p": 1.0}, "p: got 1.0, expected a fraction below 1"),
        ({"p": 0.01}, "p: got 0.01, expected a fraction below 1 that is at least one pixel of 28"),
        ({"p": None}, "test_out: got 500, expected 0 or 'grid', since p=None leaves no hole"),
        ({"where": "left"}, "where: got 'left', expected 'centre' or 'corner'"),
        ({"train": 0}, "train: got 0, expected a whole number of rows, at least 1"),
        ({"test_out": -1}, "test_out: got -1, expected a whole number of rows"),
        ({"encoding": one_hot}, "expected whole level numbers below n"),
    ],
)
def test_bad_real_settings_are_refused_in_one_line(changes: dict[str, object], line: str) -> None:
    with pytest.raises(InputError, match=line):
        bumps_real(**changes)


def test_without_a_hole_everything_is_seen() -> None:
    assert bumps_real(p=None, train=10, test_out=0).split.seen.all()


def test_a_grid_of_test_positions_is_that_of_whole_levels() -> None:
    held_out = bumps_real(n=12, p=0.5, where="corner", train=30, test_out="grid")
    on_levels = bumps(n=12, hole=Part(corner_hole, low=6))
    assert held_out.latents[30:].tolist() == on_levels.latents[on_levels.rows_out].tolist()
    np.testing.assert_allclose(held_out.targets[30:], on_levels.targets[on_levels.rows_out], atol=1e-6)
    everywhere = bumps_real(n=12, p=None, train=30, test_out="grid")
    assert everywhere.latents[30:].tolist() == on_levels.latents.tolist()
    assert everywhere.train.tolist() == list(range(30))


def test_the_reverse_task() -> None:
    task = reverse_bumps(hole=DONUT)
    assert task.inputs.shape == (784, 28, 28, 1)
    assert task.targets.shape == (784, 56)
    assert (len(task.train), len(task.rows_out)) == (2000, 289)
    rows, columns = np.unravel_index(task.inputs.reshape(784, -1).argmax(axis=1), (28, 28))
    np.testing.assert_array_equal(
        np.stack([rows, columns], axis=1), task.latents
    )  # image[row=x, col=y], bright
    coordinates = reverse_bumps(hole=DONUT, code=Part(ramp), train=None)
    np.testing.assert_array_equal(coordinates.targets, task.latents)
    assert len(coordinates.train) == 495
