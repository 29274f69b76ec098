"""Every interval in the package: over seeds, for rates, and over resampled cells.

- Seeds: the median with its order-statistic interval (`interval`), the Hodges-Lehmann shift between two unpaired
    samples (`shift_interval`), and Wilson's interval for a rate (`rate_interval`). None of them draws random numbers.
- Cells: one bootstrap (`Resampler`). It resamples whole cells, because rows within a cell are not independent.
    `paired_p_value` tests whether paired cells differ.
- Both: the difference of two independent estimates (`difference_of`), and the interval of one of several comparisons
    (`one_of_several`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy.typing import ArrayLike

from recombine.errors import InputError

LEVEL = 0.95
"""The coverage that an interval has unless another is asked for."""
MAX_DRAWS = 5e6
"""Cells times resamples that are held in memory at a time."""
MAX_FLIPPED, MAX_DRAWN_FLIPS, SIGN_FLIPS = 13, 500, 9999
"""Differences up to which all signs are tried, up to which so many random signs are drawn; beyond, their sum is
normal."""


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

    def to_dict(self) -> dict[str, Any]:
        """Plain values by name."""
        return dict(vars(self))


UNKNOWN = Estimate(np.nan, np.nan, np.nan)
"""Stands where nothing could be measured."""


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
        self,
        value: float,
        draws: Float[np.ndarray, " resamples"],
        groups: Sequence[int],
        *,
        skewed: bool = False,
    ) -> Estimate:
        """The value with its interval; `groups` are those that were resampled, for `skewed` see below."""
        return resampled_estimate(value, draws, min(self.groups[group] for group in groups), skewed=skewed)


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


def resampled_estimate(
    value: float, draws: Float[np.ndarray, " resamples"], n: int, *, skewed: bool = False
) -> Estimate:
    """A value with the widened percentile interval of its resamples from n cells; without one for fewer than two.

    A percentile interval of few cells is too narrow. It is widened about the value by `t / z * sqrt(n / (n - 1))`, the
    correction that is exact for means of normal values (Hesterberg 2015, doi:10.1080/00031305.2015.1089789).

    **Arguments:**

    - `skewed`: for means of errors, most of which are small and some large. A percentile interval corrects only a third
        of the skewness of a mean: the studentised interval is longer on one side by `skewness / 6 * (2 z^2 + 1)`, this
        one by `skewness / 6 * (z^2 - 1)` (Hall 1992, The Bootstrap and Edgeworth Expansion, 3.5). So the longer side
        grows by what is missing; the shorter side stays, which is cautious. Errors that are rare and large need more
        cells all the same: most samples of ten cells do not contain one.

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
    if skewed:
        half, uneven, z = (below + above) / 2, abs(above - below) / 2, float(ndtri(1 - tail))
        longer = half + min(uneven * (2 * z**2 + 1) / (z**2 - 1), 2 * half)
        below, above = (below, longer) if above > below else (longer, above)
    return Estimate(value, value - wider * below, value + wider * above)


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


def paired_p_value(differences: ArrayLike, *, seed: int = 0) -> float:
    """The probability that differences with random signs have a mean as far from 0 as these have.

    A bootstrap of few cells that differ is too sure: if 4 of 18 cells get better and none gets worse, its interval
    excludes 0, but 4 fair coins all show heads in one of eight cases (both sides).

    **Arguments:**

    - `differences`: `(cells,)`, one per pair; zeros do not count.

    ```python
    >>> from recombine.intervals import paired_p_value
    >>> paired_p_value([1.0, 1.0, 1.0, 1.0, 0.0]), paired_p_value([0.0, 0.0])
    (0.125, 1.0)

    ```

    **Reference:** Fisher 1935, The Design of Experiments, section 21.
    """
    from scipy.special import ndtr

    values = np.asarray(differences, dtype=np.float64)
    values = values[values != 0]
    n = len(values)
    if not n:
        return 1.0
    values = values / np.abs(values).max()
    observed = abs(float(values.sum()))
    if n > MAX_DRAWN_FLIPS:
        return float(2 * ndtr(-observed / np.sqrt((values**2).sum())))
    if n <= MAX_FLIPPED:
        signs = 1.0 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
        return float((np.abs(signs @ values) >= observed - 1e-9).mean())
    rng = np.random.default_rng([seed, 67])
    signs = 1.0 - 2.0 * rng.integers(0, 2, size=(SIGN_FLIPS, n))
    as_far = int((np.abs(signs @ values) >= observed - 1e-9).sum())
    return (as_far + 1) / (SIGN_FLIPS + 1)


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
