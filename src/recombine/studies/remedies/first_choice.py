"""Which remedy to try first, by what the net predicts; and how often that is right in a world that was left out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recombine.intervals import Estimate, rate_interval
from recombine.report import Column, Row, Table, percent
from recombine.report.numbers import MISSING
from recombine.studies.claim import Amendment, Claim
from recombine.studies.evidence import Evidence
from recombine.studies.measurement import PerSeed
from recombine.studies.quantity import difference
from recombine.studies.remedies.matrix import (
    THIRTEENTH_WORLD,
    entry,
    gains,
    measured_remedies,
    measured_worlds,
)
from recombine.studies.remedies.matrix_section import REST
from recombine.studies.remedies.sweep_arms import KINDS, SMOKE_ARMS
from recombine.studies.study import StudySection, Tabulation

SAME_TASK = frozenset({"bumps", "bumps (CNN)"})
"""Worlds that differ in their nets only: neither tells what to choose in the other."""
TWINS_LEFT_OUT = Amendment(
    "every world is left out by itself",
    "a world is left out together with the others of the same task",
    "Bumps with a dense and with a convolutional decoder are one task, so each told what to choose in the other. The "
    "second seed set was open before (0.04 [-0.03, 0.10]).",
)
BY_KIND, FOR_ALL = "by kind of output", "one remedy for all"


def median_gains(evidence: Evidence) -> dict[tuple[str, str], float]:
    """The median gain over seeds by world and remedy; 0 where nets do not fit, because that helps nobody."""
    found = {}
    for world in measured_worlds(evidence):
        for remedy in measured_remedies(evidence, world):
            values = gains(evidence, world, remedy)
            fitted = np.isfinite(values)
            found[world, remedy] = (
                float(np.median(values[fitted])) if 2 * fitted.sum() >= len(values) else 0.0
            )
    return found


def choice(
    known: dict[tuple[str, str], float], world: str, candidates: Sequence[str], others: Sequence[str]
) -> str | None:
    """The remedy with the largest mean gain over other worlds, among those that can be applied in this one.

    In a world where it cannot be applied, a remedy gains nothing.

    ```python
    >>> from recombine.studies.remedies.first_choice import choice
    >>> known = {("a", "L1"): 0.1, ("a", "noise"): 0.5, ("b", "L1"): 0.3}
    >>> choice(known, "c", ["L1", "noise"], ["a", "b"]), choice(known, "c", ["L1"], ["a", "b"])
    ('noise', 'L1')

    ```
    """
    usable = [r for r in candidates if any((other, r) in known for other in others if other != world)]
    if not usable:
        return None
    rest = [other for other in others if other != world]
    return max(usable, key=lambda remedy: sum(known.get((other, remedy), 0.0) for other in rest))


def choices(evidence: Evidence) -> dict[str, dict[str, str | None]]:
    """For every world, chosen from the other worlds: the remedy by kind of output, and the one for all worlds."""
    known, names = median_gains(evidence), measured_worlds(evidence)
    found: dict[str, dict[str, str | None]] = {}
    for world in names:
        candidates = measured_remedies(evidence, world)
        others = [other for other in names if not {other, world} <= SAME_TASK]
        alike = [other for other in others if KINDS[other] == KINDS[world]]
        for_all = choice(known, world, candidates, others)
        found[world] = {BY_KIND: choice(known, world, candidates, alike) or for_all, FOR_ALL: for_all}
    return found


def hits(evidence: Evidence, rule: str) -> Estimate:
    """In how many worlds the choice helps beyond the plain net, with Wilson's interval."""
    found = choices(evidence)
    right = [
        entry(evidence, world, chosen).mark == "helps"
        for world, by_rule in found.items()
        if (chosen := by_rule[rule]) is not None
    ]
    return rate_interval(sum(right), len(right))


def chance(evidence: Evidence) -> float:
    """How often a remedy drawn at random among those that can be applied helps, mean over worlds."""
    shares = []
    for world in measured_worlds(evidence):
        marks = [entry(evidence, world, r).mark == "helps" for r in measured_remedies(evidence, world)]
        shares += [np.mean(marks)] if marks else []
    return float(np.mean(shares)) if shares else float("nan")


def _lead(evidence: Evidence) -> PerSeed:
    found = choices(evidence)
    lead, single = [], []
    for world, by_rule in found.items():
        one, other = by_rule[BY_KIND], by_rule[FOR_ALL]
        if one is None or other is None:
            continue
        # Nets that do not fit gain nothing.
        lead.append(np.nan_to_num(gains(evidence, world, one)))
        single.append(np.nan_to_num(gains(evidence, world, other)))
    return PerSeed(
        np.mean(lead, axis=0) - np.mean(single, axis=0),
        supports={
            f"mean gain, {BY_KIND}": np.mean(lead, axis=0),
            f"mean gain, {FOR_ALL}": np.mean(single, axis=0),
            f"worlds in which it helps, {BY_KIND}": [hits(evidence, BY_KIND).value],
            f"worlds in which it helps, {FOR_ALL}": [hits(evidence, FOR_ALL).value],
            "worlds in which it helps, drawn at random": [chance(evidence)],
        },
    )


def _fill(evidence: Evidence) -> Table:
    found = choices(evidence)
    rows = []
    for world, by_rule in found.items():
        cells = []
        for rule in (BY_KIND, FOR_ALL):
            chosen = by_rule[rule]
            cells.append(MISSING if chosen is None else f"{chosen}: {entry(evidence, world, chosen).mark}")
        rows.append(Row([world, KINDS[world], *cells]))
    rates = []
    for rule in (BY_KIND, FOR_ALL):
        rate = hits(evidence, rule)
        rates.append(f"{percent(rate.value)} [{percent(rate.low)}, {percent(rate.high)}]")
    rows.append(Row(["helps", "", *rates]))
    caption = (
        "Each world's remedy is chosen from the gains in the other worlds. Last row: how often the choice helps, with "
        f"Wilson's interval over worlds; a remedy drawn at random helps in {percent(chance(evidence))} of cases."
    )
    columns = [Column("world"), Column("outputs"), Column(BY_KIND), Column(FOR_ALL)]
    return Table(columns, rows, caption=caption)


SECTION = StudySection(
    "Which remedy to try first",
    arms=lambda scale: {},
    claims=(
        Claim(
            "7",
            "choosing the first remedy by the kind of output (images, labels, quantities) beats one remedy for all",
            "ours",
            difference(
                "gain of the choice by kind minus of the best remedy for all, mean over left-out worlds",
                "above",
            ),
            SMOKE_ARMS,
            _lead,
            also=REST,
            headline=True,
            reversal="what helps had differed more within kinds of output than between them",
            reduced="small worlds and nets",
            amendments=(THIRTEENTH_WORLD, TWINS_LEFT_OUT),
        ),
    ),
    tabulations=(Tabulation("The first choice in a world that was left out", SMOKE_ARMS, _fill),),
)
