"""Sums of effects of few factors, where the task is not such a sum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, final

import numpy as np

from recombine.auditing.cells import Cells, squared_lengths
from recombine.auditing.rules.failure import Failure
from recombine.auditing.rules.rule import Rule
from recombine.auditing.rules.rule_test import RuleResult, RuleTest, best_of
from recombine.auditing.seen_cells import orders_below, seen_predictions, seen_targets
from recombine.auditing.thresholds import (
    ADDITIVE_PREDICTIONS,
    ADDITIVE_TASK,
    MAX_LOGIT_CLASSES,
    TARGET_NOISE_FACTOR,
)
from recombine.theory import Conjunctions


@final
class Additive(Rule):
    """Sums of effects of up to one, two or three factors, as they follow from the model's predictions for seen cells.

    Labels do not show the scores behind them. The scores of a model that can only add are therefore also estimated from
    the targets it was fitted to.
    """

    name: ClassVar[str] = "additive"
    rank: ClassVar[float] = 7
    rank_if_additive: ClassVar[float | None] = 2.5
    finding: ClassVar[str] = "additive_only"

    def results(self, test: RuleTest) -> Iterator[RuleResult]:
        """Tests the rule."""
        for order in _orders_below_task(test):
            if test.seen.can_add(order):
                yield best_of(
                    test.evaluate_predictions(self, predictions, order=order)
                    for predictions in _sums(test, order)
                )

    def sentence(self, result: RuleResult, failure: Failure, names: Sequence[str]) -> str:
        """How a model that follows the rule predicts."""
        return f"It adds up effects of {order_words(result.order)} where the task needs factors to interact."


def order_words(order: int) -> str:
    """What effects up to an order are about."""
    return "single factors" if order == 1 else f"up to {order} factors"


def _sums(test: RuleTest, order: int) -> Iterator[np.ndarray]:
    yield test.seen.additive(order, test.unseen)
    if test.cells.kind == "classification" and order == 1:
        known = seen_targets(test.cells)
        yield from (known.additive(order, test.unseen, by_rows=by_rows) for by_rows in (False, True))
        if test.targets.shape[1] <= MAX_LOGIT_CLASSES:
            yield from (one.additive_scores(test.unseen) for one in (test.seen, known))


def _orders_below_task(test: RuleTest) -> Iterator[int]:
    """Orders at which the task is not a sum of effects; from there on, being a sum is not a failure."""
    cells, known = test.cells, seen_targets(test.cells)
    noise = float(cells.target_noise[test.cell_index].sum())
    spread = max(squared_lengths(test.targets - cells.constant).sum() - noise, 0.0)
    for order in orders_below(cells.sizes):
        if not known.can_add(order):
            return
        sums = [known.additive(order, test.unseen)]
        if cells.kind == "classification" and order == 1 and test.targets.shape[1] <= MAX_LOGIT_CLASSES:
            sums.append(known.additive_scores(test.unseen))
        # Noise counts once in the unseen target, and once more, per fitted effect, in the sum.
        fitted = 1 + Conjunctions.of(known.cells, cells.sizes, order=order).starts[-1] / len(known.cells)
        left = (
            min(squared_lengths(one - test.targets).sum() for one in sums)
            - TARGET_NOISE_FACTOR * fitted * noise
        )
        if left <= ADDITIVE_TASK * spread:
            return
        yield order


def predictions_are_additive(cells: Cells) -> bool:
    """Whether the model's predictions for seen cells are sums of effects of single factors (or follow from them)."""
    seen = seen_predictions(cells)
    if not seen.can_add(1) or len(cells.sizes) < 2:
        return False
    if cells.kind == "classification":
        agree = (seen.additive_scores(seen.cells) * seen.values).sum(axis=1).mean()
        return bool(agree >= ADDITIVE_PREDICTIONS)
    spread = ((seen.values - seen.values.mean(axis=0)) ** 2).sum()
    left = ((seen.additive(1, seen.cells) - seen.values) ** 2).sum()
    return bool(left <= (1 - ADDITIVE_PREDICTIONS) * spread)
