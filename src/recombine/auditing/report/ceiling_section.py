"""What could be known: simple models fitted to the seen cells, next to the user's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.auditing.report.error_section import error_text
from recombine.report import Block, Column, Row, Table, count, number

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport


def ceiling_sentence(report: AuditReport) -> str:
    """The best simple model next to the user's; empty if there is none."""
    best, scores = report.refits.best, report.scores
    if best is None or scores is None:
        return ""
    reaches = f"{number(best.held_out.value)} on seen cells left out of its fit, {number(best.unseen.value)} on unseen"
    return f"the best simple model ({best.title}) reaches {reaches}, where yours has {number(scores.unseen.value)}"


def refit_section(report: AuditReport) -> list[Block]:
    """What simple models reach that were fitted to the seen cells: what the data allow."""
    text = ceiling_sentence(report)
    if not text or report.scores is None:
        return []
    rows = [
        Row([one.title, error_text(one.held_out), error_text(one.unseen)])
        for one in sorted(report.refits.models, key=lambda one: one.held_out.value)
    ]
    rows.append(Row(["**your model**", "–", f"**{error_text(report.scores.unseen)}**"]))
    columns = [
        Column("simple model"),
        Column("seen cells left out", "right"),
        Column("unseen cells", "right"),
    ]
    held_out, unseen = (count(len(one)) for one in (report.refits.held_out_cells, report.refits.unseen_cells))
    caption = (
        f"Errors of models fitted to the targets of seen cells alone, on {held_out} seen cells, each left out once and "
        f"predicted from the others (if these have its levels), and on {unseen} unseen ones."
    )
    return [f"{text[0].upper()}{text[1:]}.", Table(columns, rows, caption)]
