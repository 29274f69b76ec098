"""Numbers and levels as the plain values that JSON has."""

from __future__ import annotations

from math import isfinite, isnan
from typing import Any


def plain_number(value: float) -> float | None:
    """A number for JSON: `None` if it is not finite.

    ```python
    >>> from recombine.report import plain_number
    >>> plain_number(0.5), plain_number(float("nan"))
    (0.5, None)

    ```
    """
    return float(value) if isfinite(value) else None


def plain_interval(low: float, high: float) -> list[float | None] | None:
    """The ends of an interval for JSON: `None` for an end without a bound, and for an interval that bounds nothing.

    ```python
    >>> from math import inf, nan
    >>> from recombine.report import plain_interval
    >>> plain_interval(0.2, 0.5), plain_interval(1.2, inf), plain_interval(-inf, inf), plain_interval(nan, nan)
    ([0.2, 0.5], [1.2, None], None, None)

    ```
    """
    ends = [plain_number(low), plain_number(high)]
    return None if isnan(low) or isnan(high) or ends == [None, None] else ends


def plain_level(level: Any) -> Any:
    """A level or a label for JSON: text if it is not a plain value, such as a date."""
    return level if isinstance(level, str | int | float | bool) else str(level)
