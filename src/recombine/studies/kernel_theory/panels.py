"""Panels that several figures of this study have: seeds as points, and the contribution of every number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from recombine.report import BASELINE, blank_figure, colours, look, sentence
from recombine.studies.evidence import Arm

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def points(series: dict[str, list[np.ndarray]], names: list[str], label: str) -> Figure:
    """One group of seeds for every name and series."""
    inks = colours(list(series))
    with look():
        figure = blank_figure(height=2.6, width=5.2)
        ax = figure.subplots()
        for shift, (name, groups) in enumerate(series.items()):
            offset = 0.12 * (shift - (len(series) - 1) / 2)
            for position, values in enumerate(groups):
                ax.plot(
                    np.full(len(values), position + offset),
                    values,
                    "o",
                    color=inks[name],
                    markersize=3.5,
                    label=name if position == 0 else None,
                )
        ax.set_xticks(np.arange(len(names)), names)
        ax.set_ylabel(label)
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def worth_panels(
    rows: Mapping[str, Mapping[str, Arm]], inks: Sequence[str], published: Mapping[str, Mapping[str, float]]
) -> Figure:
    """Contributions of numbers to the nets' outputs against their values: one panel per row and set of anchors.

    **Arguments:**

    - `published`: published slopes by row and anchors, where there are any.
    """
    values = np.arange(-4, 5)
    with look():
        figure = blank_figure(height=4.4)
        columns = len(next(iter(rows.values())))
        panels = figure.subplots(len(rows), columns, sharex=True, sharey=True, squeeze=False)
        for line, (row, arms), ink in zip(panels, rows.items(), inks, strict=True):
            for ax, (anchors, arm) in zip(line, arms.items(), strict=True):
                ax.plot(values, values, color=BASELINE, linewidth=0.8)
                for worth in arm["worth"].reshape(-1, 9):
                    ax.plot(values, worth, "o", color=ink, markersize=2.5, alpha=0.7)
                known = published[row].get(anchors)
                note = "" if known is None else f" (published {known:.2f})"
                sentence(ax, f"{anchors}: {np.median(arm['slope']):.2f}{note}")
            line[0].set_ylabel(f"contribution, {row}")
        for ax in panels[-1]:
            ax.set_xlabel("true value")
    return figure
