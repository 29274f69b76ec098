"""The zoo's table: what the audit says about every kind, and how often it is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.zoo.judging import Outcome
from benchmarks.zoo.kinds import SHOWS
from benchmarks.zoo.truth import CAUSES, GROWS, NO_PATTERN, NOT_LEARNED
from recombine.report import Column, Row, Table, table_text

FRESH_SEEDS = 200
"""From this seed on no threshold of the audit was chosen."""
SHORT = {
    "memorisation_leak": "memory",
    "additive_only": "additive",
    "shortcut": "shortcut",
    "superposition": "overlay",
}


def summary_text(outcomes: Sequence[Outcome], left_out: Sequence[str]) -> str:
    """The table, the rates on even and on odd seeds, and every miss."""
    if outcomes and min(one.seed for one in outcomes) >= FRESH_SEEDS:
        halves = {"seeds on which nothing was chosen": list(outcomes)}
    else:
        halves = {
            "even seeds (to choose thresholds on)": [one for one in outcomes if one.seed % 2 == 0],
            "odd seeds (to report)": [one for one in outcomes if one.seed % 2 == 1],
        }
    lines = [table_text(_kinds_table(outcomes))]
    for title, some in halves.items():
        lines += [
            "",
            f"{title}: {len(some)} models",
            *(f"  {name:<62} {text}" for name, text in _lines(some)),
        ]
    redrawn = sum(one.attempt for one in outcomes)
    lines += [
        "",
        "Most tasks of the zoo are sums or products, so a simple model that is fitted instead nearly always helps.",
    ]
    lines += ["", f"draws that were unclear, or not of their kind, and drawn again: {redrawn}"]
    lines += [f"left out: {len(left_out)}", *(f"  {one}" for one in sorted(left_out))]
    misses = [one for one in outcomes if not one.right]
    lines += ["", f"misses: {len(misses)} of {len(outcomes)}", *(f"  {_miss(one)}" for one in misses)]
    return "\n".join(lines)


def summary_dict(outcomes: Sequence[Outcome], left_out: Sequence[str]) -> dict[str, Any]:
    """The same as plain values."""
    halves = {
        name: {
            title: [hits, total]
            for title, (hits, total) in rates([o for o in outcomes if o.seed % 2 == odd]).items()
        }
        for odd, name in enumerate(("even", "odd"))
    }
    return {"rates": halves, "left_out": sorted(left_out), "outcomes": [one.to_dict() for one in outcomes]}


def rates(outcomes: Sequence[Outcome]) -> dict[str, tuple[int, int]]:
    """Counts behind every rate: how many, of how many."""

    def share(of: Callable[[Outcome], bool], among: Callable[[Outcome], bool]) -> tuple[int, int]:
        some = [one for one in outcomes if among(one)]
        return sum(map(of, some)), len(some)

    fails = lambda one: one.truth["composes"] is False  # noqa: E731
    stable = [(one, other) for one in outcomes for other in one.verdicts]
    same = sum((one.composes, one.causes) == (said, tuple(causes)) for one, (said, causes) in stable)
    same_verdict = sum(one.composes is said for one, (said, _) in stable)
    followed = [
        one.remedy for one in outcomes if one.remedy is not None and one.remedy.get("after") is not None
    ]

    def falls(among: Callable[[dict[str, Any]], bool]) -> tuple[int, int]:
        some = [one for one in followed if among(one)]
        return sum(one["after"] < one["before"] for one in some), len(some)

    return {
        "composers: false alarms": share(lambda one: one.false_alarm, lambda one: one.perfect),
        "composers: undecided": share(
            lambda one: one.composes is None and not one.causes, lambda one: one.perfect
        ),
        "models that fail: said to compose": share(lambda one: one.false_praise, fails),
        "models that fail: undecided": share(lambda one: one.composes is None, fails),
        "a named cause: named correctly": share(lambda one: one.right, lambda one: one.cause in CAUSES),
        "a named cause: another one named": share(
            lambda one: bool(set(one.causes) - {one.cause}), lambda one: one.cause in CAUSES
        ),
        "none of these: no cause named": share(lambda one: one.right, lambda one: one.cause == NO_PATTERN),
        "not learned: said so, no cause named": share(
            lambda one: one.right, lambda one: one.cause == NOT_LEARNED
        ),
        "error grows: not said to be 'like seen ones'": share(
            lambda one: one.right, lambda one: one.cause == GROWS
        ),
        "'like seen ones' although the error is at least twice as large": share(
            lambda one: one.claims_like_seen, lambda one: not one.perfect
        ),
        "same verdict for another resampling seed": (same_verdict, len(stable)),
        "same verdict and causes for another resampling seed": (same, len(stable)),
        "first measured remedy, followed: unseen error falls": falls(lambda one: True),
        "  of these, a simple model to fit instead": falls(lambda one: "refit" in one),
        "  of these, cells to add to training": falls(lambda one: "cells" in one),
    }


def _lines(outcomes: Sequence[Outcome]) -> list[tuple[str, str]]:
    return [
        (name, f"{hits} of {total}" + (f" ({hits / total:.1%})" if total else ""))
        for name, (hits, total) in rates(outcomes).items()
    ]


def _kinds_table(outcomes: Sequence[Outcome]) -> Table:
    rows = []
    for kind, truth in SHOWS.items():
        some = [one for one in outcomes if one.kind == kind]
        if not some:
            continue
        said = Counter({True: "yes", False: "no", None: "unclear"}[one.composes] for one in some)
        named = Counter(name for one in some for name in one.causes)
        right = sum(one.right for one in some)
        cells = [kind, truth.replace("_", " "), *(str(said[name] or "") for name in ("yes", "no", "unclear"))]
        rows.append(Row([*cells, *(str(named[name] or "") for name in CAUSES), f"{right}/{len(some)}"]))
    titles = ["yes", "no", "unclear", *(SHORT[name] for name in CAUSES), "right"]
    columns = [Column("kind"), Column("truth"), *(Column(title, "right") for title in titles)]
    return Table(
        columns,
        rows,
        caption="what the audit says: composes (yes, no, unclear), causes, and how often it is right",
    )


def _miss(one: Outcome) -> str:
    truth = "composes" if one.perfect else one.cause
    said = {True: "composes", False: "does not compose", None: "undecided"}[one.composes]
    causes = f" ({', '.join(one.causes)})" if one.causes else ""
    return f"{one.kind} {one.seed}: truth: {truth}; said: {said}{causes}; {one.note}; {one.verdict[:140]}"
