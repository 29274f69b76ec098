"""Did finetuning leave the representation as it was, instead of selecting from it?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self, final

import numpy as np

from recombine.auditing.findings.evidence import AuditEvidence
from recombine.auditing.findings.finding import Finding
from recombine.intervals import Estimate
from recombine.report import fixed, percent, plain_number
from recombine.reuse import LayerReuse, ReuseReport


@final
@dataclass(frozen=True)
class LazyFinetuningFinding(Finding):
    """The regime of the last hidden layer; see [`recombine.reuse_report`][]."""

    id: ClassVar[str] = "lazy_finetuning"
    title: ClassVar[str] = "lazy finetuning"
    question: ClassVar[str] = (
        "Did finetuning leave its representation as it was, instead of selecting from it?"
    )
    good: ClassVar[bool | None] = None

    @classmethod
    def measure(cls, evidence: AuditEvidence) -> Self:
        """The finding, from the evidence."""
        report = evidence.reuse
        if report is None:
            return cls.not_applicable("Needs the model before finetuning: pass before=.", _KEPT)
        if isinstance(report, str):
            return cls.unclear(report, _KEPT)
        layer = report.decisive
        holds = {"lazy": True, "nested": False, "rich": False}.get(report.label)
        inside = _inside(layer)
        estimate, means = (inside, _INSIDE) if report.label == "rich" else (layer.kept, _KEPT)
        details = {
            "regime": report.label,
            "layer": layer.name,
            "layers": {one.name: one.label for one in report.layers},
            "dimensions": [plain_number(layer.before), plain_number(layer.after)],
            "inside": plain_number(inside.value),
            "tangent_kernel": None if report.tangent is None else report.tangent.to_dict(),
        }
        fails = evidence.composes is False
        return cls(holds, estimate, means, f"{_what(report)} {_so(report, fails)}", details)


_KEPT = "dimensions of the last hidden layer after finetuning, relative to before"
_INSIDE = "share of the last hidden layer's new directions that it had before"


def _inside(layer: LayerReuse) -> Estimate:
    """The larger of the two measures, either of which is enough to be inside the old directions."""
    known = [one for one in (layer.retained, layer.persistence) if np.isfinite(one.value)]
    return max(known, key=lambda one: one.value) if known else layer.retained


def _what(report: ReuseReport) -> str:
    layer = report.decisive
    size = f"{fixed(layer.before, 1)} dimensions before and {fixed(layer.after, 1)} after"
    if report.label == "constant":
        return f"'{layer.name}' gives the same for every input, before or after, so nothing can be compared."
    return f"'{layer.name}' has {size}; {percent(_inside(layer).value)} of what it does was there before."


def _so(report: ReuseReport, fails: bool) -> str:
    if report.label == "lazy":
        advice = " Since the model fails on unseen combinations, try to shrink its weights before finetuning."
        return f"Finetuning kept its representation, and the layers behind it do the new work.{advice if fails else ''}"
    if report.label == "nested":
        return "Finetuning selected from what it knew."
    if report.label == "rich":
        advice = (
            " Since the model fails on unseen combinations, try to keep more: a lower rate, no shrinking."
        )
        return f"Finetuning started afresh.{advice if fails else ''}"
    return "That is too close to a boundary; more inputs would decide." if report.label == "unclear" else ""
