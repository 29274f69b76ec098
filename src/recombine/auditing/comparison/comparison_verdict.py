"""Which of several models is better on unseen cells, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from recombine.auditing.rules.rule import listed
from recombine.report import number

if TYPE_CHECKING:
    from recombine.auditing.comparison.comparison import AuditComparison, ModelPair
    from recombine.auditing.comparison.paired_difference import PairedDifference


def comparison_verdict(comparison: AuditComparison) -> str:
    """The result in words: the better model on unseen cells, then on seen ones, then which models compose."""
    names = list(comparison.errors)
    if not names:
        return "Undecided: no model has predictions to judge."
    if len(comparison.reports) == 1:
        (name, report), *_ = comparison.reports.items()
        return f"Only one model, {name}: {report.verdict}"
    left_out = [name for name in comparison.reports if name not in names]
    failed = [f"{listed(left_out)} could not be run."] if left_out else []
    composing = _composing(comparison, names)
    if len(names) == 1:
        return " ".join([f"Only {names[0]} has predictions to judge.", *failed, composing])
    first = _two(comparison.pairs[0]) if len(names) == 2 else _several(comparison, names)
    return " ".join([first, *failed, composing])


def _two(pair: ModelPair) -> str:
    unseen, seen = pair.unseen, pair.seen
    both = f"{pair.first} and {pair.second}"
    if not unseen.cells:
        start = f"{both} cannot be compared on unseen combinations"
    elif unseen.same:
        start = f"{both} have the same errors on unseen combinations"
    elif unseen.differs:
        best, other, errors = _ordered(pair, unseen)
        start = f"{best} is better than {other} on unseen combinations: {errors}"
    else:
        errors = f"errors {number(unseen.before)} and {number(unseen.after)}"
        start = f"{both} do not differ on unseen combinations beyond chance: {errors}{_size(unseen)}"
    if not seen.cells:
        return f"{start}."
    if seen.same:
        return f"{start}; on seen ones they are the same."
    if not seen.differs:
        return f"{start}; on seen ones they do not differ{'' if unseen.differs else ' either'}."
    best, other, errors = _ordered(pair, seen)
    return f"{start}; on seen ones {best} is better: {errors}."


def _ordered(pair: ModelPair, one: PairedDifference) -> tuple[str, str, str]:
    """The better model, the other one, and their errors."""
    best, other = (pair.second, pair.first) if one.better else (pair.first, pair.second)
    low, high = sorted((one.before, one.after))
    return best, other, f"error {number(low)} against {number(high)}{_size(one)}"


def _size(one: PairedDifference) -> str:
    if not np.isfinite(one.difference.low):
        return " (too few cells for an interval)"
    return f", difference {one.size}"


def _several(comparison: AuditComparison, names: Sequence[str]) -> str:
    """The model with the smallest error, and the models that it is better than."""
    pairs = comparison.pairs
    unseen = {pair.first: pair.unseen.before for pair in pairs} | {
        pair.second: pair.unseen.after for pair in pairs
    }
    if not pairs[0].unseen.cells:
        return f"{listed(names)} cannot be compared on unseen combinations."
    if all(pair.unseen.same for pair in pairs):
        start = f"All {len(names)} models have the same errors on unseen combinations."
    elif not any(pair.unseen.differs for pair in pairs):
        low, high = min(unseen.values()), max(unseen.values())
        start = (
            f"No two of the {len(names)} models differ on unseen combinations beyond chance: errors from "
            f"{number(low)} to {number(high)}."
        )
    else:
        start = _best(names, pairs, unseen)
    differing = [pair for pair in pairs if pair.seen.differs]
    if not pairs[0].seen.cells:
        return start
    if not differing:
        return f"{start} On seen ones no two differ."
    some = ["{} is better than {}".format(*_ordered(pair, pair.seen)[:2]) for pair in differing[:3]]
    more = f", and so on ({len(differing)} of {len(pairs)} pairs)" if len(differing) > 3 else ""
    return f"{start} On seen ones {listed(some) if not more else ', '.join(some)}{more}."


def _best(names: Sequence[str], pairs: Sequence[ModelPair], unseen: dict[str, float]) -> str:
    best = min(names, key=lambda name: unseen[name])
    ordered = sorted(names, key=lambda name: unseen[name])
    beaten = {
        pair.first if pair.second == best else pair.second
        for pair in pairs
        if (pair.second == best and pair.unseen.better) or (pair.first == best and pair.unseen.worse)
    }
    shown = {name: f"{name} ({number(unseen[name])})" for name in ordered}
    better = [shown[name] for name in ordered if name in beaten]
    like = [shown[name] for name in ordered if name != best and name not in beaten]
    text = f"{best} has the smallest error on unseen combinations, {number(unseen[best])}"
    if better and not like:
        text += f": it is better than {_few(better)}"
    elif better:
        text += f": it is better than {_few(better)}, but does not differ from {_few(like)} beyond chance"
    else:
        text += ", but is not better than any other beyond chance"
    return f"{text}."


def _few(names: Sequence[str]) -> str:
    return listed(names) if len(names) <= 5 else f"{', '.join(names[:4])} and {len(names) - 4} more"


def _composing(comparison: AuditComparison, names: Sequence[str]) -> str:
    """Which models compose, which do not, and which are undecided."""
    words = {
        True: ("composes", "compose"),
        False: ("does not", "do not"),
        None: ("is undecided", "are undecided"),
    }
    groups = {
        holds: [name for name in names if comparison.reports[name].finding("composes").holds is holds]
        for holds in words
    }
    parts = []
    for holds, members in groups.items():
        if members:
            one, many = words[holds]
            verb = one if len(members) == 1 else many
            if holds is False and not groups[True]:
                verb += " compose"
            parts.append(f"{_few(members)} {verb}")
    return f"{'; '.join(parts)}."
