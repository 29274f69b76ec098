"""What the terminal shows first: errors, findings, layers and the forecast, one statement each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from recombine.auditing.refits import refit_title
from recombine.auditing.report.ceiling_section import ceiling_sentence
from recombine.auditing.report.error_section import COMPOSES_WORDS, WEIGHTING, error_text, ratio_text
from recombine.auditing.report.finding_section import finding_tone
from recombine.auditing.report.forecast_section import forecast_sentence
from recombine.auditing.report.layer_section import layer_sentence
from recombine.auditing.report.probability_section import probability_facts
from recombine.auditing.report.text_section import part_facts
from recombine.report import Badge, Fact, number, percent

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport


SHOWN_BASELINES = ("constant", "nearest_seen_cell", "additive_1", "additive_2")
"""Simple models that the terminal lists; the page lists all."""
SHOWN_CONDITIONS = 3
"""Conditions that the terminal lists."""


def summary_facts(report: AuditReport) -> Iterator[Fact]:
    """Errors and baselines, findings, layers, and the forecast from the split: one statement each."""
    scores = report.scores
    if scores is not None and (scores.cells_seen or scores.cells_unseen):
        fresh = " (new rows)" if scores.held_out else ""
        yield Fact("error", f"seen{fresh} {error_text(scores.seen)}   unseen {error_text(scores.unseen)}")
        if report.as_given is not None:
            seen, unseen = map(error_text, report.as_given)
            yield Fact("", f"before the conversion of units: seen {seen}   unseen {unseen}")
        shown = {name: one for name, one in scores.baselines.items() if name in SHOWN_BASELINES}
        values = (f"{refit_title(name)} {number(one.value)}" for name, one in shown.items())
        baselines = f"baselines: {' · '.join(values)} " if shown else ""
        weighting = "" if scores.weighting == "cells" else f", {WEIGHTING[scores.weighting]}"
        yield Fact("", f"{baselines}({scores.measure}{weighting})")
        ceiling = ceiling_sentence(report)
        if ceiling:
            yield Fact("could be known", ceiling)
        if np.isfinite(scores.ratio.value):
            yield Fact("unseen / seen", f"{ratio_text(scores.ratio)} times the error")
        by_output = report.by_output
        if by_output.only_some:
            composing = zip(by_output.names, by_output.scores, strict=True)
            each = " · ".join(f"{name} {COMPOSES_WORDS[one.composes]}" for name, one in composing)
            yield Fact("composes, by output", each)
        if scores.label_noise > 0:
            yield Fact("wrong labels", f"about {percent(scores.label_noise)}, by rows of the same cell")
    for i, condition in enumerate(report.conditions[:SHOWN_CONDITIONS]):
        yield Fact("" if i else "right and wrong", condition.sentence)
    yield from part_facts(report)
    yield from probability_facts(report)
    for one in report.findings:
        if one.applicable:
            yield Fact(one.title, one.explanation, Badge(one.status, finding_tone(one)))
    rest = [one for one in report.findings if not one.applicable]
    for i, why in enumerate(dict.fromkeys(one.explanation for one in rest)):
        titles = ", ".join(one.title for one in rest if one.explanation == why)
        yield Fact("" if i else "not applicable", f"{titles}: {why}", None if i else Badge("n/a", "open"))
    if report.layers is not None and len(report.layers.layers):
        yield Fact("layers", layer_sentence(report))
    forecast = report.forecast
    yield Fact("split forecast", forecast if isinstance(forecast, str) else forecast_sentence(forecast))
