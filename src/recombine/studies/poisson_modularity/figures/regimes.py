"""Regimes compared: modularity, at equal task loss, and over training length."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.report import BASELINE, blank_figure, colours, look, sentence
from recombine.report.figures.style import log_ticks
from recombine.studies.claims import Arm, Evidence
from recombine.studies.poisson_modularity import published
from recombine.studies.poisson_modularity.arms.sine import LENGTHS, STRENGTHS, length_arm, strength_arm
from recombine.studies.poisson_modularity.checks.readings import MODULAR, median, worst_in_block
from recombine.studies.study import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS = (
    *("initial", "L2", "Noise0", "Noise1", "Noise2", "WA", "WA alpha 1", "Jacobian", "Jacobian, projected"),
    *("Act", "L1 1e-4", "L1 1e-3", "WA tanh", "WA sigmoid", "blocks"),
)
FITTED = 1e-3
"""Regimes with a larger training error do not solve the task; drawn hollow."""


def _overview(evidence: Evidence) -> Figure:
    columns: dict[str, Any] = {
        "weight inside,\nworst layer": worst_in_block,
        "Newman\nmodularity": lambda arm: arm["newman"],
        "live units\n(of 96)": lambda arm: arm["live"].sum(axis=1),
        "sum of squared\nweights": lambda arm: arm["sum_squares"],
    }
    with look():
        figure = blank_figure(height=3.9)
        panels = figure.subplots(1, len(columns), sharey=True)
        for ax, (label, value) in zip(panels, columns.items(), strict=True):
            for row, name in enumerate(ROWS):
                arm = evidence[name]
                fits = arm["mse_train"] <= FITTED
                for number, ok in zip(value(arm), fits, strict=True):
                    fill = "#000000" if ok else "white"
                    ax.plot(number, row, "o", color="#000000", markerfacecolor=fill, markersize=3.5)
                if label.startswith("sum") and name in published.SUM_SQUARES:
                    ax.plot(published.SUM_SQUARES[name], row, "|", color="#009E73", markersize=11)
            ax.set_xlabel(label)
            ax.grid(axis="y", linewidth=0.3)
        panels[0].axvline(MODULAR, color=BASELINE, linewidth=0.8)
        panels[-1].set_xscale("log")
        log_ticks(panels[-1].xaxis)
        panels[0].set_yticks(range(len(ROWS)), ROWS)
        panels[0].invert_yaxis()
    return figure


def _matched(evidence: Evidence) -> Figure:
    inks = colours(list(STRENGTHS))
    marks = dict(zip(STRENGTHS, "oDs^v", strict=True))
    readings: dict[str, Any] = {
        "weight inside modules, worst layer": worst_in_block,
        "live units (of 96)": lambda arm: arm["live"].sum(axis=1),
        "test error under multiplicative noise": lambda arm: arm["noisy_error"][:, 2],
    }
    with look():
        figure = blank_figure(height=2.9)
        panels = figure.subplots(1, len(readings))
        for ax, (label, value) in zip(panels, readings.items(), strict=True):
            for family, strengths in STRENGTHS.items():
                arms = [evidence[strength_arm(family, s)] for s in strengths]
                losses = [median(arm["mse_train"]) for arm in arms]
                ax.plot(
                    losses,
                    [median(value(arm)) for arm in arms],
                    marks[family] + "-",
                    color=inks[family],
                    markersize=4,
                    linewidth=1.0,
                    label=family,
                )
            ax.set_xscale("log")
            log_ticks(ax.xaxis)
            ax.set_xlabel("training error")
            sentence(ax, label)
        panels[2].set_yscale("log")
        log_ticks(panels[2].yaxis)
        target = median(evidence["WA"]["mse_train"])
        for ax in panels:
            ax.axvline(target, color=BASELINE, linewidth=0.8)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


def _newman(arm: Arm) -> np.ndarray:
    return arm["newman"]


def _time(evidence: Evidence) -> Figure:
    lengths = sorted((*LENGTHS, 10_000))
    with look():
        figure = blank_figure(height=2.6, width=5.4)
        panels = figure.subplots(1, 2)
        for name, ink in colours(["L2", "WA"]).items():
            arms = [evidence[name if e == 10_000 else length_arm(name, e)] for e in lengths]
            inside, newman = ([value(arm) for arm in arms] for value in (worst_in_block, _newman))
            for ax, values in zip(panels, (np.array(inside), np.array(newman)), strict=True):
                ax.plot(lengths, np.median(values, axis=1), "-", color=ink, label=name)
                ax.plot(lengths, values, "o", color=ink, markersize=3)
                ax.set_xscale("log")
                ax.set_xticks(lengths, [f"{epochs:,}" for epochs in lengths])
                ax.minorticks_off()
                ax.set_xlabel("epochs")
        sentence(panels[0], "weight inside modules, worst layer")
        sentence(panels[1], "Newman modularity")
        panels[0].legend()
    return figure


DRAWINGS = (
    Drawing(
        "regimes",
        "Weighted activity, multiplicative noise, activity decay and L1 lead to modules; L2 and additive noise do not.",
        "Each point is a seed, trained for 50,000 steps; hollow: the task is not solved (training error above 1e-3). "
        "Grey line: 98%. Green: published sums.",
        ROWS,
        _overview,
    ),
    Drawing(
        "equal-loss",
        "At equal task loss, L1 and activity decay are as modular as weighted activity; L1 uses half as many units.",
        "Each point is a strength of the regulariser (or level of the noise), median over seeds, against the training "
        "error without noise. Grey line: weighted activity at the published strength.",
        tuple(
            dict.fromkeys(
                strength_arm(family, s) for family, strengths in STRENGTHS.items() for s in strengths
            )
        ),
        _matched,
    ),
    Drawing(
        "length",
        "L2 alone becomes more modular with training, but stays far from weighted activity.",
        "The same nets after 2500 to 20,000 epochs; each point is a seed.",
        ("L2", "WA", *(length_arm(name, e) for name in ("L2", "WA") for e in LENGTHS)),
        _time,
    ),
)
