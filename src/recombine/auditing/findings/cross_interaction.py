"""Do the slots of a decoder's input interact, so that they cannot be exchanged one by one?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, final

import numpy as np

from recombine.auditing.findings.evidence import AuditEvidence
from recombine.auditing.findings.finding import Finding
from recombine.auditing.thresholds import INTERACTS
from recombine.intervals import Estimate
from recombine.report import percent, plain_number


@final
@dataclass(frozen=True)
class CrossInteractionFinding(Finding):
    """Measured by the share of second derivatives that cross slots; see [`recombine.interaction_profile`][]."""

    id: ClassVar[str] = "cross_interaction"
    title: ClassVar[str] = "cross interaction"
    question: ClassVar[str] = (
        "Do the slots of its input interact, so that they cannot be exchanged one by one?"
    )
    good: ClassVar[bool | None] = None

    @classmethod
    def measure(cls, evidence: AuditEvidence) -> Self:
        """The finding, from the evidence."""
        means = "share of second derivatives across slots"
        profile = evidence.interaction
        if profile is None and evidence.run.error and evidence.slots is not None:
            return cls.unclear("The model raised an error.", means)
        if profile is None:
            why = "Needs slots: pass a decoder with its inputs and slots=[[0, 1], [2, 3]]."
            return cls.not_applicable(why, means)
        share = profile.share(2)
        estimate = Estimate(share.value, share.low, share.high)
        holds = None
        if np.isfinite(share.value):
            holds = None if estimate.low <= INTERACTS < estimate.high else bool(share.value > INTERACTS)
        what = "second differences" if profile.method == "differences" else "second derivatives"
        conclusion = {
            True: "What one slot draws depends on the others, so slots cannot be exchanged one by one.",
            False: "The effects of slots add up, so slots can be exchanged one by one.",
            None: "That is too uncertain to decide; more inputs would.",
        }[holds]
        why = (
            f"Interaction across slots has order {profile.order_word}: {percent(share.value)} of all {what} cross "
            f"slots. {conclusion}"
        )
        details = {
            "order": profile.order,
            "q1": plain_number(profile.q1),
            "method": profile.method,
            "notes": list(profile.notes),
        }
        return cls(holds, estimate, means, why, details)
