"""Claims: statements of a paper as executable checks.

A claim is checked against evidence: the named arms of an experiment, with their values for every seed. Its verdict
combines conditions. Each condition compares one measured number per seed with a threshold that was fixed beforehand.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from recombine.errors import InputError
from recombine.runs import Result

Scale = Literal["smoke", "quick", "paper"]
SCALES: tuple[Scale, ...] = ("smoke", "quick", "paper")
Word = Literal["holds", "fails", "undecided"]

_RELATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "==": operator.eq,
}
_SIGNS = {"<=": "≤", ">=": "≥", "<": "<", ">": ">", "==": "="}


@dataclass(frozen=True)
class Arm:
    """The results of one experimental arm; the first axis of every value is the seed."""

    seeds: tuple[int, ...]
    status: tuple[str, ...]
    values: Mapping[str, np.ndarray]
    curves: Mapping[str, np.ndarray]

    @staticmethod
    def of(results: Sequence[Result]) -> Arm:
        """Joins the results of trials that differ only in their seeds."""
        values = {name: _joined(results, "values", name) for name in _names(results, "values")}
        curves = {name: _joined(results, "curves", name) for name in _names(results, "curves")}
        seeds = tuple(seed for result in results for seed in result.trial.seeds)
        return Arm(seeds, tuple(s for result in results for s in result.status), values, curves)

    def share_of_blank(self, side: Literal["in", "out"]) -> np.ndarray:
        """The error on seen or unseen cells divided by that of a blank image, for every seed."""
        return self[f"error_{side}"] / self[f"baseline_blank_{side}"]

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.values:
            raise InputError("value", name, f"one of {', '.join(sorted(self.values))}")
        return self.values[name]


def _names(results: Sequence[Result], field: str) -> list[str]:
    return list(dict.fromkeys(name for result in results for name in getattr(result, field)))


def _joined(results: Sequence[Result], field: str, name: str) -> np.ndarray:
    """One value of all results; NaN for results without it (all their seeds diverged)."""
    present = [getattr(result, field).get(name) for result in results]
    shape = next(array.shape[1:] for array in present if array is not None)
    missing = [np.full((len(result.trial.seeds), *shape), np.nan) for result in results]
    arrays = [gap if array is None else array for array, gap in zip(present, missing, strict=True)]
    if field == "curves":  # a run that stopped early has fewer records
        length = max(array.shape[1] for array in arrays)
        arrays = [np.pad(a, [(0, 0), (0, length - a.shape[1])], mode="edge") for a in arrays]
    return np.concatenate(arrays)


class Evidence(Mapping[str, Arm]):
    """The arms of a study that have been run, by name."""

    def __init__(self, arms: Mapping[str, Arm], scale: Scale) -> None:
        self._arms, self.scale = dict(arms), scale

    def __getitem__(self, name: str) -> Arm:
        return self._arms[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arms)

    def __len__(self) -> int:
        return len(self._arms)


@dataclass(frozen=True)
class Condition:
    """One measured number per seed, compared with a threshold that every seed must meet.

    Without a relation the number is only reported.
    """

    label: str
    values: Any
    relation: str | None = None
    threshold: float = float("nan")

    @property
    def numbers(self) -> np.ndarray:
        """The values as a flat array, one per seed."""
        return np.atleast_1d(np.asarray(self.values, dtype=float)).ravel()

    @property
    def holds(self) -> bool | None:
        """Whether every seed meets the threshold; `None` without a relation. A NaN never meets a threshold."""
        if self.relation is None:
            return None
        return bool(_RELATIONS[self.relation](self.numbers, self.threshold).all())

    def __str__(self) -> str:
        middle, (low, high) = _summary(self.numbers)
        shown = f"{middle:.3g}" if not low < high else f"{middle:.3g} [{low:.3g}, {high:.3g}]"
        missing = int(np.isnan(self.numbers).sum())
        shown += f", {missing} of {len(self.numbers)} without a value" if missing else ""
        if self.relation is None:
            return f"{self.label} {shown}"
        mark = "✓" if self.holds else "✗"
        return f"{self.label} {shown} (required {_SIGNS[self.relation]} {self.threshold:g}) {mark}"


@dataclass(frozen=True)
class Verdict:
    """The result of a check. `holds` is `None` if the check decides nothing, and `reason` says why."""

    holds: bool | None
    measured: float
    spread: tuple[float, float]
    n_seeds: int
    detail: str
    reason: str = "descriptive; no pass/fail criterion"

    @staticmethod
    def of_arm(evidence: Evidence, arm: str, conditions: Sequence[Condition], **settings: Any) -> Verdict:
        """`of`, with the number of seeds of one arm."""
        return Verdict.of(conditions, n_seeds=len(evidence[arm].seeds), **settings)

    @staticmethod
    def of(
        conditions: Sequence[Condition],
        *,
        headline: Any = None,
        n_seeds: int,
        note: str = "",
    ) -> Verdict:
        """Combines conditions: all must hold. Nothing is decided if none of them has a relation.

        **Arguments:**

        - `headline`: the number per seed that is shown as measured; by default that of the first condition.
        """
        numbers = (
            conditions[0].numbers if headline is None else np.atleast_1d(np.asarray(headline, dtype=float))
        )
        detail = "; ".join(str(condition) for condition in conditions)
        middle, spread = _summary(numbers)
        return Verdict(
            all(decided) if (decided := [c.holds for c in conditions if c.relation is not None]) else None,
            middle,
            spread,
            n_seeds,
            f"{detail}. {note}" if note else detail,
        )


@dataclass(frozen=True)
class Claim:
    """A statement of a paper as an executable check.

    **Arguments:**

    - `id`: the number of the claim within its study.
    - `statement`: the expected result, with its threshold, in one line.
    - `source`: where the statement comes from.
    - `published`: the published value as text, `"–"` if there is none.
    - `needs`: the arms that the check uses.
    - `check`: from the evidence to a verdict.
    - `decided_at`: the smallest scale at which the check is meaningful; below it the verdict is `undecided`.
    - `also`: further arms, run at the scales that have them; the check uses them if they are finite.
    - `on_request`: at scale quick, run only if asked for by id, because it takes `minutes` minutes.
    - `exploratory`: the threshold or the direction is ours, not the paper's.
    - `finding`: the result of a closer look, where the verdict alone would mislead; for the results page.
    """

    id: str
    statement: str
    source: str
    published: str
    needs: tuple[str, ...]
    check: Callable[[Evidence], Verdict] = field(compare=False)
    decided_at: Scale = "quick"
    also: tuple[str, ...] = ()
    on_request: bool = False
    exploratory: bool = False
    minutes: float = 0.0
    finding: str = ""

    def to_dict(self) -> dict[str, Any]:
        """The JSON form that `recombine claims --json` prints."""
        return {
            "id": self.id,
            "statement": self.statement,
            "source": self.source,
            "published": self.published,
            "decided_at": self.decided_at,
            "on_request": self.on_request,
            "exploratory": self.exploratory,
        }

    def judge(self, evidence: Evidence) -> Outcome:
        """The verdict on this evidence; `undecided` if evidence is missing or the scale is too small."""
        missing = [name for name in self.needs if name not in evidence]
        if missing:
            why = "not run"
            if SCALES.index(evidence.scale) < SCALES.index(self.decided_at) and self.decided_at == "paper":
                why = "decided at scale paper"
            elif self.on_request:
                why = f"on request, about {self.minutes:.0f} min at scale quick: --claim {self.id}"
            return Outcome(self, "undecided", None, why)
        diverged = [name for name in self.needs if set(evidence[name].status) == {"diverged"}]
        if diverged:
            return Outcome(self, "undecided", None, f"every seed of {diverged[0]!r} diverged")
        verdict = self.check(evidence)
        if SCALES.index(evidence.scale) < SCALES.index(self.decided_at):
            return Outcome(self, "undecided", verdict, f"decided at scale {self.decided_at}")
        if verdict.holds is None:
            return Outcome(self, "undecided", verdict, verdict.reason)
        return Outcome(self, "holds" if verdict.holds else "fails", verdict, "")


@dataclass(frozen=True)
class Outcome:
    """A claim with its verdict; `why` says why it is undecided."""

    claim: Claim
    word: Word
    verdict: Verdict | None
    why: str

    def to_dict(self) -> dict[str, Any]:
        """The JSON form that `recombine reproduce --json` prints."""
        verdict, claim = self.verdict, self.claim
        return {
            "id": claim.id,
            "statement": claim.statement,
            "source": claim.source,
            "published": claim.published,
            "measured": None if verdict is None else _finite(verdict.measured),
            "spread": None if verdict is None else [_finite(bound) for bound in verdict.spread],
            "n_seeds": 0 if verdict is None else verdict.n_seeds,
            "verdict": self.word,
            "exploratory": claim.exploratory,
            "detail": self.why if verdict is None else verdict.detail,
        }


def _summary(numbers: np.ndarray) -> tuple[float, tuple[float, float]]:
    """Median and range of the numbers that are not NaN; NaN if all are."""
    finite = numbers[~np.isnan(numbers)]
    if not finite.size:
        return math.nan, (math.nan, math.nan)
    return float(np.median(finite)), (float(finite.min()), float(finite.max()))


def _finite(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None
