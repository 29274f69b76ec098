"""The document of an audit, from which the terminal, pages and notebooks are rendered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine._version import __version__
from recombine.auditing.figures import error_figures, example_figure, forecast_figure
from recombine.auditing.findings import Finding
from recombine.auditing.layer_figures import geometry_figure, layer_figure
from recombine.auditing.scores import baseline_name
from recombine.auditing.split_forecast import SplitForecast
from recombine.auditing.thresholds import EXPLAINS, READABLE, RETENTION_AT_RISK, WRONG_CELL
from recombine.report import (
    Badge,
    Block,
    Bullets,
    Code,
    Column,
    Details,
    Document,
    Fact,
    Facts,
    Only,
    Picture,
    Row,
    Section,
    Table,
    count,
    fixed,
    number,
    percent,
)

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport
    from recombine.intervals import Estimate
    from recombine.report.document import Tone

MAX_CELLS = 12
"""Cells that a table of single cells lists."""
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
        Section("", [Facts(list(_facts(report)))], where="terminal"),
        Section("Findings", _findings(report), where="page"),
        Section("Errors", _errors(report), where="page"),
        Section("What the split predicted, and what happened", _forecast(report), where="page"),
    ]
    if report.remedies:
        sections.append(Section("What to try, strongest evidence first", _remedies(report)))
    inside, examples, notes = _inside(report), _examples(report), _notes(report)
    if inside:
        sections.append(Section("Inside the model", inside, where="page"))
    if examples:
        sections.append(Section("The worst cells", examples, where="page"))
    if notes:
        sections.append(Section("Notes", notes))
    terms = Table([Column("term"), Column("meaning")], [Row([term, text]) for term, text in TERMS.items()])
    sections.append(Section("Terms", [Details("What the terms mean", [terms])], where="page"))
    footer = {
        "version": __version__,
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "audited": heading(report),
        "intervals": "95%, by resampling cells",
    }
    where = "" if report.table.name == "the table" else f" on {report.table.name}"
    return Document(f"Audit of {report.model}{where}", f"**Verdict:** {report.verdict}", sections, footer)


def heading(report: AuditReport) -> str:
    """The table and the model in one line: rows, factors, cells."""
    space, table = report.table.space, report.table
    factors = ", ".join(f"{factor.name} {factor.size}" for factor in space.factors)
    unseen = len(np.setdiff1d(table.codes, np.unique(table.codes[table.seen])))
    model = report.model if report.framework == "predictions" else f"{report.model} ({report.framework})"
    names = [name for name in (table.name, model) if name not in {"the table", "the model"}]
    about = f"{', '.join(names)}: " if names else ""
    return (
        f"{about}{count(len(table.cells))} rows, {len(space.factors)} factors ({factors}), "
        f"{count(len(table.train))} seen and {count(unseen)} unseen cells"
    )


# ---- the terminal -------------------------------------------------------------------------------------------------


def _facts(report: AuditReport) -> Iterator[Fact]:
    """Errors and baselines, findings, layers, and the forecast from the split: one statement each."""
    scores = report.scores
    if scores is not None and (scores.cells_seen or scores.cells_unseen):
        fresh = " (new rows)" if scores.held_out else ""
        yield Fact("error", f"seen{fresh} {interval(scores.seen)}   unseen {interval(scores.unseen)}")
        if report.as_given is not None:
            seen, unseen = map(interval, report.as_given)
            yield Fact("", f"before the conversion of units: seen {seen}   unseen {unseen}")
        values = (f"{baseline_name(name)} {number(one.value)}" for name, one in scores.baselines.items())
        baselines = f"baselines: {' · '.join(values)} " if scores.baselines else ""
        yield Fact("", f"{baselines}({scores.measure})")
    for one in report.findings:
        if one.applicable:
            yield Fact(one.title, one.explanation, Badge(one.status, _tone(one)))
    rest = [one for one in report.findings if not one.applicable]
    for i, why in enumerate(dict.fromkeys(one.explanation for one in rest)):
        titles = ", ".join(one.title for one in rest if one.explanation == why)
        yield Fact("" if i else "not applicable", f"{titles}: {why}", None if i else Badge("n/a", "open"))
    if report.layers is not None and len(report.layers.layers):
        yield Fact("layers", _layer_sentence(report))
    forecast = report.forecast
    yield Fact("split forecast", forecast if isinstance(forecast, str) else forecast_sentence(forecast))


def _tone(one: Finding) -> Tone:
    """Good or bad news; neither for what is unclear, not applicable, or only nearly decided."""
    rival = (
        one.details.get("explains") or 0.0
    ) >= EXPLAINS  # it would explain the error, but another rule is better
    decided = one.holds is True or (one.holds is False and np.isfinite(one.estimate.value) and not rival)
    if one.good is None or not decided:
        return "open"
    return "good" if one.holds == one.good else "bad"


def forecast_sentence(forecast: SplitForecast) -> str:
    """The forecast from the split, and what was observed."""
    known, advice = forecast.known, forecast.advice
    at_risk = f"{_none(int(forecast.at_risk.sum()))} of {count(len(forecast.cells))} unseen cells are at risk"
    expected = []
    if len(forecast.retention) and not (advice.labels is not None and advice.labels.classes):
        kept = fixed(float(np.median(forecast.retention)), 2)
        expected.append(f"predictions {kept} times their size (at risk below {RETENTION_AT_RISK:g})")
    if forecast.misled.any():
        rule = next(one for one in advice.shortcuts if one.misleads)
        names = " and ".join(advice.table.space.names[axis] for axis in rule.factors)
        expected.append(f"a shortcut by {names} that is wrong about {count(int(forecast.misled.sum()))}")
    text = f"{at_risk}; expect {' and '.join(expected)}" if expected else at_risk
    if known.any():
        failed = forecast.wrong & known
        if forecast.at_risk.any():
            text += f"; the model fails on {_none(int((failed & forecast.at_risk).sum()))} of these"
            if not forecast.at_risk.all():
                text += f" and on {_none(int((failed & ~forecast.at_risk).sum()))} of the others"
        else:
            text += f"; the model fails on {_none(int(failed.sum()))} of them"
    return f"{text} ({_order_text(forecast)})"


def _order_text(forecast: SplitForecast) -> str:
    what = "single factors" if forecast.order == 1 else "pairs"
    if forecast.order is None:
        return "seen targets are not sums of effects of few factors"
    if forecast.supposed:
        return f"assuming that targets are sums of effects of {what}; there are no targets to tell"
    return f"seen targets are sums of effects of {what}"


def _none(number: int) -> str:
    return count(number) if number else "none"


def _layer_sentence(report: AuditReport) -> str:
    """Which factors can be decoded, and how independent they are."""
    layers = report.layers
    assert layers is not None
    hidden = layers.hidden or layers.layers
    names = report.table.space.names
    readable = np.array([layer.readable for layer in hidden])
    if np.isnan(readable).all():
        return f"{len(hidden)} examined; too few cells to say what can be decoded from them"
    lowest = float(np.nanmin(readable))
    if lowest >= READABLE:
        text = f"{' and '.join(names)} can be decoded from every layer (at least {fixed(lowest, 2)}; 1 is perfect)"
    else:
        layer, axis = np.unravel_index(int(np.nanargmin(readable)), readable.shape)
        worst = f"{names[int(axis)]} in '{hidden[int(layer)].name}'"
        text = f"hardest to decode: {worst} ({fixed(max(0.0, lowest), 2)}; 1 is perfect)"
    scores = [layer.factorisation.value for layer in hidden]
    if np.isfinite(scores).any():
        first, last = (f"{fixed(scores[i], 2)} ('{hidden[i].name}')" for i in (0, -1))
        text += f"; factorisation score {first if len(hidden) == 1 else f'{first} to {last}'}"
    return text


# ---- sections of the page -----------------------------------------------------------------------------------------


def _findings(report: AuditReport) -> list[Block]:
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
            measured = f"{estimate_text(one.estimate)} ({one.means})"
        remark, anchor = f"{one.question} {one.explanation}", one.id.replace("_", "-")
        rows.append(Row([one.title, Badge(one.status, _tone(one)), measured], remark, anchor))
    return Table([Column("finding"), Column("status"), Column("measured by [95% interval]")], rows)


def _errors(report: AuditReport) -> list[Block]:
    scores = report.scores
    if scores is None:
        return ["There are no predictions to judge."]
    fresh = " (rows that training did not use)" if scores.held_out else ""
    rows = [
        Row([f"seen cells{fresh}", count(scores.cells_seen), interval(scores.seen)]),
        Row(["**unseen cells**", count(scores.cells_unseen), f"**{interval(scores.unseen)}**"]),
    ]
    if report.as_given is not None:
        rows += [
            Row([f"{which} cells, before the conversion of units", "", interval(one)])
            for which, one in zip(("seen", "unseen"), report.as_given, strict=True)
        ]
    rows += [
        Row([f"{baseline_name(name)}, on unseen cells", "", interval(one)])
        for name, one in scores.baselines.items()
    ]
    caption = f"The {scores.measure}; every cell counts once. 95% intervals from resampling cells."
    columns = [Column(""), Column("cells", "right"), Column("error", "right")]
    return [Table(columns, rows, caption), *error_figures(report)]


def _forecast(report: AuditReport) -> list[Block]:
    forecast = report.forecast
    if isinstance(forecast, str):
        return [forecast]
    text = forecast_sentence(forecast)
    blocks: list[Block] = [
        f"{text[0].upper()}{text[1:]}. The forecast knows which combinations training shows, and their targets, but "
        "not the model: a model that sees images of the factors, or was trained differently, can do better or worse."
    ]
    known = forecast.known
    if known.any():
        rows = [
            Row(
                [
                    label,
                    *(count(int((risk & (forecast.wrong == wrong))[known].sum())) for wrong in (False, True)),
                ]
            )
            for label, risk in (("at risk", forecast.at_risk), ("not at risk", ~forecast.at_risk))
        ]
        columns = [
            Column("forecast from the split"),
            Column("right", "right", "observed"),
            Column("wrong", "right", "observed"),
        ]
        blocks.append(Table(columns, rows))
    picture = forecast_figure(report)
    if picture is not None:
        blocks.append(picture)
    return [*blocks, Details("Cell by cell", [_forecast_table(report, forecast)])]


def _forecast_table(report: AuditReport, forecast: SplitForecast) -> Table:
    order = np.lexsort((forecast.retention, -np.nan_to_num(forecast.error, nan=-1.0)))[:MAX_CELLS]
    rows = []
    for i in order:
        levels = forecast.advice.table.describe(forecast.advice.targets[i]).values()
        observed = Badge("wrong", "bad") if forecast.wrong[i] else Badge("right", "good")
        entries = [
            *(str(level) for level in levels),
            "yes" if forecast.determined[i] else "no",
            fixed(float(forecast.retention[i]), 2),
            "yes" if forecast.misled[i] else "no",
            number(float(forecast.error[i])),
            observed if forecast.known[i] else Badge("–", "open"),
        ]
        rows.append(Row(entries))
    columns = [
        *(Column(name) for name in report.table.space.names),
        Column("determined"),
        Column("expected to remain", "right"),
        Column("misled by a shortcut"),
        Column("error", "right"),
        Column("observed"),
    ]
    caption = (
        f"The {len(order)} unseen cells with the largest errors of {count(len(forecast.cells))}. A cell is at risk if "
        f"it is not determined, if less than {percent(RETENTION_AT_RISK)} of its prediction's size is expected to "
        "remain, or if a shortcut is wrong about it."
    )
    return Table(columns, rows, caption)


def _remedies(report: AuditReport) -> list[Block]:
    code: list[Block] = [
        "In the code, `report` is the result of `recombine.audit` (on the command line, `--cells FILE` writes its "
        "cells); `net`, `x`, `y` and `loss` are those of your training loop; `levels` is the number of levels of each "
        "factor."
    ]
    for rank, one in enumerate(report.remedies, start=1):
        stop = "" if one.title.endswith("…") else "."
        code.append(f"**{rank}. {one.title[0].upper()}{one.title[1:]}{stop}** {one.why}")
        if one.snippet:
            code.append(Code(one.snippet))
    titles = Bullets([one.title for one in report.remedies], numbered=True)
    return [Only("terminal", [titles]), Only("page", code)]


def _inside(report: AuditReport) -> list[Block]:
    blocks: list[Block] = [
        picture for picture in (layer_figure(report), geometry_figure(report)) if picture is not None
    ]
    if report.layers is not None and report.layers.layers:
        blocks.append(Details("All layers in numbers", [_layer_table(report)]))
    if report.modularity is not None:
        from recombine.modularity.report import report_figure

        caption = (
            "Each map is one layer of weights: a row for every sending unit, a column for every receiving unit, sorted "
            "by module; frames mark connections within a module."
        )
        figure = report_figure(report.modularity)
        picture = Picture("weights", figure, caption, "Weight maps by module", "image")
        blocks.append(Details("Weights, sorted by module", [picture]))
    if report.profile is not None:
        text = (
            "Shares of first, second and third derivatives of the outputs that cross slots of the input, with 95% "
            "intervals. The order of interaction is the first at which nothing crosses."
        )
        blocks.append(Details("Interaction of slots", [text, Code(str(report.profile))]))
    return blocks


def _layer_table(report: AuditReport) -> Table:
    assert report.layers is not None
    columns = [
        Column("layer"),
        Column("units", "right"),
        *(Column(name, "right", "can be decoded (0 to 1)") for name in report.table.space.names),
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
        "Volume gap: log10 of the volume of unseen cells over that of seen ones. Whole cells: the share of similarity "
        "that only identical cells have."
    )
    return Table(columns, rows, caption)


def _examples(report: AuditReport) -> list[Block]:
    picture = example_figure(report)
    if picture is not None:
        return [picture]
    cells, outputs = report.by_cell, report.outputs
    if outputs is None or not len(cells.outside):
        return []
    worst = cells.outside[np.argsort(-cells.error[cells.outside], kind="stable")[:MAX_CELLS]]
    worst = worst[cells.error[worst] > 0]
    if not len(worst):
        return []
    space = report.table.space
    converted = "" if report.units is None else " (in units of the target)"
    columns = [
        *(Column(name) for name in space.names),
        Column("target", "right"),
        Column(f"prediction{converted}", "right"),
        Column("error", "right"),
    ]
    rows = [
        Row(
            [
                *(str(f.levels[level]) for f, level in zip(space.factors, cells.cells[cell], strict=True)),
                _output_text(cells.targets[cell], outputs.classes),
                _output_text(cells.predictions[cell], outputs.classes),
                number(float(cells.error[cell])),
            ]
        )
        for cell in worst
    ]
    return [Table(columns, rows, "Unseen cells with the largest errors; means over their rows.")]


def _output_text(values: np.ndarray, classes: tuple[Any, ...]) -> str:
    if classes:
        return str(classes[int(values.argmax())])
    shown = ", ".join(number(float(one)) for one in values[:4])
    return shown + (" …" if len(values) > 4 else "")


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


# ---- words --------------------------------------------------------------------------------------------------------


def interval(one: Estimate) -> str:
    """An error and its interval; errors are never negative."""
    if not np.isfinite(one.value):
        return "–"
    if not np.isfinite(one.low):
        return number(one.value)
    return f"{number(one.value)} [{number(max(one.low, 0.0))}, {number(one.high)}]"


def estimate_text(one: Estimate) -> str:
    """A finding's number and its interval."""
    shown = fixed(one.value, 2)
    return shown if not np.isfinite(one.low) else f"{shown} [{fixed(one.low, 2)}, {fixed(one.high, 2)}]"
