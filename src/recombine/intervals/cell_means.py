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
reaches far where few cells are very different from the others, and is used where these are large (g > 0). Rare large
numbers need more cells all the same: most samples of ten cells do not contain one, and no interval that is based on the
sample alone can know about it.

Shares, such as those of wrong labels, do not vary if all cells are right, or all wrong. That does not make them
certain: their interval then ends where that of a rate does (Jeffreys).
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float, Int

from recombine.intervals.estimate import LEVEL, UNKNOWN, Estimate

FEW_CELLS, FEW_BAD_CELLS = 20, 5
"""With fewer cells, or fewer cells that have errors, intervals of errors without a bound cover less than they should:
85 to 95% of draws with ten cells (`python -m benchmarks calibration`), 72% with twenty of which two have an error."""


def mean_over_cells(
    values: Float[np.ndarray, " cells"],
    weights: Float[np.ndarray, " cells"] | None = None,
    units: Int[np.ndarray, " cells"] | None = None,
    *,
    heavy: bool = False,
    shares: bool = False,
) -> Estimate:
    """The mean of one number per cell, with its 95% interval; without one for fewer than two cells.

    **Arguments:**

    - `weights`: how much every cell counts; default: all the same. Its distribution is that of the linearised weighted
        mean, that is, of `weights * (values - mean) / mean weight`.
    - `units`: equal numbers for cells that are not independent of each other; default: all are.
    - `heavy`: for numbers without a bound, most of which are small and some large, such as squared errors.
    - `shares`: for numbers from 0 to 1, such as the share of wrong labels.

    ```python
    >>> import numpy as np
    >>> from recombine.intervals import mean_over_cells
    >>> errors = np.r_[np.zeros(16), 0.1, 0.2, 0.5, 1.0]  # few cells have an error, and one a large one
    >>> [round(one, 2) for one in mean_over_cells(errors).pair]
    [-0.02, 0.27]
    >>> [round(one, 2) for one in mean_over_cells(errors, heavy=True).pair]
    [0.01, 0.51]
    >>> [round(one, 2) for one in mean_over_cells(np.zeros(20), shares=True).pair]  # no cell is wrong
    [0.0, 0.12]

    ```

    **References:** Johnson 1978, JASA 73:536 (the first order); Hall 1992, JRSS B 54:221 (the cubic);
    Brown, Cai and DasGupta 2001, Statistical Science 16:101 (rates).
    """
    n = len(values)
    if not n:
        return UNKNOWN
    counted = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    if not counted.sum() > 0:
        return UNKNOWN
    value = float(np.average(values, weights=counted))
    off = counted / counted.mean() * (values - value)
    if units is not None:
        known, unit = np.unique(units, return_inverse=True)
        off = np.bincount(unit, weights=off) * (len(known) / n)  # the mean over units is the mean over cells
        n = len(known)
    if n < 2:
        return Estimate(value, np.nan, np.nan)
    size = float(np.abs(off).max())
    if not size > 1e-13 * float(np.abs(values).max()):  # equal but for the rounding of their mean
        return _all_or_none(value, n) if shares and value in (0.0, 1.0) else Estimate(value, value, value)
    off = off / size  # cubes of tiny or huge numbers would under- or overflow
    off = off - off.mean()
    deviation = math.sqrt(float((off**2).sum()) / (n - 1))
    third = float((off**3).sum()) * n / ((n - 1) * (n - 2)) if n > 2 else 0.0
    below, above = _reach(third / deviation**3 / math.sqrt(n), n, heavy=heavy)
    error = size * deviation / math.sqrt(n)
    return Estimate(value, value - error * below, value + error * above)


def _reach(skewness: float, n: int, *, heavy: bool) -> tuple[float, float]:
    """How many standard errors the interval reaches below and above a mean of n units with this skewness (of the mean,
    not of single units)."""
    from scipy.special import stdtrit

    quantile = float(stdtrit(n - 1, (1 + LEVEL) / 2))
    if heavy and skewness > 0:
        return _by_cubic(quantile, skewness), -_by_cubic(-quantile, skewness)
    longer = skewness / 6 * (2 * quantile**2 + 1)
    return quantile + max(-longer, 0.0), quantile + max(longer, 0.0)


def _all_or_none(value: float, n: int) -> Estimate:
    """The interval of a rate if none or all of n units are wrong: Beta(1/2, n + 1/2)."""
    from scipy.special import betaincinv

    reach = float(betaincinv(0.5, n + 0.5, (1 + LEVEL) / 2))
    return Estimate(value, 0.0, reach) if value == 0 else Estimate(value, 1 - reach, 1.0)


def _by_cubic(x: float, skewness: float) -> float:
    """The studentised mean T for which Hall's cubic is x."""
    if abs(skewness) < 1e-6:  # the cubic is x = T then
        return x
    return 3.0 / skewness * (float(np.cbrt(1.0 + skewness * (x - skewness / 6.0))) - 1.0)
