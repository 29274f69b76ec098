"""Figure 4c: how many training images are needed, as a function of image size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.report import blank_figure, colours, look, scaling_plot, sentence
from recombine.report.figures.direct_labels import EndLabel, baseline_lines, end_labels
from recombine.report.figures.style import log_ticks
from recombine.studies.claims import Evidence
from recombine.studies.forced_rendering.arms.stripes import KINDS, scaling_arms
from recombine.studies.forced_rendering.checks.scaling import ENOUGH, data_needed, points
from recombine.studies.study import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _needed(evidence: Evidence) -> Figure:
    sizes, _ = data_needed(evidence, "stripes")
    series = {label: _finite(data_needed(evidence, kind)[1].T) for kind, label in KINDS.items()}
    reached = max(int(np.isfinite(values).any(axis=0).sum()) for values in series.values()) > 1
    with look():
        rows: list[Any] = [[kind] for kind in KINDS] + ([["needed"]] if reached else [])
        heights = [2.0] * len(KINDS) + ([2.8] if reached else [])
        figure = blank_figure(height=sum(heights))
        panels = figure.subplot_mosaic(rows, height_ratios=heights)
    for kind, label in KINDS.items():
        _accuracy(panels[kind], evidence, kind, label)
    if reached:
        scaling_plot(
            panels["needed"],
            sizes,
            series,
            references={"like N": 1.0, "like N³": 3.0},
            size="image size N",
            title=_missing(sizes, series),
            label="training images for 90%",
        )
    return figure


def _finite(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values), values, np.nan)


def _missing(sizes: np.ndarray, series: dict[str, np.ndarray]) -> str:
    """A title that says where 90% was never reached, so that there is no point."""
    never = {label: sizes[~np.isfinite(values).any(axis=0)] for label, values in series.items()}
    parts = [
        f"{label}: 90% not reached at N = {', '.join(map(str, where))}"
        for label, where in never.items()
        if len(where)
    ]
    return "; ".join(parts) or "Training images needed for 90% accuracy"


def _accuracy(ax: Any, evidence: Evidence, kind: str, label: str) -> None:
    """Accuracy as a function of the number of training images, one line per image size."""
    sizes, _ = data_needed(evidence, kind)
    names = [f"N = {n}" for n in sizes]
    inks, ends = colours(names), []
    with look():
        ax.set_xscale("log")
        for n, name in zip(sizes, names, strict=True):
            images, right = points(evidence, int(n), kind)
            middle = np.median(right, axis=1)
            ax.plot(images, middle, "o-", color=inks[name], markersize=3.5, linewidth=1.2)
            ends.append(EndLabel(name, float(middle[-1]), inks[name]))
        ends += baseline_lines(ax, {"90%": ENOUGH})
        ax.set_ylim(-0.03, 1.05)
        log_ticks(ax.xaxis)
        ax.set_xlabel("training images")
        ax.set_ylabel("in the right place ± 1")
        sentence(ax, label.capitalize())
        end_labels(ax, ends)


DRAWINGS = (
    Drawing(
        "fig4-data-needed",
        "Figure 4c. Training images needed for 90% accuracy, with and without stripes.",
        "Upper panels: share of bumps drawn in the right place (within one pixel, median over seeds) against the "
        "number of training images, for several image sizes N: on the unseen corner with stripes and bumps, on the "
        "unseen corner with bumps alone, and on the whole plane with bumps everywhere. Training ends when "
        "the training loss is low enough, or after a fixed number of steps. Below: the number at which 90% is "
        "reached, against N, with fitted exponents; the paper reports growth like N with stripes and like N³ without. "
        "A line that never reaches 90% has no point.",
        scaling_arms(),
        _needed,
    ),
)
