"""Conditions, verdicts and outcomes: known answers."""

import math

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.studies.claims import Arm, Claim, Condition, Evidence, Verdict


def evidence(scale="quick", **values):
    arrays = {name: np.asarray(value, dtype=float) for name, value in values.items()}
    seeds = tuple(range(len(next(iter(arrays.values())))))
    return Evidence({"arm": Arm(seeds, ("finished",) * len(seeds), arrays, {})}, scale)


def claim(check, **settings):
    return Claim("1", "a statement", "a source", "2", ("arm",), check, **settings)


@pytest.mark.parametrize(
    ("values", "relation", "threshold", "holds"),
    [
        ([1, 2, 3], ">=", 1, True),
        ([1, 2, 3], ">=", 1.5, False),
        ([0, 0], "==", 0, True),
        ([1, math.nan], "<=", 2, False),
        (5.0, "<", 6, True),
        (6.0, "<", 6, False),
    ],
)
def test_a_condition_is_met_by_every_seed(values, relation, threshold, holds):
    assert Condition("value", values, relation, threshold).holds is holds


def test_a_condition_says_what_was_measured_and_required():
    assert str(Condition("ratio", [3.0, 1.0, 2.0], ">=", 2)) == "ratio 2 [1, 3] (required ≥ 2) ✗"
    assert str(Condition("gap", 0.0, "==", 0)) == "gap 0 (required = 0) ✓"
    some = Condition("overlap", [0.4, math.nan, 0.5], ">=", 0.3)
    assert str(some) == "overlap 0.45 [0.4, 0.5], 1 of 3 without a value (required ≥ 0.3) ✗"
    assert str(Condition("none", [math.nan], ">=", 0)) == "none nan, 1 of 1 without a value (required ≥ 0) ✗"


def test_a_verdict_needs_all_conditions_and_shows_the_first():
    conditions = [Condition("a", [1.0, 2.0], ">=", 1), Condition("b", [5.0, 5.0], "<=", 4)]
    verdict = Verdict.of(conditions, n_seeds=2)
    assert verdict.holds is False
    assert (verdict.measured, verdict.spread, verdict.n_seeds) == (1.5, (1.0, 2.0), 2)
    assert Verdict.of(conditions[:1], n_seeds=2).holds is True


def test_a_condition_without_a_relation_reports_and_decides_nothing():
    reported, decided = Condition("reported", [3.0, 1.0]), Condition("decided", [1.0, 1.0], "<=", 1)
    assert (reported.holds, str(reported)) == (None, "reported 2 [1, 3]")
    assert Verdict.of([reported], n_seeds=2).holds is None
    assert Verdict.of([reported, decided], n_seeds=2).holds is True


@pytest.mark.parametrize(("threshold", "word"), [(0.5, "holds"), (2.0, "fails")])
def test_a_claim_is_judged_at_its_scale(threshold, word):
    def check(evidence):
        return Verdict.of_arm(evidence, "arm", [Condition("v", evidence["arm"]["v"], ">=", threshold)])

    outcome = claim(check).judge(evidence(v=[1.0, 1.0]))
    assert outcome.word == word
    assert outcome.to_dict()["measured"] == 1.0
    assert outcome.to_dict()["n_seeds"] == 2
    assert set(outcome.to_dict()) >= {
        "id", "statement", "source", "published", "measured", "spread", "n_seeds", "verdict"
    }  # fmt: skip
    assert claim(check).judge(evidence("smoke", v=[1.0])).word == "undecided"
    assert claim(check, decided_at="paper").judge(evidence(v=[1.0])).word == "undecided"


def test_a_claim_without_evidence_is_undecided_and_says_how_to_get_it():
    outcome = claim(lambda evidence: None, on_request=True, minutes=7).judge(Evidence({}, "quick"))
    assert (outcome.word, outcome.why) == ("undecided", "on request, about 7 min at scale quick: --claim 1")
    assert outcome.to_dict()["measured"] is None


def test_a_report_without_direction_is_undecided():
    def check(evidence):
        return Verdict.of_arm(evidence, "arm", [Condition("v", evidence["arm"]["v"])])

    assert claim(check).judge(evidence(v=[1.0])).word == "undecided"


def test_an_unknown_value_is_named():
    with pytest.raises(InputError, match="value: got 'w', expected one of v"):
        evidence(v=[1.0])["arm"]["w"]


def test_a_value_that_is_not_finite_becomes_null_in_json():
    def check(evidence):
        return Verdict.of_arm(evidence, "arm", [Condition("v", evidence["arm"]["v"], ">=", 0)])

    outcome = claim(check).judge(evidence(v=[math.nan]))
    assert outcome.word == "fails"
    assert outcome.to_dict()["measured"] is None
