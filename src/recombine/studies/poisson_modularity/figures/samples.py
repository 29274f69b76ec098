"""How many samples modules need, and which."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.report import BASELINE, blank_figure, colours, look, sentence
from recombine.report.figures.style import log_ticks
from recombine.studies.claims import Evidence
from recombine.studies.poisson_modularity.arms.samples import (
    COUNTS,
    GRIDS,
    LAWS,
    PERMUTED,
    SIZES,
    correlated_arm,
    grid_arm,
    plain_arm,
    sample_arm,
)
from recombine.studies.poisson_modularity.checks.readings import MODULAR, growth, protocol, worst_in_block
from recombine.studies.study import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {"usual": "usual frequencies, the published draw", "low": "low frequencies, a draw for each seed"}


def _scaling(evidence: Evidence) -> Figure:
    inks = colours([f"{k} modules" for k in COUNTS])
    with look():
        figure = blank_figure(height=3.0)
        panels = figure.subplots(1, 3)
        for ax, law in zip(panels, LAWS, strict=False):
            for k, ink in zip(COUNTS, inks.values(), strict=True):
                values = np.array([worst_in_block(evidence[sample_arm(k, n, law)]) for n in SIZES])
                ax.plot(SIZES, np.median(values, axis=1), color=ink, label=f"{k} modules")
                ax.plot(SIZES, values, "o", color=ink, markersize=2.2)
            ax.axhline(MODULAR, color=BASELINE, linewidth=0.8)
            ax.set_xscale("log")
            log_ticks(ax.xaxis)
            ax.set_xlabel("training samples")
            sentence(ax, TITLES[law])
        panels[0].set_ylabel("weight inside modules, worst layer")
        needed = protocol(evidence)
        for law, ink in zip(LAWS, ("#000000", "#009E73"), strict=True):
            fewest = needed[law]
            mark = {"usual": "o", "low": "s"}[law]
            panels[2].plot(list(fewest), list(fewest.values()), mark, color=ink, markersize=4.5, label=law)
            factor = growth(fewest)
            if np.isfinite(factor):
                middle = np.exp(np.mean(np.log(list(fewest.values()))))
                line = middle * factor ** (np.array(COUNTS) - np.mean(COUNTS))
                panels[2].plot(COUNTS, line, color=ink, linewidth=0.8, label=f"× {factor:.1f} per module")
        panels[2].set_yscale("log")
        log_ticks(panels[2].yaxis)
        panels[2].set_xticks(COUNTS)
        panels[2].set_xlabel("modules")
        sentence(panels[2], "samples needed for 98% inside")
        panels[2].legend(loc="lower right", fontsize=7.0)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _structure(evidence: Evidence) -> Figure:
    with look():
        figure = blank_figure(height=2.7)
        panels = figure.subplots(1, 3, sharey=True)
        for kind, ink in colours(["grid", "random"]).items():
            values = np.array([worst_in_block(evidence[grid_arm(n, kind)]) for n in GRIDS])
            panels[0].plot(GRIDS, np.median(values, axis=1), color=ink, label=kind)
            panels[0].plot(GRIDS, values, "o", color=ink, markersize=3)
        panels[0].set_xscale("log")
        panels[0].set_xticks(GRIDS, [str(n) for n in GRIDS])
        panels[0].minorticks_off()
        panels[0].set_xlabel("training samples")
        panels[0].legend()
        values = np.array([worst_in_block(evidence[correlated_arm(p)]) for p in PERMUTED])
        panels[1].plot(PERMUTED, np.median(values, axis=1), color="#000000")
        panels[1].plot(PERMUTED, values, "o", color="#000000", markersize=3)
        panels[1].set_xlabel("share of entries permuted")
        arms = {
            "L2": [plain_arm(k) for k in COUNTS],
            "WA": [sample_arm(k, 1000, "usual") for k in COUNTS],
        }
        for name, ink in colours(list(arms)).items():
            inside = np.array([worst_in_block(evidence[arm]) for arm in arms[name]])
            panels[2].plot(COUNTS, np.median(inside, axis=1), color=ink, label=name)
            panels[2].plot(COUNTS, inside, "o", color=ink, markersize=3)
        panels[2].set_xticks(COUNTS)
        panels[2].set_xlabel("modules")
        panels[2].legend()
        panels[0].set_ylabel("weight inside, worst layer")
        for ax, text in zip(panels, ("full grids", "correlated inputs", "1000 samples"), strict=True):
            ax.axhline(MODULAR, color=BASELINE, linewidth=0.8)
            sentence(ax, text)
    return figure


DRAWINGS = (
    Drawing(
        "sample-scaling",
        "The more modules, the more samples they need.",
        "Weighted activity for 50,000 steps. Lines: medians; points: seeds; grey line: 98%. Right: the smallest "
        "number of samples with which the median net reaches it, and the best-fitting exponential.",
        tuple(sample_arm(k, n, law) for law in LAWS for k in COUNTS for n in SIZES),
        _scaling,
    ),
    Drawing(
        "sample-structure",
        "Which samples help: grids, correlated inputs, and few modules.",
        "Weighted activity on four modules and full grids or as many random samples; on 1000 samples whose inputs are "
        "equal except for a permuted share; and compared with L2 for two to five modules.",
        (
            *(grid_arm(n, kind) for n in GRIDS for kind in ("grid", "random")),
            *(correlated_arm(share) for share in PERMUTED),
            *(plain_arm(k) for k in COUNTS),
            *(sample_arm(k, 1000, "usual") for k in COUNTS),
        ),
        _structure,
    ),
)
