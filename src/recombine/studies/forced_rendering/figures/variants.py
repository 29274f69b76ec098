"""Additional material: depth, code width, ranks, and the sizes of image and hole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.report import (
    BASELINE,
    PAGE_WIDTH,
    colours,
    heat_table,
    layer_curves,
    new_figure,
    number,
    percent,
    seed_points,
)
from recombine.report.figures.style import log_ticks
from recombine.studies.claims import Evidence
from recombine.studies.forced_rendering.arms.failure import (
    ALL_DEPTHS,
    MLP_DEPTHS,
    WIDTH_MULTIPLIERS,
    cnn_arm,
    mlp_arm,
)
from recombine.studies.forced_rendering.arms.further import SIZES, size_arm
from recombine.studies.forced_rendering.arms.rendering import (
    SPATIAL_DEPTHS,
    TRANSFORMER_DEPTHS,
    spatial_arm,
    transformer_arm,
)
from recombine.studies.forced_rendering.figures.layers import EPOCHS
from recombine.studies.forced_rendering.figures.shared import (
    CNNS,
    CODES,
    layer_names,
    median,
    present,
    shares_figure,
    shares_of_blank,
)
from recombine.studies.study import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAXIMUM = "maximum"
PUBLISHED_WIDTHS = {1: 0.00336, 3: 0.00311, 5: 0.00272, 7: 0.00269, 9: 0.00230, 11: 0.00254}
"""Unseen error by width multiplier, read off the authors' plot."""


def _depths(evidence: Evidence) -> Figure:
    series = {
        "CNN, bump code": {depth: cnn_arm("bump", depth) for depth in ALL_DEPTHS},
        "CNN, ramp code": {depth: cnn_arm("ramp", depth) for depth in ALL_DEPTHS},
        "MLP, bump code": {depth: mlp_arm("bump", depth) for depth in MLP_DEPTHS},
        "MLP, ramp code": {depth: mlp_arm("ramp", depth) for depth in MLP_DEPTHS},
        "pixel transformer": {depth: transformer_arm(depth) for depth in TRANSFORMER_DEPTHS},
        "per-pixel MLP": {depth: spatial_arm(depth) for depth in SPATIAL_DEPTHS},
    }
    arms = {f"{family}, {depth} layers": arm for family, own in series.items() for depth, arm in own.items()}
    groups = shares_of_blank(evidence, present(evidence, arms))
    composed = sum(median(group["unseen"]) < 0.25 for group in groups.values())
    title = f"{composed} of {len(groups)} nets have an unseen error below a quarter of a blank image's"
    return shares_figure(groups, title)


def _code_widths(evidence: Evidence) -> Figure:
    arms = {m: evidence[f"code width {m}"] for m in WIDTH_MULTIPLIERS if f"code width {m}" in evidence}
    groups = {
        f"m = {m}": {"unseen": arm["error_out"], "published": np.array([PUBLISHED_WIDTHS[m]])}
        for m, arm in arms.items()
    }
    errors = {m: median(arm["error_out"]) for m, arm in arms.items()}
    best = min(errors, key=lambda m: errors[m])
    blank = median(arms[best]["baseline_blank_out"])
    figure, panels = new_figure(aspect=0.5)
    seed_points(
        panels[0, 0],
        groups,
        baselines={"blank image": blank},
        title=f"Lowest unseen error at m = {best}: {percent(errors[best] / blank)} of a blank image's",
        label="mean squared error",
    )
    panels[0, 0].set_xlim(left=0.0)
    return figure


def _ranks(evidence: Evidence) -> Figure:
    nets = {label: {"rank": arm} for label, arm in CNNS.items()}
    for code in CODES:
        nets[f"MLP, {code} code"] = {f"{epochs} epochs": f"mlp {code} {epochs} epochs" for epochs in EPOCHS}
    nets = {label: arms for label, arms in nets.items() if present(evidence, arms)}
    figure, panels = new_figure(2, rows=-(-len(nets) // 2), aspect=0.7)
    for ax, (label, arms) in zip(panels.ravel(), nets.items(), strict=False):
        values = {name: evidence[arm] for name, arm in present(evidence, arms).items()}
        series = {name: arm["numerical_rank"] for name, arm in values.items()}
        inks = colours(series) | {MAXIMUM: BASELINE}
        series[MAXIMUM] = next(iter(values.values()))["largest_possible"]
        names = layer_names(series[MAXIMUM].shape[1])
        layer_curves(ax, names, series, palette=inks, title=label, label="numerical rank")
        ax.set_yscale("log")
        log_ticks(ax.yaxis)
    for ax in panels.ravel()[len(nets) :]:
        ax.remove()
    return figure


def _sizes(evidence: Evidence) -> Figure:
    codes = [code for code in CODES if size_arm(code, *SIZES[0]) in evidence]
    figure, panels = new_figure(len(codes), width=5.0 if len(codes) == 1 else PAGE_WIDTH, aspect=0.75)
    for ax, code in zip(panels[0], codes, strict=True):
        run = [(n, p) for n, p in SIZES if size_arm(code, n, p) in evidence]
        sizes, holes = sorted({n for n, _ in run}), sorted({p for _, p in run})
        table = np.full((len(holes), len(sizes)), np.nan)
        for n, p in run:
            arm = evidence[size_arm(code, n, p)]
            table[holes.index(p), sizes.index(n)] = median(arm.share_of_blank("out"))
        lines = [level for level in (0.25, 0.5, 1.0) if np.nanmin(table) < level < np.nanmax(table)]
        low, high = number(np.nanmin(table)), number(np.nanmax(table))
        heat_table(
            ax,
            table,
            [percent(p) for p in holes],
            [str(n) for n in sizes],
            row_label="side of the hole, share of N",
            column_label="image size N",
            contours=lines if min(table.shape) > 1 else (),
            title=f"{code.capitalize()} code: unseen error is {low} to {high} of a blank image's",
            label="unseen error / blank image's",
        )
    return figure


DRAWINGS = (
    Drawing(
        "further-depths",
        "Further. Errors by depth of the net.",
        "Each point is one trained net, on seen and on unseen cells; errors are relative to a blank image's there. "
        "MLPs are trained for 200 epochs, because after the released 20 they cannot draw anything; the "
        "transformer draws smaller images at scale quick. A net that composes has unseen errors near its seen ones.",
        ("cnn bump", "mlp bump depth 3"),
        _depths,
    ),
    Drawing(
        "further-code-widths",
        "Further. Unseen error by width of the input code.",
        "A wider code makes neighbouring positions share more of their input; m multiplies the variance of its bumps. "
        "One point per seed, next to values read off the authors' plot (width 256, depth 10) and the blank image.",
        ("code width 1",),
        _code_widths,
    ),
    Drawing(
        "further-ranks",
        "Further. How many dimensions the layers use.",
        "Numerical rank of a layer's activity over all positions: the number of directions with more than a "
        "thousandth of the largest variance. Points are seeds. The grey line is the maximum that a layer of that size "
        "allows. In wide layers, 1500 units are chosen at random.",
        ("cnn bump", "mlp bump 20 epochs"),
        _ranks,
    ),
    Drawing(
        "further-sizes",
        "Further. Unseen error by size of the image and of the hole.",
        "Error on unseen positions relative to a blank image's, so that image sizes can be compared; "
        "median over seeds. Lines connect equal values.",
        (size_arm("bump", *SIZES[0]),),
        _sizes,
    ),
)
