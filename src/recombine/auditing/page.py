"""The audit as a page for someone who has not read the papers."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine._version import __version__
from recombine.auditing.explanations import MOSTLY
from recombine.auditing.finding import QUESTIONS, Finding
from recombine.auditing.forecast import SMALL, Forecast
from recombine.auditing.glossary import glossary
from recombine.auditing.pictures import (
    picture_of_examples,
    picture_of_forecast,
    picture_of_layers,
    picture_of_room,
    pictures_of_errors,
)
from recombine.auditing.words import baseline_name, estimate_words, forecast_sentence, heading, interval
from recombine.report import (
    Code,
    Column,
    Details,
    Page,
    Picture,
    Row,
    Section,
    Table,
    Toned,
    count,
    fixed,
    number,
)

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport

GOOD = {"composes"}
"""Findings that are good news if they hold."""
NEUTRAL = {"salience", "mixed_connectivity", "cross_interaction"}
"""Findings that are neither good nor bad by themselves."""
MOST_CELLS = 12


def page(report: AuditReport) -> Page:
    """The report as a page."""
    lead = (
        f"{report.verdict} A model that composes handles new combinations of parts that it knows. Seen combinations "
        "are those that training showed; in unseen ones no part is new, only their combination is."
    )
    sections = [
        Section("What was found", _found(report)),
        Section("Errors", _errors(report)),
        Section("What the split predicted, and what happened", _forecast(report)),
    ]
    if report.remedies:
        sections.append(Section("What to try", _remedies(report)))
    inside = _inside(report)
    if inside:
        sections.append(Section("Inside the model", inside))
    examples = _examples(report)
    if examples:
        sections.append(Section("The worst cells", examples))
    if report.notes or report.trouble:
        blocks: list[Any] = [f"{note[0].upper()}{note[1:]}." for note in report.notes]
        if report.trouble:
            blocks += [
                "The model raised an error; what does not need its answers is above.",
                Code(report.trouble.rstrip()),
            ]
        sections.append(Section("Keep in mind", blocks))
    sections.append(Section("Words", [Details("What the words mean", [glossary()])]))
    made = {
        "version": __version__,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "audited": heading(report),
        "intervals": "95 %, by resampling cells",
    }
    where = "" if report.table.name == "the table" else f" on {report.table.name}"
    return Page(f"Audit of {report.model}{where}", lead, sections, made)


def _found(report: AuditReport) -> list[Any]:
    """What could be decided, and folded away what could not, with what would decide it."""
    told = [one for one in report.findings if one.holds is not None or one.id == "composes"]
    rest = [one for one in report.findings if one not in told]
    blocks: list[Any] = [_table(told)]
    if rest:
        names = ", ".join(one.title for one in rest)
        blocks.append(Details(f"Not enough evidence: {names}", [_table(rest)]))
    return blocks


def _table(findings: Sequence[Finding]) -> Table:
    rows = []
    for one in findings:
        tone: Any = "open"
        partly = (
            one.details.get("explains") or 0.0
        ) >= MOSTLY  # it would explain the failure, another does it better
        applies = one.holds is True or (np.isfinite(one.estimate.value) and not partly)
        if one.holds is not None and one.id not in NEUTRAL and applies:
            tone = "good" if one.holds == (one.id in GOOD) else "bad"
        word = {True: "holds", False: "does not hold", None: "not enough evidence"}[one.holds]
        number_of = f"{estimate_words(one)}" + (f" ({one.means})" if np.isfinite(one.estimate.value) else "")
        remark = f"{QUESTIONS[one.id]} {one.explanation}"
        rows.append(Row([one.title, Toned(word, tone), number_of], remark, one.id.replace("_", "-")))
    return Table([Column("finding"), Column("verdict"), Column("measured by [95 % interval]")], rows)


def _errors(report: AuditReport) -> list[Any]:
    scores = report.scores
    if scores is None:
        return ["There are no answers to judge."]
    fresh = " (rows that training did not have)" if scores.held_out else ""
    rows = [
        Row([f"seen cells{fresh}", count(scores.cells_seen), interval(scores.seen)]),
        Row(["**unseen cells**", count(scores.cells_unseen), f"**{interval(scores.unseen)}**"]),
    ]
    if report.as_given is not None:
        rows += [
            Row([f"{which} cells, answers as they were given", "", interval(one)])
            for which, one in zip(("seen", "unseen"), report.as_given, strict=True)
        ]
    rows += [
        Row([f"{baseline_name(name)}, on unseen cells", "", interval(one)])
        for name, one in scores.baselines.items()
    ]
    caption = f"The {scores.measure}, each cell counting once, with 95 % intervals from resampling cells."
    columns = [Column(""), Column("cells", "right"), Column("error", "right")]
    return [Table(columns, rows, caption), *pictures_of_errors(report)]


def _forecast(report: AuditReport) -> list[Any]:
    found = report.forecast
    if not isinstance(found, Forecast):
        return [found]
    known = found.known
    said = forecast_sentence(found)
    blocks: list[Any] = [
        f"{said[0].upper()}{said[1:]}. The forecast knows which combinations training shows, and their targets, but "
        "not the model: one that sees pictures of the factors, or was trained otherwise, can do better or worse."
    ]
    if known.any():
        counts = [
            [int((found.at_risk == risk)[known & (found.wrong == wrong)].sum()) for wrong in (False, True)]
            for risk in (True, False)
        ]
        rows = [
            Row(["at risk", *(count(one) for one in counts[0])]),
            Row(["not at risk", *(count(one) for one in counts[1])]),
        ]
        columns = [
            Column("the split alone says"),
            Column("right", "right", "what happened"),
            Column("wrong", "right", "what happened"),
        ]
        blocks.append(Table(columns, rows))
    picture = picture_of_forecast(report)
    if picture is not None:
        blocks.append(picture)
    order = np.lexsort((found.retention, -np.nan_to_num(found.error, nan=-1.0)))[:MOST_CELLS]
    names = report.table.space.names
    rows = [
        Row(
            [
                *(str(level) for level in found.advice.table.describe(found.advice.targets[i]).values()),
                "yes" if found.determined[i] else "no",
                fixed(float(found.retention[i]), 2),
                "yes" if found.misled[i] else "no",
                number(float(found.error[i])),
                Toned("wrong", "bad")
                if found.wrong[i]
                else Toned("right", "good")
                if known[i]
                else Toned("–", "open"),
            ]
        )
        for i in order
    ]
    columns = [*(Column(name) for name in names), Column("determined"), Column("expected to remain", "right")]
    columns += [Column("misled by a shortcut"), Column("error", "right"), Column("observed")]
    shown = (
        f"The {len(order)} unseen cells with the largest errors of {count(len(found.cells))}. A cell is at risk if it "
        f"is not determined, if less than {SMALL:g} of its answer is expected to remain, or if a shortcut misleads."
    )
    blocks.append(Details("Cell by cell", [Table(columns, rows, shown)]))
    return blocks


def _remedies(report: AuditReport) -> list[Any]:
    blocks: list[Any] = [
        "In the order in which the evidence speaks for them. In the lines of code `report` is what `recombine.audit` "
        "gave (on the command line `--cells FILE` writes its cells); `net`, `x`, `y` and `loss` are those of your "
        "training loop; `levels` says how many levels each factor has."
    ]
    for place, one in enumerate(report.remedies, start=1):
        blocks.append(f"**{place}. {one.title[0].upper()}{one.title[1:]}.** {one.why}")
        if one.snippet:
            blocks.append(Code(one.snippet))
    return blocks


def _inside(report: AuditReport) -> list[Any]:
    blocks: list[Any] = []
    pictures = (picture_of_layers(report), picture_of_room(report))
    blocks += [picture for picture in pictures if picture is not None]
    if report.layers is not None and report.layers.layers:
        names = report.table.space.names
        columns = [Column("layer"), Column("units", "right")]
        columns += [Column(name, "right", "can be read (0 to 1)") for name in names]
        columns += [
            Column("factorisation", "right"),
            Column("volume gap", "right"),
            Column("whole cells", "right"),
        ]
        rows = [
            Row(
                [
                    layer.name,
                    count(layer.units),
                    *(fixed(float(one), 2) for one in layer.readable),
                    fixed(layer.factorisation.value, 2),
                    fixed(layer.volume_gap.value, 2),
                    "–" if layer.salience is None else fixed(float(layer.salience.order_shares[-1]), 2),
                ]
            )
            for layer in report.layers
        ]
        caption = (
            "Volume gap: log10 of the room that unseen cells take up, over that of seen ones. Whole cells: the share "
            "of similarity that only identical cells have."
        )
        blocks.append(Details("All layers in numbers", [Table(columns, rows, caption)]))
    if report.modularity is not None:
        from recombine.modularity.pictures import report_figure

        words = (
            "Each map is one layer of weights: a row for every unit that sends, a column for every unit that receives, "
            "sorted by module; frames mark connections within a module."
        )
        blocks.append(
            Details(
                "Weights, sorted by module",
                [
                    Picture(
                        "weights", report_figure(report.modularity), words, "Weight maps by module", "image"
                    )
                ],
            )
        )
    if report.profile is not None:
        words = (
            "Shares of first, second and third derivatives of the outputs that cross parts of the input, with 95 % "
            "intervals. The order of interaction is the first at which nothing crosses."
        )
        blocks.append(Details("Interaction of parts", [words, Code(str(report.profile))]))
    return blocks


def _examples(report: AuditReport) -> list[Any]:
    picture = picture_of_examples(report)
    if picture is not None:
        return [picture]
    cells, answers = report.by_cell, report.answers
    if answers is None or not len(cells.outside):
        return []
    worst = cells.outside[np.argsort(-cells.error[cells.outside], kind="stable")[:MOST_CELLS]]
    worst = worst[cells.error[worst] > 0]
    if not len(worst):
        return []
    space = report.table.space
    columns = [
        *(Column(name) for name in space.names),
        Column("wanted", "right"),
        Column("said" if report.units is None else "said (in units of the target)", "right"),
        Column("error", "right"),
    ]
    rows = [
        Row(
            [
                *(str(f.levels[level]) for f, level in zip(space.factors, cells.cells[cell], strict=True)),
                _answer(cells.targets[cell], answers.classes),
                _answer(cells.answers[cell], answers.classes),
                number(float(cells.error[cell])),
            ]
        )
        for cell in worst
    ]
    return [Table(columns, rows, "Unseen cells with the largest errors; means over their rows.")]


def _answer(values: np.ndarray, classes: tuple[Any, ...]) -> str:
    if classes:
        return str(classes[int(values.argmax())])
    shown = ", ".join(number(float(one)) for one in values[:4])
    return shown + (" …" if len(values) > 4 else "")
