"""Weight maps, spectra and an overview of the regimes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.report import BASELINE, blank_figure, colours, look, sentence
from recombine.report.figures.style import log_ticks
from recombine.report.figures.weight_maps import weight_map
from recombine.studies.evidence import Evidence
from recombine.studies.poisson_modularity import published
from recombine.studies.poisson_modularity.sine_nets import MODULAR, MODULES, inside
from recombine.studies.study import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LAYERS = 4
MESSAGE = {
    "L2": "L2\nalone",
    "Noise0": "additive\nnoise",
    "linear Noise2": "multiplic.,\nlinear net",
    "Noise1": "Poisson-like\nnoise",
    "Noise2": "multiplic.\nnoise",
    "WA": "weighted\nactivity",
}
"""Three regimes without modules, then three with; the labels of their rows."""
SHOWN_SPECTRA = ("L2", "WA", "Act", "Noise2", "Noise0", "initial")
ROWS = (
    *("initial", "L2", "Noise0", "Noise1", "Noise2", "WA", "WA alpha 1", "Jacobian", "Jacobian, projected"),
    *("Act", "L1 1e-4", "L1 1e-3", "WA tanh", "WA sigmoid", "blocks"),
)
SOLVED = 1e-3
"""Regimes with a larger training error do not solve the task; drawn hollow."""


def map_figure(evidence: Evidence, labels: Mapping[str, str]) -> Figure:
    """One line of four maps per arm, in two columns of lines; the seed in the middle of the arm's range."""
    arms = list(labels)
    half = -(-len(arms) // 2)
    with look():
        figure = blank_figure(height=1.02 * half + 0.3, width=7.2)
        for block, part in enumerate(figure.subfigures(1, 2, squeeze=False)[0]):
            chosen = arms[block * half : (block + 1) * half]
            panels = part.subplots(len(chosen), LAYERS, squeeze=False)
            for line, name in zip(panels, chosen, strict=True):
                _line_of_maps(line, evidence[name], labels[name])
            for layer, ax in enumerate(panels[0]):
                ax.set_title(f"layer {layer + 1}", fontsize=8.0, loc="center")
    return figure


def _line_of_maps(line: Any, arm: Any, label: str) -> None:
    shares = inside(arm)
    typical = int(np.argsort(shares)[len(shares) // 2])
    for layer, ax in enumerate(line):
        names = (f"weights{layer}", f"labels{layer}", f"labels{layer + 1}")
        matrix, before, after = (arm[name][typical] for name in names)
        weight_map(ax, matrix, before, after, ticks=False)
        ax.set_xlabel(f"{100 * arm['in_block'][typical, layer]:.0f}%", fontsize=7.0, labelpad=1.5)
    line[0].set_ylabel(label)


def _spectra(evidence: Evidence) -> Figure:
    inks = colours(list(SHOWN_SPECTRA)) | {"initial": BASELINE}
    marks = dict(zip(SHOWN_SPECTRA, "osD^vP", strict=True))
    with look():
        figure = blank_figure(height=2.9)
        panels = figure.subplots(1, LAYERS, sharey=True)
        for layer, ax in enumerate(panels):
            for name in SHOWN_SPECTRA:
                every = evidence[name]["spectra"][:, layer]
                values = np.median(every[:, ~np.isnan(every).any(axis=0)], axis=0)
                indices = np.arange(1, len(values) + 1)
                style = {"markersize": 3.5, "linewidth": 0.8, "alpha": 0.9}
                ax.plot(indices, values, marks[name] + "-", color=inks[name], label=name, **style)
            ax.axvline(MODULES + 0.5, color=BASELINE, linewidth=0.6)
            ax.set_xlabel("eigenvalue")
            ax.set_xticks(range(1, MODULES + 3))
            ax.set_xlim(0.7, MODULES + 2.3)
            sentence(ax, f"layer {layer + 1}")
        panels[0].set_ylabel("size (0 up to 4: four modules)")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=6)
    return figure


def _overview(evidence: Evidence) -> Figure:
    columns: dict[str, Any] = {
        "weight inside,\nleast modular layer": inside,
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
                for number, solved in zip(value(arm), arm["mse_train"] <= SOLVED, strict=True):
                    fill = "#000000" if solved else "white"
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


MODULES_IN_ONE_FIGURE = Drawing(
    "modules",
    "Noise that grows with activity splits a net into modules, and so does the penalty; additive noise, L2 alone and "
    "linear nets stay mixed.",
    "The weights of nets that compute four independent functions. Every square is one layer: rows are the units before "
    "it, columns those after it, sorted by the function they serve; black is a strong connection. Green frames mark "
    "the four modules: all weight inside them means four separate circuits. The percentage is the share of squared "
    "weight inside the frames. Each row shows the seed in the middle.",
    tuple(MESSAGE),
    lambda evidence: map_figure(evidence, MESSAGE),
    form="image",
)
SPECTRA = Drawing(
    "spectra",
    "Four small eigenvalues mean four modules.",
    "Laplacian eigenvalues of the similarity of units, layer by layer, collapsed over live units; medians over "
    "seeds. Eigenvalues 5 and 6 are 1 for any weights (and layer 4 has four units): only number 4 is informative.",
    SHOWN_SPECTRA,
    _spectra,
)
REGIMES = Drawing(
    "regimes",
    "Weighted activity, noise that grows with activity, activity decay and L1 lead to modules; L2 and additive noise "
    "do not.",
    "Each point is a seed, trained for 50,000 steps; hollow: the task is not solved (training error above 1e-3). "
    "Grey line: 98%. Green: published sums.",
    ROWS,
    _overview,
)
