"""Figures that compare forecasts with trained networks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.report import BASELINE, blank_figure, look, sentence
from recombine.studies.claims import Evidence
from recombine.studies.kernel_theory.arms.forecasts import HOLES, forecast_arm
from recombine.studies.kernel_theory.checks.forecasts import by_cell, by_split, calibration, rank_correlation
from recombine.studies.study import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _forecast(evidence: Evidence) -> Figure:
    with look():
        figure = blank_figure(height=2.7)
        panels = figure.subplots(1, len(HOLES))
        for ax, family in zip(panels, HOLES, strict=True):
            values = by_split(evidence, family)
            ax.plot(values["predicted"], values["measured"], "o", color="#D55E00", markersize=3.5)
            top = 1.05 * max(values["predicted"].max(), values["measured"].max(), 0.05)
            ax.plot([0, top], [0, top], color=BASELINE, linewidth=0.8)
            ax.set_xlabel("predicted error")
            sentence(
                ax,
                f"{family}: rank correlation {rank_correlation(values['predicted'], values['measured']):.2f}",
            )
        panels[0].set_ylabel("measured error, unseen cells")
    return figure


def _calibration(evidence: Evidence) -> Figure:
    with look():
        figure = blank_figure(height=2.8)
        panels = figure.subplots(1, len(HOLES))
        for ax, family in zip(panels, HOLES, strict=True):
            values = calibration(by_cell(evidence, family))
            kernel = {"color": BASELINE, "markersize": 4, "label": "kernel machine"}
            ax.plot(values["predicted"], values["measured"], "o-", **kernel)
            if (values["with_start"] != values["predicted"]).any():
                both = {"color": "#D55E00", "markersize": 4, "label": "and initial function"}
                ax.plot(values["with_start"], values["measured"], "s-", **both)
            ax.vlines(values["predicted"], values["low"], values["high"], color=BASELINE, linewidth=0.8)
            top = 1.05 * max(values["with_start"].max(), values["high"].max(), 0.05)
            ax.plot([0, top], [0, top], color=BASELINE, linewidth=0.8)
            ax.set_xlabel("predicted error, cells in ten groups")
            sentence(ax, family)
        panels[0].set_ylabel("measured error, mean and quartiles")
        panels[0].legend(loc="upper left")
    return figure


DRAWINGS = (
    Drawing(
        "forecast",
        "Is the forecast right? Predicted and measured errors on random splits.",
        "Every point is a random split of one task family. Horizontal: mean error of the exact kernel machine on "
        "unseen cells, known before training. Vertical: that of trained networks with one hidden layer. Squared "
        "errors relative to a constant's; for context dependence, the share of wrong signs. On the grey line the "
        "forecast is exact.",
        tuple(forecast_arm(family, held_out) for family, held in HOLES.items() for held_out in held),
        _forecast,
    ),
    Drawing(
        "forecast-calibration",
        "Is the forecast calibrated? Unseen cells of all splits, in ten groups of equal size by predicted error.",
        "Points: mean measured error in each group; lines: its interquartile range. On the thin line the forecast is "
        "right on average; above it, networks are worse than predicted. Grey: the exact kernel machine. Orange: plus "
        "the part of the network's initial random function that training leaves in place. Errors as in the previous "
        "figure.",
        tuple(forecast_arm(family, held_out) for family, held in HOLES.items() for held_out in held),
        _calibration,
    ),
)
