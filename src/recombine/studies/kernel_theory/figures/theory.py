"""Figures of the theory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.report import BASELINE, blank_figure, colours, look, new_figure, sentence
from recombine.report.figures.direct_labels import EndLabel, end_labels
from recombine.studies.claims import Evidence
from recombine.studies.kernel_theory import published
from recombine.studies.kernel_theory.checks.theory import published_region
from recombine.studies.kernel_theory.identities import UNEQUAL_SHARES
from recombine.studies.kernel_theory.predictions import KINDS
from recombine.studies.study import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NETS = {
    "relu": "ReLU",
    "leaky": "leaky ReLU",
    "step": "step",
    "quadratic": "rectified quadratic",
    "gaussian": "Gaussian",
}
REGION_WORDS = ("none", "CD-1", "CD-1, CD-2", "all three")


def _trajectories(evidence: Evidence) -> Figure:
    arm = evidence["trajectories"]
    figure, panels = new_figure(3, aspect=0.95, share_x=True)
    inks = colours(list(NETS.values()))
    with look():
        for order, ax in enumerate(panels.ravel()):
            for name, label in NETS.items():
                ax.plot(arm[f"salience_{name}"][0][:, order], color=inks[label], label=label)
            ax.set_xlabel("layers")
            ax.set_ylim(-0.02, 1.02 if order == 2 else 0.36)
            sentence(ax, f"S({order + 1};3)")
        panels.ravel()[0].set_ylabel("salience")
        figure.legend(*panels.ravel()[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    return figure


def _more_trajectories(evidence: Evidence) -> Figure:
    arm = evidence["trajectories"]
    four, unequal = arm["salience_of_four"][0], arm["salience_unequal"][0]
    with look():
        figure = blank_figure(height=2.8)
        panels = figure.subplots(1, 4, sharex=True)
        inks = colours([f"S({k};4)" for k in range(1, 5)])
        for order, (name, ink) in enumerate(inks.items()):
            panels[0].plot(four[0][:, order], color=ink, label=name)
        sentence(panels[0], "Four equal factors, ReLU")
        panels[0].legend()
        words = {"first alone": 2, "second alone": 1, "both together": 3}
        inks = colours(list(words))
        shown = (0, 1, 3)
        for ax, position in zip(panels[1:], shown, strict=True):
            for name, subset in words.items():
                ax.plot(unequal[position][:, subset], color=inks[name], label=name)
            share = UNEQUAL_SHARES[position]
            sentence(ax, f"Two factors, {share:.0%} and {1 - share:.0%}")
        panels[-1].legend()
        for ax in panels:
            ax.set_xlabel("layers")
            ax.set_ylim(-0.02, 1.02)
        panels[0].set_ylabel("salience")
    return figure


def _small_tables(evidence: Evidence) -> Figure:
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


def _slope_law(evidence: Evidence) -> Figure:
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


def _dispersed(evidence: Evidence) -> Figure:
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


def _region(evidence: Evidence) -> Figure:
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    shades = ["#D9D9D9", "#E69F00", "#56B4E9", "#009E73"]
    saliences = {name: evidence["trajectories"][f"salience_{name}"][0] for name in NETS}
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
        marks = dict(zip(NETS, "os^Dv", strict=True))
        for name, path in saliences.items():
            panels[0].plot(
                path[1:11, 0],
                path[1:11, 1],
                marks[name] + "-",
                color="#1A1A1A",
                markersize=3,
                linewidth=0.6,
                label=NETS[name],
            )
        patches = [
            Patch(facecolor=shade, label=word) for shade, word in zip(shades, REGION_WORDS, strict=True)
        ]
        handles = [*patches, *panels[0].get_legend_handles_labels()[0]]
        figure.legend(handles=handles, loc="outside lower center", ncols=5)
    return figure


def _margins(evidence: Evidence) -> Figure:
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


def _kinds(evidence: Evidence) -> Figure:
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
        "salience-by-depth",
        "Deep random networks become lookup tables.",
        "Share of the similarity that one conjunction of one, two and three of three factors carries, by the "
        "number of "
        "random layers. With depth, all but Gaussian units end up with conjunctions of all factors, which "
        "identify a cell and "
        "carry no information about other cells.",
        ("trajectories",),
        _trajectories,
    ),
    Drawing(
        "salience-more",
        "With unequal factors the weaker one is lost first; with four factors, conjunctions of all four take over.",
        "Saliences in random ReLU networks by depth. Left: one conjunction of one to four of four factors. Right: two "
        "factors, of which the first makes up 10, 30 or 50% of the input.",
        ("trajectories",),
        _more_trajectories,
    ),
    Drawing(
        "small-tables",
        "Two by two: predictions for the unseen cell are too small.",
        "Invariance (one level of the second item is new) and partial exposure (it was seen once), as a function of "
        "the similarity of cells that share an item. The target is 1. Computed with kernel machines; the published "
        "curves are their closed forms, k / (1 - k) and 2k² / (1 - 2k²).",
        ("small tables",),
        _small_tables,
    ),
    Drawing(
        "slope-law",
        "Predictions for unseen sums shrink, but less with more partners and more salient factors.",
        "How much of the target remains in sums of two numbers that were never added, as a function of the salience "
        "of single factors, for numbers that were seen with p partners each (Proposition 5.1).",
        ("slope law",),
        _slope_law,
    ),
    Drawing(
        "dispersed",
        "Addition from dispersed pairs: the error falls to 0 as single factors take all the salience.",
        "Mean test error over 50 training sets with two partners for every number. Dots: the published "
        "curve, whose "
        "settings ignore errors below 0.1.",
        ("dispersed",),
        _dispersed,
    ),
    Drawing(
        "context-region",
        "Which saliences let context dependence generalise: ours and the published map.",
        "Every tile is a representation of three factors, by the salience of single factors and of pairs. "
        "Colours: which "
        "of the three tasks a maximum-margin machine solves on unseen cells. Lines: random networks.",
        ("region", "trajectories"),
        _region,
    ),
    Drawing(
        "context-loss",
        "The loss matters: shallow networks solve CD-3 with squared loss and fail it with maximum margin.",
        "Margin on the unseen cells of CD-3 (above 0: right) for random ReLU networks of 1 to 30 layers.",
        ("depths",),
        _margins,
    ),
    Drawing(
        "conjunction-sizes",
        "Which conjunctions produce the predictions in context dependence.",
        "Mean size of the coefficients of five kinds of conjunctions: context with the relevant feature "
        "(right) or with "
        "the other (wrong), features alone, context alone, and whole cells.",
        ("decompositions",),
        _kinds,
    ),
)
