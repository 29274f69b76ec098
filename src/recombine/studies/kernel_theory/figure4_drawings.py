"""Drawings of Figure 4: the slope law, the map of context dependence, and margins by depth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.report import BASELINE, blank_figure, colours, look, sentence
from recombine.report.figures.direct_labels import EndLabel, end_labels
from recombine.studies.evidence import Evidence
from recombine.studies.kernel_theory import published
from recombine.studies.kernel_theory.figure3_salience import NONLINEARITIES
from recombine.studies.kernel_theory.predictions import KINDS
from recombine.studies.study import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

REGION_LABELS = ("none", "CD-1", "CD-1, CD-2", "all three")


def published_region() -> np.ndarray:
    """The published labels on our grid, -1 outside."""
    labels = np.full((50, 25), -1)
    for i, counts in enumerate(published.REGION):
        run = [0] + [kind for kind, count in zip((1, 2, 3), counts, strict=True) for _ in range(count)]
        labels[i, : len(run)] = run
    return labels


def _draw_small_tables(evidence: Evidence) -> Figure:
    curves = evidence["small tables"]["small_curves"][0]
    names = ("partial exposure", "invariance")
    inks = colours(list(names))
    with look():
        figure = blank_figure(height=2.6, width=4.8)
        ax = figure.subplots()
        for name, curve in zip(names, curves, strict=True):
            ax.plot(np.linspace(0.02, 0.5, 25), curve, color=inks[name])
        end_labels(ax, [EndLabel(n, float(c[-1]), inks[n]) for n, c in zip(names, curves, strict=True)])
        ax.axhline(1, color=BASELINE, linewidth=0.8)
        ax.set_xlabel("similarity k of two cells that share one item")
        ax.set_ylabel("prediction for the unseen cell")
    return figure


def _draw_slope_law(evidence: Evidence) -> Figure:
    curves = evidence["slope law"]["slopes"][0]
    names = [f"p = {p}" for p in range(1, 6)]
    inks = colours(names)
    saliences = np.linspace(0, 0.5, 51)
    with look():
        figure = blank_figure(height=2.8, width=4.6)
        ax = figure.subplots()
        for name, curve in zip(names, curves, strict=True):
            ax.plot(saliences, curve, color=inks[name], label=name)
        ax.set_xlabel("salience of one factor, S(1;2)")
        ax.set_ylabel("slope m on unseen sums")
        ax.legend(title="partners", loc="upper left")
    return figure


def _draw_dispersed(evidence: Evidence) -> Figure:
    arm, saliences = evidence["dispersed"], np.linspace(0, 0.5, 51)
    with look():
        figure = blank_figure(height=2.8, width=4.6)
        ax = figure.subplots()
        ax.plot(saliences, arm["dispersed_tube"][0], color="#009E73", label="published settings, ours")
        ax.plot(saliences, arm["dispersed_exact"][0], color="#000000", label="exact minimum norm")
        ax.plot(
            saliences[::5], published.DISPERSED[::5], "o", color=BASELINE, markersize=4, label="published"
        )
        ax.set_xlabel("salience of one factor, S(1;2)")
        ax.set_ylabel("mean squared error, unseen sums")
        ax.legend()
    return figure


def _draw_region(evidence: Evidence) -> Figure:
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    shades = ["#D9D9D9", "#E69F00", "#56B4E9", "#009E73"]
    saliences = {name: evidence["trajectories"][f"salience_{name}"][0] for name in NONLINEARITIES}
    with look():
        figure = blank_figure(height=3.4)
        panels = figure.subplots(1, 2, sharey=True)
        for ax, labels, title in (
            (panels[0], evidence["region"]["region"][0], "Ours, with random networks of 1 to 10 layers"),
            (panels[1], published_region(), "Published"),
        ):
            shown = np.ma.masked_less(labels.T, 0)
            extent = (-0.5 / 147, 49.5 / 147, -1 / 147, 49 / 147)
            ax.imshow(
                shown,
                origin="lower",
                extent=extent,
                aspect="equal",
                cmap=ListedColormap(shades),
                vmin=-0.5,
                vmax=3.5,
            )
            ax.set_xlabel("S(1;3)")
            sentence(ax, title)
        panels[0].set_ylabel("S(2;3)")
        marks = dict(zip(NONLINEARITIES, "os^Dv", strict=True))
        for name, path in saliences.items():
            panels[0].plot(
                path[1:11, 0],
                path[1:11, 1],
                marks[name] + "-",
                color="#1A1A1A",
                markersize=3,
                linewidth=0.6,
                label=NONLINEARITIES[name],
            )
        patches = [
            Patch(facecolor=shade, label=label) for shade, label in zip(shades, REGION_LABELS, strict=True)
        ]
        handles = [*patches, *panels[0].get_legend_handles_labels()[0]]
        figure.legend(handles=handles, loc="outside lower center", ncols=5)
    return figure


def _draw_margins(evidence: Evidence) -> Figure:
    margin, squared = evidence["depths"]["relu_margins"][0]
    with look():
        figure = blank_figure(height=2.6, width=4.8)
        ax = figure.subplots()
        layers = np.arange(1, len(margin) + 1)
        ends = []
        for values, name, ink in (
            (squared, "squared loss", "#000000"),
            (margin, "maximum margin", "#009E73"),
        ):
            ax.plot(layers, values, color=ink)
            ends.append(EndLabel(name, float(values[-1]), ink))
        ax.axhline(0, color=BASELINE, linewidth=0.8)
        ax.set_xlabel("layers of a random ReLU network")
        ax.set_ylabel("margin on unseen cells, CD-3")
        end_labels(ax, ends)
    return figure


def _draw_kinds(evidence: Evidence) -> Figure:
    sizes = evidence["decompositions"]["kind_sizes"][0]
    titles = (
        "CD-3, correct predictions",
        "CD-2, correct predictions",
        "CD-1, correct predictions",
        "CD-3, inverted on unseen cells",
    )
    with look():
        figure = blank_figure(height=2.6)
        panels = figure.subplots(1, 4, sharey=True)
        for ax, values, known, title in zip(panels, sizes, published.KIND_SIZES, titles, strict=True):
            positions = np.arange(len(KINDS))
            ax.bar(positions, values, color="#56B4E9", label="ours")
            ax.plot(positions, known, "o", color="#1A1A1A", markersize=3.5, label="tabulated")
            ax.set_xticks(positions, KINDS, rotation=60, ha="right")
            sentence(ax, title)
        panels[0].set_ylabel("mean coefficient")
        panels[-1].legend()
    return figure


DRAWINGS = (
    Drawing(
        "small-tables",
        "Two by two: predictions for the unseen cell are too small.",
        "Invariance (one level of the second item is new) and partial exposure (it was seen once), as a function of "
        "the similarity of cells that share an item. The target is 1. Computed with kernel machines; the published "
        "curves are their closed forms, k / (1 - k) and 2k² / (1 - 2k²).",
        ("small tables",),
        _draw_small_tables,
    ),
    Drawing(
        "slope-law",
        "Predictions for unseen sums shrink, but less with more partners and more salient factors.",
        "How much of the target remains in sums of two numbers that were never added, as a function of the salience "
        "of single factors, for numbers that were seen with p partners each (Proposition 5.1).",
        ("slope law",),
        _draw_slope_law,
    ),
    Drawing(
        "dispersed",
        "Addition from dispersed pairs: the error falls to 0 as single factors take all the salience.",
        "Mean test error over 50 training sets with two partners for every number. Dots: the published "
        "curve, whose "
        "settings ignore errors below 0.1.",
        ("dispersed",),
        _draw_dispersed,
    ),
    Drawing(
        "context-region",
        "Which saliences let context dependence generalise: ours and the published map.",
        "Every tile is a representation of three factors, by the salience of single factors and of pairs. "
        "Colours: which "
        "of the three tasks a maximum-margin machine solves on unseen cells. Lines: random networks.",
        ("region", "trajectories"),
        _draw_region,
    ),
    Drawing(
        "context-loss",
        "The loss matters: shallow networks solve CD-3 with squared loss and fail it with maximum margin.",
        "Margin on the unseen cells of CD-3 (above 0: right) for random ReLU networks of 1 to 30 layers.",
        ("depths",),
        _draw_margins,
    ),
    Drawing(
        "conjunction-sizes",
        "Which conjunctions produce the predictions in context dependence.",
        "Mean size of the coefficients of five kinds of conjunctions: context with the relevant feature "
        "(right) or with "
        "the other (wrong), features alone, context alone, and whole cells.",
        ("decompositions",),
        _draw_kinds,
    ),
)
