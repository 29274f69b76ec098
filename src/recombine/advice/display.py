"""Advice as words, as plain values and as a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from math import isfinite
from textwrap import wrap
from typing import Any

import numpy as np

from recombine._version import __version__
from recombine.advice.advise import USUAL_PROFILE, Advice, OrderAdvice
from recombine.advice.labels import Shortcut
from recombine.advice.lint import Finding
from recombine.report import Column, Page, Picture, Row, Section, Table, Toned, count, fixed, percent

SHOWN_CELLS = 6
"""Cells that are named in a sentence; the rest is in the files."""

SMALL = 0.6
"""Answers that shrink below this share are worth doing something about."""


def text(advice: Advice, width: int = 110) -> str:
    """The report as lines of at most `width` characters."""
    parts = [("", [heading(advice)]), ("Lint", _lint_lines(advice.warnings))]
    parts += [
        (order_title(order), list(order_lines(advice, found))) for order, found in advice.orders.items()
    ]
    parts += [("Labels", list(label_lines(advice))), ("Expect", list(expect_lines(advice)))]
    lines = []
    for title, sentences in parts:
        lines += [title] if title and sentences else []
        for sentence in sentences:
            begin = "  " if title else ""
            lines += wrap(sentence, width, initial_indent=begin, subsequent_indent=begin + "    ")
        lines += [] if title else [""]
    steps = wrap(f"What to do first: {first_steps(advice)}.", width, subsequent_indent="    ")
    return "\n".join([*lines, "", *steps])


def heading(advice: Advice) -> str:
    """The size of everything in one line."""
    table, shape = advice.table, advice.table.space
    factors = ", ".join(f"{factor.name} {factor.size}" for factor in shape.factors)
    excluded = f", {count(advice.excluded)} impossible (excluded)" if advice.excluded else ""
    return (
        f"{table.name}: {_of(len(table.cells), 'row')}, {_of(len(shape.factors), 'factor')} ({factors}), "
        f"{_of(shape.n_cells, 'cell')}: {count(len(advice.train))} seen, "
        f"{count(len(advice.targets))} of interest{excluded}"
    )


def order_title(order: int) -> str:
    """An order in words."""
    words = {1: "effects of single factors add up", 2: "pairs may matter", 3: "triples may matter"}
    return f"Order {order} ({words.get(order, f'up to {order} factors may matter together')})"


def order_lines(advice: Advice, found: OrderAdvice) -> Iterator[str]:
    """What is determined, and what would determine the rest."""
    if not len(advice.targets):
        yield "no cell of interest: training has every combination"
        return
    if found.order == len(advice.table.space.shape):
        yield "every combination may have an effect of its own, so only training cells are known"
        return
    open_cells = count(int(found.undetermined.sum()))
    yield (
        f"{count(int(found.determined.sum()))} cells of interest are determined by training, "
        f"{count(int(found.norm_completed.sum()))} only up to the model's norm, {open_cells} are not determined"
        + ("" if found.certain else " (up to a chance of one in a million)")
    )
    added = found.additions
    if not len(added.cells) and added.complete:
        return
    if not added.complete:
        yield f"no set of allowed cells determines them all; {_of(added.least, 'further cell')} would be needed"
        return
    names = "; ".join(_cell(advice, cell) for cell in added.cells[:SHOWN_CELLS])
    more = f"; … ({count(len(added.cells) - SHOWN_CELLS)} more)" if len(added.cells) > SHOWN_CELLS else ""
    proof = (
        f"optimal: {count(added.least)} is the least possible" if added.optimal else f"at least {added.least}"
    )
    yield f"Adding {_of(len(added.cells), 'cell')} determines them all [{proof}]: {names}{more}"


def label_lines(advice: Advice) -> Iterator[str]:
    """At which order the training labels are additive, and which cells say no below it."""
    for order, fit in advice.additivity.items():
        if fit.additive:
            yield f"additive at order {order}: sums of effects fit every training label"
            break
        worst = "; ".join(_cell(advice, cell) for cell in fit.worst)
        yield f"not additive at order {order} ({percent(max(fit.explained, 0))} explained); worst: {worst}"
    if advice.contradiction is not None and len(advice.contradiction):
        cells = "; ".join(_cell(advice, cell) for cell in advice.contradiction[:SHOWN_CELLS])
        yield (
            f"out of reach: no sum over parts seen in training gets the labels of these "
            f"{_of(len(advice.contradiction), 'cell')} right together; a model would have to learn new features: "
            f"{cells}"
        )


def expect_lines(advice: Advice) -> Iterator[str]:
    """The two failures that can be seen coming."""
    leak = advice.leak
    if leak is not None:
        band = (
            f", {fixed(leak.band[0], 2)} to {fixed(leak.band[1], 2)} for 10 layers to 1" if leak.band else ""
        )
        who = (
            "a random ReLU network of 3 layers"
            if leak.profile == USUAL_PROFILE
            else f"{leak.profile} saliences"
        )
        yield (
            f"memorisation leak   unseen answers shrink to about {fixed(leak.median, 2)} of their size "
            f"({who}{band}); seen with fewest partners: {_fewest(advice)}"
        )
    rules = [rule for rule in advice.shortcuts if rule.misleads]
    for rule in rules[:3]:
        yield f"shortcut            {shortcut_sentence(advice, rule)}"
    if advice.labels is not None and not rules:
        yield "shortcut            none of one or two factors misleads on labelled cells of interest"
    if advice.losses is not None:
        yield (
            f"loss                kernel machines of 1 to 10 layers get {_range(advice.losses.margin)} of the unseen "
            f"labels right with the largest margin (cross-entropy), {_range(advice.losses.squared)} with squared loss"
        )


def shortcut_sentence(advice: Advice, rule: Shortcut) -> str:
    """One rule in words."""
    names = " and ".join(f"'{advice.table.space.names[axis]}'" for axis in rule.factors)
    alone = "alone predicts" if len(rule.factors) == 1 else "together predict"
    unit = "labels" if advice.labels is not None and advice.labels.classes else "of the variance"
    there = f" and {percent(max(rule.target, 0))} of the unseen ones" if isfinite(rule.target) else ""
    return f"{names} {alone} {percent(rule.train)} of training {unit}{there}"


def first_steps(advice: Advice) -> str:
    """What helps most, in one sentence."""
    steps = []
    for finding in advice.warnings:
        if finding.severity == "error":
            steps.append(finding.action)
    order = next((o for o, fit in advice.additivity.items() if fit.additive), min(advice.orders))
    found = advice.orders[order]
    if len(found.additions.cells) and order < len(advice.table.space.shape):
        names = "; ".join(_cell(advice, cell) for cell in found.additions.cells[:2])
        more = " …" if len(found.additions.cells) > 2 else ""
        steps.append(f"add {names}{more} (order {order})")
    if advice.contradiction is not None and len(advice.contradiction):
        steps.append(
            f"add some of the cells that are out of reach, such as {_cell(advice, advice.contradiction[0])}"
        )
    if advice.leak is not None and advice.leak.median < SMALL:
        steps.append(f"show rare levels with more partners ({_fewest(advice)})")
    if any(rule.misleads for rule in advice.shortcuts):
        rule = next(rule for rule in advice.shortcuts if rule.misleads)
        names = " and ".join(advice.table.space.names[axis] for axis in rule.factors)
        steps.append(f"balance {names} against the label")
        losses = advice.losses
        if losses is not None and np.mean(losses.squared) > np.mean(losses.margin) + 0.1:
            steps.append("try squared loss instead of cross-entropy")
    return "; ".join([*dict.fromkeys(steps), "then train"]) if steps else "train; nothing stands in the way"


def as_dict(advice: Advice) -> dict[str, Any]:
    """Plain values for JSON."""
    leak = advice.leak
    return {
        "table": advice.table.name,
        "version": __version__,
        "rows": len(advice.table.cells),
        "factors": {f.name: [_plain(level) for level in f.levels] for f in advice.table.space.factors},
        "bins": {name: list(ranges) for name, ranges in advice.table.bins.items()},
        "cells": {
            "all": advice.table.space.n_cells,
            "seen": len(advice.train),
            "interest": len(advice.targets),
            "excluded": advice.excluded,
        },
        "coverage": {
            str(order): {"unseen_conjunctions": lacking, "conjunctions": total}
            for order, (lacking, total) in advice.coverage.items()
        },
        "orders": {
            str(order): {
                "determined": int(found.determined.sum()),
                "norm_completed": int(found.norm_completed.sum()),
                "undetermined": int(found.undetermined.sum()),
                "minimal_additions": [_levels(advice, cell) for cell in found.additions.cells],
                "least_additions": found.additions.least,
                "optimal": found.additions.optimal,
                "complete": found.additions.complete,
                "certain": found.certain,
            }
            for order, found in advice.orders.items()
        },
        "leak": None
        if leak is None
        else {
            "profile": leak.profile,
            "retention": {"median": leak.median, "low": leak.low, "high": leak.high},
            "band": None if leak.band is None else list(leak.band),
            "partners": {
                name: {str(level): number for level, number in levels}
                for name, levels in leak.partners.items()
            },
        },
        "shortcuts": [
            {
                "factors": [advice.table.space.names[axis] for axis in rule.factors],
                "train": _finite(rule.train),
                "target": _finite(rule.target),
                "base": _finite(rule.base),
                "chance": rule.chance,
                "misleads": rule.misleads,
            }
            for rule in advice.shortcuts
        ],
        "losses": None
        if advice.losses is None
        else {
            "depths": list(advice.losses.depths),
            "margin": list(advice.losses.margin),
            "squared": list(advice.losses.squared),
        },
        "out_of_reach": [
            _levels(advice, cell)
            for cell in (advice.contradiction if advice.contradiction is not None else ())
        ],
        "additivity": {
            str(order): {
                "additive": fit.additive,
                "explained": _finite(fit.explained),
                "worst": [_levels(advice, cell) for cell in fit.worst],
            }
            for order, fit in advice.additivity.items()
        },
        "warnings": [
            {
                "code": finding.code,
                "severity": finding.severity,
                "message": finding.message,
                "action": finding.action,
                "rows": list(finding.rows),
                "count": finding.count,
            }
            for finding in advice.warnings
        ],
    }


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
    picture = _grid_picture(advice)
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
    expected = list(expect_lines(advice))
    if expected:
        sections.append(Section("What to expect", expected))
    sections.append(
        Section("Partners", ["With how many training cells each level was seen.", _partner_table(advice)])
    )
    made = {"version": __version__, "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")}
    return Page(f"Advice on {advice.table.name}", lead, sections, made)


def _lint_lines(findings: Sequence[Finding]) -> list[str]:
    if not findings:
        return ["✓ nothing found"]
    signs = {"error": "✗", "warning": "!"}
    return [f"{signs[f.severity]} {f.code}  {f.message}{_row_numbers(f)}" for f in findings]


def _row_numbers(finding: Finding) -> str:
    if not finding.rows:
        return ""
    shown = ", ".join(map(str, finding.rows[:3]))
    return f" (row{'s' if finding.count > 1 else ''} {shown}{', …' if finding.count > 3 else ''})"


def _lint_table(findings: Sequence[Finding]) -> Table | str:
    if not findings:
        return "Nothing found: no leaked combination, no unseen level, no tiny cell, no unconnected piece, no repeat."
    rows = [
        Row(
            [
                f.code,
                Toned(f.severity, "bad" if f.severity == "error" else "open"),
                f.message + _row_numbers(f),
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
        return "Every combination was seen."
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


def _grid_picture(advice: Advice) -> Picture | None:
    """For two factors: every cell by what is known about it, at the lowest order that was asked for."""
    space = advice.table.space
    if len(space.shape) != 2 or max(space.shape) > 60:
        return None
    from recombine.report import status_grid

    order = min(advice.orders)
    found = advice.orders[order]
    status = np.full(space.shape, -1)
    status[tuple(advice.train.T)] = 0
    kinds = np.where(found.determined, 1, np.where(found.norm_completed, 2, 3))
    status[tuple(advice.targets.T)] = kinds
    share = float(found.determined.mean()) if len(kinds) else 1.0
    figure = status_grid(
        status,
        ("seen in training", "determined", "only up to the norm", "undetermined"),
        factors=space.names,
        levels=[[str(level) for level in factor.levels] for factor in space.factors],
        title=f"{percent(share)} of the unseen cells are determined at order {order}",
    )
    return Picture(
        "cells",
        figure,
        f"Every square is one combination of {space.names[0]} and {space.names[1]}. Training shows the blue ones.",
        f"Grid of cells by verdict at order {order}",
    )


def _fewest(advice: Advice) -> str:
    assert advice.leak is not None
    rarest = sorted(
        (
            (number, name, level)
            for name, levels in advice.leak.partners.items()
            for level, number in levels[:2]
        ),
        key=lambda entry: entry[0],
    )
    return ", ".join(f"{name} {level!r} ({number})" for number, name, level in rarest[:3])


def _cell(advice: Advice, cell: np.ndarray) -> str:
    return "(" + ", ".join(str(level) for level in advice.table.describe(cell).values()) + ")"


def _levels(advice: Advice, cell: np.ndarray) -> dict[str, Any]:
    return {name: _plain(level) for name, level in advice.table.describe(cell).items()}


def _plain(level: Any) -> Any:
    return level if isinstance(level, str | int | float | bool) else str(level)


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _range(shares: Sequence[float]) -> str:
    low, high = percent(min(shares)), percent(max(shares))
    return low if low == high else f"{low} to {high}"


def _of(number: int, what: str) -> str:
    return f"{count(number)} {what}{'' if number == 1 else 's'}"
