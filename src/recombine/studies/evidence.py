"""The evidence of a study: what its arms have measured, seed by seed."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from recombine.errors import InputError
from recombine.runs import Result, Trial

Scale = Literal["smoke", "quick", "paper"]
SCALES: tuple[Scale, ...] = ("smoke", "quick", "paper")


@dataclass(frozen=True)
class ArmPlan:
    """One experimental arm before it is run.

    **Arguments:**

    - `trial`: the arm's settings; its own seeds are ignored.
    - `seeds`: how many seeds the scale asks for.
    - `together`: how many seeds train in one program; small nets gain from it.
    - `seeded`: `False` for arms that draw nothing at random, which run once whatever the number of seeds.
    """

    trial: Trial
    seeds: int
    together: int = 1
    seeded: bool = True

    def trials(self, *, seeds: int | None = None, offset: int = 0) -> tuple[Trial, ...]:
        """The trials of seeds `offset`, `offset + 1`, …, which can run in different processes."""
        n = 1 if not self.seeded else self.seeds if seeds is None else seeds
        starts = range(0, n, self.together)
        return tuple(
            replace(self.trial, seeds=tuple(range(offset + start, offset + min(start + self.together, n))))
            for start in starts
        )


ArmPlans = Mapping[str, ArmPlan]
"""The arms of a study at one scale, by name."""


@dataclass(frozen=True)
class Arm:
    """The results of one arm; the first axis of every value is the seed."""

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

    def restricted_to(self, seeds: Collection[int]) -> Arm:
        """The same arm with some of its seeds."""
        index = [i for i, seed in enumerate(self.seeds) if seed in seeds]
        return Arm(
            tuple(self.seeds[i] for i in index),
            tuple(self.status[i] for i in index),
            {name: values[index] for name, values in self.values.items()},
            {name: values[index] for name, values in self.curves.items()},
        )

    def share_of_blank(self, side: Literal["in", "out"]) -> np.ndarray:
        """The error on seen or unseen cells divided by that of a blank image, for every seed."""
        return self[f"error_{side}"] / self[f"baseline_blank_{side}"]

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self.values:
            raise InputError("value", name, f"one of {', '.join(sorted(self.values))}")
        return self.values[name]


class Evidence(Mapping[str, Arm]):
    """The arms of a study that have been run, by name."""

    def __init__(self, arms: Mapping[str, Arm], scale: Scale) -> None:
        self._arms, self.scale = dict(arms), scale

    def with_common_seeds(self, names: Collection[str]) -> Evidence:
        """The named arms, each with the seeds that all of them have, so that comparisons are paired.

        Arms that draw nothing at random have one result, which goes with every seed.
        """
        arms = {name: self[name] for name in names if name in self}
        seeded = [set(arm.seeds) for arm in arms.values() if len(arm.seeds) > 1]
        if not seeded:
            return Evidence(arms, self.scale)
        common = set.intersection(*seeded)
        restricted = {n: arm.restricted_to(common) if len(arm.seeds) > 1 else arm for n, arm in arms.items()}
        return Evidence(restricted, self.scale)

    def __getitem__(self, name: str) -> Arm:
        return self._arms[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arms)

    def __len__(self) -> int:
        return len(self._arms)


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
