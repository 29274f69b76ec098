"""Intervals by resampling cells, since rows of one cell are no independent witnesses.

A percentile bootstrap of few cells is too narrow. It is widened about the estimate by `t / z * sqrt(n / (n - 1))`, the
correction that makes it right for means of normal values (see Hesterberg 2015, doi:10.1080/00031305.2015.1089789).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float
from scipy.special import ndtri, stdtrit

LEVEL = 0.95
MOST_DRAWS = 5e6
"""Cells times resamples that are held at a time."""


@dataclass(frozen=True)
class Estimate:
    """A number with an interval; NaN where it could not be measured."""

    value: float
    low: float
    high: float

    @property
    def pair(self) -> tuple[float, float]:
        """The ends."""
        return self.low, self.high


UNKNOWN = Estimate(np.nan, np.nan, np.nan)


@dataclass(frozen=True, eq=False)
class Resampler:
    """Resamples of groups of cells: `counts[g]` says how often each cell of group g is drawn, `(resamples, cells)`."""

    groups: tuple[int, ...]
    resamples: int = 1000
    seed: int = 0

    @cached_property
    def counts(self) -> tuple[Float[np.ndarray, "resamples cells"], ...]:
        """Drawn once, so that all measures see the same resamples."""
        rng = np.random.default_rng([self.seed, 61])
        most = int(max(100, min(self.resamples, MOST_DRAWS // max(1, sum(self.groups)))))
        return tuple(
            rng.multinomial(n, np.full(n, 1 / n), size=most).astype(np.float32) if n else np.zeros((most, 0))
            for n in self.groups
        )

    def means(
        self, group: int, values: Float[np.ndarray, " cells ..."]
    ) -> Float[np.ndarray, "resamples ..."]:
        """Means of a per-cell measure in every resample of a group."""
        n = self.groups[group]
        size = float(np.abs(values).max(initial=0.0)) or 1.0
        return (self.counts[group] @ (values / size).astype(np.float32)).astype(np.float64) * (
            size / max(1, n)
        )

    def estimate(
        self, value: float, draws: Float[np.ndarray, " resamples"], groups: Sequence[int]
    ) -> Estimate:
        """The value with its interval; `groups` are those that were resampled."""
        n = min(self.groups[group] for group in groups)
        return widened(value, draws, n)


def widened(value: float, draws: Float[np.ndarray, " resamples"], n: int) -> Estimate:
    """The widened percentile interval of draws from n cells; unknown for fewer than two."""
    finite = draws[np.isfinite(draws)]
    if n < 2 or not np.isfinite(value) or len(finite) < len(draws) / 2:
        return Estimate(value, np.nan, np.nan)
    tail = (1 - LEVEL) / 2
    wider = float(stdtrit(n - 1, 1 - tail) / ndtri(1 - tail) * np.sqrt(n / (n - 1)))
    low, high = np.quantile(finite, [tail, 1 - tail])
    return Estimate(value, value + wider * min(0.0, low - value), value + wider * max(0.0, high - value))
