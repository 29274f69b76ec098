"""Does the model add up effects where the task needs factors to interact?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import numpy as np

from recombine.auditing.cells import squared_distances
from recombine.auditing.findings.evidence import AuditEvidence
from recombine.auditing.findings.finding import Finding, as_share, cell_list
from recombine.auditing.rules.additive import order_words
from recombine.auditing.seen_cells import orders_below, seen_predictions, seen_targets
from recombine.intervals import UNKNOWN
from recombine.report import number, percent, plain_number

SHOWN_CELLS = 3
"""Cells that are listed at which the task is not additive."""
ADDITIVE_TASK_TEXT = (
    "The task itself is a sum of effects, as far as the cells show, so additive predictions are right."
)


@final
@dataclass(frozen=True)
class AdditiveOnlyFinding(Finding):
    """Supported by the rule `additive`; measured by the share of the failure that it explains."""

    id: ClassVar[str] = "additive_only"
    title: ClassVar[str] = "additive only"
    question: ClassVar[str] = "Does it add up effects where the task needs factors to interact?"

    @classmethod
    def measure(cls, evidence: AuditEvidence) -> Self:
        """The finding, from the evidence."""
        if evidence.failure is None:
            return cls.unclear(evidence.unjudged)
        means = "share of the error that sums of effects explain"
        failure, cause, holds = evidence.failure, evidence.cause, evidence.is_cause(cls.id)
        best = cause if cause is not None and cause.finding == cls.id else failure.best(cls.id)
        if best is None:  # the task is itself a sum of effects, so additive predictions are right
            why = evidence.why_not(cls.id, no_rule=ADDITIVE_TASK_TEXT)
            return cls(False if failure.results else holds, UNKNOWN, means, why)
        by_order = {
            str(one.order): plain_number(one.share.value)
            for one in failure.results
            if one.rule.name == "additive"
        }
        details = evidence.rule_details(cls.id) | {
            "order": best.order,
            "explains_by_order": by_order,
            "r2_of_unseen_answers_by_order": _r2_by_order(evidence),
            "not_additive_at": _not_additive_at(evidence, best.order),
        }
        if holds:
            baseline = evidence.scores.baselines.get(f"additive_{best.order}") if evidence.scores else None
            error = f"; the best such sum has an error of {number(baseline.value)}" if baseline else ""
            worst = cell_list(details["not_additive_at"], SHOWN_CELLS)
            why = (
                f"Unseen predictions are sums of effects of {order_words(best.order)}, which explains "
                f"{percent(best.share.value)} of the error. The task is not such a sum (furthest from it: {worst}"
                f"{error}): interactions of more factors are missing."
            )
        else:
            why = evidence.why_not(cls.id)
        estimate = UNKNOWN if evidence.composes is True else as_share(best.share)
        return cls(holds, estimate, means, why, details)


def _r2_by_order(evidence: AuditEvidence) -> dict[str, float | None]:
    """R² of the unseen predictions by sums of effects that were fitted to the predictions for seen cells."""
    assert evidence.failure is not None
    cells, index = evidence.cells, evidence.failure.cells
    seen, predictions = seen_predictions(cells), cells.predictions[index].astype(np.float64)
    spread = ((predictions - predictions.mean(axis=0)) ** 2).sum()
    by_order = {}
    for order in orders_below(cells.sizes):
        if seen.can_add(order):
            left = ((seen.additive(order, cells.cells[index]) - predictions) ** 2).sum()
            by_order[str(order)] = plain_number(float(1 - left / spread)) if spread > 0 else None
    return by_order


def _not_additive_at(evidence: AuditEvidence, order: int) -> list[dict[str, Any]]:
    """The cells, by their levels, whose targets are furthest from the sum of effects that seen targets suggest."""
    cells = evidence.cells
    known = np.flatnonzero(cells.known & cells.familiar)
    sums = seen_targets(cells).additive(order, cells.cells[known])
    worst = known[np.argsort(-squared_distances(sums, cells.targets, known), kind="stable")[:SHOWN_CELLS]]
    return [evidence.data.table.describe(cell) for cell in cells.cells[worst]]
