"""Intervals cover what they should: medians over seeds, shifts, rates, and means over few cells."""

from itertools import combinations

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import mannwhitneyu

from recombine.errors import InputError
from recombine.intervals import (
    UNKNOWN,
    Estimate,
    Resampler,
    difference_of,
    interval,
    median_ranks,
    one_of_several,
    paired_p_value,
    percentile_interval,
    rate_interval,
    resample_counts,
    resampled_estimate,
    shift_interval,
)
from recombine.intervals.seeds import _rank_sum_distribution as rank_sum_distribution

TRIALS = 20_000


def normal(rng, shape):
    return rng.normal(size=shape), 0.0


def log_normal(rng, shape):
    return np.exp(1.5 * rng.normal(size=shape)), 1.0


def bimodal(rng, shape):
    """Seven seeds of ten fail (near 0), three succeed (near 1); the median lies among the failures."""
    high = rng.random(shape) < 0.3
    low_quantile = 0.5 / 0.7  # of the lower mode
    return np.where(high, 1.0, 0.0) + 0.1 * rng.random(shape), 0.1 * low_quantile


def low_and_high(values, n, level):
    """The interval of every row at once; `interval` itself is compared with it on a few rows."""
    rank, coverage = median_ranks(n, level)
    ordered = np.sort(values, axis=1)
    for row in range(3):
        estimate = interval(values[row], level=level)
        assert (estimate.low, estimate.high) == (ordered[row, rank - 1], ordered[row, n - rank])
        assert estimate.level == coverage
        assert estimate.value == np.median(values[row])
    return ordered[:, rank - 1], ordered[:, n - rank], coverage


@pytest.mark.parametrize("draw", [normal, log_normal, bimodal])
@pytest.mark.parametrize("n", [3, 6, 10, 20])
def test_medians_are_covered_as_often_as_the_level_says(draw, n):
    values, median = draw(np.random.default_rng(n), (TRIALS, n))
    low, high, coverage = low_and_high(values, n, 0.95)
    covered = ((low <= median) & (median <= high)).mean()
    assert covered == pytest.approx(coverage, abs=4 * np.sqrt(coverage * (1 - coverage) / TRIALS))


@pytest.mark.parametrize(
    ("n", "level", "rank", "coverage"),
    [
        (6, 0.95, 1, 0.969),
        (10, 0.95, 2, 0.979),
        (20, 0.95, 6, 0.959),
        (7, 1 - 0.05 / 3, 1, 0.984),
        (12, 1 - 0.05 / 3, 2, 0.994),
        (20, 1 - 0.05 / 3, 5, 0.988),
    ],
)
def test_ranks_are_those_of_the_binomial_distribution(n, level, rank, coverage):
    assert median_ranks(n, level) == (rank, pytest.approx(coverage, abs=5e-4))


def test_few_seeds_give_their_range_and_its_real_coverage():
    estimate = interval([3.0, 1.0, 2.0, 10.0, 2.5])
    assert (estimate.value, estimate.low, estimate.high, estimate.n) == (2.5, 1.0, 10.0, 5)
    assert estimate.level == pytest.approx(1 - 2 / 2**5)
    assert interval([7.0]) == Estimate(7.0, 7.0, 7.0, level=0.0, n=1)


def test_diverged_seeds_are_counted_apart():
    estimate = interval([1.0, np.nan, 3.0, np.inf])
    assert (estimate.value, estimate.n, estimate.lost) == (2.0, 2, 2)
    nothing = interval([np.nan])
    assert np.isnan(nothing.value)
    assert (nothing.n, nothing.lost, nothing.level) == (0, 1, 0.0)
    assert estimate.to_dict()["lost"] == 2


@pytest.mark.parametrize(
    "call",
    [
        lambda: interval([[1.0]]),
        lambda: interval([1.0], level=1.0),
        lambda: interval([1.0], level=0.0),
        lambda: shift_interval([1.0], [[2.0]]),
        lambda: rate_interval(3, 2),
        lambda: rate_interval(-1, 2),
    ],
)
def test_bad_input_is_refused(call):
    with pytest.raises(InputError):
        call()


