"""How numbers are printed: two significant figures, intervals that share their decimals, no false 100%.

A value that is not finite is printed as an en dash, because it was not measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from recombine.intervals import Estimate

MISSING = "–"
"""Stands where there is no number."""


def number(value: float) -> str:
    """A number with two significant figures: plain from 0.01 up, scientific below 0.01 and from a million on.

    ```python
    >>> from recombine.report import number
    >>> [number(value) for value in (0.82, 41.3, 1250.0, 0.012, 0.00015, 0.0, float("nan"))]
    ['0.82', '41', '1250', '0.012', '1.5e-4', '0', '–']

    ```
    """
    if not math.isfinite(value):
        return MISSING
    if value == 0.0:
        return "0"
    if _is_scientific(value):
        return scientific(value)
    return fixed(value, _decimals(value))


def scientific(value: float, *, decimals: int = 1) -> str:
    """A number as mantissa and exponent, without padding.

    ```python
    >>> from recombine.report import scientific
    >>> scientific(1.5e-4), scientific(0.0276, decimals=2)
    ('1.5e-4', '2.76e-2')

    ```
    """
    if not math.isfinite(value):
        return MISSING
    mantissa, exponent = f"{value:.{decimals}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def percent(fraction: float) -> str:
    """A fraction as a percentage; only a true 0 and a true 1 (up to rounding errors) are printed as 0% and 100%.

    ```python
    >>> from recombine.report import percent
    >>> [percent(value) for value in (0.04, 1.0, 0.9996, 0.003, 0.0)]
    ['4%', '100%', '99.9%', '0.3%', '0%']

    ```
    """
    return MISSING if not math.isfinite(fraction) else f"{_percentage(round(float(fraction), 12))}%"


def points(difference: float) -> str:
    """A difference of two percentages.

    ```python
    >>> from recombine.report import points
    >>> points(0.284)
    '28 percentage points'

    ```
    """
    return f"{percent(difference).removesuffix('%')} percentage points"


def count(value: int, noun: str = "") -> str:
    """A number of things, with commas between thousands; with a noun, in the singular or plural.

    ```python
    >>> from recombine.report import count
    >>> count(12480), count(1, "cell"), count(2, "cell")
    ('12,480', '1 cell', '2 cells')

    ```
    """
    return f"{value:,} {noun}{'' if value == 1 else 's'}" if noun else f"{value:,}"


def number_ranges(numbers: Iterable[int], *, max_items: int = 6) -> str:
    """Whole numbers with runs as ranges, the first few of many.

    ```python
    >>> from recombine.report import number_ranges
    >>> number_ranges([0, 1, 2, 3, 7]), number_ranges(range(0, 40, 2))
    ('0–3, 7', '0, 2, 4, 6, 8, 10, …')

    ```
    """
    runs: list[list[int]] = []
    for value in map(int, numbers):
        if runs and value == runs[-1][-1] + 1:
            runs[-1].append(value)
        else:
            runs.append([value])
    items: list[str] = []
    for run in runs:
        items += [f"{run[0]}–{run[-1]}"] if len(run) > 2 else [str(value) for value in run]
    return ", ".join(items[:max_items]) + (", …" if len(items) > max_items else "")


def plus_minus(values: ArrayLike, *, decimals: int = 2) -> str:
    """The mean over seeds ± their standard deviation, with a fixed number of decimals so that columns align.

    One seed has no spread and is printed alone. Seeds without a finite value are left out.

    ```python
    >>> from recombine.report import plus_minus
    >>> plus_minus([0.76, 0.82, 0.88]), plus_minus([0.82])
    ('0.82 ± 0.06', '0.82')

    ```
    """
    array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    finite = array[np.isfinite(array)]
    if not len(finite):
        return MISSING
    mean = fixed(float(finite.mean()), decimals)
    return mean if len(finite) == 1 else f"{mean} ± {fixed(float(finite.std(ddof=1)), decimals)}"


def bracket(estimate: Estimate, *, unit: str = "", apart_from: float = math.nan) -> str:
    """A number with its interval in brackets; all three share their decimals.

    One seed has no interval and is printed alone; an end that the data do not bound is ∞.

    **Arguments:**

    - `unit`: `"%"` takes fractions and prints percentages; anything else is written after the number.
    - `apart_from`: a value, such as that without an effect, that an end of the interval must not look like unless it
        is that value; such an end gets more decimals.

    ```python
    >>> from recombine.report import bracket
    >>> from recombine.intervals import Estimate, interval
    >>> bracket(interval([36.0, 41.0, 47.0])), bracket(interval([0.80, 0.83, 0.88]), unit="%")
    ('41 [36, 47]', '83% [80, 88]')
    >>> bracket(interval([3.1, 3.9, 4.4]), unit="x"), bracket(interval([1.1e-4, 1.5e-4, 2e-4]))
    ('3.9x [3.1, 4.4]', '1.5e-4 [1.1e-4, 2.0e-4]')
    >>> bracket(interval([0.4, 15.0, 170.0]), unit="x")
    '15x [0.40, 170]'
    >>> bracket(interval([1.03, 1.34, 1.7]), unit="x", apart_from=1.0)
    '1.3x [1.03, 1.7]'
    >>> bracket(Estimate(2.5, 1.2, float("inf")))
    '2.5 [1.2, ∞]'

    ```
    """
    centre, low, high = estimate.value, estimate.low, estimate.high
    if not math.isfinite(centre):
        return MISSING
    if unit == "%":
        head, ends = f"{_percentage(centre)}%", (_percentage(low), _percentage(high))
    elif _is_scientific(centre):
        head, ends = scientific(centre) + unit, (scientific(low), scientific(high))
    else:
        decimals = _decimals(centre)
        if high - low >= 0.02:  # a third decimal would be noise
            decimals = min(decimals, 2)
        head, ends = fixed(centre, decimals) + unit, (fixed(low, decimals), fixed(high, decimals))
        if unit == "x" and low > 0 and float(ends[0]) == 0:  # a ratio above 0 is not 0
            ends = (number(low), ends[1])
        ends = (_apart(low, ends[0], apart_from), _apart(high, ends[1], apart_from))
    if (estimate.n is not None and estimate.n < 2) or math.isnan(low) or math.isnan(high):
        return head
    return f"{head} [{interval_end(low, ends[0])}, {interval_end(high, ends[1])}]"


def interval_end(value: float, text: str) -> str:
    """An end of an interval: its text, or ∞ if the data do not bound it.

    ```python
    >>> from recombine.report import interval_end
    >>> interval_end(0.5, "0.50"), interval_end(float("inf"), "–"), interval_end(float("-inf"), "–")
    ('0.50', '∞', '-∞')

    ```
    """
    if not math.isinf(value):
        return text
    return "∞" if value > 0 else "-∞"


def _apart(value: float, text: str, other: float) -> str:
    """The text of a value, with as many decimals, up to five, as show that it is not another one."""
    decimals = len(text.partition(".")[2])
    while float(text) == other != value and decimals < 5:
        decimals += 1
        text = fixed(value, decimals)
    return text


def _is_scientific(value: float) -> bool:
    return value != 0.0 and not 0.00995 <= abs(value) < 1e6


def _decimals(value: float) -> int:
    """Decimals that leave two significant figures, at most 3."""
    size = abs(value)
    return next(
        (n for n, threshold in enumerate((9.95, 0.995, 0.0995)) if size >= threshold), 3 if size else 0
    )


def fixed(value: float, decimals: int) -> str:
    """A number with a fixed number of decimals, and no negative zero."""
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0.0 else text


def _percentage(fraction: float) -> str:
    value = 100.0 * fraction
    if 0.0 < value < 1.0 or 99.0 < value < 100.0:
        return f"{min(max(value, 0.1), 99.9):.1f}"
    return fixed(value, 0)
