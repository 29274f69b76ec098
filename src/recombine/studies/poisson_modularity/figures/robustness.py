"""Noise and shifted inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.report import BASELINE, blank_figure, colours, heat_table, look, number, sentence
from recombine.report.figures.style import log_ticks
from recombine.studies.claims import Evidence
from recombine.studies.poisson_modularity.checks.readings import other_outputs
from recombine.studies.poisson_modularity.module_probes import SHIFTS
from recombine.studies.study import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS = ("L2", "L1 1e-4", "Act", "WA", "WA alpha 1", "Jacobian", "Noise2", "Noise1", "Noise0", "blocks")
SHIFTED = ("L2", "Noise2", "Act", "L1 1e-4", "WA")


def _noise(evidence: Evidence) -> Figure:
    values = np.array([np.median(evidence[name]["noisy_error"], axis=0) for name in ROWS])
    clean = np.array([np.median(evidence[name]["mse_test"]) for name in ROWS])
    with look():
        figure = blank_figure(height=3.6, width=5.4)
        heat_table(
            figure.subplots(),
            np.column_stack([clean, values]),
            ROWS,
            ["none", "additive", "Poisson-like", "multiplicative"],
            log=True,
            column_label="noise in evaluation",
            text=number,
            label="test error",
        )
    return figure


def _shift(evidence: Evidence) -> Figure:
    inks = colours([*SHIFTED, "blocks"])
    with look():
        figure = blank_figure(height=3.0)
        panels = figure.subplots(1, 2, sharey=True)
        for ax, name in zip(panels, ("shift_error", "shift_error_pruned"), strict=True):
            for arm in SHIFTED:
                values = other_outputs(evidence[arm], name)[:, 1:]
                ax.plot(SHIFTS, np.median(values, axis=0), color=inks[arm], label=arm)
                ax.fill_between(
                    SHIFTS, values.min(axis=0), values.max(axis=0), color=inks[arm], alpha=0.15, linewidth=0
                )
            ax.set_xscale("log")
            ax.set_yscale("log")
            log_ticks(ax.xaxis)
            log_ticks(ax.yaxis)
            ax.set_xlabel("added to input 1")
        blocks = np.median(other_outputs(evidence["blocks"], "shift_error")[:, 1:], axis=0)
        panels[0].plot(SHIFTS, blocks, color=BASELINE, label="blocks", linewidth=1.0)
        sentence(panels[0], "as trained")
        sentence(panels[1], "cut between modules")
        panels[0].set_ylabel("error of outputs 2 to 4")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return figure


DRAWINGS = (
    Drawing(
        "noise-robustness",
        "Nets are robust to the noise they are trained for: weighted activity helps against noise that grows with "
        "activity, not against additive noise.",
        "Test error with noise of level 0.1 after every hidden layer, medians over seeds. Blocks: a net of separate "
        "modules, trained with L2 alone.",
        ROWS,
        _noise,
    ),
    Drawing(
        "shift",
        "A shifted input leaks into other outputs of L2 nets; modules contain it, completely once connections are cut.",
        "A constant is added to input 1 alone; the targets of outputs 2 to 4 do not change. Lines: medians, bands: all "
        "seeds.",
        (*SHIFTED, "blocks"),
        _shift,
    ),
)
