"""Advice in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from textwrap import wrap

import numpy as np

from recombine.advice.flips import Flip
from recombine.advice.forecasts import LossForecast, SlopeForecast
from recombine.advice.labels import Shortcut
from recombine.advice.lint import Finding
from recombine.advice.profile import USUAL_PROFILE
from recombine.advice.result import Advice, OrderAdvice
from recombine.report import count, fixed, percent

SHOWN_CELLS = 6
"""Cells that are named in a sentence; the rest is in the files."""

UNEVEN = 0.1
"""Similarities that differ by more than this share of their range, for the same overlap, are not structured."""

ABOUT = 0.05
"""A slope this close to 1 is about right."""

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
    names = "; ".join(cell_name(advice, cell) for cell in added.cells[:SHOWN_CELLS])
    more = f"; … ({count(len(added.cells) - SHOWN_CELLS)} more)" if len(added.cells) > SHOWN_CELLS else ""
    proof = (
        f"optimal: {count(added.least)} is the least possible" if added.optimal else f"at least {added.least}"
    )
    yield f"Adding {_of(len(added.cells), 'cell')} determines them all [{proof}]: {names}{more}"


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
    if advice.contradiction is not None and len(advice.contradiction):
        cells = "; ".join(cell_name(advice, cell) for cell in advice.contradiction[:SHOWN_CELLS])
        yield (
            f"out of reach: no sum over parts seen in training gets the labels of these "
            f"{_of(len(advice.contradiction), 'cell')} right together; a model would have to learn new features: "
            f"{cells}"
        )


def salience_lines(advice: Advice) -> Iterator[str]:
    """What was estimated from activity, and how far it can be trusted; nothing if saliences were not estimated."""
    estimate = advice.profile.estimate
    if estimate is None:
        return
    found = estimate.found
    what = {1: "a single factor", 2: "a pair", 3: "a triple"}
    shares = [
        f"S({order}) = {fixed(share, 3)} [{fixed(low, 3)}, {fixed(high, 3)}]"
        f" for {what.get(order, f'{order} factors together')}"
        for order, (share, (low, high)) in enumerate(
            zip(found.order_shares, found.interval.tolist(), strict=True), start=1
        )
    ]
    yield f"share of the layer's similarity that each combination carries: {', '.join(shares)}"
    if estimate.rows < estimate.of:
        yield f"from {count(estimate.rows)} of {_of(estimate.of, 'row')}, those of some levels drawn at random"
    worst = float(np.nanmax(found.unevenness))
    rough = "only roughly" if worst > UNEVEN else "closely"
    yield (
        f"pairs of cells with the same factors in common differ in similarity by up to {percent(worst)} of the range, "
        f"so the layer is {rough} one whose similarities depend on what is shared, as the forecasts assume"
    )
    if found.self_pairs:
        yield (
            "hardly any cell has a second row, so rows were compared with themselves: noise counts as memory of "
            "whole cells, and single factors come out too small"
        )


def expectations(advice: Advice) -> Iterator[tuple[str, str]]:
    """Failures that can be seen coming: a name and a sentence for each."""
    leak = advice.leak
    if leak is not None:
        shallow, deep = leak.band or (0.0, 0.0)
        band = f", {fixed(shallow, 2)} for 1 layer, {fixed(deep, 2)} for 10" if leak.band else ""
        usual = leak.profile == USUAL_PROFILE
        who = "a random ReLU network of 3 layers" if usual else f"{leak.profile} saliences"
        share = fixed(leak.median, 2)
        coarse = "; counting single levels only, since pairs are too many" if leak.order == 1 else ""
        yield (
            "memorisation leak",
            f"unseen answers shrink to about {share} of their size ({who}{band}{coarse})",
        )
    if advice.slope is not None:
        yield "slope", slope_sentence(advice.slope)
    rules = [rule for rule in advice.shortcuts if rule.misleads]
    for rule in rules[:3]:
        yield "shortcut", shortcut_sentence(advice, rule)
    if advice.labels is not None and not rules:
        yield "shortcut", "none of one or two factors misleads on labelled cells of interest"
    if advice.losses is not None:
        yield "loss", loss_sentence(advice.losses)
    if advice.flip is not None:
        yield "cure", flip_sentence(advice, advice.flip)


def slope_sentence(found: SlopeForecast) -> str:
    """How answers grow with the truth."""
    low, high = (fixed(end, 2) for end in found.band)
    sizes = "too close together" if found.slope < 1 else "too far apart"
    kind = "about right" if abs(found.slope - 1) < ABOUT else sizes
    noise = (
        "" if not isfinite(found.explained) else f", which explains {percent(found.explained)} of the answers"
    )
    return (
        f"where the truth of {_of(found.cells, 'labelled cell')} of interest rises by 1, answers rise by "
        f"{fixed(found.slope, 2)} ({low} to {high} for random ReLU networks of {found.depths[0]} to "
        f"{found.depths[-1]} layers){noise}: they are {kind}"
    )


def loss_sentence(found: LossForecast) -> str:
    """Which loss gets the unseen labels right, and whether a change of loss would help."""
    margin, squared = (sum(share == 1 for share in shares) for shares in (found.margin, found.squared))
    tried = len(found.depths)
    machines = f"kernel machines (random ReLU networks of 1 to {found.depths[-1]} layers)"
    if margin == squared == tried and found.squared_helps is None:
        return (
            f"all {tried} {machines} get every unseen label right, with cross-entropy and with squared loss"
        )
    words = (
        f"{margin} of {tried} {machines} get every unseen label right with the largest margin (cross-entropy; "
        f"accuracy {_range(found.margin)}), {squared} of {tried} with squared loss ({_range(found.squared)})"
    )
    if found.squared_helps is None:
        return words
    if found.squared_helps:
        return f"{words}: squared loss would fix it"
    better = found.chosen_squared > found.chosen_margin
    return f"{words}: squared loss would {'help, but not fix it' if better else 'not fix it'}"


def flip_sentence(advice: Advice, found: Flip) -> str:
    """Which few cells make the largest margin right about the others."""
    who = "the saliences assumed" if advice.profile.assumed else f"{advice.profile.name} saliences"
    words = f"with {who} the largest margin gets {percent(found.before)} of the unseen labels right"
    if not len(found.cells):
        return f"{words}; no few further training cells were found that make the others right"
    proof = (
        f"{found.least} is the least possible"
        if found.smallest
        else f"fewer than {found.least} are not enough; not proven to be the fewest"
    )
    names = "; ".join(cell_name(advice, cell) for cell in found.cells)
    return f"{words}; adding {_of(len(found.cells), 'cell')} makes all others right [{proof}]: {names}"


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
        names = "; ".join(cell_name(advice, cell) for cell in found.additions.cells[:2])
        more = " …" if len(found.additions.cells) > 2 else ""
        steps.append(f"add {names}{more} (order {order})")
    if advice.contradiction is not None and len(advice.contradiction):
        steps.append(
            f"add some of the cells that are out of reach, such as {cell_name(advice, advice.contradiction[0])}"
        )
    if advice.leak is not None and advice.leak.median < SMALL:
        steps.append(f"show rare levels with more partners ({_fewest(advice)})")
    if any(rule.misleads for rule in advice.shortcuts):
        rule = next(rule for rule in advice.shortcuts if rule.misleads)
        names = " and ".join(advice.table.space.names[axis] for axis in rule.factors)
        steps.append(f"balance {names} against the label")
        if advice.flip is not None and len(advice.flip.cells):
            steps.append(f"add the {_of(len(advice.flip.cells), 'cell')} named as a cure")
        if advice.losses is not None and advice.losses.squared_helps:
            steps.append("try squared loss instead of cross-entropy")
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


def cell_name(advice: Advice, cell: np.ndarray) -> str:
    """A cell by its levels, in brackets."""
    return "(" + ", ".join(str(level) for level in advice.table.describe(cell).values()) + ")"


def _range(shares: Sequence[float]) -> str:
    known = [share for share in shares if isfinite(share)] or [0.0]
    low, high = percent(min(known)), percent(max(known))
    return low if low == high else f"{low} to {high}"


def _of(number: int, what: str) -> str:
    return f"{count(number)} {what}{'' if number == 1 else 's'}"
