"""Figures with a panel per task: errors of several learners by the number of rows, with published marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from recombine.report import look, sentence
from recombine.report.figures.direct_labels import EndLabel, end_labels
from recombine.report.figures.style import METHODS, Figure, log_ticks

LABELS = {
    "scratch": "from scratch",
    "multi-task": "multi-task",
    "finetuned": "finetuned",
    "probe": "linear probe",
    "kernel": "tangent kernel",
}
INKS = dict(zip(LABELS, METHODS.values(), strict=True))
"""The same colour for a learner in every panel."""


class Learner(NamedTuple):
    """One line: the errors of all seeds by the number of rows, and published means.

    - `suffix`: what its label ends with, where a panel has two lines of one learner; the second one is thinner.
    """

    name: str
    errors: Mapping[int, np.ndarray]
    published: Mapping[int, float]
    suffix: str = ""


def row_curves(
    figure: Figure,
    panels: Mapping[str, Sequence[Learner]],
    *,
    label: str,
    floor: float = 0.0,
    log: bool = True,
    x: str = "rows of the main task",
) -> None:
    """Draws a row of panels that share their vertical axis.

    A learner with one or two numbers of rows is drawn as squares, others as lines through medians over seeds.
    """
    with look():
        axes = np.atleast_1d(figure.subplots(1, len(panels), sharey=True))
        for ax, (title, learners) in zip(axes, panels.items(), strict=True):
            ends, seen = [], set[str]()
            for one in learners:
                ink = INKS[one.name]
                n = sorted(one.errors)
                middle = np.maximum([float(np.nanmedian(one.errors[count])) for count in n], floor)
                style: dict[str, Any] = {"color": ink, "linewidth": 0.8 if one.name in seen else 1.4}
                ax.plot(n, middle, "s" if len(n) < 3 else "o-", markersize=4 if len(n) < 3 else 3, **style)
                marks = {count: value for count, value in one.published.items() if count in _range(learners)}
                known = np.maximum(list(marks.values()), floor)
                ax.plot(list(marks), known, "x", color=ink, markersize=4.5, markeredgewidth=0.9, alpha=0.8)
                ends.append(EndLabel(LABELS[one.name] + one.suffix, float(middle[-1]), ink))
                seen.add(one.name)
            ax.set_xscale("log")
            counts = sorted(_range(learners))
            ax.set_xticks(counts, [str(count) for count in counts])
            ax.minorticks_off()
            if log:
                ax.set_yscale("log")
                log_ticks(ax.yaxis)
            ax.set_xlabel(x)
            sentence(ax, title)
            end_labels(ax, ends)
        axes[0].set_ylabel(label)


def _range(learners: Sequence[Learner]) -> set[int]:
    """All numbers of rows in a panel."""
    return {count for one in learners for count in one.errors}
