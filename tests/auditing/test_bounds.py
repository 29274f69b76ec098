"""The work of an audit is bounded, and the report says what was left out for that."""

from __future__ import annotations

import numpy as np
import pytest

from recombine import audit
from recombine.auditing.rules import rule_test
from recombine.auditing.rules.rule_test import draw_permutations, max_shortcut_factors


def test_triples_of_many_factors_are_not_tested_and_the_report_says_so() -> None:
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 2, size=(13, 200))
    factors = {f"f{number}": column for number, column in enumerate(levels)}
    seen = rng.random(200) < 0.6
    report = audit(factors=factors, seen=seen, target=levels.sum(axis=0), prediction=levels[:2].sum(axis=0))
    assert report.failure is not None
    assert max(len(result.factors) for result in report.failure.results) == 2
    assert any("shortcuts by more than 2 factors were not looked for" in note for note in report.notes)


def test_few_factors_are_tested_in_sets_of_up_to_three() -> None:
    assert [max_shortcut_factors(factors) for factors in (2, 3, 4, 12)] == [1, 2, 3, 3]


def test_thousands_of_levels_have_no_forecast_and_the_report_says_so() -> None:
    rng = np.random.default_rng(0)
    user, item = rng.integers(0, 1600, size=(2, 20_000))
    seen = (user + item) % 3 > 0
    report = audit(
        factors={"user": user, "item": item},
        seen=seen,
        target=user + item,
        prediction=np.where(seen, user + item, user),
    )
    assert isinstance(report.forecast, str)
    assert "3,200 levels" in report.forecast
    assert "recombine advise" in report.forecast


def test_wrong_labels_are_drawn_in_blocks_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    targets, other = (np.eye(7)[rng.integers(0, 7, 30)] for _ in range(2))
    predictions = np.where(rng.random((30, 1)) < 0.5, targets, other)
    at_once = draw_permutations("classification", targets, predictions, np.random.default_rng(1))
    monkeypatch.setattr(rule_test, "MAX_DRAWN_TIMES", 1000)
    in_blocks = draw_permutations("classification", targets, predictions, np.random.default_rng(1))
    assert at_once.labels is not None
    np.testing.assert_array_equal(at_once.labels, in_blocks.labels)
