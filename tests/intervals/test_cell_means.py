"""Means over cells: known answers, invariances, and how often their intervals cover the truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from recombine.intervals import Estimate, difference_of, mean_over_cells, ratio_of

RNG = np.random.default_rng(5)


def _width(estimate: Estimate) -> float:
    return estimate.high - estimate.low


def test_symmetric_values_have_the_interval_of_a_t_test():
    values = np.r_[-3.0, -1.0, 0.0, 1.0, 3.0] + 7
    found = mean_over_cells(values)
    expected = stats.t.interval(0.95, 4, loc=7.0, scale=stats.sem(values))
    assert found.pair == pytest.approx(expected)


def test_a_difference_of_many_symmetric_cells_is_welchs():
    first, second = (np.concatenate([d, -d]) * k for k, d in ((1.0, RNG.random(400)), (3.0, RNG.random(900))))
    found = difference_of(mean_over_cells(second), mean_over_cells(first))
    expected = stats.ttest_ind(second, first, equal_var=False).confidence_interval(0.95)
    assert found.pair == pytest.approx((expected.low, expected.high), rel=1e-3)


def test_a_ratio_of_symmetric_means_is_fiellers():
    """With many cells: the roots of (a - r b)^2 = t^2 (var a + r^2 var b)."""
    top, bottom = (
        np.concatenate([5 + d, 5 - d]) * k for k, d in ((2.0, RNG.random(500)), (1.0, RNG.random(500)))
    )
    found = ratio_of(mean_over_cells(top), mean_over_cells(bottom))
    (a, va), (b, vb) = ((x.mean(), x.var(ddof=1) / len(x)) for x in (top, bottom))
    q = stats.norm.ppf(0.975) ** 2
    roots = np.sort(np.roots([b**2 - q * vb, -2 * a * b, a**2 - q * va]))
    assert found.pair == pytest.approx(roots, rel=1e-4)


ENDS = st.tuples(st.floats(0, 3), st.floats(0, 3))


@given(st.floats(-5, 5), ENDS, st.floats(0.1, 5), st.floats(0, 0.99), st.floats(0, 3), st.floats(-20, 20))
def test_a_ratio_is_in_its_interval_if_the_difference_may_be_zero(a, around, b, below, above, r):
    top, bottom = Estimate(a, a - around[0], a + around[1]), Estimate(b, b - below * b, b + above)
    found, difference = ratio_of(top, bottom), difference_of(top, bottom.scaled(r))
    if min(abs(end) for end in (r - found.low, r - found.high, *difference.pair)) > 1e-6:  # not at an end
        assert (difference.low <= 0 <= difference.high) == (found.low <= r <= found.high)


def test_a_ratio_to_a_mean_that_may_be_zero_has_no_upper_end():
    found = ratio_of(mean_over_cells(np.ones(5)), mean_over_cells(np.array([-1.0, 0.0, 0.5, 1.0])))
    assert found.value == 8
    assert found.high == np.inf
    assert found.low > 0


def test_the_interval_reaches_further_where_large_values_may_be_missing():
    values = np.r_[np.zeros(9), 1.0]
    moderate, heavy = (mean_over_cells(values, heavy=heavy) for heavy in (False, True))
    for found in (moderate, heavy):
        assert found.high - found.value > 1.4 * (found.value - found.low)
    assert heavy.high - heavy.value > 1.5 * (moderate.high - moderate.value)


@given(st.floats(1e-150, 1e150), st.floats(-10, 10), st.integers(0, 99))
def test_units_do_not_matter(scale, offset, seed):
    values = np.random.default_rng(seed).exponential(size=12)
    one, other = mean_over_cells(values), mean_over_cells(scale * (values + offset))
    assert other.low == pytest.approx(scale * (one.low + offset), rel=1e-9, abs=1e-9 * scale)
    assert other.high == pytest.approx(scale * (one.high + offset), rel=1e-9, abs=1e-9 * scale)


def test_weights_count_like_repeated_cells_in_the_value_but_not_in_certainty():
    values, weights = np.array([0.0, 1.0, 5.0, 2.0]), np.array([1.0, 3.0, 2.0, 2.0])
    weighted, repeated = (
        mean_over_cells(values, weights),
        mean_over_cells(np.repeat(values, weights.astype(int))),
    )
    assert weighted.value == pytest.approx(repeated.value)
    assert _width(weighted) > _width(repeated)


def test_one_cell_and_no_cell_have_no_interval():
    assert np.isnan(mean_over_cells(np.ones(1)).low)
    assert np.isnan(mean_over_cells(np.ones(0)).value)
    assert mean_over_cells(np.ones(3)).pair == (1.0, 1.0)


@pytest.mark.parametrize("kind", ["normal", "squares", "mostly zero"])
@pytest.mark.parametrize("n", [20, 60])
def test_coverage_of_heavy_errors(kind, n):
    """95%; of 2000 draws at least 91% and at most 98%. The textbook interval covers 84% of the skewed means."""
    rng = np.random.default_rng(n)
    covered = 0
    for _ in range(2000):
        values = rng.normal(size=n)
        if kind == "mostly zero":
            values *= (rng.random(n) < 0.3) / np.sqrt(0.3)
        truth, values = (0.0, values) if kind == "normal" else (1.0, values**2)
        found = mean_over_cells(values, heavy=True)
        covered += found.low <= truth <= found.high
    assert 0.91 <= covered / 2000 <= 0.98


@pytest.mark.parametrize("kind", ["squares", "mostly zero"])
def test_coverage_of_ratios(kind):
    """Of two independent heavy means, of 20 and 40 cells: at least 92% and at most 98% of 1000 draws."""
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(1000):
        values = [rng.normal(size=n) ** 2 for n in (20, 40)]
        if kind == "mostly zero":
            values = [one * (rng.random(len(one)) < 0.3) / 0.3 for one in values]
        found = ratio_of(*(mean_over_cells(one, heavy=True) for one in values))
        covered += found.low <= 1.0 <= found.high
    assert 0.92 <= covered / 1000 <= 0.98


@pytest.mark.parametrize("n", [10, 20, 60])
def test_coverage_of_rates(n):
    """Cells with four rows each, which differ in how often they are wrong: at least 92% and at most 98.5%."""
    rng = np.random.default_rng(n)
    covered = 0
    for _ in range(2000):
        rate = rng.uniform(0.15, 0.5)
        values = rng.binomial(4, rng.beta(rate, 1 - rate, size=n)) / 4
        found = mean_over_cells(values)
        covered += found.low <= rate <= found.high
    assert 0.92 <= covered / 2000 <= 0.985


def test_cells_that_are_copies_count_as_one():
    values = np.random.default_rng(0).exponential(size=15)
    copies, unit = np.repeat(values, 4), np.repeat(np.arange(15), 4)
    assert mean_over_cells(copies, None, unit).pair == pytest.approx(mean_over_cells(values).pair)
    assert _width(mean_over_cells(copies)) < 0.6 * _width(mean_over_cells(values))
