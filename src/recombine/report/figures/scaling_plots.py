"""How a quantity grows with size: both axes logarithmic, with fitted slopes next to the lines."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from recombine.errors import InputError
from recombine.report.figures.direct_labels import EndLabel, end_labels
from recombine.report.figures.style import BASELINE, Axes, colours, log_ticks, sentence, styled


def fitted_slope(sizes: ArrayLike, values: ArrayLike) -> tuple[float, float]:
    """The exponent and the factor of the power law that fits best: least squares of logarithms.

    **Arguments:**

    - `sizes`: `(sizes,)`, positive.
    - `values`: `(sizes,)` or `(seeds, sizes)`. Values that are not finite and positive are left out.

    **Returns:**

    `(a, c)` with `values ≈ c * sizes ** a`; both NaN if fewer than two sizes have values.

    ```python
    >>> from recombine.report import fitted_slope
    >>> slope, factor = fitted_slope([10, 20, 40], [[30, 120, 480]])
    >>> round(slope, 6), round(factor, 6)
    (2.0, 0.3)

    ```
    """
    measured = np.atleast_2d(np.asarray(values, dtype=np.float64))
    across = np.broadcast_to(np.asarray(sizes, dtype=np.float64), measured.shape)
    good = np.isfinite(measured) & (measured > 0)
    if len(np.unique(across[good])) < 2:
        return np.nan, np.nan
    slope, offset = np.polyfit(np.log(across[good]), np.log(measured[good]), deg=1)
    return float(slope), float(np.exp(offset))


@styled
def scaling_plot(
    ax: Axes,
    sizes: ArrayLike,
    series: Mapping[str, ArrayLike],
    *,
    references: Mapping[str, float] | None = None,
    palette: Mapping[str, str] | None = None,
    size: str = "N",
    title: str = "",
    label: str = "",
) -> dict[str, float]:
    """A quantity against size, a point for each seed and a fitted power law for each series.

    **Arguments:**

    - `sizes`: `(sizes,)`.
    - `series`: `(sizes,)` or `(seeds, sizes)` values by label; NaN where nothing was measured.
    - `references`: exponents by label, drawn as thin lines for comparison, for example `{"N³": 3}`; each
        starts where the series with the nearest slope starts.

    **Returns:**

    The fitted exponents by label.
    """
    across = np.asarray(sizes, dtype=np.float64)
    inks, ends = palette or colours(series), []
    laws: dict[str, tuple[float, float]] = {}
    ax.set_xscale("log")
    ax.set_yscale("log")
    for key, series_values in series.items():
        values = np.atleast_2d(np.asarray(series_values, dtype=np.float64))
        if values.shape[1:] != across.shape:
            raise InputError(f"series {key!r}", values.shape, f"(seeds, sizes) with {len(across)} sizes")
        slope, factor = laws[key] = fitted_slope(across, values)
        points = np.broadcast_to(across, values.shape)
        ax.plot(
            points.ravel(), values.ravel(), "o", color=inks[key], markersize=3.6, alpha=0.7, markeredgewidth=0
        )
        if np.isfinite(slope):
            ax.plot(across, factor * across**slope, color=inks[key], linewidth=1.2)
            ends.append(EndLabel(f"{key}: slope {slope:.1f}", float(factor * across[-1] ** slope), inks[key]))
    fitted = [law for law in laws.values() if np.isfinite(law[0])]
    for key, slope in (references or {}).items() if fitted else ():
        nearest, factor = min(fitted, key=lambda law: abs(law[0] - slope))
        line = factor * across[0] ** nearest * (across / across[0]) ** slope
        ax.plot(across, line, color=BASELINE, linewidth=0.7, zorder=1)
        ends.append(EndLabel(key, float(line[-1]), BASELINE))
    log_ticks(ax.yaxis)
    ax.minorticks_off()
    ax.set_xticks(across, [f"{value:g}" for value in across])
    ax.set_xlabel(size)
    ax.set_ylabel(label)
    sentence(ax, title)
    end_labels(ax, ends)
    return {key: slope for key, (slope, _) in laws.items()}
