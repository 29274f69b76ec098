"""Does the model fall back on what it stored for seen combinations, or shrink where it stored nothing?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, final

import numpy as np

from recombine.auditing.findings.evidence import AuditEvidence
from recombine.auditing.findings.finding import Finding, as_share
from recombine.auditing.rules import Failure, RuleResult
from recombine.auditing.thresholds import NO_SLOPE
from recombine.intervals import UNKNOWN
from recombine.report import fixed, percent, plain_number


@final
@dataclass(frozen=True)
class MemorisationLeakFinding(Finding):
    """Supported by the rules `slope`, `nearest` and `copy`; measured by the slope, or for labels by the best share."""

    id: ClassVar[str] = "memorisation_leak"
    title: ClassVar[str] = "memorisation leak"
    question: ClassVar[str] = (
        "Does it store whole combinations, so that new ones get copied or shrunken predictions?"
    )

    @classmethod
    def measure(cls, evidence: AuditEvidence) -> Self:
        """The finding, from the evidence."""
        if evidence.failure is None:
            return cls.unclear(evidence.unjudged)
        failure, cause = evidence.failure, evidence.cause
        holds, best = evidence.is_cause(cls.id), failure.best(cls.id)
        details = evidence.rule_details(cls.id)
        regression = evidence.cells.kind == "regression"
        if regression:
            means, estimate = "slope of unseen predictions on the targets", failure.slope
            details |= {
                "slope": plain_number(failure.slope.value),
                "slope_seen": plain_number(failure.slope_seen),
            }
        else:
            means = "share of the error that copies of seen cells explain"
            estimate = as_share(best.share) if best else UNKNOWN
        if holds and cause is not None and cause.rule.name == "slope":
            why = _why_shrunken(failure, cause)
        elif holds and cause is not None:
            why = (
                f"{percent(cause.share.value)} of the error is explained by copying a seen combination that shares "
                "levels with the new one: the model recalls a stored combination instead of composing."
            )
        else:
            why = evidence.why_not(cls.id)
            if regression and evidence.composes is not True and np.isfinite(failure.slope.value):
                why = f"Unseen predictions have a slope of {fixed(failure.slope.value, 2)} on the targets. {why}"
        return cls(holds, estimate, means, why, details)


def _why_shrunken(failure: Failure, cause: RuleResult) -> str:
    """What the slope shows; nothing about it if the targets of unseen cells are all the same."""
    slope, seen = failure.slope.value, percent(failure.slope_seen)
    if slope > NO_SLOPE:
        return (
            f"Unseen predictions vary {percent(slope)} as much as they should (seen ones {seen}): "
            "the model stores whole combinations next to their parts, and that share is missing for new ones."
        )
    what = f"the same everywhere (seen ones vary {seen} as much as they should)"
    if np.isnan(slope):
        what = "the mean of the seen ones"
    return (
        f"Unseen predictions are (nearly) {what}, which explains {percent(cause.share.value)} of the error: "
        "nothing that the model stored for seen combinations reaches new ones."
    )
