"""The numbers that conditions compare, with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.auditing.scores import Scores
from recombine.intervals import UNKNOWN, Estimate, difference_of, one_of_several

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport

QUANTITY_NAMES = {
    "unseen": "unseen_error",
    "seen": "seen_error",
    "unseen/seen": "unseen_over_seen",
    "gap": "gap",
    "transfer": "transfer",
    "skill": "skill",
}
"""What metrics call the quantities of conditions."""


def quantity(scores: Scores, name: str) -> Estimate:
    """One of `QUANTITIES` by its name."""
    if name == "unseen/seen":
        return error_ratio(scores)
    if name == "gap":
        return difference_of(scores.unseen, scores.seen)
    estimates = {
        "unseen": scores.unseen,
        "seen": scores.seen,
        "transfer": scores.transfer,
        "skill": scores.skill,
    }
    return estimates[name]


def error_ratio(scores: Scores) -> Estimate:
    """Unseen over seen error; infinite if only seen cells have none, and 1 if no cell has any."""
    seen, unseen = scores.seen, scores.unseen
    if seen.value > 0 or not np.isfinite(unseen.value) or not np.isfinite(seen.value):
        return scores.ratio
    if not unseen.value > 0:
        return Estimate(1.0, 1.0, 1.0)
    # Seen cells have no error at all, so the ratio is infinite wherever unseen cells have one.
    return Estimate(np.inf, np.inf if unseen.low > 0 else 0.0, np.inf)


def output_title(name: str) -> str:
    """An output in a sentence; outputs without names are called `output 1` already."""
    return name if name.startswith("output ") else f"output {name}"


def by_output(report: AuditReport, name: str) -> dict[str, Estimate]:
    """A quantity of every output, with intervals that all cover at once; of a single output, by the name `""`."""
    if report.scores is None:
        return {"": UNKNOWN}
    outputs = report.by_output
    if not outputs.names:
        return {"": quantity(report.scores, name)}
    return {
        title: one_of_several(quantity(one, name), len(outputs.names))
        for title, one in zip(outputs.names, outputs.scores, strict=True)
    }
