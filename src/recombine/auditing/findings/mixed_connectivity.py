"""Do the weights connect everything with everything, instead of forming modules?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, final

import numpy as np

from recombine.auditing.findings.evidence import AuditEvidence
from recombine.auditing.findings.finding import Finding
from recombine.intervals import UNKNOWN, Estimate, resample_counts, resampled_estimate
from recombine.modularity import ModularityReport
from recombine.report import plain_number


@final
@dataclass(frozen=True)
class MixedConnectivityFinding(Finding):
    """The verdict of `modularity_report` on the weights."""

    id: ClassVar[str] = "mixed_connectivity"
    title: ClassVar[str] = "mixed connectivity"
    question: ClassVar[str] = "Do its weights connect everything with everything, instead of forming modules?"
    good: ClassVar[bool | None] = None

    @classmethod
    def measure(cls, evidence: AuditEvidence) -> Self:
        """The finding, from the evidence."""
        means = "share of weight within modules beyond chance, in the weakest layer"
        report = evidence.modularity
        if isinstance(report, str):
            missing = evidence.weights is None
            return cls.not_applicable(report, means) if missing else cls.unclear(report, means)
        verdict = report.verdict
        holds = {"mixed": True, "modular": False}.get(verdict.word)
        estimate = UNKNOWN if verdict.layer is None else _score_interval(report, verdict.layer)
        details = {
            "word": verdict.word,
            "modules": report.modules,
            "scores": [plain_number(one) for one in report.score.tolist()],
        }
        return cls(holds, estimate, means, verdict.sentence, details)


def _score_interval(report: ModularityReport, layer: int) -> Estimate:
    """The layer's score, with the units before it resampled."""
    score = float(report.score[layer])
    squares = np.asarray(report.weights[layer]) ** 2
    before, after = report.labels[layer], report.labels[layer + 1]
    alive = np.ix_(before >= 0, after >= 0)
    within = (squares * (before[:, None] == after[None]))[alive].sum(axis=1)
    total = squares[alive].sum(axis=1)
    n = len(total)
    if n < 2:
        return Estimate(score, np.nan, np.nan)
    counts = resample_counts(np.random.default_rng(0), n, 500)
    mass = (counts @ within) / np.maximum(counts @ total, 1e-300)
    chance = float(report.chance[layer])
    return resampled_estimate(score, (mass - chance) / max(1 - chance, 1e-9), n)
