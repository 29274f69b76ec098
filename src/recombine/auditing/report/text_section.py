"""Free-text answers: which factor they get wrong, and what they say about the worst unseen cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from recombine.auditing.text.text_labels import excerpt
from recombine.auditing.thresholds import MAX_LISTED_CELLS
from recombine.report import Block, Column, Fact, Row, Table, bracket, number, percent

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport
    from recombine.auditing.text.part_scores import PartScore


def part_facts(report: AuditReport) -> Iterator[Fact]:
    """How often each part of an answer is right, for the terminal."""
    parts = report.parts
    if parts is None:
        return
    width = max(len(one.factor) for one in parts.scores)
    for number_of_line, one in enumerate(parts.scores):
        rates = f"seen {bracket(one.seen, unit='%')}   unseen {bracket(one.unseen, unit='%')}"
        yield Fact("" if number_of_line else "right, by factor", f"{one.factor:<{width}}   {rates}")
    yield Fact("", parts.sentence)


def part_section(report: AuditReport) -> list[Block]:
    """How often each part of an answer is right, in a table; nothing if that was not asked."""
    parts = report.parts
    if parts is None:
        return []
    columns = [
        Column("factor"),
        Column("right, seen cells", "right"),
        Column("unseen cells", "right"),
    ]
    rows = [
        Row(
            [
                f"**{one.factor}**" if one.factor == parts.worst else one.factor,
                bracket(one.seen, unit="%"),
                bracket(one.unseen, unit="%"),
            ],
            _otherwise(one),
        )
        for one in parts.scores
    ]
    caption = (
        "A part is right if the answer names the level of the factor and no other level of it; every cell counts once. "
        "95% intervals over cells."
    )
    return [parts.sentence, Table(columns, rows, caption)]


def _otherwise(one: PartScore) -> str:
    """What answers on unseen cells that do not get a part right do instead."""
    instead = "" if one.instead is None else f" (most often {one.instead})"
    kinds = (
        (one.other, f"another level{instead}"),
        (one.none, "no level"),
        (one.several, "several levels"),
    )
    shares = ", ".join(f"{percent(share)} {what}" for share, what in kinds if share > 0)
    return f"Other answers on unseen cells name: {shares}." if shares else ""


def answer_table(report: AuditReport) -> Table | None:
    """What the answers say about the unseen cells with the largest errors; `None` if none has an error."""
    text, cells, space = report.text, report.by_cell, report.table.space
    if text is None:
        return None
    worst = cells.outside[np.argsort(-cells.error[cells.outside], kind="stable")[:MAX_LISTED_CELLS]]
    worst = worst[cells.error[worst] > 0]
    if not len(worst):
        return None
    codes = np.ravel_multi_index(tuple(cells.cells[worst].T), space.shape)
    errors = np.nan_to_num(1 - text.row_scores.scores if text.row_scores else text.outputs.row_errors())
    rows = []
    for cell, code in zip(worst, codes, strict=True):
        of_cell = np.flatnonzero(report.table.codes == code)
        wrong = of_cell[errors[of_cell] >= errors[of_cell].max()]
        answer, times = Counter(text.answers[row] for row in wrong).most_common(1)[0]
        target = Counter(text.targets[row] for row in wrong).most_common(1)[0][0]
        levels = (str(f.levels[level]) for f, level in zip(space.factors, cells.cells[cell], strict=True))
        said = excerpt(answer or "") + (f" ({times}×)" if times > 1 else "")
        rows.append(Row([*levels, excerpt(target or ""), said, number(float(cells.error[cell]))]))
    columns = [
        *(Column(name) for name in space.names),
        Column("target"),
        Column("answer"),
        Column("error", "right"),
    ]
    return Table(columns, rows, "Unseen cells with the largest errors, and their commonest wrong answer.")
