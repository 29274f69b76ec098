"""The message in one figure: two failure modes, and the task that only learned features solve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.report import BASELINE, UNSEEN, blank_figure, look, sentence
from recombine.studies.evidence import Evidence
from recombine.studies.kernel_theory.figure8_leak_in_networks import LAZY_SALIENCE
from recombine.studies.kernel_theory.image_readers import FAR, context_task, image_arm
from recombine.studies.kernel_theory.symbol_networks import addition_arm, context_arm
from recombine.studies.study import Drawing
from recombine.tasks import addition
from recombine.theory import addition_slope

if TYPE_CHECKING:
    from matplotlib.figure import Figure

INK, SKY = "#1A1A1A", "#56B4E9"


def _draw_main(evidence: Evidence) -> Figure:
    with look():
        figure = blank_figure(height=2.9)
        left, middle, right = figure.subplots(1, 3)
        _leak(left, evidence)
        _shortcut(middle, evidence)
        _inference(right, evidence)
    return figure


def _leak(ax: Any, evidence: Evidence) -> None:
    task = addition(anchors="extrapolation")
    targets, unseen = task.targets.ravel(), task.rows_out
    outputs = np.median(evidence[addition_arm("extrapolation", "lazy")]["predictions"], axis=0)
    ends = np.array([-8, 8])
    slope = addition_slope(LAZY_SALIENCE, 1)
    ax.plot(ends, ends, color=BASELINE, linewidth=0.8, label="right")
    ax.plot(ends, slope * ends, color=INK, linewidth=1.0, label="kernel theory")
    ax.plot(targets[unseen], outputs[unseen], "o", color=UNSEEN, markersize=3, label="network")
    ax.set_xlabel("true sum, never trained")
    ax.set_ylabel("predicted sum")
    ax.legend(loc="upper left")
    sentence(ax, "Memorisation leak: unseen sums shrink")


def _shortcut(ax: Any, evidence: Evidence) -> None:
    nets = {
        "network": {h: evidence[context_arm(h, "lazy", "cross-entropy")]["right_out"] for h in (1, 2, 3)},
        "ConvNet": {h: evidence[image_arm("ConvNet", context_task(h), FAR)]["right_out"] for h in (2, 3)},
    }
    for (name, values), ink, shift in zip(nets.items(), (UNSEEN, SKY), (-0.1, 0.1), strict=True):
        for hidden, right in values.items():
            label = name if hidden == 2 else None
            ax.plot(
                np.full(len(right), hidden + shift),
                right,
                "o",
                color=ink,
                markersize=3,
                alpha=0.7,
                label=label,
            )
    ax.axhline(0.5, color=BASELINE, linewidth=0.8)
    ax.set_xticks((1, 2, 3), ("CD-1", "CD-2", "CD-3"))
    ax.set(xlim=(0.5, 3.5), ylim=(-0.05, 1.05), ylabel="right on unseen cells")
    ax.set_xlabel("more cells left out")
    ax.legend(loc="lower left")
    sentence(ax, "Shortcut bias: worse than chance (line) in CD-3")


def _inference(ax: Any, evidence: Evidence) -> None:
    for position, regime in enumerate(("lazy", "rich")):
        margins = evidence[f"equivalence, {regime}"]["margin_out"]
        places = position + np.linspace(-0.12, 0.12, len(margins))
        ax.plot(places, margins, "o", color=UNSEEN, markersize=3, alpha=0.7)
    ax.axhline(0, color=INK, linewidth=1.0, label="kernel theory: exactly 0")
    ax.axhline(1, color=BASELINE, linewidth=0.8, label="right")
    ax.set_xticks((0, 1), ("lazy: fixed\nfeatures", "rich: learned\nfeatures"))
    ax.set(xlim=(-0.5, 1.5), ylabel="output × target, unseen pairs")
    ax.legend(loc="center left")
    sentence(ax, "Associative inference needs learned features")


MAIN = Drawing(
    "failure-modes",
    "Fixed features shrink unseen sums, follow a shortcut, and cannot infer by association; learned features can.",
    "Left: two numbers are added; training shows only sums with 0. Points: the median network's predictions for all "
    "other sums. Middle: a context says which of two features decides; the held-out cells are those in "
    "which context alone gives the wrong answer, and CD-3 holds out the most; points are seeds. Right: A goes with B "
    "and B with C, so does A go with C? Kernel models with such representations always output 0.",
    (
        addition_arm("extrapolation", "lazy"),
        *(context_arm(h, "lazy", "cross-entropy") for h in (1, 2, 3)),
        *(image_arm("ConvNet", context_task(h), FAR) for h in (2, 3)),
        "equivalence, lazy",
        "equivalence, rich",
    ),
    _draw_main,
)
