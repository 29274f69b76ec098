"""Figures of small networks on symbols."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.report import colours
from recombine.studies.claims import Evidence
from recombine.studies.kernel_theory import published
from recombine.studies.kernel_theory.arms.networks import DEPTHS, HIDDEN, addition_arm, context_arm, deep_arm
from recombine.studies.kernel_theory.figures.shared import points, worth_panels
from recombine.studies.study import Drawing
from recombine.tasks.symbolic import ANCHORS

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _addition(evidence: Evidence) -> Figure:
    rows = {r: {a: evidence[addition_arm(a, r)] for a in ANCHORS} for r in ("lazy", "rich")}
    return worth_panels(rows, ["#000000", "#009E73"])


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
    return points(series, [f"CD-{h}" for h in HIDDEN], "right on unseen cells")


def _deep(evidence: Evidence) -> Figure:
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


DRAWINGS = (
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
)
