"""What a handful of seeds says: a centre, and an interval that does not pretend to more than it knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from recombine.errors import InputError

Centre = Literal["median", "mean"]

FEW = 6
"""Below this many seeds the interval is their range."""

_RESAMPLES = 2000
_LEVEL = 0.95


@dataclass(frozen=True)
class Interval:
    """A centre with an interval around it, from `n` seeds.

    `kind` says what the interval is: `"range"` (smallest to largest seed) or `"bootstrap"` (95 %). `lost`
    seeds had no finite value, because they diverged; they are counted but not averaged.
    """

    centre: float
    low: float
    high: float
    n: int
    kind: Literal["range", "bootstrap"]
    lost: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name."""
        return dict(vars(self))


def interval(values: ArrayLike, *, centre: Centre = "median") -> Interval:
    """The centre of one value per seed and its spread.

    Fewer than 6 seeds are summarised by their range, since no resampling makes more of them. From 6 on, the
    interval is the 95 % percentile bootstrap of the centre (2000 resamples, fixed generator, so the same
    values always give the same interval).

    **Arguments:**

    - `values`: `(seeds,)`; values that are not finite are left out and counted in `lost`.
    - `centre`: `"median"` or `"mean"`.

    ```python
    >>> from recombine.report import interval
    >>> interval([41.0, 36.0, 47.0])
    Interval(centre=41.0, low=36.0, high=47.0, n=3, kind='range', lost=0)

    ```
    """
    given = np.asarray(values, dtype=np.float64)
    if given.ndim != 1:
        raise InputError("values", given.shape, "one value per seed, shape (seeds,)")
    if centre not in {"median", "mean"}:
        raise InputError("centre", centre, "'median' or 'mean'")
    finite = given[np.isfinite(given)]
    lost = len(given) - len(finite)
    if not len(finite):
        return Interval(np.nan, np.nan, np.nan, 0, "range", lost)
    summary = np.median if centre == "median" else np.mean
    middle = float(summary(finite))
    if len(finite) < FEW:
        return Interval(middle, float(finite.min()), float(finite.max()), len(finite), "range", lost)
    drawn = np.random.default_rng(0).integers(len(finite), size=(_RESAMPLES, len(finite)))
    tail = (1.0 - _LEVEL) / 2.0
    low, high = np.quantile(summary(finite[drawn], axis=1), [tail, 1.0 - tail])
    return Interval(middle, float(low), float(high), len(finite), "bootstrap", lost)
