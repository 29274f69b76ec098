"""Means of one number per cell, such as its error, with an interval that knows how skewed the numbers are.

Errors are skewed: most cells have small ones, a few large ones. A mean of ten such numbers is too small more often than
not, and then its standard error is too small, too, so that the textbook interval (value +- t * standard error) misses
the true mean mostly on one side. With T the studentised mean and g its skewness, P(T < x) is that of

    x + g/6 (2 x^2 + 1)

in the normal distribution, to first order in g. So the interval grows by that much on the side on which large numbers
may be missing from the sample; the other side stays, which is cautious.

Numbers without a bound, such as squared errors (`heavy`), need more. Hall's cubic

    x = T + g/3 T^2 + g^2/27 T^3 + g/6

has the same first order but an inverse, so the interval consists of the means for which x is between two quantiles. It
reaches far where few cells are very different from the others. Rare large numbers need more cells all the same: most
samples of ten cells do not contain one, and no interval that is based on the sample alone can know about it.

Sums of independent means have cumulants that add up, so the same formulas serve differences. A ratio r of two means is
in its interval if `top - r * bottom`, which is again such a difference, has an interval that contains 0 (Fieller).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from recombine.intervals.estimate import LEVEL, UNKNOWN, Estimate

FEW_CELLS = 20
"""Below, intervals of skewed errors cover less than they should: 83 to 94% of draws with ten cells instead of 95%
(measured by `python -m benchmarks calibration`)."""
MAX_RATIO, STEPS = 1e9, 200
"""Ratios that are looked for, in units of the estimate or of 1, and the most halvings until an end is found."""


@dataclass(frozen=True)
class MeanOverCells:
    """An estimated mean, or a sum of independent ones, and its sampling distribution.

    **Attributes:**

    - `error`: the standard error; NaN if there are fewer than two cells.
    - `skewness`: of the estimate, not of single cells; `freedom`: the degrees of freedom of its error (Welch).
    - `heavy`: whether rare numbers may be very large, see above.
    """

    value: float
    error: float
    skewness: float
    freedom: float
    heavy: bool = False

    def __mul__(self, factor: float) -> MeanOverCells:
        skewness = self.skewness if factor >= 0 else -self.skewness
        return MeanOverCells(
            self.value * factor, self.error * abs(factor), skewness, self.freedom, self.heavy
        )

    def __add__(self, other: MeanOverCells | float) -> MeanOverCells:
        """With a constant, or with the mean of other cells."""
        if not isinstance(other, MeanOverCells):
            return MeanOverCells(self.value + other, self.error, self.skewness, self.freedom, self.heavy)
        error = math.hypot(self.error, other.error)
        parts = [(one, one.error / error if error > 0 else 0.5) for one in (self, other)]
        return MeanOverCells(
            self.value + other.value,
            error,
            sum(share**3 * one.skewness for one, share in parts),  # third cumulants add up
            1 / sum(share**4 / one.freedom for one, share in parts),
            self.heavy or other.heavy,
        )

    def __sub__(self, other: MeanOverCells | float) -> MeanOverCells:
        return self + other * -1.0

    @property
    def estimate(self) -> Estimate:
        """The value with its 95% interval; without one for fewer than two cells."""
        if not np.isfinite(self.error):
            return Estimate(self.value, np.nan, np.nan)
        low, high = self._ends()
        return Estimate(self.value, low, high)

    def over(self, bottom: MeanOverCells) -> Estimate:
        """The ratio of this mean to that of other cells, which should be positive; an end is infinite if the data
        do not bound it."""
        if not (np.isfinite(self.value) and bottom.value > 0):
            return UNKNOWN
        value = self.value / bottom.value
        if not np.isfinite(self.error + bottom.error):
            return Estimate(value, np.nan, np.nan)
        return Estimate(value, self._end_of_ratio(bottom, value, -1), self._end_of_ratio(bottom, value, 1))

    def _ends(self) -> tuple[float, float]:
        from scipy.special import stdtrit

        if not self.error > 0:
            return self.value, self.value
        quantile = float(stdtrit(self.freedom, (1 + LEVEL) / 2))
        if self.heavy:
            below, above = _by_cubic(quantile, self.skewness), -_by_cubic(-quantile, self.skewness)
        else:
            longer = self.skewness / 6 * (2 * quantile**2 + 1)
            below, above = quantile + max(-longer, 0.0), quantile + max(longer, 0.0)
        return self.value - self.error * below, self.value + self.error * above

    def _end_of_ratio(self, bottom: MeanOverCells, value: float, side: int) -> float:
        """The ratio on one side of the value from which on 0 is outside the interval of `top - ratio * bottom`."""

        def inside(ratio: float) -> bool:
            low, high = (self - bottom * ratio)._ends()
            return low <= 0.0 <= high

        step = max(abs(value), 1e-6)
        near, far = value, value + side * step
        while inside(far):
            step *= 2.0
            if step > MAX_RATIO * max(abs(value), 1.0):
                return side * float("inf")
            near, far = far, value + side * step
        for _ in range(STEPS):
            middle = (near + far) / 2
            if abs(far - near) <= 1e-9 * max(abs(middle), 1e-9):
                break
            near, far = (middle, far) if inside(middle) else (near, middle)
        return near


def _by_cubic(x: float, skewness: float) -> float:
    """The studentised mean T for which Hall's cubic is x."""
    if abs(skewness) < 1e-6:  # the cubic is x = T then
        return x
    return 3.0 / skewness * (float(np.cbrt(1.0 + skewness * (x - skewness / 6.0))) - 1.0)


