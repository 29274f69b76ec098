"""The way numbers are printed."""

import numpy as np
import pytest

from recombine.intervals import Estimate, interval
from recombine.report import bracket, count, fixed, number, percent, plus_minus, scientific
from recombine.report.figures.direct_labels import spread


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.82, "0.82"),
        (0.996, "1.0"),
        (9.96, "10"),
        (41.4, "41"),
        (0.0999, "0.10"),
        (0.0124, "0.012"),
        (0.00996, "0.010"),
        (0.004, "4.0e-3"),
        (1.5e-4, "1.5e-4"),
        (-3.94, "-3.9"),
        (2.5e7, "2.5e7"),
        (0.0, "0"),
        (float("nan"), "–"),
        (float("inf"), "–"),
    ],
)
def test_number(value: float, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.04, "4%"), (1.0, "100%"), (0.99999, "99.9%"), (0.994, "99.4%"), (0.0, "0%"), (0.0001, "0.1%")],
)
def test_percent_is_100_or_0_only_if_true(value: float, text: str) -> None:
    assert percent(value) == text


def test_spreads() -> None:
    assert plus_minus([0.01, 0.01]) == "0.01 ± 0.00"
    assert plus_minus([np.nan]) == "–"
    assert plus_minus([1.0, 3.0, np.nan], decimals=1) == "2.0 ± 1.4"
    assert bracket(interval([0.52, 0.61, 0.70])) == "0.61 [0.52, 0.70]"
    assert bracket(interval([0.03, 0.04, 0.05])) == "0.04 [0.03, 0.05]"
    assert bracket(interval([0.041, 0.042, 0.043])) == "0.042 [0.041, 0.043]"
    assert bracket(interval([0.97, 0.99, 1.0]), unit="%") == "99% [97, 100]"
    assert bracket(interval([0.5])) == "0.50"
    assert bracket(interval([np.nan])) == "–"
    assert bracket(Estimate(0.61, 0.52, 0.70)) == "0.61 [0.52, 0.70]"  # over cells, which are not counted
    assert bracket(Estimate(0.61, np.nan, np.nan)) == "0.61"


def test_small_things() -> None:
    assert fixed(-0.001, 2) == "0.00"
    assert scientific(float("nan")) == "–"
    assert count(289) == "289"


@pytest.mark.parametrize("seed", range(10))
def test_labels_are_spread_apart_and_stay_in_order(seed: int) -> None:
    expected = np.random.default_rng(seed).uniform(0.0, 10.0, size=6)
    placed = np.array(spread(list(expected), gap=1.0, low=0.0, high=10.0))
    assert (np.argsort(placed) == np.argsort(expected)).all()
    assert np.diff(np.sort(placed)).min() >= 1.0 - 1e-9
    assert placed.min() >= 0.0
    assert placed.max() <= 10.0


def test_labels_that_fit_do_not_move() -> None:
    assert spread([7.0, 1.0, 4.0], gap=2.0, low=0.0, high=10.0) == [7.0, 1.0, 4.0]
