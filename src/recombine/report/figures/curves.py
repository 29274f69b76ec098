"""Curves: over layers, over training steps and over the levels of a factor, labelled at their ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Real
from numpy.typing import ArrayLike

from recombine.errors import InputError
from recombine.report.figures.direct_labels import EndLabel, baseline_lines, end_labels
from recombine.report.figures.short_labels import COLUMN_WIDTH, short_label
from recombine.report.figures.style import (
    UNSEEN,
    UNSEEN_DASHES,
    Axes,
    colours,
    log_ticks,
    panel_width,
    sentence,
    styled,
    text_width,
)


@styled
def layer_curves(
    ax: Axes,
    names: Sequence[str],
    series: Mapping[str, Real[np.ndarray, "seeds layers"]],
    *,
    baselines: Mapping[str, float] | None = None,
    limits: tuple[float, float] | None = None,
    palette: Mapping[str, str] | None = None,
    title: str = "",
    label: str = "",
) -> None:
    """A value in every layer: a point for each seed, a line through their medians.

    **Arguments:**

    - `names`: of the layers, from input to output.
    - `series`: `(seeds, layers)` values by label.
    - `baselines`: thin labelled lines.
    - `limits`: ends of the vertical axis.
    - `palette`: colours by label; default [`recombine.report.colours`][].
    - `label`: what the values are.
    """
    inks = palette or colours(series)
    ends = []
    names = [short_label(name, COLUMN_WIDTH) for name in names]
    positions = np.arange(len(names))
    shifts = 0.06 * (np.arange(len(series)) - (len(series) - 1) / 2.0)
    for (key, series_values), shift in zip(series.items(), shifts, strict=True):
        values = _two_axes(key, series_values, len(names), "seeds, layers")
        middle = _median_over_seeds(values)
        ax.plot(positions + shift, middle, color=inks[key])
        across = np.broadcast_to(positions + shift, values.shape)
        ax.plot(
            across.ravel(), values.ravel(), "o", color=inks[key], markersize=3, markeredgewidth=0, alpha=0.6
        )
        ends.append(EndLabel(short_label(key, COLUMN_WIDTH), _last(middle), inks[key]))
    ends += baseline_lines(ax, baselines or {})
    if limits:
        ax.set_ylim(*limits)
    ax.set_xticks(positions, names)
    if text_width("  ".join(names), 7.5) > panel_width(ax) - 1.1:
        ax.set_xticks(positions, names, rotation=35, horizontalalignment="right", rotation_mode="anchor")
    ax.set_xlim(-0.3, len(names) - 0.7)
    ax.set_xlabel("layer")
    ax.set_ylabel(label)
    sentence(ax, title)
    end_labels(ax, ends)


@styled
def loss_curves(
    ax: Axes,
    steps: ArrayLike,
    series: Mapping[str, Real[np.ndarray, "seeds steps"]],
    *,
    baselines: Mapping[str, float] | None = None,
    palette: Mapping[str, str] | None = None,
    title: str = "",
    label: str = "mean squared error",
    step: str = "step",
) -> None:
    """Losses during training on a logarithmic axis: seeds thin, their median thick, baselines as thin lines.

    **Arguments:**

    - `steps`: `(steps,)`, where losses were recorded.
    - `series`: `(seeds, steps)` losses by label, for example `"seen"` and `"unseen"`.
    - `baselines`: values that trivial predictions reach, by label.
    - `step`: what is counted, for example `"epoch"`.
    """
    inks = palette or colours(series)
    across = np.asarray(steps, dtype=np.float64)
    ends = []
    for key, series_values in series.items():
        values = _two_axes(key, series_values, len(across), "seeds, steps")
        middle = _median_over_seeds(values)
        ax.plot(across, values.T, color=inks[key], linewidth=0.6, alpha=0.45)
        ax.plot(across, middle, color=inks[key], linewidth=1.8)
        ends.append(EndLabel(key, _last(middle), inks[key]))
    ax.set_yscale("log")
    ends += baseline_lines(ax, baselines or {})
    log_ticks(ax.yaxis)
    ax.set_xlim(across.min(), across.max())
    ax.set_xlabel(step)
    ax.set_ylabel(label)
    sentence(ax, title)
    end_labels(ax, ends)


@styled
def tuning_curves(
    ax: Axes,
    levels: ArrayLike,
    units: Mapping[str, Real[np.ndarray, " levels"]],
    *,
    unseen: Bool[np.ndarray, " levels"] | None = None,
    factor: str = "x",
    title: str = "",
    label: str = "activation",
) -> None:
    """The activity of single units over the levels of one factor, with the others held fixed.

    **Arguments:**

    - `levels`: `(levels,)` in order.
    - `units`: `(levels,)` activations by the unit's name.
    - `unseen`: `(levels,)`, true where the cell was unseen; such stretches are dashed and shaded.
    """
    across = np.asarray(levels, dtype=np.float64)
    hidden = np.zeros(len(across), dtype=bool) if unseen is None else np.asarray(unseen)
    inks, peaks = colours(units), []
    for key, activity in units.items():
        values = _two_axes(key, np.asarray(activity)[None], len(across), "levels")[0]
        ax.plot(across, np.where(_widened(~hidden), values, np.nan), color=inks[key])
        if hidden.any():
            ax.plot(across, np.where(hidden, values, np.nan), color=inks[key], linestyle=UNSEEN_DASHES)
        peaks.append((key, float(across[values.argmax()]), float(values.max())))
    for low, high in _stretches(across, hidden):
        ax.axvspan(low, high, color=UNSEEN, alpha=0.1, linewidth=0)
        middle = (low + high) / 2
        ax.text(
            middle, 0.99, "unseen", color=UNSEEN, ha="center", va="top", transform=ax.get_xaxis_transform()
        )
    ax.margins(x=0.0, y=0.18)
    ax.set_xlabel(factor)
    ax.set_ylabel(label)
    sentence(ax, title)
    if _are_apart(peaks, float(np.ptp(across))):
        for key, peak, height in peaks:
            above: dict[str, Any] = {"xytext": (0.0, 3.0), "textcoords": "offset points"}
            ax.annotate(key, (peak, height), color=inks[key], ha="center", **above)
    else:
        end_labels(ax, [EndLabel(key, float(np.asarray(units[key])[-1]), inks[key]) for key in units])


def _two_axes(key: str, values: ArrayLike, n: int, axes: str) -> np.ndarray:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != n:
        raise InputError(f"series {key!r}", array.shape, f"({axes}) with {n} along the last axis")
    return array


def _median_over_seeds(values: np.ndarray) -> np.ndarray:
    """Medians of the finite values; NaN where every seed has diverged."""
    finite = np.where(np.isfinite(values), values, np.nan)
    medians = np.full(values.shape[1], np.nan)
    some = ~np.isnan(finite).all(axis=0)
    medians[some] = np.nanmedian(finite[:, some], axis=0)
    return medians


def _last(values: np.ndarray) -> float:
    """The last finite value; NaN if there is none."""
    finite = values[np.isfinite(values)]
    return float(finite[-1]) if len(finite) else np.nan


def _widened(mask: np.ndarray) -> np.ndarray:
    """The mask and its neighbours, so that adjoining stretches of a line meet."""
    wide = mask.copy()
    wide[1:] |= mask[:-1]
    wide[:-1] |= mask[1:]
    return wide


def _are_apart(peaks: Sequence[tuple[str, float, float]], span: float) -> bool:
    """Whether labels on top of the peaks are far enough apart."""
    positions = np.sort([position for _, position, _ in peaks])
    return bool((np.diff(positions) > 0.2 * span).all())


def _stretches(levels: np.ndarray, mask: np.ndarray) -> list[tuple[float, float]]:
    """Where every run of true entries begins and ends, half-way to the neighbouring levels."""
    between = np.concatenate([levels[:1], (levels[1:] + levels[:-1]) / 2.0, levels[-1:]])
    edges = np.flatnonzero(np.diff(np.pad(mask.astype(int), 1)))
    return [(float(between[a]), float(between[b])) for a, b in zip(edges[::2], edges[1::2], strict=True)]
