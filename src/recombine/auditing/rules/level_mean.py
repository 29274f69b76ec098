"""A shortcut: the mean prediction for seen cells that share the levels of some factors, whatever the others are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, final

from recombine.auditing.rules.failure import Failure
from recombine.auditing.rules.rule import Rule, listed
from recombine.auditing.rules.rule_test import RuleResult, RuleTest, best_of


@final
class LevelMean(Rule):
    """The mean (commonest) prediction for seen cells with the same levels of up to three factors.

    Only sets of factors that do not suffice for the task are tested; seen cells count by rows, or once each.
    """

    name: ClassVar[str] = "given"
    rank: ClassVar[float] = 2
    finding: ClassVar[str] = "shortcut"

    def results(self, test: RuleTest) -> Iterator[RuleResult]:
        """Tests the rule."""
        for subset in test.ignoring_shortcuts:
            yield best_of(
                test.evaluate_predictions(
                    self, test.seen.given_levels(subset, test.unseen, by_rows=by_rows), subset
                )
                for by_rows in (True, False)
            )

    def sentence(self, result: RuleResult, failure: Failure, names: Sequence[str]) -> str:
        """How a model that follows the rule predicts."""
        return shortcut_sentence(result, names)


def shortcut_sentence(result: RuleResult, names: Sequence[str]) -> str:
    """How a model that takes a shortcut predicts."""
    return (
        f"On unseen combinations it predicts mostly from {listed([names[axis] for axis in result.factors])}."
    )
