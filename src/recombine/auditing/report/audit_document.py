"""The document of an audit, section by section; and the sections that are words only: remedies, notes, terms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.auditing.report.ceiling_section import refit_section
from recombine.auditing.report.condition_section import condition_section
from recombine.auditing.report.error_section import error_section
from recombine.auditing.report.example_section import example_section
from recombine.auditing.report.finding_section import finding_section
from recombine.auditing.report.forecast_section import forecast_section
from recombine.auditing.report.gate_section import gate_sections
from recombine.auditing.report.layer_section import layer_section
from recombine.auditing.report.probability_section import probability_section
from recombine.auditing.report.terminal_summary import summary_facts
from recombine.auditing.report.text_section import part_section
from recombine.auditing.thresholds import WRONG_CELL
from recombine.report import (
    Block,
    Bullets,
    Code,
    Column,
    Details,
    Document,
    Facts,
    Only,
    Row,
    Section,
    Table,
    count,
    page_footer,
    percent,
)

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport

TERMS = {
    "cell": (
        "One combination of levels, such as a red 3. Seen: training has it. Unseen: training has its levels, but not "
        "together."
    ),
    "constant": (
        "A predictor that outputs the same for everything: the mean (or commonest) training target. Its error is the "
        "scale of all others."
    ),
    "wrong cell": (
        "For labels: most of its rows have the wrong one. For quantities: its error is above that of nearly all seen "
        f"cells, and above {percent(WRONG_CELL)} of a constant's."
    ),
    "order": (
        "The number of factors that an effect depends on: order 1 is effects of single factors, order 2 of pairs. An "
        "additive predictor of some order sums such effects."
    ),
    "determined": "Training leaves only one value for the cell, if the task is a sum of effects of the order above.",
    "expected to remain": (
        "Kernel theory (Lippl & Stachenfeld 2025) says how much of a prediction's size reaches unseen cells, because "
        "what is stored for whole combinations does not."
    ),
    "permutation test": (
        "A rule must explain the errors better than it explains the same errors moved to random other cells."
    ),
    "decoding": "A linear prediction of a factor from the activity of a layer.",
    "factorisation": "1 if factors move a layer in independent directions, 0.5 if all move it in the same one.",
    "volume": "How far a layer moves if every factor changes by one level.",
    "salience": (
        "How much of what distinguishes cells in a layer belongs to single factors, and how much only to whole "
        "combinations."
    ),
    "modules": "Groups of units that are connected mostly among themselves; their number is inferred from the weights.",
}


def audit_document(report: AuditReport) -> Document:
    """The whole report: essentials for the terminal, everything for a page."""
    explained = (
        "A model that composes handles new combinations of parts that it knows. Seen combinations are those that "
        "training showed; in unseen ones only the combination is new, not its parts."
    )
    sections = [
        Section("", [Only("terminal", [heading(report)]), Only("page", [explained])]),
        *gate_sections(report),
        Section("", [Facts(list(summary_facts(report)))], where="terminal"),
        Section("Findings", finding_section(report), where="page"),
        Section("Errors", error_section(report), where="page"),
        Section("What could be known", refit_section(report), where="page"),
        Section("What separates right from wrong cells", condition_section(report), where="page"),
        Section("Which part goes wrong", part_section(report), where="page"),
        Section("Probabilities and ranks", probability_section(report), where="page"),
        Section("What the split predicted, and what happened", forecast_section(report), where="page"),
    ]
    sections = [one for one in sections if one.blocks]
    if report.remedies:
        sections.append(Section("What to try, largest measured gain first", _remedies(report)))
    inside, examples, notes = layer_section(report), example_section(report), _notes(report)
    if inside:
        sections.append(Section("Inside the model", inside, where="page"))
    if examples:
        sections.append(Section("The worst cells", examples, where="page"))
    if notes:
        sections.append(Section("Notes", notes))
    terms = Table([Column("term"), Column("meaning")], [Row([term, text]) for term, text in TERMS.items()])
    sections.append(Section("Terms", [Details("What the terms mean", [terms])], where="page"))
    footer = page_footer(audited=heading(report), intervals="95%, over cells")
    where = "" if report.table.name == "the table" else f" on {report.table.name}"
    return Document(f"Audit of {report.model}{where}", f"**Verdict:** {report.verdict}", sections, footer)


def heading(report: AuditReport, *, with_model: bool = True) -> str:
    """The table and the model in one line: rows, factors, cells."""
    space, table = report.table.space, report.table
    factors = ", ".join(f"{factor.name} {factor.size}" for factor in space.factors)
    unseen = len(np.setdiff1d(table.codes, np.unique(table.codes[table.seen])))
    model = report.model if report.framework == "predictions" else f"{report.model} ({report.framework})"
    names = [name for name in (table.name, model) if name not in {"the table", "the model"}]
    names = names if with_model else [name for name in names if name != model]
    about = f"{', '.join(names)}: " if names else ""
    return (
        f"{about}{count(len(table.cells))} rows, {len(space.factors)} factors ({factors}), "
        f"{count(len(table.train))} seen and {count(unseen)} unseen cells"
    )


def _remedies(report: AuditReport) -> list[Block]:
    code: list[Block] = [
        "In the code, `report` is the result of `recombine.audit` (on the command line, `--cells FILE` writes its "
        "cells); `net`, `x`, `y` and `loss` are those of your training loop; `levels` is the number of levels of each "
        "factor."
    ]
    for rank, one in enumerate(report.remedies, start=1):
        stop = "" if one.title.endswith("…") else "."
        worth = f"{one.promise}, {one.measured}" if one.gain is not None else one.promise
        code.append(f"**{rank}. {one.title[0].upper()}{one.title[1:]}{stop}** {one.why} ({worth})")
        if one.snippet:
            code.append(Code(one.snippet))
    titles = Bullets([f"{one.title} ({one.promise})" for one in report.remedies], numbered=True)
    return [Only("terminal", [titles]), Only("page", code)]


def _notes(report: AuditReport) -> list[Block]:
    blocks: list[Block] = []
    if report.notes:
        blocks.append(Bullets(report.notes))
    if report.model_error:
        trace = report.model_error.rstrip()
        blocks.append("The model raised an error; the report contains what does not need its predictions.")
        blocks.append(Only("page", [Code(trace)]))
        blocks.append(Only("terminal", [line for line in trace.splitlines() if line.strip()]))
    return blocks
