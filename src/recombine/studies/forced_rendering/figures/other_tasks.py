"""Additional material: encoders, rotation, and decoders that work on every pixel by itself."""

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
from recombine.report.style import INK
from recombine.studies.claims import Evidence
from recombine.studies.forced_rendering.figures.world import (
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
    answers = {"bump": "a bump code", "ramp": "coordinates"}
    for (left, right), code in zip(panels, codes, strict=True):
        found, unseen = evidence[f"encoder {code}"], unseen_grid(task_of(evidence, f"encoder {code}"))
        ratio = number(median(found["error_out"] / found["error_in"]))
        error_map(
            left,
            median_grid(evidence, f"encoder {code}"),
            unseen,
            title=f"Answering in {answers[code]}: unseen error {ratio} times seen",
        )
        share = task_of(evidence, f"encoder {code}").split.space.grid(found["right"].mean(axis=0))
        seen_right, unseen_right = (percent(median(found[f"accuracy_{side}"])) for side in ("in", "out"))
        share_map(
            right,
            share,
            unseen,
            title=f"Right answers: seen {seen_right}, unseen {unseen_right}",
            label="share of seeds that are right",
        )
    return figure


def _rotation(evidence: Evidence) -> Figure:
    found = evidence["rotation gap"]
    pictures = {
        "the truth": found["pose_targets"][0],
        "drawn": found["poses"][0],
        "cross-fade of\nthe two ends": found["pose_blends"][0],
    }
    degrees = found["pose_degrees"][0]
    figure = image_figure(len(degrees), len(pictures))
    truth, blend = (number(median(found[name])) for name in ("with_truth", "with_blend"))
    image_grid(
        figure,
        pictures,
        columns=[f"{angle:.0f}°" for angle in degrees],
        shades="bright",
        unseen=np.ones(len(degrees), dtype=bool),
        title=f"In the middle of the gap: correlation {truth} with the truth, {blend} with the cross-fade",
    )
    return figure


def _digits(evidence: Evidence) -> Figure:
    found = evidence["rotation digits"]
    poses = found["poses"][0]
    ratio = number(median(found["error_out"] / found["error_in"]))
    figure = image_figure(len(poses), 2)
    image_grid(
        figure,
        {"the truth": found["pose_targets"][0], "drawn": poses},
        columns=[f"{angle:.0f}°" for angle in found["pose_degrees"][0]],
        shades="bright",
        unseen=np.ones(len(poses), dtype=bool),
        title=f"A digit at angles that only other digits were shown at: unseen error {ratio} times seen",
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
        found = evidence[arm]
        paths, shares, degrees = found["ring"][0], found["ring_share"][0], found["ring_degrees"][0]
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
    """Targets and pictures of one arm."""
    found = evidence[arm]
    share = number(median(found.share_of_blank("out")))
    right = percent(median(found["accuracy1_out"]))
    rows = {"the truth": found["picture_targets"][0], "drawn": found["pictures"][0]}
    title = f"Unseen error {share} of a blank picture's, {right} at the right place ± 1 (median of seeds)"
    return cells_figure(evidence, arm, rows, title=title)


DRAWINGS = (
    Drawing(
        "further-encoders",
        "Further. The reverse task: reading the position off a picture.",
        "Encoders get a picture and answer with its position, as a bump code or as coordinates. Left: squared error "
        "of the answer for every position, median of the seeds. Right: the share of seeds whose answer is right (the "
        "right peaks, or within half a pixel). The dashed line is the hole.",
        ("encoder ramp",),
        _encoders,
        "image",
    ),
    Drawing(
        "further-rotation",
        "Further. A digit across a gap of angles that training never showed.",
        "The decoder gets an angle and draws the turned digit. All five angles lie in the gap. The last row fades "
        "from the digit at one end of the gap to that at the other. With one factor this is interpolation and not "
        "composition. First seed; correlations are medians of the seeds.",
        ("rotation gap",),
        _rotation,
        "image",
    ),
    Drawing(
        "further-digits",
        "Further. A turned digit, at angles that only other digits were shown at.",
        "Here the digit is an input next to the angle, so each column is a new combination of a familiar digit and a "
        "familiar angle. First seed.",
        ("rotation digits",),
        _digits,
        "image",
    ),
    Drawing(
        "further-rings",
        "Further. The path of every layer's activity while the angle goes once round.",
        "Two main directions (principal components) of a stage's activity, with the share of variance that they hold; "
        "colour is the angle, open circles are 160° to 200°, the gap that the net of the first row never saw. The "
        "authors show such paths by UMAP and find closed rings in every layer; principal components are a linear view "
        "and need no further library. First seed.",
        ("rotation gap",),
        _rings,
        "image",
    ),
    Drawing(
        "further-spatial-mlp",
        "Further. A net that works on every pixel by itself, given the pixel's position.",
        "The same small net computes every pixel from the code of (x, y) and the pixel's own place; nothing else "
        "tells pixels apart. Positions are in the unseen corner, first seed.",
        ("spatial mlp",),
        partial(_drawn_by, "spatial mlp"),
        "image",
    ),
    Drawing(
        "further-transformer",
        "Further. A transformer with one token per pixel.",
        "As the net that works on every pixel by itself, but pixels can also look at each other. What came out of the "
        "published runs is not known to us. At scale quick the pictures are smaller, 14 × 14. Positions are in the "
        "hole, first seed.",
        ("transformer",),
        partial(_drawn_by, "transformer"),
        "image",
    ),
)
