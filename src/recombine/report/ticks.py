"""Tick labels in plain figures, because superscripts would be too small to read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from recombine.report.style import styled


def power_label(value: float) -> str:
    """A tick of a logarithmic axis: plain from 0.01 to 9999, otherwise as `1e-3`.

    ```python
    >>> from recombine.report.ticks import power_label
    >>> [power_label(value) for value in (0.0005, 0.01, 1.0, 200.0, 1e5)]
    ['5e-4', '0.01', '1', '200', '1e5']

    ```
    """
    if value == 0.0 or 1e-2 <= abs(value) < 1e4:
        return f"{value:g}"
    mantissa, exponent = f"{value:.0e}".split("e")
    return f"{mantissa}e{int(exponent)}"


@styled
def log_ticks(axis: Any) -> None:
    """Labels a logarithmic matplotlib axis: powers of ten, and 2 and 5 where there are few powers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    few = low > 0 and math.log10(high / low) < 2.0
    subs: Sequence[float] = (1.0, 2.0, 5.0) if few else (1.0,)
    axis.set_major_locator(LogLocator(base=10.0, subs=subs, numticks=9))
    axis.set_major_formatter(FuncFormatter(lambda value, _: power_label(value)))
    axis.set_minor_formatter(NullFormatter())
