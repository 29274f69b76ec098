"""Intervals cover what they should, also for few cells."""

import numpy as np
import pytest

from recombine.auditing.resampling import Resampler, widened


@pytest.mark.parametrize("n", [5, 20])
def test_intervals_of_means_cover_95_percent(n):
    rng = np.random.default_rng(0)
    covered = 0
    for turn in range(300):
        values = rng.normal(size=n)
        sampler = Resampler((n,), resamples=300, seed=turn)
        found = sampler.estimate(float(values.mean()), sampler.means(0, values), [0])
        covered += found.low <= 0 <= found.high
    assert 0.92 <= covered / 300 <= 0.99


def test_draws_are_those_of_the_seed():
    values = np.arange(10.0)
    first, again = (Resampler((10,), seed=3).means(0, values) for _ in range(2))
    assert (first == again).all()


def test_one_cell_has_no_interval():
    assert np.isnan(widened(1.0, np.ones(100), 1).low)
