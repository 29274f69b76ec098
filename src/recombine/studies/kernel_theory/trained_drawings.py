"""Drawings of networks with symbols as inputs: slopes, accuracies and conjunctions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.report import blank_figure, colours, look, sentence
from recombine.report.figures.style import log_ticks
from recombine.studies.evidence import Evidence
from recombine.studies.kernel_theory import published
from recombine.studies.kernel_theory.conjunction_shares import kind_shares
from recombine.studies.kernel_theory.panels import points, worth_panels
from recombine.studies.kernel_theory.predictions import KINDS
from recombine.studies.kernel_theory.symbol_networks import (
    DEPTHS,
    EXPONENTS,
    HIDDEN,
    addition_arm,
    context_arm,
    deep_arm,
    stopped,
    sweep_arm,
)
from recombine.studies.study import Drawing
from recombine.tasks.symbolic import ANCHORS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _draw_addition(evidence: Evidence) -> Figure:
    rows = {r: {a: evidence[addition_arm(a, r)] for a in ANCHORS} for r in ("lazy", "rich")}
    known = {"lazy": published.LAZY_SLOPES, "rich": published.RICH_SLOPES}
    return worth_panels(rows, ["#000000", "#009E73"], known)


def _draw_context(evidence: Evidence) -> Figure:
    series = {
        "lazy, cross-entropy": [
            evidence[context_arm(h, "lazy", "cross-entropy")]["right_out"] for h in HIDDEN
        ],
        "rich, cross-entropy": [
            evidence[context_arm(h, "rich", "cross-entropy")]["right_out"] for h in HIDDEN
        ],
        "lazy, squared loss": [evidence[context_arm(3, "lazy", "squared")]["right_out"]],
    }
    return points(series, [f"CD-{h}" for h in HIDDEN], "right on unseen cells")


def _draw_deep(evidence: Evidence) -> Figure:
    series = {
        anchors: [evidence[deep_arm(anchors, depth)]["slope"] for depth in DEPTHS]
        for anchors in ("interpolation", "both", "extrapolation")
    }
    figure = points(series, [str(depth) for depth in DEPTHS], "slope on unseen sums")
    ax = figure.axes[0]
    inks = colours(list(series))
    for anchors, ends in published.DEEP_SLOPES.items():
        ax.plot([0, len(DEPTHS) - 1], ends, "_", color=inks[anchors], markersize=14, markeredgewidth=1.5)
    ax.set_xlabel("hidden layers (dashes: published, first and last)")
    return figure


def _draw_deep_context(evidence: Evidence) -> Figure:
    with look():
        figure = blank_figure(height=2.6)
        panels = figure.subplots(1, len(HIDDEN), sharey=True)
        inks = colours(list(KINDS))
        for ax, hidden in zip(panels, HIDDEN, strict=True):
            shares = np.array(
                [
                    np.median(kind_shares(evidence[deep_arm(f"CD-{hidden}", d)], hidden), axis=0)
                    for d in DEPTHS
                ]
            )
            for kind, values in zip(KINDS, shares.T, strict=True):
                ax.plot(DEPTHS, values, "o-", color=inks[kind], markersize=3.5, label=kind)
            ax.set_xticks(DEPTHS)
            ax.set_xlabel("hidden layers")
            sentence(ax, f"CD-{hidden}")
        panels[0].set_ylabel("share of coefficients")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(KINDS))
    return figure


def _draw_additivity(evidence: Evidence) -> Figure:
    inks = colours(list(ANCHORS))
    with look():
        figure = blank_figure(height=2.8)
        panels = figure.subplots(1, 2)
        for anchors, ink in inks.items():
            arms = [evidence[sweep_arm(f"addition {anchors}", e)] for e in EXPONENTS]
            scales = 10.0 ** np.array(EXPONENTS)
            fitted = [stopped(arm) for arm in arms]
            both = [(arm["additive_in"] + arm["additive_out"]) / 2 for arm in arms]
            panels[1].plot(scales[[0, -1]], published.ADDITIVITY[anchors], "_", color=ink, markersize=14)
            for ax, series in ((panels[0], [arm["slope"] for arm in arms]), (panels[1], both)):
                values = [np.where(ok, v, np.nan) for ok, v in zip(fitted, series, strict=True)]
                ax.plot(
                    scales, [np.nanmedian(v) for v in values], "o-", color=ink, markersize=3, label=anchors
                )
                ax.set_xscale("log")
                log_ticks(ax.xaxis)
                ax.set_xlabel("factor on the initial weights")
        panels[0].set_ylabel("slope on unseen sums")
        panels[1].set_ylabel("additive (R², mean of seen and unseen)")
        panels[1].legend()
    return figure


ADDITION_DRAWINGS = (
    Drawing(
        "addition-networks",
        "Trained networks: lazy ones shrink like the kernel, rich ones interpolate but become nonlinear.",
        "The contribution of each number to the predictions of networks with one hidden layer on unseen sums, "
        "against its value; all seeds and both positions. The grey line is the target.",
        tuple(addition_arm(anchors, regime) for anchors in ANCHORS for regime in ("lazy", "rich")),
        _draw_addition,
    ),
    Drawing(
        "deep-networks",
        "Deeper networks shrink extrapolated sums more.",
        "Slope of predictions on unseen sums for networks with one to four layers of 100 units.",
        tuple(deep_arm(a, d) for a in ("interpolation", "both", "extrapolation") for d in DEPTHS),
        _draw_deep,
    ),
    Drawing(
        "initial-scale",
        "From rich to lazy: slopes and additivity by initial scale.",
        "Addition with 1000 hidden units, median over seeds that fit. Dashes: published.",
        tuple(sweep_arm(f"addition {a}", e) for a in ANCHORS for e in EXPONENTS),
        _draw_additivity,
    ),
)
CONTEXT_DRAWINGS = (
    Drawing(
        "context-networks",
        "Trained networks: with cross-entropy they take the shortcut in CD-3, with squared loss they do not.",
        "Share of unseen cells with the right sign, networks with one hidden layer; every point is a seed.",
        (
            *(context_arm(h, r, "cross-entropy") for h in HIDDEN for r in ("lazy", "rich")),
            context_arm(3, "lazy", "squared"),
        ),
        _draw_context,
    ),
    Drawing(
        "deep-context",
        "Deep networks solve CD-3 from the context and by memorisation, CD-2 and CD-1 from the right conjunctions.",
        "Share of five kinds of conjunctions in the predictions of networks with one to four layers of 100 units, "
        "cross-entropy; medians over seeds.",
        tuple(deep_arm(f"CD-{h}", d) for h in HIDDEN for d in DEPTHS),
        _draw_deep_context,
    ),
)
