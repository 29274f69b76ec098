"""What separates right from wrong unseen cells, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.report import Block, Column, Row, Table, count, percent

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport


def condition_section(report: AuditReport) -> list[Block]:
    """The conditions that separate right from wrong unseen cells."""
    if not report.conditions:
        return []
    rows = [
        Row(
            [
                one.text,
                f"{percent(one.wrong)} of {count(one.cells)}",
                f"{percent(one.wrong_elsewhere)} of {count(one.others)}",
                f"{percent(one.lift.value)} [{percent(one.lift.low)}, {percent(one.lift.high)}]",
            ]
        )
        for one in report.conditions
    ]
    columns = [
        Column("where"),
        Column("wrong there", "right"),
        Column("wrong elsewhere", "right"),
        Column("difference", "right"),
    ]
    tried = count(report.conditions[0].tried, "condition")
    which = "Independent unseen cells" if report.by_cell.copied else "Unseen cells"
    caption = (
        f"{which}. {tried} tried (levels, sets of levels, seen partners, distance, mirror images, slices); "
        "p-values and intervals are corrected for that number."
    )
    return [Table(columns, rows, caption)]
