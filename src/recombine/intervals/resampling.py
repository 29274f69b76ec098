"""Intervals of any measure of cells, by resampling whole cells, because rows within a cell are not independent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int
from numpy.typing import ArrayLike

from recombine.intervals.estimate import LEVEL, Estimate

MAX_DRAWS = 5e6
"""Cells times resamples that are held in memory at a time."""


@dataclass(frozen=True, eq=False)
class Resampler:
    """A bootstrap that resamples groups of cells.

    All measures that share a resampler see the same resamples, so that their differences have an interval, too.

    **Attributes:**

    - `groups`: how many cells each group has, for example the seen and the unseen ones.

    ```python
    >>> import numpy as np
    >>> from recombine.intervals import Resampler
    >>> errors = np.linspace(0, 1, 40)  # one number per cell
    >>> sampler = Resampler((40,))
    >>> found = sampler.estimate(float(errors.mean()), sampler.means(0, errors), [0])
    >>> found.value, round(found.low, 1), round(found.high, 1)
    (0.5, 0.4, 0.6)

    ```
    """

    groups: tuple[int, ...]
    resamples: int = 1000
    seed: int = 0

    @cached_property
    def counts(self) -> tuple[Float[np.ndarray, "resamples cells"], ...]:
        """How often each cell of each group is drawn, `(resamples, cells)` per group."""
        rng = np.random.default_rng([self.seed, 61])
        draws = int(max(100, min(self.resamples, MAX_DRAWS // max(1, sum(self.groups)))))
        return tuple(
            resample_counts(rng, n, draws).astype(np.float32) if n else np.zeros((draws, 0))
            for n in self.groups
        )

    def means(
        self, group: int, values: Float[np.ndarray, " cells ..."]
    ) -> Float[np.ndarray, "resamples ..."]:
        """Means of one number per cell in every resample of a group."""
        n = self.groups[group]
        size = float(np.abs(values).max(initial=0.0)) or 1.0  # scaled, so that single precision is enough
        return (self.counts[group] @ (values / size).astype(np.float32)).astype(np.float64) * (
            size / max(1, n)
        )

    def estimate(
        self, value: float, draws: Float[np.ndarray, " resamples"], groups: Sequence[int]
    ) -> Estimate:
        """The value with its interval; `groups` are those that were resampled."""
        return resampled_estimate(value, draws, min(self.groups[group] for group in groups))


def sums_by_unit(
    values: Float[np.ndarray, " cells ..."], units: Int[np.ndarray, " cells"]
) -> Float[np.ndarray, " units ..."]:
    """The sum over the cells of every unit, so that cells that are not independent are resampled together.

    ```python
    >>> import numpy as np
    >>> from recombine.intervals import sums_by_unit
    >>> sums_by_unit(np.array([1.0, 2.0, 4.0]), np.array([7, 3, 7])).tolist()
    [2.0, 5.0]

    ```
    """
    if not len(values):
        return values
    order = np.argsort(units, kind="stable")
    first = np.unique(units[order], return_index=True)[1]
    sums: np.ndarray = np.add.reduceat(values[order], first, axis=0)
    return sums


def resample_counts(rng: np.random.Generator, n: int, draws: int) -> np.ndarray:
    """How often each of n units occurs in each of so many resamples, `(draws, n)`.

    ```python
    >>> import numpy as np
    >>> from recombine.intervals import resample_counts
    >>> resample_counts(np.random.default_rng(0), 5, 3).sum(axis=1).tolist()
    [5, 5, 5]

    ```
    """
    return rng.multinomial(n, np.full(n, 1 / n), size=draws)


def percentile_interval(draws: ArrayLike, *, level: float = LEVEL) -> tuple[float, float]:
    """The middle `level` of resampled values: the percentile interval, for a hundred units or more.

    ```python
    >>> import numpy as np
    >>> from recombine.intervals import percentile_interval
    >>> percentile_interval(np.arange(101.0), level=0.5)
    (25.0, 75.0)

    ```
    """
    low, high = np.quantile(np.asarray(draws), [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def resampled_estimate(value: float, draws: Float[np.ndarray, " resamples"], n: int) -> Estimate:
    """A value with the widened percentile interval of its resamples from n cells; without one for fewer than two.

    A percentile interval of few cells is too narrow. It is widened about the value by `t / z * sqrt(n / (n - 1))`, the
    correction that is exact for means of normal values (Hesterberg 2015, doi:10.1080/00031305.2015.1089789).

    ```python
    >>> import numpy as np
    >>> from recombine.intervals import resampled_estimate
    >>> draws = np.random.default_rng(0).normal(size=1000)
    >>> many, few = (resampled_estimate(0.0, draws, n) for n in (1000, 5))
    >>> few.high > many.high > 1.8
    True

    ```
    """
    from scipy.special import ndtri, stdtrit

    finite = draws[np.isfinite(draws)]
    if n < 2 or not np.isfinite(value) or len(finite) < len(draws) / 2:
        return Estimate(value, np.nan, np.nan)
    tail = (1 - LEVEL) / 2
    wider = float(stdtrit(n - 1, 1 - tail) / ndtri(1 - tail) * np.sqrt(n / (n - 1)))
    low, high = percentile_interval(finite)
    below, above = max(0.0, value - low), max(0.0, high - value)
    return Estimate(value, value - wider * below, value + wider * above)
