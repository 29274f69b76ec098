"""Figure 4: the stripes curriculum, in which training includes images of each factor alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.report import (
    PAGE_WIDTH,
    blank_figure,
    fixed,
    image_figure,
    image_grid,
    new_figure,
    outline_unseen,
    percent,
    seed_points,
    tuning_curves,
)
from recombine.studies.evidence import Evidence
from recombine.studies.forced_rendering.decoder_figures import (
    cell_names,
    cells_figure,
    median,
    present,
    task_of,
    unseen_grid,
)
from recombine.studies.forced_rendering.figure2_drawings import VOLUME, volume_rows
from recombine.studies.study import Drawing
from recombine.tasks import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALONE, MIXED = "cnn stripes + 0 bumps", "cnn stripes + 7N bumps"
CONTROL = {"9N bumps, no stripes": "cnn 9N bumps, no stripes"}
MLPS = {"MLP: stripes only": "mlp stripes only", "MLP: 252 bumps, no stripes": "mlp bumps only"}


def _mixtures(evidence: Evidence) -> dict[str, str]:
    """The mixtures of stripes and bumps that have been run, by label, in the order of their numbers of bumps."""
    names = [name for name in evidence if name.startswith("cnn stripes + ") and "ramp" not in name]
    return {"stripes only" if name == ALONE else name.removeprefix("cnn "): name for name in names}


def _samples(evidence: Evidence) -> Figure:
    task = task_of(evidence, ALONE)
    level = task.split.space.shape[0] // 2
    rows = np.concatenate([_stripe_rows(task, level=level), _bump_rows(task)])
    codes = 1.0 - task.inputs[rows].reshape(len(rows), 2, -1)  # x above y, dark where active
    bumps = cell_names(task.split.space.cells[task.cell[rows[2:]]])
    figure = blank_figure(width=PAGE_WIDTH, height=2.3)
    image_grid(
        figure,
        {"code of x\ncode of y": codes, "image": task.targets[rows]},
        columns=[f"x = {level} alone", f"y = {level} alone", *bumps],
        unseen=np.array([cell >= 0 and task.split.unseen[cell] for cell in task.cell[rows]]),
    )
    for ax in figure.axes[: len(rows)]:
        ax.set_aspect("auto")  # a code is two rows high, not square
    subplot = figure.axes[0].get_subplotspec()
    assert subplot is not None
    subplot.get_gridspec().set_height_ratios([0.2, 1.0])
    return figure


def _stripe_rows(task: Task, *, level: int) -> np.ndarray:
    """The rows of the x-stripe and of the y-stripe at a level."""
    assert task.latents is not None
    alone = task.cell < 0
    return np.array([np.flatnonzero(alone & (task.latents[:, k] == level))[0] for k in range(2)])


def _bump_rows(task: Task) -> np.ndarray:
    """The rows of one seen and of one unseen bump."""
    n = task.split.space.shape[0]
    return task.split.space.index(np.array([[n // 4, n // 2], [5 * n // 7, 9 * n // 14]]))


def _images(evidence: Evidence) -> Figure:
    rows = {"target": evidence[MIXED]["picture_targets"][0]}
    for label, arm in (_mixtures(evidence) | present(evidence, CONTROL)).items():
        drawn = evidence[arm]["pictures"][0]
        low, high = (fixed(float(end), 1) for end in (drawn.min(), drawn.max()))
        rows[f"{label}\n({low} to {high})"] = drawn
    alone, mixed = (percent(median(evidence[arm]["accuracy1_out"])) for arm in (ALONE, MIXED))
    title = f"At the right place ± 1: {alone} with stripes only, {mixed} with 7N bumps added"
    return cells_figure(evidence, MIXED, rows, largest=0.8, title=title)


def _accuracy(evidence: Evidence) -> Figure:
    arms = _mixtures(evidence) | present(evidence, CONTROL | MLPS)
    figure, panels = new_figure(2, aspect=0.35 + 0.1 * len(arms), share_y=True)
    position, error = panels[0]
    seed_points(
        position,
        {
            label: {"seen": evidence[arm]["accuracy1_in"], "unseen": evidence[arm]["accuracy1_out"]}
            for label, arm in arms.items()
        },
        baselines={"90%": 0.9},
        limits=(-0.03, 1.03),
        label="darkest pixel right, ± 1 pixel",
    )
    seed_points(
        error,
        {
            label: {"seen": evidence[arm]["error_in"], "unseen": evidence[arm]["error_out"]}
            for label, arm in arms.items()
        },
        baselines={"blank image": median(evidence[MIXED]["baseline_blank_out"])},
        log=True,
        label="mean squared error",
    )
    return figure


def _volume(evidence: Evidence) -> Figure:
    mapped = {
        label: arm for label, arm in _mixtures(evidence).items() if "volume_maps" in evidence[arm].values
    }
    return volume_rows(evidence, mapped)


def _tuned(evidence: Evidence) -> str:
    """The arm whose units are shown: with 50 bumps as in the paper, if it was run."""
    return "cnn stripes + 50 bumps" if "cnn stripes + 50 bumps" in evidence else MIXED


STAGES = ("first hidden layer\n(the paper's layer 0)", "fourth hidden layer\n(the paper's layer 3)")


def _tuning_maps(evidence: Evidence) -> Figure:
    arm = _tuned(evidence)
    maps = evidence[arm]["tuning"][0]  # (stages, units, nx, ny)
    rows = {stage: units.transpose(0, 2, 1) for stage, units in zip(STAGES, maps, strict=False)}
    units = maps.shape[1]
    figure = image_figure(units, len(rows), label_width=1.6)
    columns = [f"unit {unit + 1}" for unit in range(units)]
    image_grid(
        figure,
        rows,
        columns=columns,
        shades="bright",
        normalise=True,
        title=f"CNN, {arm.removeprefix('cnn ')}",
    )
    for ax in figure.axes:
        outline_unseen(ax, unseen_grid(task_of(evidence, arm)))
    return figure


def _tuning_lines(evidence: Evidence) -> Figure:
    arm = _tuned(evidence)
    maps, unseen = evidence[arm]["tuning"][0], unseen_grid(task_of(evidence, arm))
    level = 3 * unseen.shape[0] // 4  # through the middle of the unseen corner
    figure, panels = new_figure(2, rows=len(maps), aspect=0.62)
    for line, units, stage in zip(panels, maps, STAGES, strict=False):
        for ax, factor, other, curves, hidden in (
            (line[0], "x", "y", units[:, :, level], unseen[:, level]),
            (line[1], "y", "x", units[:, level, :], unseen[level]),
        ):
            strongest = np.sort(np.argsort(np.ptp(curves, axis=1))[::-1][:2])
            tuning_curves(
                ax,
                np.arange(len(hidden)),
                {f"unit {unit + 1}": curves[unit] for unit in strongest},
                unseen=hidden,
                factor=factor,
                title=f"{stage.splitlines()[0].capitalize()}, {other} = {level}",
            )
            ax.margins(x=0.0, y=0.3)  # space above the curves for the word "unseen"
    return figure


DRAWINGS = (
    Drawing(
        "fig4-samples",
        "Figure 4a. Stripes show one factor alone, bumps show both.",
        "What the net receives (the code of x above the code of y) and its target. A stripe has the code of one "
        "factor and nothing for the other. Training uses all stripes and some bumps; bumps in the lower right corner "
        "(dashed frame) are never shown.",
        (ALONE,),
        _samples,
        "image",
    ),
    Drawing(
        "fig4-pictures",
        "Figure 4b. Images of unseen combinations, by the number of bumps added to the stripes.",
        "One column per position in the unseen corner, one row per training set, first seed; the open cross marks "
        "where the bump belongs. Targets range from 0 (black) to 1 (white); values outside this range are clipped, "
        "so each row is labelled with its range. With stripes only, the net has never seen two factors together. The "
        "last row, if present, has as many training images as 2N stripes and 7N bumps, but no stripes."
        " N is the side of the image.",
        (ALONE, MIXED),
        _images,
        "image",
    ),
    Drawing(
        "fig4-accuracy",
        "Figure 4b in numbers. Accuracy and error, by the number of bumps added to the stripes.",
        "Left: how often the darkest pixel is within one pixel of the right place. Right: the error of the whole "
        "image, with the blank image as a line. One point per seed. An image can have its darkest pixel in the "
        "right place and still be far from the target, so look at both.",
        (ALONE, MIXED),
        _accuracy,
    ),
    Drawing(
        "fig4-volume",
        "Figure 4d. How evenly the layers of a CNN represent the positions after the stripes curriculum.",
        VOLUME,
        (MIXED,),
        _volume,
        "image",
    ),
    Drawing(
        "fig4-units",
        "Figure 4e. How the most active units of two layers respond to every position.",
        "Each small map is one unit: darker means more active, over all positions of the bump (x to the right, y "
        "downward), first seed; each map has its own scale. The dashed line is the unseen corner. A unit that responds "
        "to one factor alone shows a straight band.",
        (MIXED,),
        _tuning_maps,
        "image",
    ),
    Drawing(
        "fig4-tuning",
        "Figure 4f. Tuning curves of two units of each layer through the unseen corner.",
        "The activity of the two most modulated units as one factor varies and the other is fixed at a level "
        "that crosses the unseen corner (shaded, dashed). If the factors are kept apart, the curve continues there as "
        "elsewhere. First seed.",
        (MIXED,),
        _tuning_lines,
    ),
)
