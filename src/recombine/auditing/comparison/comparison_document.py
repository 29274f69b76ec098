"""The document of a comparison: models, differences, cells that changed, findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.auditing.comparison.comparison_figures import change_maps, error_maps, errors_by_model
from recombine.auditing.findings import FINDINGS
from recombine.auditing.findings.finding import cell_list
from recombine.auditing.report.audit_document import heading
from recombine.auditing.report.error_section import COMPOSES_WORDS, WEIGHTING, error_text
from recombine.auditing.report.finding_section import finding_tone
from recombine.auditing.report.gate_section import baseline_blocks, difference_entries, gate_section
from recombine.auditing.thresholds import MAX_LISTED_CELLS, MAX_LISTED_CHANGES, MAX_SHOWN_PAIRS
from recombine.intervals import UNKNOWN
from recombine.report import (
    Badge,
    Block,
    Bullets,
    Column,
    Details,
    Document,
    Fact,
    Facts,
    Only,
    Row,
    Section,
    Table,
    count,
    page_footer,
)

if TYPE_CHECKING:
    from recombine.auditing.comparison.comparison import AuditComparison, ModelPair
    from recombine.auditing.result import AuditReport


def comparison_document(comparison: AuditComparison) -> Document:
    """The whole comparison: essentials for the terminal, everything for a page."""
    about = heading(comparison.first_report, with_model=False)
    explained = (
        "Several models were audited on the same cells. Seen combinations are those that training showed; in unseen "
        "ones only the combination is new, not its parts. Differences are taken cell by cell, so that cells which are "
        "difficult for all models do not blur them."
    )
    sections = [Section("", [Only("terminal", [about]), Only("page", [explained])])]
    if comparison.gate is not None:
        sections.append(gate_section(comparison.gate))
    sections.append(Section("Models", [_models(comparison), *errors_by_model(comparison)]))
    if comparison.pairs:
        sections.append(Section("Differences", _differences(comparison)))
        sections.append(Section("Cells that changed", _changes(comparison)))
    maps = list(error_maps(comparison))
    if maps:
        sections.append(Section("Where the errors are", maps, where="page"))
    sections.append(Section("Findings", _findings(comparison), where="page"))
    since = {name: one.since for name, one in comparison.reports.items() if one.since is not None}
    for name, change in since.items():
        sections.append(Section(f"{name}, since {change.name}", baseline_blocks(change)))
    if comparison.notes:
        sections.append(Section("Notes", [Bullets(comparison.notes)]))
    traces = {name: one.model_error for name, one in comparison.reports.items() if one.model_error}
    if traces:
        last = [Fact(name, trace.strip().splitlines()[-1]) for name, trace in traces.items()]
        sections.append(Section("Models that could not be run", [Facts(last)]))
    level = "95%, over cells" + (
        f"; of differences, 95% for all {len(comparison.pairs)} pairs together"
        if len(comparison.pairs) > 1
        else ""
    )
    footer = page_footer(audited=about, intervals=level)
    table = comparison.first_report.table.name
    where = "" if table == "the table" else f" on {table}"
    title = f"{count(len(comparison.reports), 'model')} compared{where}"
    return Document(title, f"**Verdict:** {comparison.verdict}", sections, footer)


def _models(comparison: AuditComparison) -> Table:
    ranked = len(comparison.errors) > 2
    columns = [
        Column("model"),
        Column("composes"),
        *(Column(name, "right") for name in ("unseen error", "seen error")),
    ]
    if ranked:
        columns.append(Column("rank", "right"))
    rows = []
    for name, report in comparison.reports.items():
        composes = report.finding("composes")
        entries: list[str | Badge] = [name, Badge(COMPOSES_WORDS[composes.holds], finding_tone(composes))]
        entries += [error_text(of.get(name, UNKNOWN)) for of in (comparison.unseen, comparison.seen)]
        if ranked:
            entries.append(str(comparison.ranks.get(name, "–")))
        rows.append(Row(entries))
    scores = next((one.scores for one in comparison.reports.values() if one.scores is not None), None)
    caption = "" if scores is None else f"The {scores.measure}; {WEIGHTING[scores.weighting]}."
    if ranked:
        caption += " A rank is 1 plus the number of models that are better on unseen cells, beyond chance."
    return Table(columns, rows, caption.strip())


def _differences(comparison: AuditComparison) -> list[Block]:
    columns = [
        Column("models"),
        Column("difference", "right", "unseen cells"),
        Column("", "left", "unseen cells"),
        Column("difference", "right", "seen cells"),
        Column("", "left", "seen cells"),
    ]
    rows = [
        Row(
            [
                f"{pair.second} − {pair.first}",
                *difference_entries(pair.unseen, (pair.first, pair.second)),
                *difference_entries(pair.seen, (pair.first, pair.second)),
            ]
        )
        for pair in comparison.pairs
    ]
    caption = (
        "Error of one model minus that of another on the same cells; negative if the first named is better."
    )
    table = Table(columns, rows, caption)
    if len(rows) <= MAX_SHOWN_PAIRS:
        return [table]
    shown = Table(columns, rows[:MAX_SHOWN_PAIRS], caption)
    return [
        Only(
            "terminal",
            [shown, f"{len(rows) - MAX_SHOWN_PAIRS} more pairs are on the page (--html) and in --json."],
        ),
        Only("page", [Details(f"All {len(rows)} pairs", [table])]),
    ]


def _changes(comparison: AuditComparison) -> list[Block]:
    """From the first model to each other one: which cells got better, and which worse."""
    chosen = [pair for pair in comparison.pairs if pair.first == comparison.pairs[0].first]
    few = len(chosen) <= MAX_LISTED_CHANGES
    facts = [fact for pair in chosen for fact in _change_facts(comparison, pair, listing=few)]
    best = min(comparison.unseen, key=lambda name: comparison.unseen[name].value)
    drawn = chosen if few else [pair for pair in chosen if pair.second == best]
    return [Facts(facts), *change_maps(comparison, drawn)]


def _change_facts(comparison: AuditComparison, pair: ModelPair, *, listing: bool) -> list[Fact]:
    labels = comparison.first_report.by_cell.kind == "classification"
    words = ("right to wrong", "wrong to right") if labels else ("larger error", "smaller error")
    label, facts = f"{pair.first} → {pair.second}", []
    for word, mask in zip(words, (pair.changed.worse, pair.changed.better), strict=True):
        unseen, seen = (comparison.changed(mask, unseen=which) for which in (True, False))
        if unseen or seen:
            cells = f": {cell_list([*unseen, *seen], MAX_LISTED_CELLS)}" if listing else ""
            counts = f"{count(len(unseen), 'unseen cell')}, {count(len(seen))} seen"
            facts.append(Fact(f"{label}, {word}", f"{counts}{cells}"))
    return facts or [Fact(label, "no cell" if labels else "no cell beyond noise")]


def _findings(comparison: AuditComparison) -> list[Block]:
    reports = comparison.reports
    decided = [id for id in FINDINGS if any(one.finding(id).applicable for one in reports.values())]
    rows = [Row([FINDINGS[id].title, *(_status(one, id) for one in reports.values())]) for id in decided]
    columns = [Column("finding"), *(Column(name) for name in reports)]
    verdicts = Facts([Fact(name, one.verdict) for name, one in reports.items()])
    remedies = Facts([Fact(name, one.remedies[0].title) for name, one in reports.items() if one.remedies])
    blocks: list[Block] = [verdicts, Table(columns, rows, "yes, no, unclear or not applicable, by model")]
    if remedies.facts:
        blocks += ["What to try first:", remedies]
    return blocks


def _status(report: AuditReport, id: str) -> Badge:
    finding = report.finding(id)
    return Badge(finding.status, finding_tone(finding) if np.isfinite(finding.estimate.value) else "open")