def mean_over_cells(
    values: Float[np.ndarray, " cells"],
    weights: Float[np.ndarray, " cells"] | None = None,
    units: Int[np.ndarray, " cells"] | None = None,
    *,
    heavy: bool = False,
) -> MeanOverCells:
    """The mean of one number per cell.

    **Arguments:**

    - `weights`: how much every cell counts; default: all the same. Its distribution is that of the linearised weighted
        mean, that is, of `weights * (values - mean) / mean weight`.
    - `units`: equal numbers for cells that are not independent of each other; default: all are.
    - `heavy`: for numbers without a bound, most of which are small and some large, such as squared errors.

    ```python
    >>> import numpy as np
    >>> from recombine.intervals import mean_over_cells
    >>> errors = np.r_[np.zeros(16), 0.1, 0.2, 0.5, 1.0]  # few cells have an error, and one a large one
    >>> [round(one, 2) for one in mean_over_cells(errors).estimate.pair]
    [-0.02, 0.28]
    >>> [round(one, 2) for one in mean_over_cells(errors, heavy=True).estimate.pair]
    [0.01, 0.51]
    >>> mean_over_cells(errors * 3).over(mean_over_cells(np.ones(20))).value
    0.27

    ```

    **References:** Johnson 1978, JASA 73:536 (the first order); Hall 1992, JRSS B 54:221 (the cubic);
    Fieller 1954, JRSS B 16:175 (ratios).
    """
    n = len(values)
    if not n:
        return MeanOverCells(np.nan, np.nan, 0.0, 1.0)
    counted = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    value = float(np.average(values, weights=counted))
    off = counted / counted.mean() * (values - value)
    if units is not None:
        known, unit = np.unique(units, return_inverse=True)
        off = np.bincount(unit, weights=off) * (len(known) / n)  # the mean over units is the mean over cells
        n = len(known)
    if n < 2:
        return MeanOverCells(value, np.nan, 0.0, 1.0, heavy)
    size = float(np.abs(off).max())
    if not size > 1e-13 * float(np.abs(values).max()):  # equal but for the rounding of their mean
        return MeanOverCells(value, 0.0, 0.0, n - 1.0, heavy)
    off = off / size  # cubes of tiny or huge numbers would under- or overflow
    off = off - off.mean()
    deviation = math.sqrt(float((off**2).sum()) / (n - 1))
    third = float((off**3).sum()) * n / ((n - 1) * (n - 2)) if n > 2 else 0.0
    skewness = third / deviation**3 / math.sqrt(n)
    return MeanOverCells(value, size * deviation / math.sqrt(n), skewness, n - 1.0, heavy)
