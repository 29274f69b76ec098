"""What a claim's measurement returns: the numbers per seed that decide it, and those that qualify it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from numpy.typing import ArrayLike

from recombine.errors import InputError

Supports = Mapping[str, ArrayLike]
"""Further quantities by label, one number per seed each; shown, but not decisive."""
Requirements = Mapping[str, ArrayLike]
"""Named preconditions, one truth value per seed each, such as `"seen error below 2e-4"`."""


@dataclass(frozen=True, eq=False)
class PerSeed:
    """One number per seed: a value of one arm, or a comparison of arms that share the seed's task and data.

    **Arguments:**

    - `values`: `(seeds,)`. NaN for a seed that diverged, which is left out and counted.
    - `requires`: seeds that fail one of these preconditions are left out, counted and shown.
    - `supports`: numbers that qualify the result and do not decide it.
    """

    values: ArrayLike
    _: KW_ONLY
    requires: Requirements = field(default_factory=dict)
    supports: Supports = field(default_factory=dict)

    @property
    def numbers(self) -> Float[np.ndarray, " seeds"]:
        """All values, of excluded seeds too."""
        return _per_seed("values", self.values)

    @property
    def kept(self) -> Bool[np.ndarray, " seeds"]:
        """Which seeds count."""
        return _kept(self.numbers, self.requires)

    def columns(self) -> dict[str, Float[np.ndarray, " seeds"]]:
        """The numbers by the label of what was measured, for the file of numbers per seed."""
        return {"": self.numbers}


@dataclass(frozen=True, eq=False)
class Unpaired:
    """Two samples whose seeds share nothing: compared by the Hodges-Lehmann shift of `first` against `second`.

    `requires` and `second_requires` are the preconditions of the two samples.
    """

    first: ArrayLike
    second: ArrayLike
    _: KW_ONLY
    requires: Requirements = field(default_factory=dict)
    second_requires: Requirements = field(default_factory=dict)
    supports: Supports = field(default_factory=dict)
    labels: tuple[str, str] = ("first", "second")

    @property
    def samples(self) -> tuple[PerSeed, PerSeed]:
        """Both samples, each with its preconditions."""
        return (
            PerSeed(self.first, requires=self.requires),
            PerSeed(self.second, requires=self.second_requires),
        )

    def columns(self) -> dict[str, Float[np.ndarray, " seeds"]]:
        """The numbers of both samples by their labels."""
        return {label: sample.numbers for label, sample in zip(self.labels, self.samples, strict=True)}


@dataclass(frozen=True, eq=False)
class Successes:
    """Whether each seed succeeded, for a rate over seeds. Seeds that diverged count as failures."""

    succeeded: ArrayLike
    _: KW_ONLY
    requires: Requirements = field(default_factory=dict)
    supports: Supports = field(default_factory=dict)

    @property
    def numbers(self) -> Float[np.ndarray, " seeds"]:
        """1 for a success, 0 for a failure."""
        return _per_seed("succeeded", np.asarray(self.succeeded, dtype=float))

    @property
    def kept(self) -> Bool[np.ndarray, " seeds"]:
        """Which seeds count."""
        return _kept(self.numbers, self.requires)

    def columns(self) -> dict[str, Float[np.ndarray, " seeds"]]:
        """1 for a success, 0 for a failure."""
        return {"": self.numbers}


@dataclass(frozen=True, eq=False)
class AllOf:
    """Several comparisons, of which a statement needs every one: one number per seed each.

    The claim is as good as its worst comparison: it is reproduced if all of them are, and contradicted only if one of
    them is. (Of the smallest number of each seed neither would be true: the smallest of several differences is mostly
    below zero if there is no effect.)

    - `parts`: the comparisons by name, `(seeds,)` each, all against the claim's value without an effect.
    """

    parts: Mapping[str, ArrayLike]
    _: KW_ONLY
    requires: Requirements = field(default_factory=dict)
    supports: Supports = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len({len(values) for values in self.columns().values()}) != 1:
            raise InputError(
                "parts", list(self.parts), "one comparison or more, with a number for every seed each"
            )

    @property
    def joined(self) -> PerSeed:
        """The seeds as they count: those with a value in every comparison that meet the preconditions."""
        return PerSeed(np.sum(list(self.columns().values()), axis=0), requires=self.requires)

    @property
    def kept(self) -> Bool[np.ndarray, " seeds"]:
        """Which seeds count."""
        return self.joined.kept

    def columns(self) -> dict[str, Float[np.ndarray, " seeds"]]:
        """The numbers of every comparison by its name."""
        return {name: _per_seed(name, values) for name, values in self.parts.items()}


@dataclass(frozen=True, eq=False)
class Cases:
    """The cases of an exact statement: how far each is off, by name. A NaN is off by more than any tolerance.

    `note` says what the cases are, if their names do not.
    """

    deviations: Mapping[str, float]
    _: KW_ONLY
    supports: Supports = field(default_factory=dict)
    note: str = ""

    @property
    def worst(self) -> tuple[str, float]:
        """The case that is off the most."""
        if not self.deviations:
            raise InputError("cases", {}, "at least one case; a statement about nothing is always true")
        size = {name: abs(float(value)) for name, value in self.deviations.items()}
        name = max(size, key=lambda case: np.inf if np.isnan(size[case]) else size[case])
        return name, size[name]

    def columns(self) -> dict[str, Float[np.ndarray, " one"]]:
        """Every deviation by the name of its case."""
        return {name: np.array([float(value)]) for name, value in self.deviations.items()}


Measurement = PerSeed | Unpaired | Successes | AllOf | Cases


def excluded_for(measurement: Measurement) -> dict[str, int]:
    """How many seeds were left out, by reason."""
    if isinstance(measurement, Cases):
        return {}
    samples: tuple[Any, ...] = (
        measurement.samples
        if isinstance(measurement, Unpaired)
        else (measurement.joined if isinstance(measurement, AllOf) else measurement,)
    )
    reasons: dict[str, int] = {}
    for sample in samples:
        for requirement in (*sample.requires, ""):
            reason = f"not {requirement}" if requirement else "without a finite value"
            failed = sum(reason == one for one in exclusion_reasons(sample))
            reasons[reason] = reasons.get(reason, 0) + failed
    return {reason: count for reason, count in reasons.items() if count}


def exclusion_reasons(sample: PerSeed | Successes) -> list[str]:
    """Why each seed was left out, by the first precondition that it fails; empty for seeds that count."""
    numbers = sample.numbers
    reasons = np.where(np.isfinite(numbers), "", "without a finite value").astype(object)
    for requirement, met in reversed(list(sample.requires.items())):
        reasons[~_met(met, len(numbers))] = f"not {requirement}"
    return [str(reason) for reason in reasons]


def _kept(numbers: np.ndarray, requires: Requirements) -> np.ndarray:
    kept = np.isfinite(numbers)
    for met in requires.values():
        kept &= _met(met, len(numbers))
    return kept


def _met(met: ArrayLike, n: int) -> np.ndarray:
    array = np.asarray(met)
    if array.dtype != bool or array.shape != (n,):
        raise InputError(
            "requires", f"{array.dtype} of shape {array.shape}", f"{n} truth values, one per seed"
        )
    return array


def _per_seed(field: str, values: ArrayLike) -> np.ndarray:
    array = np.asarray(values, dtype=float)
    if array.ndim != 1:
        raise InputError(field, f"an array of shape {array.shape}", "one number per seed, shape (seeds,)")
    return array
