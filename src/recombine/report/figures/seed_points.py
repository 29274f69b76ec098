"""Seeds as points: every run is visible, and a bar shows the interval."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from recombine.errors import InputError
from recombine.intervals import Estimate, interval
from recombine.report.figures.direct_labels import baseline_flags
from recombine.report.figures.style import (
    Axes,
    colours,
    log_ticks,
    panel_width,
    sentence,
    styled,
    text_width,
)

SeedValues = ArrayLike | Mapping[str, ArrayLike]
"""One value per seed, or several such series by label."""


@styled
def seed_points(
    ax: Axes,
    groups: Mapping[str, SeedValues],
    *,
    baselines: Mapping[str, float] | None = None,
    log: bool = False,
    estimates: Mapping[str, Estimate] | None = None,
    palette: Mapping[str, str] | None = None,
    limits: tuple[float, float] | None = None,
    title: str = "",
    label: str = "",
) -> None:
    """Compares groups: a point for every seed, a bar for the interval and a stroke at the estimate.

    **Arguments:**

    - `groups`: by label, from top to bottom: values `(seeds,)`, or several series by label, for example
        `{"ordinary": {"seen": [...], "unseen": [...]}}`. Seeds without a finite value count as diverged.
    - `baselines`: thin labelled upright lines.
    - `log`: logarithmic axis; for errors.
    - `estimates`: by group, the stroke and the bar, where a table has them already; default: the median over seeds with
        its interval ([`recombine.intervals.interval`][]).
    - `palette`: colours by series.

    ```python
    >>> from recombine.report import new_figure, seed_points
    >>> figure, panels = new_figure(aspect=0.3)
    >>> errors = {"ordinary": {"seen": [1e-4, 2e-4], "unseen": [4e-3, 5e-3]}}
    >>> seed_points(panels[0, 0], errors, baselines={"blank image": 0.004}, log=True)

    ```
    """
    if not groups:
        raise InputError("groups", dict(groups), "at least one group")
    tables = {label: _series(values) for label, values in groups.items()}
    keys = list(dict.fromkeys(key for table in tables.values() for key in table))
    inks = palette or colours(keys)
    if log:
        ax.set_xscale("log")
    names = []
    alone = all(len(table) == 1 for table in tables.values()) and len(keys) == len(tables)
    for place, (group, table) in enumerate(tables.items()):
        lost = 0
        for series, values in table.items():
            row = place if alone else place + 0.26 * (keys.index(series) - (len(keys) - 1) / 2.0)
            shown = (estimates or {}).get(group) or interval(values)
            _draw_seeds(ax, row, values, shown, inks[series])
            lost += int((~np.isfinite(values)).sum())
        wrapped = "\n".join(textwrap.wrap(group, 28))
        names.append(f"{wrapped}\n({lost} diverged)" if lost else wrapped)
    ax.set_yticks(range(len(tables)), names)
    ax.set_ylim(len(tables) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    for edge in range(1, len(tables)):
        ax.axhline(edge - 0.5, color="#DDDDDD", linewidth=0.5, zorder=0)
    lift = baseline_flags(ax, baselines or {})
    if limits:
        ax.set_xlim(*limits)
    if log:
        log_ticks(ax.xaxis)
    ax.set_xlabel(label)
    if keys != [""] and not alone:
        _name_series(ax, keys, inks)
    longest = max((line for name in names for line in name.split("\n")), key=len)
    sentence(ax, title, lift=lift, inset=text_width(longest, 7.5))


def _series(values: SeedValues) -> dict[str, np.ndarray]:
    by_name = values if isinstance(values, Mapping) else {"": values}
    return {key: np.asarray(one, dtype=np.float64) for key, one in by_name.items()}


def _draw_seeds(ax: Axes, row: float, values: np.ndarray, estimate: Estimate, ink: str) -> None:
    finite = values[np.isfinite(values)]
    if not len(finite):
        return
    value, low, high = estimate.value, estimate.low, estimate.high
    if (
        ax.get_xscale() == "log" and finite.min() > 0
    ):  # an interval may reach down to 0, a logarithmic axis does not
        value, low, high = np.maximum((value, low, high), finite.min())
    ax.plot([low, high], [row, row], color=ink, linewidth=6, alpha=0.25, solid_capstyle="butt")
    ax.plot([value] * 2, [row - 0.15, row + 0.15], color=ink, linewidth=1.8, solid_capstyle="butt")
    rim: dict[str, Any] = {"markeredgecolor": "white", "markeredgewidth": 0.4}
    ax.plot(finite, [row] * len(finite), "o", color=ink, markersize=3.6, clip_on=False, zorder=3, **rim)


def _name_series(ax: Axes, keys: list[str], inks: Mapping[str, str]) -> None:
    """A key below the panel: next to the axis label if it fits there, otherwise below it."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=inks[key], marker="o", linewidth=4, alpha=0.8, markersize=3.6) for key in keys
    ]
    key_width = sum(text_width(key, 8.0) + 0.5 for key in keys)
    fits = (panel_width(ax) - text_width(ax.get_xlabel(), 8.0)) / 2 > key_width  # the label is centred
    below = 2.2 if fits else 4.0  # in units of the type size
    ax.legend(
        handles,
        keys,
        loc="upper right",
        bbox_to_anchor=(1.0, 0.0),
        ncols=len(keys),
        borderaxespad=below,
        handlelength=1.6,
    )
