"""A number with its interval, and what can be done with the interval alone."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np

LEVEL = 0.95
"""The coverage that an interval has unless another is asked for."""


@dataclass(frozen=True)
class Estimate:
    """A number with its interval; NaN where it could not be measured.

    **Attributes:**

    - `level`: the coverage that the interval really has. For few seeds, even their range has less than 95%.
    - `n`: the number of seeds behind it, `None` for cells; `lost`: how many more seeds diverged, so that they have no
        finite value.
    """

    value: float
    low: float
    high: float
    _: KW_ONLY
    level: float = LEVEL
    n: int | None = None
    lost: int = 0

    @property
    def pair(self) -> tuple[float, float]:
        """The ends of the interval."""
        return self.low, self.high

    def scaled(self, factor: float, offset: float = 0.0) -> Estimate:
        """`factor * value + offset` with its interval.

        ```python
        >>> from recombine.intervals import Estimate
        >>> Estimate(0.25, 0.0, 0.5).scaled(-1.0, 1.0).pair
        (0.5, 1.0)

        ```
        """
        low, high = (factor * end + offset for end in (self.pair if factor >= 0 else self.pair[::-1]))
        return replace(self, value=factor * self.value + offset, low=low, high=high)

    def clipped(self, low: float, high: float) -> Estimate:
        """With an interval inside the range that the value can have; one that has no interval stays without."""
        return replace(
            self, low=float(np.clip(self.low, low, high)), high=float(np.clip(self.high, low, high))
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name."""
        return dict(vars(self))


UNKNOWN = Estimate(np.nan, np.nan, np.nan)
"""Stands where nothing could be measured."""


def difference_of(first: Estimate, second: Estimate) -> Estimate:
    """`first - second` for two independent estimates, with the interval that follows from theirs.

    The distance from the value to each end adds up in squares, each side by itself, so that intervals need not be
    symmetric.

    ```python
    >>> from recombine.intervals import Estimate, difference_of
    >>> found = difference_of(Estimate(0.5, 0.2, 0.6), Estimate(0.1, 0.0, 0.5))
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (0.4, -0.1, 0.541)

    ```

    **Reference:** Zou and Donner 2008, Statistics in Medicine 27:1693.
    """
    value = first.value - second.value
    return Estimate(
        value,
        value - float(np.hypot(first.value - first.low, second.high - second.value)),
        value + float(np.hypot(first.high - first.value, second.value - second.low)),
    )


def ratio_of(top: Estimate, bottom: Estimate) -> Estimate:
    """`top / bottom` for two independent estimates, the second of which should be positive.

    A ratio r is in the interval if 0 is in that of `top - r * bottom`, see `difference_of`. An end is infinite if the
    data do not bound it, because the bottom may be 0.

    ```python
    >>> from recombine.intervals import Estimate, ratio_of
    >>> found = ratio_of(Estimate(6.0, 5.0, 8.0), Estimate(2.0, 1.0, 3.0))
    >>> found.value, round(found.low, 2), round(found.high, 2)
    (3.0, 1.92, 6.31)
    >>> ratio_of(Estimate(6.0, 5.0, 8.0), Estimate(2.0, -1.0, 3.0)).high
    inf

    ```

    **Reference:** Donner and Zou 2012, Statistical Methods in Medical Research 21:347.
    """
    if not (math.isfinite(top.value) and bottom.value > 0):
        return UNKNOWN
    value = top.value / bottom.value
    if not all(map(math.isfinite, (*top.pair, *bottom.pair))):
        return Estimate(value, np.nan, np.nan)
    return Estimate(value, _low_end_of_ratio(top, bottom), -_low_end_of_ratio(top.scaled(-1.0), bottom))


def _low_end_of_ratio(top: Estimate, bottom: Estimate) -> float:
    """The smaller r that solves `(a - r b)^2 = (a - low of a)^2 + r^2 q^2` for values a and b.

    q is the distance from b to the end that makes `r b` large: to its upper end for positive r.
    """
    if top.value == top.low == 0:
        return 0.0
    # in units of a: squares of tiny or huge numbers would under- or overflow
    size = max(abs(top.value), abs(top.low))
    a, low = top.value / size, top.low / size
    q = (bottom.high / bottom.value - 1) if low >= 0 else (1 - bottom.low / bottom.value)
    square, constant = 1 - q**2, low * (2 * a - low)  # square * r^2 - 2 a r + constant = 0, in units of b
    if low < 0 and square <= 0:
        return -math.inf
    root = math.sqrt(max(a**2 - square * constant, 0.0))
    r = constant / (a + root) if a > 0 else (a - root) / square
    return r * size / bottom.value


def one_of_several(estimate: Estimate, comparisons: int, n: int | None = None) -> Estimate:
    """The estimate with an interval for one of several comparisons, all of which cover at once (Bonferroni).

    The interval is widened about the value by the ratio of the quantiles of both levels: of the t distribution for n
    cells, of the normal one if their number is not known.

    ```python
    >>> from recombine.intervals import Estimate, one_of_several
    >>> found = one_of_several(Estimate(0.0, -1.96, 1.96), 10)
    >>> round(found.high, 2), round(found.level, 3)
    (2.81, 0.995)

    ```
    """
    from scipy.special import ndtri, stdtrit

    if comparisons <= 1:
        return estimate
    level = 1 - (1 - estimate.level) / comparisons
    tails = np.array([(1 + level) / 2, (1 + estimate.level) / 2])
    quantiles = ndtri(tails) if n is None else stdtrit(max(n - 1, 1), tails)
    wider = float(quantiles[0] / quantiles[1])
    value = estimate.value
    return Estimate(
        value, value - wider * (value - estimate.low), value + wider * (estimate.high - value), level=level
    )
