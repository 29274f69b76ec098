"""Probabilities and ranks of classes: calibration and top-k accuracy on seen and unseen cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from recombine.report import Block, Column, Fact, Row, Table, bracket, number, percent

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport


def probability_facts(report: AuditReport) -> Iterator[Fact]:
    """Calibration and top-k accuracy, for the terminal."""
    calibration = report.calibration
    if calibration is not None and calibration.seen is not None and calibration.unseen is not None:
        yield Fact("calibration", calibration.sentence)
        errors = (
            f"{which} {bracket(one.error)} (by chance {number(one.by_chance)})"
            for which, one in (("seen", calibration.seen), ("unseen", calibration.unseen))
        )
        yield Fact("", f"expected calibration error: {'   '.join(errors)}")
    for number_of_line, one in enumerate(report.top_k):
        rates = f"seen {bracket(one.seen, unit='%')}   unseen {bracket(one.unseen, unit='%')}"
        yield Fact("" if number_of_line else "target among first", f"{one.k}:   {rates}")


def probability_section(report: AuditReport) -> list[Block]:
    """Calibration and ranks in tables; nothing if predictions are not scores."""
    blocks: list[Block] = []
    calibration = report.calibration
    if calibration is not None and calibration.reason:
        blocks.append(calibration.reason)
    elif calibration is not None and calibration.seen is not None and calibration.unseen is not None:
        seen, unseen = calibration.seen, calibration.unseen
        rows = [
            Row(
                ["mean confidence", bracket(seen.confidence, unit="%"), bracket(unseen.confidence, unit="%")]
            ),
            Row(["accuracy", bracket(seen.accuracy, unit="%"), bracket(unseen.accuracy, unit="%")]),
            Row(["expected calibration error", bracket(seen.error), bracket(unseen.error)]),
            Row(
                [
                    "the same, if perfectly calibrated",
                    f"about {number(seen.by_chance)}",
                    f"about {number(unseen.by_chance)}",
                ]
            ),
            Row(["Brier score", bracket(seen.brier), bracket(unseen.brier)]),
        ]
        what = (
            "Scores are probabilities."
            if calibration.form == "probabilities"
            else ("Scores were read as logits and turned into probabilities by a softmax.")
        )
        caption = (
            f"{what} Confidence is the probability of the predicted class. The calibration error is the difference of "
            f"confidence and accuracy in up to {max(seen.bins, unseen.bins)} bins of equally many rows. Few rows have "
            "such an error by chance alone. Every cell counts once."
        )
        columns = [Column(""), Column("seen cells", "right"), Column("unseen cells", "right")]
        blocks += [calibration.sentence, Table(columns, rows, caption)]
    if report.top_k:
        columns = [
            Column("target among"),
            *(Column(name, "right") for name in ("seen cells", "unseen cells", "chance")),
        ]
        rows = [
            Row(
                [
                    f"the first {one.k}" if one.k > 1 else "the first",
                    bracket(one.seen, unit="%"),
                    bracket(one.unseen, unit="%"),
                    percent(one.chance) if np.isfinite(one.chance) else "–",
                ]
            )
            for one in report.top_k
        ]
        blocks.append(
            Table(columns, rows, "How often the target is among the classes with the highest scores.")
        )
    return blocks
