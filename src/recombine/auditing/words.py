"""The audit in words, for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.auditing.finding import Finding
from recombine.auditing.forecast import SMALL, Forecast
from recombine.auditing.resampling import Estimate
from recombine.report import count, fixed, number, percent

if TYPE_CHECKING:
    from recombine.auditing.result import AuditReport

LABEL = 20
WORD = 9
BASELINES = {"constant": "constant", "nearest_seen_cell": "nearest seen cell"}


def text(report: AuditReport, width: int = 110) -> str:
    """The report as lines of at most `width` characters."""
    lines = [*wrap(f"Verdict: {report.verdict}", width), ""]
    lines += [*wrap(heading(report), width), ""]
    for label, sentence in facts(report):
        lines += _item(f"{label:<{LABEL}}{sentence}", width, LABEL)
    lines.append("")
    told = [one for one in report.findings if one.holds is not None or one.id == "composes"]
    for one in told:
        lines += _item(f"{one.title:<{LABEL}}{one.word:<{WORD}}{one.explanation}", width, LABEL + WORD)
    missing = [one for one in report.findings if one not in told]
    lines += ["", "Not enough evidence"] if missing else []
    for why in dict.fromkeys(one.explanation for one in missing):
        titles = ", ".join(one.title for one in missing if one.explanation == why)
        begin = f"{titles:<{LABEL}}" if len(titles) < LABEL else f"{titles}: "
        lines += _item(f"{begin}{why}", width, LABEL)
    if report.remedies:
        tried = " · ".join(f"{i}. {one.title}" for i, one in enumerate(report.remedies, start=1))
        lines += [
            "",
            *wrap(f"Try, in this order: {tried}", width, subsequent_indent="    ", break_long_words=False),
        ]
    for note in report.notes:
        lines += wrap(f"note: {note}", width, subsequent_indent="    ")
    if report.trouble:
        lines += ["", "The model raised:", *(f"  {line}" for line in report.trouble.rstrip().splitlines())]
    return "\n".join(lines)


def _item(words: str, width: int, indent: int) -> list[str]:
    begin, rest = "  ", " " * (indent + 2)
    return wrap(words, width, initial_indent=begin, subsequent_indent=rest, break_long_words=False)


def heading(report: AuditReport) -> str:
    """The size of everything in one line."""
    space, table = report.table.space, report.table
    factors = ", ".join(f"{factor.name} {factor.size}" for factor in space.factors)
    unseen = len(np.setdiff1d(table.codes, np.unique(table.codes[table.seen])))
    model = f"{report.model} ({report.framework})" if report.framework != "predictions" else "predictions"
    return (
        f"{table.name}, {model}: {count(len(table.cells))} rows, {len(space.factors)} factors ({factors}), "
        f"{count(len(table.train))} seen and {count(unseen)} unseen cells"
    )


def facts(report: AuditReport) -> Iterator[tuple[str, str]]:
    """Errors with their baselines, layers, and what the split alone predicts: a label and a sentence each."""
    scores = report.scores
    if scores is not None and (scores.cells_seen or scores.cells_unseen):
        fresh = " (new rows)" if scores.held_out else ""
        yield (
            "error",
            f"seen{fresh} {interval(scores.seen)}   unseen {interval(scores.unseen)}   ({scores.measure})",
        )
        if report.as_given is not None:
            seen, unseen = map(interval, report.as_given)
            yield "", f"(before answers were brought to the right units: seen {seen}   unseen {unseen})"
        if scores.baselines:
            listed = " · ".join(
                f"{baseline_name(name)} {number(one.value)}" for name, one in scores.baselines.items()
            )
            yield "on unseen cells", listed
    if report.layers is not None and len(report.layers.layers):
        yield "layers", layer_sentence(report)
    if isinstance(report.forecast, Forecast):
        yield "from the split", forecast_sentence(report.forecast)
    else:
        yield "from the split", report.forecast


def forecast_sentence(found: Forecast) -> str:
    """What was to be expected and what was observed, in one line."""
    at_risk, known = int(found.at_risk.sum()), found.known
    what = "single factors" if found.order == 1 else "pairs"
    order = f"seen targets are sums of effects of {what}"
    if found.order is None:
        order = "seen targets are no sums of effects of few factors"
    elif found.supposed:
        order = f"if targets are sums of effects of {what}; there are none to tell"
    predicted = (
        f"predicted from the split alone: {count(at_risk)} of {count(len(found.cells))} unseen cells at risk"
    )
    if len(found.retention) and not (found.advice.labels is not None and found.advice.labels.classes):
        kept = fixed(float(np.median(found.retention)), 2)
        predicted += (
            f", answers that vary about {kept} times as much as they should ({SMALL:g} would be a risk)"
        )
    if found.misled.any():
        rule = next(one for one in found.advice.shortcuts if one.misleads)
        names = " and ".join(found.advice.table.space.names[axis] for axis in rule.factors)
        predicted += f", a shortcut by {names} that is wrong about {count(int(found.misled.sum()))}"
    if not known.any():
        return f"{predicted} ({order})"
    both = int((found.at_risk & found.wrong)[known].sum())
    wrong = int(found.wrong[known].sum())
    return f"{predicted}; observed wrong: {count(wrong)}, of which {count(both)} were at risk ({order})"


def layer_sentence(report: AuditReport) -> str:
    """What can be read, and where factors stop being independent, in one line."""
    layers = report.layers
    assert layers is not None
    hidden = layers.hidden or layers.layers
    names = report.table.space.names
    reading = np.array([layer.readable for layer in hidden])
    if np.isnan(reading).all():
        return f"{len(hidden)} looked at; too few cells to say what can be read from them"
    least = np.nanmin(reading)
    if least >= 0.8:
        said = f"{' and '.join(names)} can be read from every layer (at least {fixed(float(least), 2)}, 1 is perfect)"
    else:
        place, axis = np.unravel_index(int(np.nanargmin(reading)), reading.shape)
        worst = f"{names[int(axis)]} in '{hidden[int(place)].name}'"
        said = f"least readable: {worst} ({fixed(max(0.0, float(least)), 2)}, 1 is perfect)"
    scores = [layer.factorisation.value for layer in hidden]
    if np.isfinite(scores).any():
        first, last = (f"{fixed(scores[i], 2)} ('{hidden[i].name}')" for i in (0, -1))
        said += f"; independence of their directions {first if len(hidden) == 1 else f'{first} to {last}'}"
    return said


def count_of(number: int, what: str) -> str:
    """A number of things.

    ```python
    >>> from recombine.auditing.words import count_of
    >>> count_of(1, "unseen cell"), count_of(2000, "unseen cell")
    ('1 unseen cell', '2,000 unseen cells')

    ```
    """
    return f"{count(number)} {what}{'' if number == 1 else 's'}"


def cell_list(cells: Sequence[Mapping[str, Any]], most: int) -> str:
    """Some cells by their levels.

    ```python
    >>> from recombine.auditing.words import cell_list
    >>> cell_list([{"colour": "red", "size": 3}, {"colour": "blue", "size": 1}], most=1)
    '(red, 3) …'

    ```
    """
    shown = "; ".join(f"({', '.join(map(str, cell.values()))})" for cell in cells[:most])
    return f"{shown} …" if len(cells) > most else shown


def interval(one: Estimate) -> str:
    """A number and its interval."""
    if not np.isfinite(one.value):
        return "–"
    if not np.isfinite(one.low):
        return number(one.value)
    return f"{number(one.value)} [{number(max(one.low, 0.0))}, {number(one.high)}]"


def baseline_name(name: str) -> str:
    """A baseline in words."""
    if name.startswith("additive_"):
        return f"additive (order {name.removeprefix('additive_')})"
    return BASELINES[name]


def estimate_words(one: Finding) -> str:
    """A finding's number with its interval, for tables."""
    value = one.estimate
    if not np.isfinite(value.value):
        return "–"
    shown = fixed(value.value, 2)
    return shown if not np.isfinite(value.low) else f"{shown} [{fixed(value.low, 2)}, {fixed(value.high, 2)}]"


def share(value: float) -> str:
    """A share as a percentage, a dash if it is not known."""
    return percent(value) if np.isfinite(value) else "–"
