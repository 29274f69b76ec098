"""Does the model handle unseen combinations like seen ones?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, final

import numpy as np

from recombine.auditing.findings.evidence import AuditEvidence
from recombine.auditing.findings.finding import Finding
from recombine.auditing.scores import Scores
from recombine.auditing.thresholds import MIN_UNSEEN_CELLS, NEGLIGIBLE_SHARE
from recombine.report import number, percent, points


@final
@dataclass(frozen=True)
class ComposesFinding(Finding):
    """Measured by `Scores.transfer`: the unseen error on the way from a constant's error to the seen error."""

    id: ClassVar[str] = "composes"
    title: ClassVar[str] = "composes"
    question: ClassVar[str] = "Does it handle unseen combinations like seen ones?"
    good: ClassVar[bool | None] = True

    @classmethod
    def measure(cls, evidence: AuditEvidence) -> Self:
        """The finding, from the evidence."""
        scores, cause = evidence.scores, evidence.cause
        if scores is None:
            return cls.unclear(evidence.unjudged)
        means = "1 if unseen cells are handled like seen ones, 0 if as badly as by a constant"
        if scores.unjudged:
            few = f" Targets for {MIN_UNSEEN_CELLS} or more cells would decide."
            lacking = few if "target" in scores.unjudged else ""
            return cls.unclear(f"Cannot be judged: {scores.unjudged}.{lacking}", means)
        seen, unseen = number(scores.seen.value), number(scores.unseen.value)
        errors = f"Unseen combinations have an error of {unseen}, seen ones {seen}"
        if cause is not None and cause.rule.name == "confusion":
            why = (
                f"{errors}; on both, the same labels are mistaken for others. Fix that first (are the classes in the "
                "right order?), then audit again."
            )
        elif evidence.in_part:
            way = percent(min(1.0, scores.transfer.value))
            why = (
                f"{errors}: {way} of the way from the constant's error to the seen one. But what is left follows a "
                "rule that does not compose."
            )
        else:
            constant = f"a constant {number(scores.constant)} over all cells"
            why = f"{errors}, {constant}.{_noise(evidence, scores)} {_conclusion(evidence, scores)}"
        return cls(evidence.composes, scores.transfer, means, why)


def _noise(evidence: AuditEvidence, scores: Scores) -> str:
    """What noise in the targets does to these errors."""
    if scores.label_noise > 0:
        return (
            f" About {percent(scores.label_noise)} of the labels are wrong, since rows of the same cell disagree; what "
            "follows is about errors beyond these."
        )
    if evidence.may_be_noise:
        what = "wrong labels" if np.isnan(scores.label_noise) else "noise in the targets"
        why = "With this metric" if scores.repeated_rows else "No cell has several rows, so"
        return f" {why} {what} cannot be distinguished from wrong predictions."
    return ""


def _conclusion(evidence: AuditEvidence, scores: Scores) -> str:
    composes = evidence.composes
    way = percent(min(1.0, scores.transfer.value))
    if composes:
        return f"That is {way} of the way from the constant's error to the seen one.{_wrong(scores)}"
    if composes is False and not scores.learned:
        return "Even the seen ones are not learned, so nothing could carry over."
    if composes is False and scores.transfer.high < scores.bar:
        return "What was learned on seen combinations does not carry over."
    if composes is False:
        return f"That is {way} of the way from the constant's error to the seen one.{_wrong(scores)}"
    if not scores.learned:
        return "The seen ones are only partly learned; train longer, then audit again."
    low, high = scores.transfer.pair
    ends = f" (95% interval: {percent(low)} to {percent(high)})" if np.isfinite(low) else ""
    far = (
        f"That is {percent(scores.transfer.value)}{ends} of the way from the constant's error to the seen one"
    )
    if evidence.may_be_noise:
        return f"{far}; simple models do no better on cells that they were not fitted to. Repeated rows would decide."
    close = " It is too close to call." if scores.too_close else ""
    return f"{far}; composing needs {percent(scores.bar)}.{close} More unseen cells would decide."


def _wrong(scores: Scores) -> str:
    """How many unseen cells are wrong, if that matters."""
    if not scores.wrong.value > NEGLIGIBLE_SHARE:
        return ""
    return f" The share of wrong cells is {points(scores.wrong.value)} higher than among seen ones."
