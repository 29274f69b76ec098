"""Does the model predict from fewer factors than the task needs?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self, final

import numpy as np

from recombine.auditing.cells import Cells
from recombine.auditing.findings.evidence import AuditEvidence
from recombine.auditing.findings.finding import Finding, as_share
from recombine.auditing.rules import RuleResult
from recombine.auditing.seen_cells import seen_predictions, seen_targets
from recombine.intervals import UNKNOWN, Estimate, Resampler
from recombine.report import percent, plain_number


@final
@dataclass(frozen=True)
class ShortcutFinding(Finding):
    """Supported by the rules `given` and `function`; measured by what the shortcut explains of the predictions."""

    id: ClassVar[str] = "shortcut"
    title: ClassVar[str] = "shortcut"
    question: ClassVar[str] = "Does it predict from fewer factors than the task needs?"

    @classmethod
    def measure(cls, evidence: AuditEvidence) -> Self:
        """The finding, from the evidence."""
        if evidence.failure is None:
            return cls.unclear(evidence.unjudged)
        holds, best = evidence.is_cause(cls.id), evidence.failure.best(cls.id)
        means = "share of unseen predictions that the factors of the shortcut explain"
        if evidence.cause is not None and evidence.cause.finding == cls.id:
            best = evidence.cause
        if best is None:
            why = "Predictions depend on all factors that the task needs, or on none."
            return cls(holds, UNKNOWN, means, evidence.why_not(cls.id, no_rule=why))
        names = [evidence.names[axis] for axis in best.factors]
        of_predictions, of_targets = _explained(evidence, best)
        in_training = _explained_in_training(evidence.cells, best)
        details = evidence.rule_details(cls.id) | {
            "factors": names,
            "explained_of_answers": plain_number(of_predictions.value),
            "explained_of_truth": plain_number(of_targets),
            "explained_in_training": plain_number(in_training),
        }
        if holds:
            listed = " and ".join(f"'{name}'" for name in names)
            matches = "matches" if evidence.cells.kind == "classification" else "explains"
            why = (
                f"{listed} alone {matches} {percent(of_predictions.value)} of the unseen predictions, but only "
                f"{percent(max(0.0, of_targets))} of the unseen targets ({percent(max(0.0, in_training))} of the "
                "training targets)."
            )
        else:
            why = evidence.why_not(cls.id)
        estimate = UNKNOWN if evidence.composes is True else as_share(of_predictions)
        return cls(holds, estimate, means, why, details)


def _explained(evidence: AuditEvidence, best: RuleResult) -> tuple[Estimate, float]:
    """How much of the unseen predictions, and of the targets, a shortcut explains: variance (R²), or labels."""
    assert evidence.failure is not None
    cells, index = evidence.cells, evidence.failure.cells
    seen = seen_predictions(cells)
    if best.rule.name == "function":
        seen = replace(
            seen,
            cells=cells.cells[index],
            values=cells.predictions[index].astype(np.float64),
            rows=cells.rows[index],
        )
    rules = [
        seen.given_levels(best.factors, cells.cells[index], by_rows=by_rows) for by_rows in (True, False)
    ]
    rule = min(rules, key=lambda one: float(((one - cells.predictions[index]) ** 2).sum()))
    sampler = Resampler((len(index),))
    if cells.kind == "classification":
        same, right = ((rule * x[index]).sum(axis=1) for x in (cells.predictions, cells.targets))
        return sampler.estimate(float(same.mean()), sampler.means(0, same), [0]), float(right.mean())

    def parts(x: np.ndarray) -> np.ndarray:
        centre = x.mean(axis=0)
        return np.stack([((x - rule) ** 2).sum(axis=1), ((x - centre) ** 2).sum(axis=1)], axis=1)

    def r2(sums: np.ndarray) -> np.ndarray:
        left, spread = sums[..., 0], sums[..., 1]
        varied = spread > 1e-12 * left
        return 1 - np.divide(left, spread, out=np.full(left.shape, np.nan), where=varied)

    predicted, true = (parts(x[index].astype(np.float64)) for x in (cells.predictions, cells.targets))
    estimate = sampler.estimate(float(r2(predicted.mean(axis=0))), r2(sampler.means(0, predicted)), [0])
    return estimate, float(r2(true.mean(axis=0)))


def _explained_in_training(cells: Cells, best: RuleResult) -> float:
    """How much of the targets of seen cells the factors of a shortcut explain."""
    seen = seen_targets(cells)
    rule = seen.given_levels(best.factors, seen.cells, by_rows=True)
    if cells.kind == "classification":
        return float(np.average((rule * seen.values).sum(axis=1), weights=seen.rows))
    spread = ((seen.values - seen.values.mean(axis=0)) ** 2).sum()
    return float(1 - ((seen.values - rule) ** 2).sum() / spread) if spread > 0 else np.nan