@pytest.mark.parametrize(("m", "n"), [(1, 1), (2, 5), (4, 3), (5, 5)])
def test_the_rank_sum_distribution_is_that_of_all_orders(m, n):
    """Every choice of ranks for the first sample is equally likely."""
    statistics = [sum(ranks) - m * (m - 1) // 2 for ranks in combinations(range(m + n), m)]
    counted = np.bincount(statistics, minlength=m * n + 1) / len(statistics)
    assert rank_sum_distribution(m, n) == pytest.approx(counted)


def test_a_shift_is_in_its_interval_just_if_the_rank_sum_test_does_not_reject_it():
    rng = np.random.default_rng(0)
    first, second = rng.normal(1.0, 1.0, 8), rng.normal(0.0, 1.0, 10)
    estimate = shift_interval(first, second)
    assert estimate.value == pytest.approx(np.median(first[:, None] - second))
    for shift in (estimate.low - 1e-6, estimate.high + 1e-6):
        assert mannwhitneyu(first - shift, second, method="exact").pvalue < 0.05
    for shift in (estimate.low + 1e-6, estimate.high - 1e-6):
        assert mannwhitneyu(first - shift, second, method="exact").pvalue >= 0.05


@pytest.mark.parametrize("draw", [normal, log_normal, bimodal])
def test_shifts_are_covered(draw):
    rng = np.random.default_rng(0)
    first, second = draw(rng, (2000, 6))[0] + 2.0, draw(rng, (2000, 6))[0]
    differences = np.sort((first[:, :, None] - second[:, None]).reshape(2000, -1), axis=1)
    below = np.cumsum(rank_sum_distribution(6, 6))
    c = int((1 - 2 * below >= 0.95).sum())
    covered = ((differences[:, c - 1] <= 2) & (differences[:, 36 - c] >= 2)).mean()
    assert covered == pytest.approx(1 - 2 * below[c - 1], abs=0.02)
    estimate = shift_interval(first[0], second[0])
    assert (estimate.low, estimate.high) == (differences[0, c - 1], differences[0, 36 - c])
    assert estimate.level == pytest.approx(1 - 2 * below[c - 1])


def test_swapping_samples_turns_the_shift_round():
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=7), rng.normal(size=9)
    there, back = shift_interval(first, second), shift_interval(second, first)
    assert (there.value, there.low, there.high) == pytest.approx((-back.value, -back.high, -back.low))


def test_wilsons_interval_solves_its_equation():
    z = 1.959964
    for successes in range(11):
        estimate = rate_interval(successes, 10)
        assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1
        for end in estimate.pair:
            if 0 < end < 1:
                distance = abs(estimate.value - end)
                assert distance == pytest.approx(z * np.sqrt(end * (1 - end) / 10), rel=1e-5)
    assert rate_interval(0, 10).low == 0.0
    assert rate_interval(10, 10).high == 1.0
    assert np.isnan(rate_interval(0, 0).value)


@pytest.mark.parametrize("n", [5, 20])
def test_intervals_of_means_over_cells_cover_95_percent(n):
    rng = np.random.default_rng(0)
    covered = 0
    for turn in range(300):
        values = rng.normal(size=n)
        sampler = Resampler((n,), resamples=300, seed=turn)
        result = sampler.estimate(float(values.mean()), sampler.means(0, values), [0])
        covered += result.low <= 0 <= result.high
    assert 0.92 <= covered / 300 <= 0.99


def test_draws_are_those_of_the_seed():
    values = np.arange(10.0)
    first, again = (Resampler((10,), seed=3).means(0, values) for _ in range(2))
    assert (first == again).all()


def test_resamples_have_as_many_units_as_there_are():
    counts = resample_counts(np.random.default_rng(0), 7, 50)
    assert counts.shape == (50, 7)
    assert (counts.sum(axis=1) == 7).all()
    one_by_one = np.random.default_rng(0)
    assert (counts == np.stack([one_by_one.multinomial(7, np.full(7, 1 / 7)) for _ in range(50)])).all()


def test_one_cell_has_no_interval():
    assert np.isnan(resampled_estimate(1.0, np.ones(100), 1).low)


def test_percentiles_leave_equal_tails():
    assert percentile_interval(np.arange(1001.0), level=0.5) == (250.0, 750.0)


def test_a_difference_of_independent_estimates_covers_as_often_as_it_says():
    draw = np.random.default_rng(0)
    covered = 0
    for _ in range(400):
        first, second = draw.normal(1.0, 1.0, 30), draw.normal(0.4, 2.0, 50)
        ends = [
            Estimate(x.mean(), *(x.mean() + sign * 2.0 * x.std(ddof=1) / len(x) ** 0.5 for sign in (-1, 1)))
            for x in (first, second)
        ]
        found = difference_of(*ends)
        covered += found.low <= 0.6 <= found.high
    assert 0.92 <= covered / 400 <= 0.98


def test_one_of_several_is_wider_for_more_comparisons_and_fewer_cells():
    one = Estimate(1.0, 0.0, 3.0)
    assert one_of_several(one, 1) == one
    three, ten = one_of_several(one, 3), one_of_several(one, 10)
    assert ten.low < three.low < 0.0
    assert ten.high - 1 == pytest.approx(2 * (1 - ten.low))
    assert one_of_several(one, 10, n=5).high > one_of_several(one, 10, n=500).high > ten.high
    assert np.isnan(one_of_several(UNKNOWN, 3).low)


def test_signs_of_few_differences_are_all_tried():
    assert paired_p_value(np.ones(4)) == 0.125
    assert paired_p_value(-np.ones(6)) == 2 / 64
    assert paired_p_value([1.0, -1.0]) == 1.0
    assert paired_p_value([]) == 1.0


@pytest.mark.parametrize("n", [13, 14, 500, 501])
def test_all_ways_to_a_p_value_agree(n):
    differences = np.random.default_rng(n).normal(2 / np.sqrt(n), 1.0, n)
    z = differences.sum() / np.sqrt((differences**2).sum())
    assert paired_p_value(differences) == pytest.approx(2 * ndtr(-abs(z)), abs=0.02)
    assert paired_p_value(differences * 1e200) == pytest.approx(paired_p_value(differences), abs=1e-6)
