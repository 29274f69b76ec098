"""Advice in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap

from recombine.advice.expectations import expectations, salience_lines
from recombine.advice.interest import MOST_TARGETS, matching
from recombine.advice.lint import Finding
from recombine.advice.phrases import cell_name, number_of
from recombine.advice.result import Advice, OrderAdvice
from recombine.report import count, percent

SHOWN_CELLS = 6
"""Cells that are named in a sentence; the rest is in the files."""

SMALL = 0.6
"""Answers that shrink below this share are worth doing something about."""


def text(advice: Advice, width: int = 110) -> str:
    """The report as lines of at most `width` characters."""
    parts = [("", [heading(advice)]), ("Lint", lint_lines(advice.warnings))]
    parts.append(("Coverage", list(coverage_lines(advice))))
    parts += [
        (order_title(order), list(order_lines(advice, found))) for order, found in advice.orders.items()
    ]
    parts += [
        ("Labels", list(label_lines(advice))),
        ("Salience", list(salience_lines(advice))),
        ("Expect", [f"{name:<20}{sentence}" for name, sentence in expectations(advice)]),
    ]
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
    unseen = shape.n_cells - len(advice.train)
    if advice.wishes.interest == "unseen" and unseen > MOST_TARGETS:
        excluded += f" (those with rows, because {count(unseen)} unseen cells are too many)"
    return (
        f"{table.name}: {number_of(len(table.cells), 'row')}, {number_of(len(shape.factors), 'factor')} ({factors}), "
        f"{number_of(shape.n_cells, 'cell')}: {count(len(advice.train))} seen, "
        f"{count(len(advice.targets))} of interest{excluded}"
    )


def nothing_open(advice: Advice) -> str:
    """Why there is no cell of interest."""
    left = advice.table.space.n_cells - len(advice.train) - advice.excluded
    if left <= 0:
        return "training has every combination"
    return f"no row shows an unseen combination (--interest unseen asks about all {count(left)} of them)"


def order_title(order: int) -> str:
    """An order in words."""
    words = {1: "effects of single factors add up", 2: "pairs may matter", 3: "triples may matter"}
    return f"Order {order} ({words.get(order, f'up to {order} factors may matter together')})"


def order_lines(advice: Advice, found: OrderAdvice) -> Iterator[str]:
    """What is determined, and what would determine the rest."""
    if not len(advice.targets):
        yield f"no cell of interest: {nothing_open(advice)}"
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
        yield f"no set of allowed cells determines them all; {number_of(added.least, 'further cell')} would be needed"
        return
    names = "; ".join(cell_name(advice, cell) for cell in added.cells[:SHOWN_CELLS])
    more = f"; … ({count(len(added.cells) - SHOWN_CELLS)} more)" if len(added.cells) > SHOWN_CELLS else ""
    proof = (
        f"optimal: {count(added.least)} is the least possible" if added.optimal else f"at least {added.least}"
    )
    yield f"Adding {number_of(len(added.cells), 'cell')} determines them all [{proof}]: {names}{more}"


def coverage_lines(advice: Advice) -> Iterator[str]:
    """Which combinations of few levels training lacks, and with how many cells rare levels were seen."""
    names = {1: "levels", 2: "pairs", 3: "triples"}
    for order, found in advice.coverage.items():
        if not found.all or order == len(advice.table.space.shape):
            continue
        what = names.get(order, f"combinations of {order} levels")
        if not found.unseen:
            yield f"all {count(found.all)} {what} of the cells of interest occur in training"
            continue
        named = [" × ".join(str(level) for level in one.values()) for one in found.examples[:SHOWN_CELLS]]
        some = "; ".join(named) + (" …" if found.of_seen > SHOWN_CELLS else "")
        rest = found.unseen - found.of_seen
        words = f"{count(found.of_seen)} of {count(found.all)} {what} never occur in training"
        words += " although their levels do" if order > 1 else ""
        words += f": {some}" if some else ""
        yield words + (f" (and {count(rest)} with an unseen level)" if rest else "")
    if advice.leak is not None:
        yield f"levels in the fewest training cells: {_fewest(advice)}"


def label_lines(advice: Advice) -> Iterator[str]:
    """At which order the training labels are additive, and which cells say no below it."""
    for order, fit in advice.additivity.items():
        if fit.additive:
            yield f"additive at order {order}: sums of effects fit every training label"
            break
        worst = "; ".join(cell_name(advice, cell) for cell in fit.worst)
        yield f"not additive at order {order} ({percent(max(fit.explained, 0))} explained); worst: {worst}"
    if advice.labels is not None and advice.contradiction is None:
        yield "whether the labels of unseen cells are out of reach was not looked into: cells or factors are too many"
    if advice.contradiction is not None and len(advice.contradiction):
        cells = "; ".join(cell_name(advice, cell) for cell in advice.contradiction[:SHOWN_CELLS])
        yield (
            f"out of reach: no sum over parts seen in training gets the labels of these "
            f"{number_of(len(advice.contradiction), 'cell')} right together; a model would have to learn new features: "
            f"{cells}"
        )


def first_steps(advice: Advice) -> str:
    """What helps most, in one sentence."""
    steps = []
    for finding in advice.warnings:
        if finding.severity == "error":
            steps.append(finding.action)
    order = next((o for o, fit in advice.additivity.items() if fit.additive), min(advice.orders))
    found = advice.orders[order]
    if len(found.additions.cells) and order < len(advice.table.space.shape):
        names = "; ".join(cell_name(advice, cell) for cell in found.additions.cells[:2])
        more = " …" if len(found.additions.cells) > 2 else ""
        steps.append(f"add {names}{more} (order {order})")
    if advice.contradiction is not None:
        banned = matching(advice.table, advice.contradiction, advice.wishes.ban, "ban")
        for cell in advice.contradiction[~banned][:1]:
            steps.append(f"add some of the cells that are out of reach, such as {cell_name(advice, cell)}")
    if advice.leak is not None and advice.leak.median < SMALL:
        steps.append(f"show rare levels with more partners ({_fewest(advice)})")
    if any(rule.misleads for rule in advice.shortcuts):
        rule = next(rule for rule in advice.shortcuts if rule.misleads)
        names = " and ".join(advice.table.space.names[axis] for axis in rule.factors)
        steps.append(f"balance {names} against the label")
    if advice.flip is not None and len(advice.flip.cells):
        steps.append(f"add the {number_of(len(advice.flip.cells), 'cell')} named as a cure")
    if advice.losses is not None and advice.losses.squared_helps:
        steps.append("try squared loss instead of cross-entropy")
    if not steps and not len(advice.targets):
        return f"train; {nothing_open(advice)}"
    return "; ".join([*dict.fromkeys(steps), "then train"]) if steps else "train; nothing stands in the way"


def lint_lines(findings: Sequence[Finding]) -> list[str]:
    """One line for each finding."""
    if not findings:
        return ["✓ nothing found"]
    signs = {"error": "✗", "warning": "!"}
    return [f"{signs[f.severity]} {f.code}  {f.message}{row_numbers(f)}" for f in findings]


def row_numbers(finding: Finding) -> str:
    """The first rows that a finding concerns, in brackets."""
    if not finding.rows:
        return ""
    shown = ", ".join(map(str, finding.rows[:3]))
    return f" (row{'s' if finding.count > 1 else ''} {shown}{', …' if finding.count > 3 else ''})"


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
