"""Figures of the forecast and what became of it."""

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
        for ax, world in zip(panels, HOLES, strict=True):
            found = by_split(evidence, world)
            ax.plot(found["foretold"], found["measured"], "o", color="#D55E00", markersize=3.5)
            top = 1.05 * max(found["foretold"].max(), found["measured"].max(), 0.05)
            ax.plot([0, top], [0, top], color=BASELINE, linewidth=0.8)
            ax.set_xlabel("foretold error")
            sentence(
                ax, f"{world}: rank correlation {rank_correlation(found['foretold'], found['measured']):.2f}"
            )
        panels[0].set_ylabel("measured error, unseen cells")
    return figure


def _calibration(evidence: Evidence) -> Figure:
    with look():
        figure = blank_figure(height=2.8)
        panels = figure.subplots(1, len(HOLES))
        for ax, world in zip(panels, HOLES, strict=True):
            found = calibration(by_cell(evidence, world))
            kernel = {"color": BASELINE, "markersize": 4, "label": "kernel machine"}
            ax.plot(found["foretold"], found["measured"], "o-", **kernel)
            if (found["with_start"] != found["foretold"]).any():
                both = {"color": "#D55E00", "markersize": 4, "label": "and initial function"}
                ax.plot(found["with_start"], found["measured"], "s-", **both)
            ax.vlines(found["foretold"], found["low"], found["high"], color=BASELINE, linewidth=0.8)
            top = 1.05 * max(found["with_start"].max(), found["high"].max(), 0.05)
            ax.plot([0, top], [0, top], color=BASELINE, linewidth=0.8)
            ax.set_xlabel("foretold error, cells in ten groups")
            sentence(ax, world)
        panels[0].set_ylabel("measured error, mean and middle half")
        panels[0].legend(loc="upper left")
    return figure


DRAWINGS = (
    Drawing(
        "forecast",
        "Does the forecast come true? Random splits, foretold and then trained on.",
        "Every point is a random split of one world. Across: mean error on unseen cells of the exact kernel machine, "
        "known before training. Up: that of trained networks of one hidden layer. Squared errors as a share of a "
        "constant's; for context dependence the share of wrong signs. On the grey line the forecast is exact.",
        tuple(forecast_arm(world, held_out) for world, held in HOLES.items() for held_out in held),
        _forecast,
    ),
    Drawing(
        "forecast-calibration",
        "Is the forecast calibrated? Unseen cells of all splits, in ten groups of equal size by what was foretold.",
        "Points: mean of the measured error in each group; lines: its middle half. On the thin line the forecast is "
        "right on average; above it networks do worse than foretold. Grey: the exact kernel machine. Orange: plus the "
        "part of the network's initial random function that training leaves in place. Errors as in the figure before.",
        tuple(forecast_arm(world, held_out) for world, held in HOLES.items() for held_out in held),
        _calibration,
    ),
)
