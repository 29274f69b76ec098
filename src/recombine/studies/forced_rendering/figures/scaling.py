"""Figure 4c: how many training pictures it takes, against the size of the picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.report import blank_figure, colours, look, scaling_plot, sentence
from recombine.report.labels import EndLabel, baseline_lines, end_labels
from recombine.report.ticks import log_ticks
from recombine.studies.claims import Evidence
from recombine.studies.forced_rendering.checks.further import data_needed, scaling_points
from recombine.studies.study import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = {"stripes + bumps": True, "bumps only": False}
ENOUGH = 0.9


def _needed(evidence: Evidence) -> Figure:
    sizes, _ = data_needed(evidence, stripes=True)
    series = {label: _finite(data_needed(evidence, stripes=stripes)[1]) for label, stripes in KINDS.items()}
    reached = max(int(np.isfinite(values).sum()) for values in series.values()) > 1
    with look():
        figure = blank_figure(height=5.4 if reached else 2.7)
        panels = figure.subplot_mosaic([list(KINDS), ["needed"] * 2] if reached else [list(KINDS)])
    for label, stripes in KINDS.items():
        _accuracy(panels[label], evidence, label, stripes)
    if reached:
        scaling_plot(
            panels["needed"],
            sizes,
            series,
            references={"like N": 1.0, "like N³": 3.0},
            size="picture size N",
            title=_missing(sizes, series),
            label="training pictures for 90 %",
        )
    return figure


def _finite(values: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(values), values, np.nan)


def _missing(sizes: np.ndarray, series: dict[str, np.ndarray]) -> str:
    """A title that says where 90 % was never reached, since nothing can be drawn there."""
    never = {label: sizes[np.isnan(values)] for label, values in series.items()}
    parts = [
        f"{label}: 90 % not reached at N = {', '.join(map(str, where))}"
        for label, where in never.items()
        if len(where)
    ]
    return "; ".join(parts) or "Training pictures that 90 % accuracy takes"


def _accuracy(ax: Any, evidence: Evidence, label: str, stripes: bool) -> None:
    """Accuracy against the number of training pictures, one line per picture size."""
    sizes, _ = data_needed(evidence, stripes=True)
    names = [f"N = {n}" for n in sizes]
    inks, ends = colours(names), []
    with look():
        ax.set_xscale("log")
        for n, name in zip(sizes, names, strict=True):
            pictures, right = scaling_points(evidence, int(n), stripes=stripes)
            if len(pictures):
                ax.plot(pictures, right, "o-", color=inks[name], markersize=3.5, linewidth=1.2)
                ends.append(EndLabel(name, float(right[-1]), inks[name]))
        ends += baseline_lines(ax, {"90 %": ENOUGH})
        ax.set_ylim(-0.03, 1.05)
        log_ticks(ax.xaxis)
        ax.set_xlabel("training pictures")
        ax.set_ylabel("unseen at the right place ± 1")
        sentence(ax, label.capitalize())
        end_labels(ax, ends)


DRAWINGS = (
    Drawing(
        "fig4-data-needed",
        "Figure 4c. Training pictures needed for 90 % accuracy, with and without stripes.",
        "Top: share of unseen bumps drawn at the right place (within one pixel, median of the seeds) against the "
        "number of training pictures, for several picture sizes N. Bottom: the number at which 90 % is reached, "
        "against N, with fitted exponents; the paper reports growth like N with stripes and like N³ without. A line "
        "that never reaches 90 % has no point.",
        ("scaling 12 stripes + 7 N",),
        _needed,
    ),
)
