"""The figures of the study, with published values beside ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.report import BASELINE, blank_figure, colours, look, new_figure, sentence
from recombine.report.labels import EndLabel, end_labels
from recombine.studies.claims import Evidence
from recombine.studies.kernel_theory import published
from recombine.studies.kernel_theory.arms import (
    DEPTHS,
    HIDDEN,
    HOLES,
    addition_arm,
    context_arm,
    deep_arm,
    forecast_arm,
)
from recombine.studies.kernel_theory.checks import by_split, published_region, rank_correlation
from recombine.studies.kernel_theory.predictions import KINDS
from recombine.studies.study import Drawing
from recombine.tasks.symbolic import ANCHORS

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
            (margin, "largest margin", "#009E73"),
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
        "CD-3, right answers",
        "CD-2, right answers",
        "CD-1, right answers",
        "CD-3, unseen answers inverted",
    )
    with look():
        figure = blank_figure(height=2.6)
        panels = figure.subplots(1, 4, sharey=True)
        for ax, found, known, title in zip(panels, sizes, published.KIND_SIZES, titles, strict=True):
            place = np.arange(len(KINDS))
            ax.bar(place, found, color="#56B4E9", label="ours")
            ax.plot(place, known, "o", color="#1A1A1A", markersize=3.5, label="tabulated")
            ax.set_xticks(place, KINDS, rotation=60, ha="right")
            sentence(ax, title)
        panels[0].set_ylabel("mean coefficient")
        panels[-1].legend()
    return figure


def _addition(evidence: Evidence) -> Figure:
    values = np.arange(-4, 5)
    with look():
        figure = blank_figure(height=4.4)
        panels = figure.subplots(2, 4, sharex=True, sharey=True)
        for row, regime in enumerate(("lazy", "rich")):
            for ax, anchors in zip(panels[row], ANCHORS, strict=True):
                arm = evidence[addition_arm(anchors, regime)]
                ax.plot(values, values, color=BASELINE, linewidth=0.8)
                for worth in arm["worth"].reshape(-1, 9):
                    ax.plot(
                        values,
                        worth,
                        "o",
                        color="#009E73" if regime == "rich" else "#000000",
                        markersize=2.5,
                        alpha=0.7,
                    )
                sentence(ax, f"{anchors}: slope {np.median(arm['slope']):.2f}")
            panels[row, 0].set_ylabel(f"worth to the net, {regime}")
        for ax in panels[1]:
            ax.set_xlabel("true value")
    return figure


def _context(evidence: Evidence) -> Figure:
    series = {
        "lazy, cross-entropy": [
            evidence[context_arm(h, "lazy", "cross-entropy")]["right_out"] for h in HIDDEN
        ],
        "rich, cross-entropy": [
            evidence[context_arm(h, "rich", "cross-entropy")]["right_out"] for h in HIDDEN
        ],
        "lazy, squared loss": [evidence[context_arm(h, "lazy", "squared")]["right_out"] for h in HIDDEN],
    }
    return _points(series, [f"CD-{h}" for h in HIDDEN], "right on unseen cells")


def _deep(evidence: Evidence) -> Figure:
    series = {
        anchors: [evidence[deep_arm(anchors, depth)]["slope"] for depth in DEPTHS]
        for anchors in ("interpolation", "both", "extrapolation")
    }
    figure = _points(series, [str(depth) for depth in DEPTHS], "slope on unseen sums")
    ax = figure.axes[0]
    inks = colours(list(series))
    for anchors, ends in published.DEEP_SLOPES.items():
        ax.plot([0, len(DEPTHS) - 1], ends, "_", color=inks[anchors], markersize=14, markeredgewidth=1.5)
    ax.set_xlabel("hidden layers (dashes: published, first and last)")
    return figure


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


def _points(series: dict[str, list[np.ndarray]], names: list[str], label: str) -> Any:
    inks = colours(list(series))
    with look():
        figure = blank_figure(height=2.6, width=5.2)
        ax = figure.subplots()
        for shift, (name, groups) in enumerate(series.items()):
            offset = 0.12 * (shift - (len(series) - 1) / 2)
            for place, values in enumerate(groups):
                ax.plot(
                    np.full(len(values), place + offset),
                    values,
                    "o",
                    color=inks[name],
                    markersize=3.5,
                    label=name if place == 0 else None,
                )
        ax.set_xticks(np.arange(len(names)), names)
        ax.set_ylabel(label)
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


DRAWINGS = (
    Drawing(
        "salience-by-depth",
        "Deep random networks turn into lookup tables.",
        "Share of the similarity that one conjunction of one, two and three of three factors carries, by the "
        "number of "
        "random layers. With depth, all but Gaussian units end at conjunctions of all factors, which "
        "identify a cell and "
        "say nothing about others.",
        ("trajectories",),
        _trajectories,
    ),
    Drawing(
        "slope-law",
        "Answers for unseen sums shrink, less so with more partners and more salient factors.",
        "How much of the truth remains in sums of two numbers that were never added, against the salience of single "
        "factors, for numbers that were seen with p partners each (Proposition 5.1).",
        ("slope law",),
        _slope_law,
    ),
    Drawing(
        "dispersed",
        "Addition from scattered pairs: the error falls to 0 as single factors get all the salience.",
        "Mean test error over 50 training sets that have two partners for every number. Dots: the published "
        "curve, whose "
        "settings forgive errors below 0.1.",
        ("dispersed",),
        _dispersed,
    ),
    Drawing(
        "context-region",
        "Which saliences let context dependence generalise: ours and the published map.",
        "Every tile is a representation of three factors, by the salience of single factors and of pairs. "
        "Colours: which "
        "of the three tasks a machine with the largest margin solves on unseen cells. Lines: random networks.",
        ("region", "trajectories"),
        _region,
    ),
    Drawing(
        "context-loss",
        "The loss decides: shallow networks solve CD-3 with squared loss and fail it with the largest margin.",
        "Margin on the unseen cells of CD-3 (above 0: right) for random ReLU networks of 1 to 30 layers.",
        ("depths",),
        _margins,
    ),
    Drawing(
        "conjunction-sizes",
        "Where answers to context dependence come from.",
        "Mean size of the coefficients of five kinds of conjunctions: context with the feature that counts "
        "(right) or with "
        "the other (wrong), features alone, context alone, and whole cells.",
        ("decompositions",),
        _kinds,
    ),
    Drawing(
        "addition-networks",
        "Trained networks: lazy ones shrink like the kernel, rich ones interpolate and bend.",
        "What each number is worth to networks of one hidden layer, on unseen sums, against what it is; "
        "three seeds and "
        "both places. The grey line is the truth.",
        tuple(addition_arm(anchors, regime) for anchors in ANCHORS for regime in ("lazy", "rich")),
        _addition,
    ),
    Drawing(
        "context-networks",
        "Trained networks: cross-entropy takes the shortcut in CD-3, squared loss does not.",
        "Share of unseen cells with the right sign, networks of one hidden layer, three seeds.",
        tuple(context_arm(h, r, "cross-entropy") for h in HIDDEN for r in ("lazy", "rich"))
        + tuple(context_arm(h, "lazy", "squared") for h in HIDDEN),
        _context,
    ),
    Drawing(
        "deep-networks",
        "Deeper networks shrink extrapolated sums more.",
        "Slope of answers on unseen sums for networks of one to four layers of 100 units.",
        tuple(deep_arm(a, d) for a in ("interpolation", "both", "extrapolation") for d in DEPTHS),
        _deep,
    ),
    Drawing(
        "forecast",
        "Does the forecast come true? Random splits, foretold and then trained on.",
        "Every point is a random split of one world. Across: mean error on unseen cells of the exact kernel machine, "
        "known before training. Up: that of trained networks of one hidden layer. Squared errors as a share of a "
        "constant's; for context dependence the share of wrong signs. On the grey line the forecast is exact.",
        tuple(forecast_arm(world, held_out) for world, held in HOLES.items() for held_out in held),
        _forecast,
    ),
)
