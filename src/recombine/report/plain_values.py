"""Numbers and levels as the plain values that JSON has."""

from __future__ import annotations

from math import isfinite
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


def plain_level(level: Any) -> Any:
    """A level or a label for JSON: text if it is not a plain value, such as a date."""
    return level if isinstance(level, str | int | float | bool) else str(level)
