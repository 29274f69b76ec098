"""One and the same prediction for every cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, final

from recombine.auditing.cells import squared_lengths
from recombine.auditing.rules.failure import Failure
from recombine.auditing.rules.rule import Rule
from recombine.auditing.rules.rule_test import RuleResult, RuleTest
from recombine.auditing.thresholds import NEARLY_CONSTANT


@final
class Constant(Rule):
    """The mean (commonest) prediction for seen cells.

    A permutation test cannot see a constant, because every permutation of it is the same; so the p-value is 0 if
    predictions hardly vary, and 1 otherwise.
    """

    name: ClassVar[str] = "constant"
    rank: ClassVar[float] = 1

    def results(self, test: RuleTest) -> Iterator[RuleResult]:
        """Tests the rule."""
        predictions = test.seen.constant(test.unseen)
        result = test.evaluate_predictions(self, predictions)
        spread = squared_lengths(test.targets - predictions).sum()
        yield replace(
            result, permuted=(), p_value=0.0 if result.residual.sum() <= NEARLY_CONSTANT * spread else 1.0
        )

    def sentence(self, result: RuleResult, failure: Failure, names: Sequence[str]) -> str:
        """How a model that follows the rule predicts."""
        return "On unseen combinations it predicts (nearly) the same everywhere."
