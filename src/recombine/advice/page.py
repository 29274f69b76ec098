"""Advice as a page that can be read without knowing the theory."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from recombine._version import __version__
from recombine.advice.expectations import expectations, salience_lines
from recombine.advice.lint import Finding
from recombine.advice.pictures import cells_picture
from recombine.advice.result import Advice
from recombine.advice.words import (
    coverage_lines,
    first_steps,
    heading,
    label_lines,
    nothing_open,
    order_lines,
    order_title,
    row_numbers,
)
from recombine.report import Column, Page, Row, Section, Table, Toned, count


def page(advice: Advice) -> Page:
    """The report as a page that can be read without knowing the theory."""
    lead = (
        f"{heading(advice)}. A model is trained on the seen combinations; this page says what it can know about the "
        f"others before it is trained. What to do first: {first_steps(advice)}."
    )
    sections = [Section("Is the split sound?", [_lint_table(advice.warnings)])]
    blocks: list[Any] = [
        "**Determined** means that every additive rule which fits training gives the same answer for the cell. "
        "**Only up to the norm** means that the cell contains a combination that training never shows, so that the "
        "answer depends on the model's habits. **Undetermined** means that all parts were seen, but never in a way "
        "that tells their effects apart.",
        _order_table(advice),
    ]
    picture = cells_picture(advice)
    none = f"No cell of interest: {nothing_open(advice)}."
    sections.append(Section("What training covers", list(coverage_lines(advice)) or [none]))
    sections.append(Section("What training determines", [*blocks, *([picture] if picture else [])]))
    for order, found in advice.orders.items():
        if len(found.additions.cells) and order < len(advice.table.space.shape):
            sections.append(
                Section(
                    f"Cells to add, order {order}",
                    [*order_lines(advice, found), _cells_table(advice, found.additions.cells)],
                )
            )
    if advice.labels is not None:
        sections.append(Section("Labels", list(label_lines(advice))))
    if advice.profile.estimate is not None:
        sections.append(Section("The layer's saliences", list(salience_lines(advice))))
    expected = [f"**{name}**: {sentence}" for name, sentence in expectations(advice)]
    if expected:
        sections.append(Section("What to expect", expected))
    sections.append(
        Section("Partners", ["With how many training cells each level was seen.", _partner_table(advice)])
    )
    made = {"version": __version__, "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")}
    return Page(f"Advice on {advice.table.name}", lead, sections, made)


def _lint_table(findings: Sequence[Finding]) -> Table | str:
    if not findings:
        return "Nothing found: no leaked combination, no unseen level, no tiny cell, no unconnected piece, no repeat."
    rows = [
        Row(
            [
                f.code,
                Toned(f.severity, "bad" if f.severity == "error" else "open"),
                f.message + row_numbers(f),
                f.action,
            ]
        )
        for f in findings
    ]
    return Table([Column("code"), Column(""), Column("what"), Column("what to do")], rows)


def _order_table(advice: Advice) -> Table:
    columns = [Column("order"), Column("determined", "right"), Column("only up to the norm", "right")]
    columns += [Column("undetermined", "right"), Column("cells to add", "right")]
    rows = [
        Row(
            [
                order_title(order),
                count(int(found.determined.sum())),
                count(int(found.norm_completed.sum())),
                count(int(found.undetermined.sum())),
                count(len(found.additions.cells)) + (" (least possible)" if found.additions.optimal else ""),
            ]
        )
        for order, found in advice.orders.items()
    ]
    return Table(columns, rows)


def _cells_table(advice: Advice, cells: np.ndarray, most: int = 50) -> Table:
    columns = [Column(name) for name in advice.table.space.names]
    rows = [Row([str(level) for level in advice.table.describe(cell).values()]) for cell in cells[:most]]
    caption = f"The first {most} of {count(len(cells))}." if len(cells) > most else ""
    return Table(columns, rows, caption)


def _partner_table(advice: Advice) -> Table | str:
    if advice.leak is None:
        return f"No cell of interest: {nothing_open(advice)}."
    rows = [
        Row([name, str(level), count(number)])
        for name, levels in advice.leak.partners.items()
        for level, number in levels[:5]
    ]
    return Table(
        [Column("factor"), Column("level"), Column("training cells", "right")],
        rows,
        "The five rarest levels of each factor.",
    )
