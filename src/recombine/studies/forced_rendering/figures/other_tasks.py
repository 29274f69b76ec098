"""Additional material: encoders, rotation, and decoders that work on every pixel by itself."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from recombine.report import (
    error_map,
    image_figure,
    image_grid,
    look,
    new_figure,
    number,
    outline_unseen,
    percent,
    sentence,
)
from recombine.report.style import MAP_COLOURS
from recombine.studies.claims import Evidence
from recombine.studies.forced_rendering.figures.world import (
    CODES,
    are_unseen,
    cell_names,
    median,
    median_grid,
    shown_cells,
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
        _share_map(right, share, unseen, f"Right answers: seen {seen_right}, unseen {unseen_right}")
    return figure


def _share_map(ax: Any, share: np.ndarray, unseen: np.ndarray, title: str) -> None:
    """A map of shares between 0 and 1."""
    from matplotlib.ticker import MaxNLocator

    with look():
        image = ax.imshow(share.T, origin="upper", cmap=MAP_COLOURS, vmin=0.0, vmax=1.0)
        outline_unseen(ax, unseen)
        ax.spines[:].set_visible(False)
        ax.set_anchor("W")
        ax.set_xlabel("x")
        ax.set_ylabel("y", rotation=0, labelpad=6.0)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(nbins=4, integer=True))
        sentence(ax, title)
        bar = ax.figure.colorbar(
            image,
            ax=ax,
            location="bottom",
            anchor=(0.0, 1.0),
            panchor=False,
            shrink=0.7,
            aspect=30.0,
            pad=0.03,
        )
        bar.set_label("share of seeds that are right")
        bar.outline.set_visible(False)


def _rotation(evidence: Evidence) -> Figure:
    task, found = task_of(evidence, "rotation gap"), evidence["rotation gap"]
    assert task.latents is not None
    rows = np.flatnonzero(task.split.unseen[task.cell])
    poses = found["poses"][0]
    shown = rows[np.linspace(0, len(rows) - 1, len(poses)).astype(int)]
    angles, before, after = task.latents[shown, 0], task.targets[rows[0]], task.targets[rows[-1] + 1]
    low, high = task.latents[rows[0], 0], task.latents[rows[-1] + 1, 0]
    share = ((angles - low) / (high - low))[:, None, None]
    pictures = {
        "the truth": found["pose_targets"][0],
        "drawn": poses,
        "cross-fade of\nthe two ends": (1 - share) * before + share * after,
    }
    figure = image_figure(len(poses), len(pictures))
    truth, blend = (number(median(found[name])) for name in ("with_truth", "with_blend"))
    image_grid(
        figure,
        pictures,
        columns=[f"{angle:.0f}°" for angle in angles],
        shades="bright",
        unseen=np.ones(len(poses), dtype=bool),
        title=f"In the middle of the gap: correlation {truth} with the truth, {blend} with the cross-fade",
    )
    return figure


def _drawn_by(arm: str, evidence: Evidence) -> Figure:
    """Targets and pictures of one arm."""
    task, cells, found = task_of(evidence, arm), shown_cells(evidence, arm), evidence[arm]
    share = number(median(found["error_out"] / found["baseline_blank_out"]))
    right = percent(median(found["accuracy1_out"]))
    rows = {"the truth": found["picture_targets"][0], "drawn": found["pictures"][0]}
    figure = image_figure(len(cells), len(rows))
    image_grid(
        figure,
        rows,
        columns=cell_names(cells),
        shades="dark" if task.blank == 1 else "bright",
        marks=cells,
        unseen=are_unseen(task, cells),
        title=f"Unseen error {share} of a blank picture's, {right} at the right place ± 1 (median of seeds)",
    )
    return figure


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
        "As the net that works on every pixel by itself, but pixels can also look at each other. The paper does not "
        "say what came out. Positions are in the hole, first seed.",
        ("transformer",),
        partial(_drawn_by, "transformer"),
        "image",
    ),
)
