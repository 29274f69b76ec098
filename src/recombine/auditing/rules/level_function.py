"""A shortcut: some function of one factor, whatever seen cells say about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, final

import numpy as np

from recombine.auditing.cells import squared_lengths
from recombine.auditing.rules.failure import Failure
from recombine.auditing.rules.level_mean import shortcut_sentence
from recombine.auditing.rules.rule import Rule
from recombine.auditing.rules.rule_test import RuleResult, RuleTest
from recombine.auditing.thresholds import FUNCTION_PERMUTATIONS, MAX_FUNCTION_OUTPUTS, PERMUTATIONS
from recombine.theory.conjunctions import Subset


@final
class LevelFunction(Rule):
    """Predictions that depend on one factor only, estimated from the other unseen cells that share its level.

    What is left of a cell's prediction is its distance to the mean of the others, which is n / (n - 1) times the
    distance to the mean of all n. The rule does not apply if a cell is alone with its level, or if there are too many
    outputs to repeat this for every permutation.
    """

    name: ClassVar[str] = "function"
    rank: ClassVar[float] = 8
    finding: ClassVar[str] = "shortcut"

    def results(self, test: RuleTest) -> Iterator[RuleResult]:
        """Tests the rule."""
        for subset in test.ignoring_shortcuts:
            result = self._result(test, subset) if len(subset) == 1 else None
            if result is not None:
                yield result

    def _result(self, test: RuleTest, subset: Subset) -> RuleResult | None:
        _, group, counts = np.unique(
            test.unseen[:, list(subset)], axis=0, return_inverse=True, return_counts=True
        )
        group = group.ravel()
        if counts.min() < 2 or test.predictions.shape[1] > MAX_FUNCTION_OUTPUTS:
            return None
        average = (group == np.arange(len(counts))[:, None]) / counts[:, None]
        grow = ((counts / (counts - 1)) ** 2)[group]

        def residual(predictions: np.ndarray) -> np.ndarray:
            return grow * squared_lengths(predictions - (average @ predictions)[group])

        some = FUNCTION_PERMUTATIONS * len(test.permutations.order) // PERMUTATIONS
        order = test.permutations.order[:some]
        signs = test.permutations.signs[:some, :, None]
        labels = test.permutations.labels
        error = test.predictions - test.targets
        swapped = np.array([residual(test.predictions[one]).sum() for one in order])
        if labels is not None:
            hot = np.eye(test.targets.shape[1])
            moved = [np.array([residual(hot[one]).sum() for one in labels[:some]])]
        elif test.cells.kind == "classification":
            moved = []
        else:
            permuted = (test.targets + sign * error[one] for one, sign in zip(order, signs, strict=True))
            moved = [np.array([residual(one).sum() for one in permuted])]
        result = test.evaluate(self, residual(test.predictions), [*moved, swapped], factors=subset)
        if test.cells.kind == "regression":
            return result
        others = counts[group][:, None] * (average @ test.predictions)[group] - test.predictions
        probabilities = (others + 1 / test.predictions.shape[1]) / counts[group][:, None]
        likelihood = float(np.log((probabilities * test.predictions).sum(axis=1)).sum())
        return replace(result, likelihood=likelihood)

    def sentence(self, result: RuleResult, failure: Failure, names: Sequence[str]) -> str:
        """How a model that follows the rule predicts."""
        return shortcut_sentence(result, names)
