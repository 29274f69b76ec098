"""Additional material: encoders, rotation, and decoders that compute every pixel separately."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.report import (
    BASELINE,
    error_map,
    image_figure,
    image_grid,
    look,
    new_figure,
    number,
    percent,
    share_map,
)
from recombine.report.figures.style import INK
from recombine.studies.claims import Evidence
from recombine.studies.forced_rendering.figures.shared import (
    CODES,
    cells_figure,
    median,
    median_grid,
    present,
    task_of,
    unseen_grid,
)
from recombine.studies.study import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _encoders(evidence: Evidence) -> Figure:
    codes = [code for code in CODES if f"encoder {code}" in evidence]
    figure, panels = new_figure(2, rows=len(codes), aspect=0.92)
    outputs = {"bump": "a bump code", "ramp": "coordinates"}
    for (left, right), code in zip(panels, codes, strict=True):
        arm, unseen = evidence[f"encoder {code}"], unseen_grid(task_of(evidence, f"encoder {code}"))
        ratio = number(median(arm["error_out"] / arm["error_in"]))
        error_map(
            left,
            median_grid(evidence, f"encoder {code}"),
            unseen,
            title=f"Predicting {outputs[code]}: unseen error {ratio} times seen",
        )
        share = task_of(evidence, f"encoder {code}").split.space.grid(arm["right"].mean(axis=0))
        seen_right, unseen_right = (percent(median(arm[f"accuracy_{side}"])) for side in ("in", "out"))
        share_map(
            right,
            share,
            unseen,
            title=f"Correct: seen {seen_right}, unseen {unseen_right}",
            label="share of seeds that are correct",
        )
    return figure


def _rotation(evidence: Evidence) -> Figure:
    arm = evidence["rotation gap"]
    rows = {
        "target": arm["pose_targets"][0],
        "drawn": arm["poses"][0],
        "cross-fade of\nthe two ends": arm["pose_blends"][0],
    }
    degrees = arm["pose_degrees"][0]
    figure = image_figure(len(degrees), len(rows))
    target, blend = (number(median(arm[name])) for name in ("with_truth", "with_blend"))
    image_grid(
        figure,
        rows,
        columns=[f"{angle:.0f}°" for angle in degrees],
        shades="bright",
        unseen=np.ones(len(degrees), dtype=bool),
        title=f"In the middle of the gap: correlation {target} with the target, {blend} with the cross-fade",
    )
    return figure


def _digits(evidence: Evidence) -> Figure:
    arm = evidence["rotation digits"]
    poses = arm["poses"][0]
    ratio = number(median(arm["error_out"] / arm["error_in"]))
    figure = image_figure(len(poses), 2)
    image_grid(
        figure,
        {"target": arm["pose_targets"][0], "drawn": poses},
        columns=[f"{angle:.0f}°" for angle in arm["pose_degrees"][0]],
        shades="bright",
        unseen=np.ones(len(poses), dtype=bool),
        title=f"A digit at angles at which training showed only other digits: unseen error {ratio} times seen",
    )
    return figure


RINGS = {
    "gap, (cos, sin)": "rotation gap",
    "circle, (cos, sin)": "rotation circle",
    "circle, scalar": "rotation circle scalar",
}


def _rings(evidence: Evidence) -> Figure:
    arms = present(evidence, RINGS)
    columns = 5
    figure, panels = new_figure(columns, rows=len(arms), aspect=1.25)
    for line, (label, arm) in zip(panels, arms.items(), strict=True):
        values = evidence[arm]
        paths, shares, degrees = values["ring"][0], values["ring_share"][0], values["ring_degrees"][0]
        chosen = np.linspace(0, len(paths) - 1, columns).astype(int)
        for ax, stage in zip(line, chosen, strict=True):
            title = f"stage {stage + 1} of {len(paths)}: {percent(shares[stage])}"
            _ring(ax, paths[stage], degrees, f"{label}\n{title}" if stage == chosen[0] else f"\n{title}")
    return figure


def _ring(ax: Any, path: np.ndarray, degrees: np.ndarray, title: str) -> None:
    """A path coloured by angle, with 160° to 200° as open circles."""
    from matplotlib import colormaps

    with look():
        gap = (degrees >= 160) & (degrees < 200)
        colours = colormaps["twilight"](degrees / 360.0)
        ax.plot(*path.T, color=BASELINE, linewidth=0.5, zorder=1)
        ax.scatter(*path[~gap].T, c=colours[~gap], s=6, linewidths=0)
        ax.scatter(*path[gap].T, s=9, linewidths=0.7, facecolors="none", edgecolors=INK)
        ax.set_aspect("equal", adjustable="datalim")
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_visible(False)
        ax.set_title(title, fontsize=8.0, loc="left")


def _drawn_by(arm: str, evidence: Evidence) -> Figure:
    """Targets and images of one arm."""
    values = evidence[arm]
    share = number(median(values.share_of_blank("out")))
    right = percent(median(values["accuracy1_out"]))
    rows = {"target": values["picture_targets"][0], "drawn": values["pictures"][0]}
    title = f"Unseen error {share} of a blank image's, {right} in the right place ± 1 (median over seeds)"
    return cells_figure(evidence, arm, rows, title=title)


DRAWINGS = (
    Drawing(
        "further-encoders",
        "Further. The reverse task: predicting the position from an image.",
        "Encoders receive an image and predict its position, as a bump code or as coordinates. Left: squared error "
        "of the prediction at every position, median over seeds. Right: the share of seeds that are correct (the "
        "correct peaks, or within half a pixel). The dashed line is the hole.",
        ("encoder ramp",),
        _encoders,
        "image",
    ),
    Drawing(
        "further-rotation",
        "Further. A digit at angles in a gap that was not in training.",
        "The decoder receives an angle and draws the rotated digit. All five angles lie in the gap. The last row fades "
        "from the digit at one end of the gap to that at the other end. With one factor this is interpolation, not "
        "composition. First seed; correlations are medians over seeds.",
        ("rotation gap",),
        _rotation,
        "image",
    ),
    Drawing(
        "further-digits",
        "Further. A rotated digit, at angles at which training showed only other digits.",
        "Here the digit is an input next to the angle, so each column is a new combination of a familiar digit and a "
        "familiar angle. First seed.",
        ("rotation digits",),
        _digits,
        "image",
    ),
    Drawing(
        "further-rings",
        "Further. The path of every layer's activity as the angle makes a full turn.",
        "The first two principal components of a stage's activity, with the share of variance that they explain; "
        "colour is the angle, open circles are 160° to 200°, the gap that the net of the first row never saw. The "
        "authors show such paths with UMAP and find closed rings in every layer; principal components are a linear "
        "view and need no additional library. First seed.",
        ("rotation gap",),
        _rings,
        "image",
    ),
    Drawing(
        "further-spatial-mlp",
        "Further. A net that computes every pixel separately, given the pixel's position.",
        "The same small net computes every pixel from the code of (x, y) and the pixel's own position; nothing else "
        "distinguishes the pixels. Positions are in the unseen corner, first seed.",
        ("spatial mlp",),
        partial(_drawn_by, "spatial mlp"),
        "image",
    ),
    Drawing(
        "further-transformer",
        "Further. A transformer with one token per pixel.",
        "Like the net that computes every pixel separately, but pixels can also attend to each other. The results of "
        "the published runs are not known to us. At scale quick the images are smaller, 14 × 14. Positions are in "
        "the hole, first seed.",
        ("transformer",),
        partial(_drawn_by, "transformer"),
        "image",
    ),
)
