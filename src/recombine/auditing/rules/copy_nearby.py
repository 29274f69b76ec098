"""Memory: the prediction for any of the nearest seen cells, whichever fits best."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import ClassVar, final

import numpy as np
from jaxtyping import Bool, Float

from recombine.auditing.cells import squared_lengths
from recombine.auditing.rules.failure import Failure
from recombine.auditing.rules.nearest_cell import MEMORY_SENTENCE
from recombine.auditing.rules.rule import Rule
from recombine.auditing.rules.rule_test import RuleResult, RuleTest, best_of
from recombine.auditing.thresholds import MAX_NEIGHBOURS

MIXTURE_ROUNDS = 30
"""Rounds of expectation maximisation, for one number; it has settled long before."""


def choice_cost(distances: Sequence[Float[np.ndarray, " choices"]], outputs: int) -> float:
    """By how much the residual of the best choice has to be multiplied to pay for the choice.

    A rule that predicts h with normal noise of variance s² reaches a mean log-likelihood of -(1 + log 2 pi s²) / 2 per
    output at its best s². A rule that takes one of m cells at random is a mixture of m such; its best variance is found
    by expectation maximisation. The result is the ratio of the variance of the first kind of rule that reaches the same
    likelihood to the mean squared distance to the best choice.

    **Arguments:**

    - `distances`: for every prediction, its squared distances to what could have been copied; `outputs`: numbers that
        a prediction consists of.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.rules.copy_nearby import choice_cost
    >>> choice_cost([np.array([0.5]), np.array([1.5])], 1)  # nothing to choose
    1.0

    ```
    """
    best = np.array([one.min() for one in distances])
    if max(map(len, distances)) == 1 or not best.sum() > 0:
        return 1.0
    width = max(map(len, distances))
    padded = np.stack([np.pad(one, (0, width - len(one)), constant_values=np.inf) for one in distances])
    sizes = np.array([len(one) for one in distances])
    variance = float(best.mean()) / outputs
    level = 0.0
    for _ in range(MIXTURE_ROUNDS):
        logits = -padded / (2 * variance)
        top = logits.max(axis=1, keepdims=True)
        weights = np.exp(logits - top)
        total = weights.sum(axis=1)
        level = float((top[:, 0] + np.log(total / sizes)).mean()) / outputs - 0.5 * np.log(
            2 * np.pi * variance
        )
        expected = (weights * np.where(np.isfinite(padded), padded, 0.0)).sum(axis=1) / total
        variance = max(float(expected.mean()) / outputs, 1e-300)
    equivalent = np.exp(-2 * level - 1) / (2 * np.pi)
    return max(1.0, float(equivalent * outputs / best.mean()))


@final
class CopyNearby(Rule):
    """Every prediction is that of some seen cell among the nearest, by any of three distances.

    Because the best one may be chosen, labels are corrected for what the choice explains by chance. Quantities pay for
    the choice: the residual is that of a rule without a choice which would make the predictions as probable as this one
    does, if it takes any of the m nearest cells with probability 1 / m and adds noise (see `choice_cost`).
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
        result = test.evaluate_pairs(self, plus, minus, swapped)
        distances = [
            squared_lengths(prediction - seen.values[np.flatnonzero(mask)[:MAX_NEIGHBOURS]])
            for prediction, mask in zip(test.predictions, near, strict=True)
        ]
        cost = choice_cost(distances, test.predictions.shape[1])
        paid = test.evaluate(self, result.residual * cost, [result.residual.sum(keepdims=True)])
        return replace(result, share=paid.share, residual=paid.residual)

    def sentence(self, result: RuleResult, failure: Failure, names: Sequence[str]) -> str:
        """How a model that follows the rule predicts."""
        return MEMORY_SENTENCE
