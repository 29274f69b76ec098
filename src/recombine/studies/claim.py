"""A claim: one statement of a paper with one primary quantity, and what the evidence says about it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

import numpy as np

from recombine.errors import InputError
from recombine.intervals import LEVEL, Estimate, interval
from recombine.studies.evidence import SCALES, Evidence, Scale
from recombine.studies.measurement import AllOf, Cases, Measurement, PerSeed, Successes
from recombine.studies.quantity import Quantity
from recombine.studies.verdict import Verdict, judge

ClaimKind = Literal["trained", "exact", "described"]


@dataclass(frozen=True)
class Amendment:
    """A change to a claim after it was first written down.

    - `seen`: whether numbers of the old version had been seen when it was changed.
    """

    old: str
    new: str
    reason: str
    seen: bool = True


@dataclass(frozen=True)
class Claim:
    """One statement of a paper, expressed as a measured quantity.

    **Arguments:**

    - `id`: the number of the claim within its study; it never changes.
    - `statement`: what the paper says, in words that a reader of its abstract would recognise, without thresholds.
    - `source`: figure, table, theorem, sentence of the abstract, authors' code; or `"ours"`.
    - `quantity`: what is measured, with its direction, its value without an effect, and its published size.
    - `needs`: the arms that `measure` uses.
    - `measure`: from the evidence to the numbers per seed.
    - `headline`: one of the sentences that the paper's abstract stands on.
    - `reversal`: what would have made the quantity come out the other way.
    - `reduced`: how the nets or images at scale quick are smaller than published; empty if they are not.
    - `decided_at`: the smallest scale at which the numbers mean something.
    - `minutes`: how long the claim takes at that scale on two cores, for claims that run only on request.
    - `on_request`: left out unless asked for by id or by `--all` at scale paper.
    - `also`: further arms, which `measure` uses if they are there.
    - `finding`: the result of a closer look, for the results page.
    - `obstacle`: why it has not been decided yet, for a claim that is listed as not run.
    - `amendments`: every change since the first run.
    """

    id: str
    statement: str
    source: str
    quantity: Quantity
    needs: tuple[str, ...]
    measure: Callable[[Evidence], Measurement] = field(compare=False)
    _: KW_ONLY
    headline: bool = False
    reversal: str = ""
    reduced: str = ""
    decided_at: Scale = "quick"
    minutes: float = 0.0
    on_request: bool = False
    also: tuple[str, ...] = ()
    finding: str = ""
    obstacle: str = ""
    amendments: tuple[Amendment, ...] = ()

    def __post_init__(self) -> None:
        if not self.needs:
            raise InputError(f"needs of claim {self.id}", self.needs, "at least one arm")
        if self.kind == "trained" and not self.reversal:
            raise InputError(f"reversal of claim {self.id}", "", "what would make it come out the other way")
        if self.on_request and not self.minutes:
            raise InputError(f"minutes of claim {self.id}", self.minutes, "how long it takes")

    @property
    def kind(self) -> ClaimKind:
        """Trained claims have a direction, exact ones a tolerance, and described ones neither."""
        if self.quantity.kind == "deviation":
            return "exact"
        return "trained" if self.quantity.direction is not None else "described"

    @property
    def published(self) -> str:
        """The published value as text, `–` if there is none."""
        if self.quantity.published_text:
            return self.quantity.published_text
        if self.quantity.published is None:
            return "–"
        return f"{self.quantity.published:.3g}{'x' if self.quantity.kind == 'ratio' else ''}"

    def runs_by_default(self, scale: Scale) -> bool:
        """Whether `--all` runs it at this scale."""
        if SCALES.index(scale) < SCALES.index(self.decided_at):
            return scale == "smoke"
        return scale != "quick" or not self.on_request

    def decide(self, evidence: Evidence, *, level: float = LEVEL) -> Outcome:
        """The verdict on this evidence; `not run` if an arm is missing."""
        if any(name not in evidence for name in self.needs):
            return Outcome(self, Verdict("not run"), None, evidence.scale)
        diverged = [name for name in self.needs if set(evidence[name].status) == {"diverged"}]
        if diverged:  # such an arm has no values at all
            n = len(evidence[diverged[0]].seeds)
            lost = Verdict(
                "open", excluded=(("diverged", n),), note=f"every seed of {diverged[0]!r} diverged"
            )
            return Outcome(self, lost, None, evidence.scale)
        measurement = self.measure(evidence.with_common_seeds((*self.needs, *self.also)))
        if isinstance(measurement, Cases) != (self.kind == "exact"):
            expected = "cases" if self.kind == "exact" else "numbers per seed"
            raise InputError(f"measurement of claim {self.id}", type(measurement).__name__, expected)
        verdict = judge(self.quantity, measurement, level=level)
        return Outcome(self, verdict, measurement, evidence.scale, level=level)


@dataclass(frozen=True)
class Recording:
    """Where numbers come from that were read from a file: the version and date of their run, and their seeds."""

    version: str
    date: str
    seeds: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Outcome:
    """A claim with its verdict, and the measurement behind it (`None` if nothing was run, or everything diverged).

    - `level`: of the interval that decided it.
    - `recorded`: where the numbers come from, if not from the store.
    - `minutes`: a rough forecast for a claim that has not been run and does not say how long it takes.
    """

    claim: Claim
    verdict: Verdict
    measurement: Measurement | None
    scale: Scale
    _: KW_ONLY
    level: float = LEVEL
    recorded: Recording | None = None
    minutes: float = 0.0

    @property
    def note(self) -> str:
        """What to know before reading the verdict: how to run it, what is missing, or the worst case."""
        claim, verdict = self.claim, self.verdict
        if verdict.name == "not run":
            scale = " --scale paper" if claim.decided_at == "paper" else ""
            took = claim.minutes or self.minutes
            minutes = f" ({max(1, took):.0f} min)" if took else ""
            return f"--claim {claim.id}{scale}{minutes}"
        if verdict.name == "open" and not verdict.note:
            if verdict.seeds_needed is None:
                return "more than 1000 seeds would be needed at this spread"
            return f"needs about {verdict.seeds_needed} seeds at this spread"
        return verdict.note

    def supports(self) -> dict[str, np.ndarray]:
        """The numbers that qualify the result, for every seed, whether it counts or not."""
        if self.measurement is None:
            return {}
        return {
            name: np.atleast_1d(np.asarray(values, dtype=float)).ravel()
            for name, values in self.measurement.supports.items()
        }

    def supporting_estimates(self) -> dict[str, Estimate]:
        """The median and its interval for every number that qualifies the result, over the seeds that count."""
        measured = self.measurement
        parts = measured.columns() if isinstance(measured, AllOf) else {}
        kept = measured.kept if isinstance(measured, PerSeed | Successes | AllOf) else np.ones(0, bool)
        return {
            name: interval(values[kept] if len(values) == len(kept) > 1 and kept.any() else values)
            for name, values in (parts | self.supports()).items()
        }

    def to_dict(self) -> dict[str, Any]:
        """The JSON form that `recombine reproduce --json` prints."""
        claim, verdict, estimate = self.claim, self.verdict, self.verdict.estimate
        quantity = claim.quantity
        supports = [
            {"quantity": name, "estimate": _finite(found.value), "interval": [*map(_finite, found.pair)]}
            for name, found in self.supporting_estimates().items()
        ]
        return {
            "id": claim.id,
            "statement": claim.statement,
            "source": claim.source,
            "kind": claim.kind,
            "headline": claim.headline,
            "quantity": quantity.name,
            "direction": quantity.direction,
            "no_effect": _finite(quantity.no_effect),
            "magnitude": quantity.magnitude,
            "tolerance": _finite(quantity.tolerance),
            "published": quantity.published,
            "published_text": claim.published,
            "estimate": None if estimate is None else _finite(estimate.value),
            "interval": None if estimate is None else [*map(_finite, estimate.pair)],
            "level": None if estimate is None else _finite(estimate.level),
            "n_seeds": verdict.n_seeds,
            "n_excluded": verdict.n_excluded,
            "excluded": dict(verdict.excluded),
            "favourable": verdict.favourable,
            "verdict": verdict.name,
            "seeds_needed": verdict.seeds_needed,
            "supports": supports,
            "note": self.note,
            "reduced": claim.reduced if self.scale != "paper" else "",
            "amendments": [dict(vars(amendment)) for amendment in claim.amendments],
        }


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
