"""Sets of levels that separate right from wrong cells."""

import numpy as np

from recombine.auditing.level_sets import best_level_set

LEVEL = np.repeat(np.arange(10), 6)


def test_the_choice_of_the_set_is_paid_for():
    """Of random arrangements, about 5% have a p-value of at most 5%; of 200, more than 20 are a defect."""
    small = 0
    for seed in range(200):
        wrong = np.random.default_rng(seed).permutation(60) < 25
        found = best_level_set(LEVEL, wrong, seed=seed)
        small += found.p_value <= 0.05
    assert small <= 20


def test_the_best_set_is_the_best_of_all_sets():
    """The sorted levels have the best cut: no other set of levels separates better."""
    rng = np.random.default_rng(0)
    level = np.repeat(np.arange(7), (3, 9, 4, 5, 8, 6, 5))
    for _ in range(20):
        wrong = rng.random(len(level)) < np.linspace(0.1, 0.9, 7)[rng.permutation(7)][level]
        rates = []
        for code in range(1, 2**7 - 1):
            inside = np.isin(level, [one for one in range(7) if code >> one & 1])
            n, k, total, bad = inside.sum(), wrong[inside].sum(), len(level), wrong.sum()
            deviation = n * (total - n) * bad * (total - bad) / total**2 / (total - 1)
            rates.append(abs(k - n * bad / total) / np.sqrt(deviation) if deviation > 0 else 0.0)
        assert np.isclose(best_level_set(level, wrong).statistic, max(rates))


def test_a_single_level_is_not_a_set():
    assert best_level_set(LEVEL, LEVEL == 4).p_value == 1
    assert best_level_set(LEVEL, LEVEL != 4).p_value == 1


def test_intervals_are_wider_than_those_of_a_set_chosen_beforehand():
    best = best_level_set(LEVEL, LEVEL % 2 == 0)
    assert 0.95 < best.confidence(0.95) < 1


def test_few_levels_have_no_sets():
    assert best_level_set(np.repeat([0, 1, 2], 9), np.arange(27) < 9) is None
