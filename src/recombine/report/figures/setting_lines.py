"""A value against a setting: a point for every seed, a line through the medians."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Real

from recombine.errors import InputError
from recombine.report.figures.direct_labels import EndLabel, end_labels
from recombine.report.figures.short_labels import AXIS_WIDTH, short_label
from recombine.report.figures.style import (
    MAP_COLOURS,
    METHODS,
    Axes,
    colours,
    log_ticks,
    panel_width,
    sentence,
    styled,
    text_width,
)

DECADES = 10.0
"""Positive values whose largest is this many times the smallest get a logarithmic axis."""
MAX_LABELS = 16
"""Lines that are labelled; more labels would not fit next to a panel."""
MAX_TICKS = 12
LABEL_WIDTH = 40
"""Characters of a line's label."""


@styled
def setting_lines(
    ax: Axes,
    positions: Sequence[Any],
    series: Mapping[str, Real[np.ndarray, "seeds positions"]],
    *,
    lost: Mapping[str, Sequence[Any]] | None = None,
    setting: str = "",
    title: str = "",
    label: str = "",
) -> None:
    """A value over a swept setting, one line per series.

    **Arguments:**

    - `positions`: values of the setting. Numbers are placed by size, logarithmically where they span decades;
        anything else, and decades together with 0, side by side.
    - `series`: `(seeds, positions)` values by label; NaN where nothing was measured.
    - `lost`: by label, positions at which some seed has no value; they get a cross at the lower edge.
    - `setting`: what the positions are.
    - `label`: what the values are.

    ```python
    >>> import numpy as np
    >>> from recombine.report import new_figure
    >>> from recombine.report.figures.setting_lines import setting_lines
    >>> figure, panels = new_figure()
    >>> setting_lines(panels[0, 0], [8, 64, 512], {"": np.array([[3.0, 2.0, 1.0]])}, setting="width")
    >>> panels[0, 0].get_xscale()
    'log'

    ```
    """
    places, is_log, names = _places(positions)
    order = np.argsort(places)
    inks = _inks(list(series))
    finite = np.concatenate([np.asarray(one, dtype=np.float64).ravel() for one in series.values()])
    finite = finite[np.isfinite(finite)]
    if is_log:
        ax.set_xscale("log")
    if spans_decades(finite):
        ax.set_yscale("log")
    ends = []
    for key, raw in series.items():
        values = np.asarray(raw, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != len(places):
            raise InputError(
                f"series {key!r}", values.shape, f"(seeds, positions) with {len(places)} positions"
            )
        values = np.where(np.isfinite(values), values, np.nan)[:, order]
        measured = ~np.isnan(values).all(axis=0)
        middle = np.full(len(places), np.nan)
        middle[measured] = np.nanmedian(values[:, measured], axis=0)
        ax.plot(places[order][measured], middle[measured], color=inks[key])
        points = np.broadcast_to(places[order], values.shape)
        ax.plot(
            points.ravel(), values.ravel(), "o", color=inks[key], markersize=3.2, markeredgewidth=0, alpha=0.6
        )
        if measured.any():
            ends.append(EndLabel(short_label(key, LABEL_WIDTH), float(middle[measured][-1]), inks[key]))
        missing = [
            place for one, place in zip(positions, places, strict=True) if one in (lost or {}).get(key, ())
        ]
        edge = ax.get_xaxis_transform()
        ax.plot(missing, [0.02] * len(missing), "x", color=inks[key], markersize=5, transform=edge)
    _ticks(ax, places, names)
    if ax.get_yscale() == "log":
        log_ticks(ax.yaxis)
    ax.set_xlabel(setting)
    ax.set_ylabel(label)
    if 1 < len(series) <= MAX_LABELS:
        end_labels(ax, ends)
    elif len(series) > 1:
        title = f"{title} ({len(series)} lines)"
    sentence(ax, title)


def spans_decades(values: np.ndarray) -> bool:
    """Whether values are positive and differ so much that a logarithmic axis shows them better."""
    return bool(len(values)) and bool(values.min() > 0) and bool(values.max() >= DECADES * values.min())


def _places(positions: Sequence[Any]) -> tuple[np.ndarray, bool, list[str] | None]:
    """Where each position is, whether that is on a logarithmic axis, and the names if they are side by side."""
    side_by_side = np.arange(len(positions), dtype=np.float64)
    texts = [
        "none" if one is None else f"{one:g}" if isinstance(one, float) else str(one) for one in positions
    ]
    if any(isinstance(one, bool) or not isinstance(one, int | float) for one in positions):
        return side_by_side, False, texts
    numbers = np.array(positions, dtype=np.float64)
    if spans_decades(numbers):
        return numbers, True, None
    if numbers.min() == 0 and spans_decades(numbers[numbers > 0]):
        ranks = np.argsort(np.argsort(numbers)).astype(np.float64)
        return ranks, False, texts
    return numbers, False, None


def _without_overlaps(ax: Axes, places: np.ndarray) -> list[str]:
    """Numbers as labels of ticks; those that would run into the label to their left are empty."""
    marks = np.log(places) if ax.get_xscale() == "log" else places
    span = float(np.ptp(marks)) or 1.0
    texts, right = [f"{one:g}" for one in places], -math.inf
    for i in np.argsort(places):
        centre = panel_width(ax) * float(marks[i] - marks.min()) / span
        half = text_width(texts[i] + "  ", 7.5) / 2
        if centre - half < right:
            texts[i] = ""
        else:
            right = centre + half
    return texts


def _inks(keys: list[str]) -> dict[str, str]:
    if len(keys) <= len(METHODS):
        return colours(keys)
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    ramp = colormaps[MAP_COLOURS]
    return {key: to_hex(ramp(0.9 * i / (len(keys) - 1))) for i, key in enumerate(keys)}


def _ticks(ax: Axes, places: np.ndarray, names: list[str] | None) -> None:
    if names is not None:
        short = [short_label(name, AXIS_WIDTH) for name in names]
        wide = text_width("  ".join(short), 7.5) > panel_width(ax) - 1.1
        turned: dict[str, Any] = (
            {"rotation": 35, "horizontalalignment": "right", "rotation_mode": "anchor"} if wide else {}
        )
        if len(short) <= 3 * MAX_TICKS:
            ax.set_xticks(places, short, **turned)
        ax.set_xlim(places.min() - 0.4, places.max() + 0.4)
    elif len(places) <= MAX_TICKS:
        ax.minorticks_off()
        ax.set_xticks(places, _without_overlaps(ax, places))
        ax.tick_params(axis="x", which="minor", length=0)
    elif ax.get_xscale() == "log":
        log_ticks(ax.xaxis)
