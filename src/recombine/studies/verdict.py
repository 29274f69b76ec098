"""The rule that turns a measurement into a verdict.

A trained claim compares the interval over seeds with the value without an effect (direction) and the estimate with
the published size (magnitude). An exact statement is verified or violated. The rule is the same for every study, and
no claim has one of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from recombine.intervals import LEVEL, Estimate, interval, median_ranks, rate_interval, shift_interval
from recombine.studies.measurement import (
    AllOf,
    Cases,
    Measurement,
    PerSeed,
    Successes,
    Unpaired,
    excluded_for,
)
from recombine.studies.quantity import Quantity

VerdictName = Literal[
    "reproduced", "weaker", "open", "contradicted", "verified", "violated", "described", "not run"
]
VERDICTS: tuple[VerdictName, ...] = (
    "reproduced", "weaker", "open", "contradicted", "verified", "violated", "described", "not run",
)  # fmt: skip
"""All verdicts, in the order in which they are counted."""

LOOKS = (7, 12, 20)
"""The numbers of seeds at which `--until-decided` judges, and at no others."""
LOOK_LEVEL = 1 - (1 - LEVEL) / len(LOOKS)
"""The coverage at each look, so that all looks together keep `LEVEL` (Bonferroni)."""
MAX_SEEDS = 1000
"""Beyond this, an open claim says that no reasonable number of seeds would decide it."""


@dataclass(frozen=True)
class Verdict:
    """A verdict with what it rests on.

    - `estimate`: the estimate with its interval and coverage; for exact statements the worst deviation. `None` if
        nothing was run.
    - `n_seeds`: the seeds that count; `favourable`: how many of them lie on the claimed side of "no effect".
    - `excluded`: how many seeds were left out, by reason.
    - `seeds_needed`: for `open`, how many seeds would decide it at the observed spread; `None` if over 1000.
    - `note`: the worst case of an exact statement, or why nothing was decided.
    """

    name: VerdictName
    estimate: Estimate | None = None
    n_seeds: int = 0
    favourable: int | None = None
    excluded: tuple[tuple[str, int], ...] = ()
    seeds_needed: int | None = None
    note: str = ""

    @property
    def n_excluded(self) -> int:
        """All seeds that were left out."""
        return sum(count for _, count in self.excluded)


def judge(quantity: Quantity, measurement: Measurement, *, level: float = LEVEL) -> Verdict:
    """The verdict on a measurement.

    ```python
    >>> from recombine.studies.measurement import PerSeed
    >>> from recombine.studies.quantity import ratio
    >>> from recombine.studies.verdict import judge
    >>> fails = ratio("unseen error / seen error", "above", published=53)
    >>> judge(fails, PerSeed([41, 36, 47, 40, 52, 44])).name
    'reproduced'
    >>> judge(fails, PerSeed([1.9, 1.4, 2.6, 1.7, 2.2, 1.8])).name
    'weaker'
    >>> judge(fails, PerSeed([1.9, 0.8, 2.6, 1.7, 2.2, 1.8])).name
    'open'

    ```
    """
    if isinstance(measurement, Cases):
        return _judge_cases(quantity, measurement)
    if isinstance(measurement, AllOf):
        return _judge_all(quantity, measurement, level)
    excluded = tuple(excluded_for(measurement).items())
    estimate = _estimate(quantity, measurement, level)
    values = _values_per_seed(measurement)
    n = estimate.n or 0
    if quantity.direction is None:
        return Verdict("described", estimate, n, excluded=excluded)
    favourable = (
        None if values is None else sum(quantity.beyond(float(v), quantity.no_effect) for v in values)
    )
    if isinstance(measurement, Successes):
        assert values is not None
        favourable = int(values.sum())
    name: VerdictName = _compare(quantity, estimate, level)
    needed, note = None, ""
    if name == "open":
        needed = _seeds_needed(quantity, measurement, estimate, level)
        if n == 0:
            note = "no seed meets the preconditions"
    return Verdict(name, estimate, n, favourable, excluded, needed, note)


FROM_WORST_ON: tuple[VerdictName, ...] = ("contradicted", "open", "weaker", "reproduced", "described")


def _judge_all(quantity: Quantity, measurement: AllOf, level: float) -> Verdict:
    """The verdict on the worst comparison (an intersection-union test), with the seeds on which all go as claimed."""
    kept, parts = measurement.kept, measurement.columns()
    verdicts = [judge(quantity, PerSeed(values[kept]), level=level) for values in parts.values()]
    below = quantity.direction == "below"

    def badness(verdict: Verdict) -> tuple[int, float]:
        value = verdict.estimate.value if verdict.estimate is not None else math.nan
        return FROM_WORST_ON.index(verdict.name), -value if below else value

    worst = min(verdicts, key=badness)
    beyond = [
        [quantity.beyond(float(v), quantity.no_effect) for v in values[kept]] for values in parts.values()
    ]
    excluded = tuple(excluded_for(measurement).items())
    needed = worst.seeds_needed
    if needed is not None:
        needed = math.ceil(needed * len(kept) / int(kept.sum()))
    return replace(
        worst,
        favourable=None if quantity.direction is None else int(np.all(beyond, axis=0).sum()),
        excluded=excluded,
        seeds_needed=needed if needed is None or needed <= MAX_SEEDS else None,
    )


def _judge_cases(quantity: Quantity, cases: Cases) -> Verdict:
    name, worst = cases.worst
    wrong = sum(not abs(float(value)) <= quantity.tolerance for value in cases.deviations.values())
    estimate = Estimate(worst, worst, worst, level=1.0)
    total = len(cases.deviations)
    note = f"{total - wrong} of {total} cases within tolerance; the worst: {name}" if total > 1 else name
    if cases.note:
        note = f"{note}. {cases.note}"
    return Verdict("violated" if wrong else "verified", estimate, note=note)


def _compare(
    quantity: Quantity, estimate: Estimate, level: float
) -> Literal["reproduced", "weaker", "open", "contradicted"]:
    """Direction by the interval, size by the estimate."""
    no_effect, magnitude, published = quantity.no_effect, quantity.magnitude, quantity.published
    # Fewer than six seeds: even their range covers less than the level, so it excludes nothing.
    if not estimate.n or estimate.level < level - 1e-9:
        return "open"
    near, far = (
        (estimate.low, estimate.high) if quantity.direction == "above" else (estimate.high, estimate.low)
    )
    if not quantity.beyond(near, no_effect):
        beyond_the_other_side = far < no_effect if quantity.direction == "above" else far > no_effect
        return "contradicted" if beyond_the_other_side else "open"
    if magnitude is None or estimate.value == magnitude or quantity.beyond(estimate.value, magnitude):
        return "reproduced"
    if published is not None and estimate.low <= published <= estimate.high:
        return "reproduced"
    return "weaker"


def _estimate(quantity: Quantity, measurement: PerSeed | Unpaired | Successes, level: float) -> Estimate:
    if isinstance(measurement, Successes):
        succeeded = measurement.numbers[measurement.kept]
        return rate_interval(int(succeeded.sum()), len(succeeded), level=level)
    if isinstance(measurement, PerSeed):
        numbers = measurement.numbers[measurement.kept]
        estimate = interval(numbers, level=level)
        if quantity.kind == "ratio" and estimate.n and numbers.min() > 0:
            # The median of an even number of ratios lies between the middle two on a log scale.
            estimate = replace(estimate, value=quantity.unscaled(float(np.median(quantity.scaled(numbers)))))
        return estimate
    first, second = (quantity.scaled(sample.numbers[sample.kept]) for sample in measurement.samples)
    estimate = shift_interval(first, second, level=level)
    value, low, high = (quantity.unscaled(end) for end in (estimate.value, *estimate.pair))
    return replace(estimate, value=value, low=low, high=high)


def _values_per_seed(measurement: PerSeed | Unpaired | Successes) -> np.ndarray | None:
    """One comparable number for each seed that counts; two unpaired samples have none."""
    return None if isinstance(measurement, Unpaired) else measurement.numbers[measurement.kept]


def _seeds_needed(
    quantity: Quantity, measurement: PerSeed | Unpaired | Successes, estimate: Estimate, level: float
) -> int | None:
    """The smallest number of seeds that would decide the claim, either way, if further seeds were like these.

    As many of them would be left out as now.
    """
    n = estimate.n or 0
    if not n:
        return None
    left_out = sum(excluded_for(measurement).values())
    if isinstance(measurement, PerSeed):
        values = measurement.numbers[measurement.kept]
        share = max(float(np.mean(values > quantity.no_effect)), float(np.mean(values < quantity.no_effect)))

        def decided(seeds: int) -> bool:
            # The interval starts at the rank-th seed; the minority must have fewer seeds than that.
            rank, coverage = median_ranks(seeds, level)
            return bool(coverage >= level - 1e-9 and np.ceil((1 - share) * seeds - 1e-9) < rank)

    elif isinstance(measurement, Successes):

        def decided(seeds: int) -> bool:
            scaled = rate_interval(round(estimate.value * seeds), seeds, level=level)
            return not scaled.low <= quantity.no_effect <= scaled.high

    else:
        centre, no_effect = quantity.scaled(estimate.value), quantity.scaled(quantity.no_effect)
        half_width = max(
            abs(quantity.scaled(estimate.low) - centre), abs(quantity.scaled(estimate.high) - centre)
        )

        def decided(seeds: int) -> bool:
            return bool(
                half_width * np.sqrt(n / (2 * seeds)) < abs(centre - no_effect)
            )  # n counts both samples

    enough = next((seeds for seeds in range(n + 1, MAX_SEEDS + 1) if decided(seeds)), MAX_SEEDS + 1)
    needed = math.ceil(enough * (n + left_out) / n)
    return needed if needed <= MAX_SEEDS else None
