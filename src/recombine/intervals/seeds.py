"""Intervals over seeds and of rates; none of them draws random numbers."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from recombine.errors import InputError
from recombine.intervals.estimate import LEVEL, Estimate, difference_of


def interval(values: ArrayLike, *, level: float = LEVEL) -> Estimate:
    """The median over seeds with its order-statistic interval.

    The interval runs from the k-th smallest to the k-th largest seed. It misses the median of the distribution if fewer
    than k seeds fall on one side of it, which for any continuous distribution has the probability
    2 P(Binomial(n, 1/2) < k). k is the largest number for which that leaves a coverage of at least `level`: for 95%, 6
    seeds give their range (96.9%), 10 the 2nd to the 9th (97.9%), 20 the 6th to the 15th (95.9%). Below 6 seeds
    even the range covers less, and the `level` of the result says how much.

    **Arguments:**

    - `values`: `(seeds,)`; values that are not finite are left out and counted in `lost`.

    ```python
    >>> from recombine.intervals import interval
    >>> interval([41.0, 36.0, 47.0])
    Estimate(value=41.0, low=36.0, high=47.0, level=0.75, n=3, lost=0)
    >>> found = interval(range(10))
    >>> found.value, found.low, found.high, round(found.level, 3)
    (4.5, 1.0, 8.0, 0.979)

    ```

    **Reference:** David and Nagaraja, Order Statistics, 3rd edition, section 7.1.
    """
    _check_level(level)
    finite, lost = _finite("values", values)
    n = len(finite)
    if not n:
        return Estimate(np.nan, np.nan, np.nan, level=0.0, n=0, lost=lost)
    rank, coverage = median_ranks(n, level)
    ordered = np.sort(finite)
    low, high = float(ordered[rank - 1]), float(ordered[n - rank])
    return Estimate(float(np.median(finite)), low, high, level=coverage, n=n, lost=lost)


@lru_cache(maxsize=4096)  # looking for enough seeds asks for every number of them
def median_ranks(n: int, level: float = LEVEL) -> tuple[int, float]:
    """The rank k of the order-statistic interval of a median, and its exact coverage.

    ```python
    >>> from recombine.intervals import median_ranks
    >>> [(rank, round(coverage, 3)) for rank, coverage in map(median_ranks, (6, 10, 20))]
    [(1, 0.969), (2, 0.979), (6, 0.959)]
    >>> [(rank, round(coverage, 3)) for rank, coverage in (median_ranks(n, 1 - 0.05 / 3) for n in (7, 12, 20))]
    [(1, 0.984), (2, 0.994), (5, 0.988)]

    ```
    """
    from scipy.special import bdtr

    ranks = np.arange(1, max(n // 2, 1) + 1)
    coverage = 1 - 2 * bdtr(ranks - 1, n, 0.5)
    enough = int((coverage >= level - 1e-12).sum())  # the coverage falls with the rank
    return max(enough, 1), float(coverage[max(enough, 1) - 1])


def shift_interval(first: ArrayLike, second: ArrayLike, *, level: float = LEVEL) -> Estimate:
    """How much larger `first` is than `second`, if their seeds are not paired: the Hodges-Lehmann shift.

    The estimate is the median of all differences `first[i] - second[j]`. The interval consists of the shifts that the
    exact rank-sum test does not reject: from the c-th smallest to the c-th largest difference, with a coverage of
    1 - 2 P(U < c), U being the Mann-Whitney statistic without a shift. Take logarithms first to compare by ratio.

    ```python
    >>> from recombine.intervals import shift_interval
    >>> found = shift_interval([5.0, 6.0, 7.0, 8.0], [1.0, 2.0, 3.0, 4.0])
    >>> found.value, found.low, found.high, round(found.level, 3)
    (4.0, 1.0, 7.0, 0.971)

    ```

    **Reference:** Hodges and Lehmann 1963, Annals of Mathematical Statistics 34:598.
    """
    _check_level(level)
    (a, lost_a), (b, lost_b) = _finite("first", first), _finite("second", second)
    lost = lost_a + lost_b
    if not len(a) or not len(b):
        return Estimate(np.nan, np.nan, np.nan, level=0.0, n=0, lost=lost)
    differences = np.sort((a[:, None] - b).ravel())
    coverage = 1 - 2 * np.cumsum(_rank_sum_distribution(len(a), len(b)))
    enough = max(int((coverage >= level - 1e-12).sum()), 1)
    low, high = differences[enough - 1], differences[len(differences) - enough]
    return Estimate(
        float(np.median(differences)),
        float(min(low, high)),
        float(max(low, high)),
        level=max(float(coverage[enough - 1]), 0.0),
        n=len(a) + len(b),
        lost=lost,
    )


def _rank_sum_distribution(first: int, second: int) -> Float[np.ndarray, " values"]:
    """P(U = u) for u from 0 to first * second, if both samples come from one distribution.

    Go through the pooled values from the smallest. Every value of the first sample adds to U as many as the second
    sample had before it; `ways[k]` counts the orders with k values of the first sample so far, by their U.
    """
    ways = np.zeros((first + 1, first * second + 1))
    ways[0, 0] = 1.0
    for position in range(first + second):
        for k in range(min(first, position + 1), 0, -1):
            before = position - (k - 1)  # values of the second sample so far
            if before <= second:
                ways[k, before:] += ways[k - 1, : ways.shape[1] - before]
        if position >= second:
            ways[position - second] = 0.0  # more than `second` values of the second sample do not exist
    return ways[first] / ways[first].sum()


def rate_interval(successes: int, n: int, *, level: float = LEVEL) -> Estimate:
    """A rate over seeds ("how often does it fit?") with Wilson's interval.

    The interval consists of the rates p for which |k/n - p| is at most z sqrt(p (1 - p) / n). Unlike the textbook
    interval, it does not collapse to a point at 0 of n or n of n.

    ```python
    >>> from recombine.intervals import rate_interval
    >>> found = rate_interval(10, 10)
    >>> found.value, round(found.low, 3), found.high
    (1.0, 0.722, 1.0)

    ```

    **Reference:** Wilson 1927, JASA 22:209.
    """
    from scipy.special import ndtri

    _check_level(level)
    if n < 0 or not 0 <= successes <= n:
        raise InputError("successes", f"{successes} of {n}", "a number from 0 to n")
    if not n:
        return Estimate(np.nan, np.nan, np.nan, level=level, n=0)
    z = float(ndtri((1 + level) / 2))
    rate = successes / n
    centre = (rate + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * float(np.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2)))
    low = 0.0 if successes == 0 else max(centre - half, 0.0)  # exactly, without a rounding error
    high = 1.0 if successes == n else min(centre + half, 1.0)
    return Estimate(rate, low, high, level=level, n=n)


def rate_difference(
    first: int, n_first: int, second: int, n_second: int, *, level: float = LEVEL
) -> Estimate:
    """The difference of two rates, with Newcombe's interval from Wilson's intervals of both.

    ```python
    >>> from recombine.intervals import rate_difference
    >>> found = rate_difference(9, 10, 1, 10)
    >>> round(found.value, 3), round(found.low, 2), round(found.high, 2)
    (0.8, 0.37, 0.92)

    ```

    **Reference:** Newcombe 1998, Statistics in Medicine 17:873, method 10.
    """
    one, other = rate_interval(first, n_first, level=level), rate_interval(second, n_second, level=level)
    found = difference_of(one, other)
    return Estimate(found.value, found.low, found.high, level=level, n=n_first + n_second)


def _finite(field: str, values: ArrayLike) -> tuple[Float[np.ndarray, " seeds"], int]:
    """The finite values, and how many others there were."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise InputError(field, array.shape, "one value per seed, shape (seeds,)")
    finite = array[np.isfinite(array)]
    return finite, len(array) - len(finite)


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise InputError("level", level, "a coverage above 0 and below 1")
