"""The findings: what was decided; folded away, what is unclear and what does not apply."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from recombine.auditing.findings import Finding
from recombine.auditing.thresholds import EXPLAINS
from recombine.report import Badge, Block, Column, Details, Row, Table, fixed

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport
    from recombine.intervals import Estimate
    from recombine.report.document import Tone


def finding_section(report: AuditReport) -> list[Block]:
    """What was decided; folded away, what was not and what does not apply."""
    decided = [one for one in report.findings if one.holds is not None or one.id == "composes"]
    unclear = [one for one in report.findings if one.applicable and one not in decided]
    rest = [one for one in report.findings if not one.applicable]
    blocks: list[Block] = [_finding_table(decided)]
    for summary, group in (("Unclear", unclear), ("Not applicable", rest)):
        if group:
            titles = ", ".join(one.title for one in group)
            blocks.append(Details(f"{summary}: {titles}", [_finding_table(group)]))
    return blocks


def _finding_table(findings: Sequence[Finding]) -> Table:
    rows = []
    for one in findings:
        measured = "–"
        if np.isfinite(one.estimate.value):
            measured = f"{_estimate_text(one.estimate)} ({one.means})"
        remark, anchor = f"{one.question} {one.explanation}", one.id.replace("_", "-")
        rows.append(Row([one.title, Badge(one.status, finding_tone(one)), measured], remark, anchor))
    return Table([Column("finding"), Column("status"), Column("measured by [95% interval]")], rows)


def finding_tone(one: Finding) -> Tone:
    """Good or bad news; neither for what is unclear, not applicable, or only nearly decided."""
    rival = (
        one.details.get("explains") or 0.0
    ) >= EXPLAINS  # it would explain the error, but another rule is better
    decided = one.holds is True or (one.holds is False and np.isfinite(one.estimate.value) and not rival)
    if one.good is None or not decided:
        return "open"
    return "good" if one.holds == one.good else "bad"


def _estimate_text(one: Estimate) -> str:
    """A finding's number and its interval."""
    shown = fixed(one.value, 2)
    return shown if not np.isfinite(one.low) else f"{shown} [{fixed(one.low, 2)}, {fixed(one.high, 2)}]"
