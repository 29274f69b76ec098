"""Does the model draw new combinations as sums of old images that share a level?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, final

import numpy as np

from recombine.auditing.findings.evidence import AuditEvidence
from recombine.auditing.findings.finding import Finding
from recombine.auditing.rules.superposition import superposed
from recombine.auditing.seen_cells import seen_predictions
from recombine.auditing.thresholds import MIN_IMAGE_OUTPUTS
from recombine.intervals import Resampler
from recombine.metrics.superposition import correlations
from recombine.report import fixed, percent, plain_number


@final
@dataclass(frozen=True)
class SuperpositionFinding(Finding):
    """Supported by the rule `superposition`; measured by the correlation with the superposition image."""

    id: ClassVar[str] = "superposition"
    title: ClassVar[str] = "superposition"
    question: ClassVar[str] = "Does it draw new combinations as sums of old images that share a level?"

    @classmethod
    def measure(cls, evidence: AuditEvidence) -> Self:
        """The finding, from the evidence."""
        if evidence.failure is None:
            return cls.unclear(evidence.unjudged)
        means = "correlation of unseen outputs with the sum of seen ones that share a level"
        cells, cause = evidence.cells, evidence.cause
        if cells.kind == "classification":
            return cls.not_applicable("Outputs are labels, not images.", means)
        if cells.predictions.shape[1] < 2:
            return cls.not_applicable("Outputs are scalar.", means)
        index, best = evidence.failure.cells, evidence.failure.best(cls.id)
        predictions, targets = (x[index].astype(np.float64) for x in (cells.predictions, cells.targets))
        with_sum = correlations(predictions, superposed(seen_predictions(cells), cells.cells[index]))
        with_target = correlations(predictions, targets)
        sampler = Resampler((len(index),), seed=evidence.seed)
        estimate = sampler.estimate(float(with_sum.mean()), sampler.means(0, with_sum), [0])
        details = evidence.rule_details(cls.id) | {"with_truth": plain_number(float(with_target.mean()))}
        if best is None and evidence.composes is not True:
            why = (
                "The outputs have too few numbers to tell a sum of seen outputs from something else "
                f"({MIN_IMAGE_OUTPUTS} are needed)."
            )
            return cls(False if cause else None, estimate, means, why, details)
        both = f"{fixed(with_sum.mean(), 2)} with that sum, {fixed(with_target.mean(), 2)} with the target"
        holds = evidence.is_cause(cls.id)
        if holds and cause is not None:
            why = (
                "Outputs for unseen combinations are mostly sums of seen outputs that share a level with them: such "
                f"sums explain {percent(cause.share.value)} of the error (correlation of outputs: {both}). The model "
                "overlays what it knows instead of drawing something new."
            )
        else:
            why = f"{evidence.why_not(cls.id)} (Correlation of unseen outputs: {both}.)"
        return cls(holds, estimate, means, why, details)
