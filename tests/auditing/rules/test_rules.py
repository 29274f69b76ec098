"""Every rule explains predictions that it made itself, and none that are noise."""

import numpy as np
import pytest

from recombine.auditing.cells import gather
from recombine.auditing.findings import FINDINGS
from recombine.auditing.output_reading import read_outputs
from recombine.auditing.rules import RULES
from recombine.auditing.rules.failure import apply_rules, explains, simplest
from recombine.auditing.rules.rule_test import permutation_p_value
from recombine.spaces.observations import observe

X, Y = np.indices((8, 9)).reshape(2, -1)
RNG = np.random.default_rng(0)
SEEN = (X + 2 * Y) % 3 > 0
EFFECTS = RNG.normal(size=8)[X] + RNG.normal(size=9)[Y]
TARGET = EFFECTS + 2 * RNG.normal(size=72)


def failure(prediction, target=TARGET):
    table = observe({"x": X, "y": Y, "train": SEEN}, factors=["x", "y"], seen="train")
    return apply_rules(gather(table, read_outputs(target, prediction)), RULES)


def level_means(values):
    return np.array([values[SEEN & (x == X)].mean() for x in X])


PREDICTIONS = {
    "constant": np.full(72, TARGET[SEEN].mean()),
    "given": np.where(SEEN, TARGET, level_means(TARGET)),
    "slope": np.where(SEEN, TARGET, TARGET[SEEN].mean() + 0.4 * (TARGET - TARGET[SEEN].mean())),
    "function": np.where(SEEN, TARGET, RNG.normal(size=8)[X] * 3),
}


@pytest.mark.parametrize("name", PREDICTIONS)
def test_a_rule_explains_its_own_predictions(name):
    results = [one for one in failure(PREDICTIONS[name]).results if one.rule.name == name]
    best = max(results, key=lambda one: one.share.value)
    assert best.share.value > 0.99
    assert best.p_value <= 0.02
    assert explains(best)


@pytest.mark.parametrize("name", ["given", "slope"])
def test_the_simplest_rule_is_the_cause(name):
    cause = simplest(failure(PREDICTIONS[name]).results, learned=True, additive=False)
    assert cause is not None
    assert cause.rule.name == name


def test_a_constant_of_a_model_that_learned_is_an_extreme_leak():
    results = failure(np.where(SEEN, TARGET, TARGET[SEEN].mean())).results
    assert simplest(results, learned=False, additive=False).rule.name == "constant"
    assert simplest(results, learned=True, additive=False).rule.name == "slope"


def test_no_rule_explains_noise():
    alarms = 0
    for seed in range(10):
        noise = np.random.default_rng(seed).normal(size=72) * 0.5
        results = failure(np.where(SEEN, TARGET, TARGET + noise)).results
        alarms += simplest(results, learned=True, additive=False) is not None
    assert alarms <= 1


def test_without_errors_nothing_is_tested():
    assert failure(TARGET).results == ()


def test_rules_have_unique_names_and_ranks_and_support_existing_findings():
    assert len({rule.name for rule in RULES}) == len({rule.rank for rule in RULES}) == len(RULES)
    assert {rule.finding for rule in RULES} - {""} <= set(FINDINGS)


def test_p_values_count_the_observed_order():
    assert permutation_p_value(2.0, np.zeros(99)) == pytest.approx(0.01)
    assert permutation_p_value(0.0, np.zeros(99)) == 1.0
