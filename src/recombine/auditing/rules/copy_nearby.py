"""Memory: the prediction for any of the nearest seen cells, whichever fits best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, final

import numpy as np
from jaxtyping import Bool

from recombine.auditing.cells import squared_lengths
from recombine.auditing.rules.failure import Failure
from recombine.auditing.rules.nearest_cell import MEMORY_SENTENCE
from recombine.auditing.rules.rule import Rule
from recombine.auditing.rules.rule_test import RuleResult, RuleTest, best_of
from recombine.auditing.thresholds import MAX_NEIGHBOURS


@final
class CopyNearby(Rule):
    """Every prediction is that of some seen cell among the nearest, by any of three distances.

    Because the best one may be chosen, the share is corrected for what the choice explains by chance.
    """

    name: ClassVar[str] = "copy"
    rank: ClassVar[float] = 4
    finding: ClassVar[str] = "memorisation_leak"

    def results(self, test: RuleTest) -> Iterator[RuleResult]:
        """Tests the rule."""
        yield best_of(self._result(test, near) for near in test.neighbours.values())

    def _result(self, test: RuleTest, near: Bool[np.ndarray, "cells seen"]) -> RuleResult:
        seen = test.seen
        if test.cells.kind == "classification":
            costs = np.stack([2 - 2 * seen.values[mask].max(axis=0) for mask in near])
            probabilities = near.astype(np.float64) @ seen.values / near.sum(axis=1, keepdims=True)
            return test.evaluate_labels(self, costs, probabilities, corrected=True)
        # For cell u with the error e of cell v, min over copies c of |T_u + s e_v - c|², expanded so that no array is
        # larger than cells x cells or seen x cells.
        n = len(test.cell_index)
        plus, minus, swapped = np.empty((3, n, n))
        error = test.predictions - test.targets
        across, with_predictions = seen.values @ error.T, seen.values @ test.predictions.T
        own, error_size, size = (
            test.targets @ error.T,
            squared_lengths(error),
            squared_lengths(test.predictions),
        )
        for u, mask in enumerate(near):
            chosen = np.flatnonzero(mask)[:MAX_NEIGHBOURS]
            apart = squared_lengths(test.targets[u] - seen.values[chosen])[:, None]
            along = 2 * (own[u] - across[chosen])
            plus[u], minus[u] = ((apart + sign * along).min(axis=0) + error_size for sign in (1, -1))
            swapped[u] = (squared_lengths(seen.values[chosen])[:, None] - 2 * with_predictions[chosen]).min(
                axis=0
            )
            swapped[u] += size
        return test.evaluate_pairs(self, plus, minus, swapped, corrected=True)

    def sentence(self, result: RuleResult, failure: Failure, names: Sequence[str]) -> str:
        """How a model that follows the rule predicts."""
        return MEMORY_SENTENCE
