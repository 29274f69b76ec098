"""Whether a shortcut is worth taking: gains on cells left out, and tests of dependence against SciPy's."""

import numpy as np
import pytest
from scipy import stats

from recombine.advice.forecasts.shortcut_forecast import (
    _dependence,
    _difference,
    _gain_by_majority,
    _gain_by_mean,
)


@pytest.mark.parametrize("seed", range(5))
def test_p_values_are_those_of_the_usual_tests(seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(1, 9, size=(4, 3)).astype(float)
    expected = stats.chi2_contingency(table, correction=False).pvalue
    assert _dependence(table) == pytest.approx(expected)
    group, values = rng.integers(4, size=40), rng.normal(size=40)
    groups = [values[group == one] for one in range(4)]
    assert _difference(group, values) == pytest.approx(stats.f_oneway(*groups).pvalue)


def test_gains_equal_those_of_leaving_out_each_cell():
    rng = np.random.default_rng(0)
    level, label = rng.integers(3, size=30), rng.integers(2, size=30)
    label[level == 0] = 0
    right, guesses = 0, []
    values = label + 0.1 * rng.normal(size=30)
    for one in range(30):
        rest = np.arange(30) != one
        same = rest & (level == level[one])
        votes = np.bincount(label[same], minlength=2) + 1e-6 * np.bincount(label, minlength=2)
        right += votes.argmax() == label[one]
        guesses.append(values[same].mean())
    base = np.bincount(label).max() / 30
    assert _gain_by_majority(level, label)[0] == pytest.approx((right / 30 - base) / (1 - base))
    constant = (values.sum() - values) / 29
    explained = 1 - ((guesses - values) ** 2).sum() / ((constant - values) ** 2).sum()
    assert _gain_by_mean(level, values)[0] == pytest.approx(explained)


def test_rules_without_information_are_not_worth_taking():
    """Under independence, a rule of one factor is called worth taking in few of many tables."""
    rng = np.random.default_rng(0)
    worth = 0
    for _ in range(300):
        level, label = rng.integers(6, size=36), rng.integers(3, size=36)
        worth += _gain_by_majority(level, label)[1]
        worth += _gain_by_mean(level, rng.normal(size=36))[1]
    assert worth <= 0.04 * 600


@pytest.mark.parametrize("label", [np.zeros(6, dtype=int), np.arange(6)])
def test_labels_that_are_all_alike_or_all_different_give_no_shortcut(label):
    assert not _gain_by_majority(np.array([0, 0, 1, 1, 2, 2]), label)[1]
    assert not _gain_by_mean(np.arange(6), label.astype(float))[1]
