"""What the figures share: the task of an arm, read from its own trials so that figures and experiments agree."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Bool, Float

from recombine.metrics import baseline_images
from recombine.parts import Part
from recombine.probes import decoders
from recombine.report import image_figure, image_grid, new_figure, seed_points
from recombine.runs import Trial
from recombine.studies.evidence import ArmPlans, Evidence, Scale
from recombine.studies.forced_rendering.decoder_setup import CODES
from recombine.tasks import Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NO_PENALTY, BOTH_PENALTIES = "no penalty", "both penalties"
RENDERERS = {NO_PENALTY: "render none", BOTH_PENALTIES: "render both"}
"""The two render nets that most of Figure 3 compares."""

CNNS = {f"CNN, {code} code": f"cnn {code}" for code in CODES}

PUBLISHED: dict[str, Any] = {
    "marker": "D",
    "markersize": 4.5,
    "markerfacecolor": "none",
    "markeredgewidth": 1.1,
    "linestyle": "none",
}
"""How published values are drawn next to ours: as open diamonds."""


def trial_of(evidence: Evidence, arm: str) -> Trial:
    """The settings of an arm."""
    return _plans(evidence.scale)[arm].trial


@cache
def _plans(scale: Scale) -> ArmPlans:
    from recombine.studies.study import load  # the study imports its figures, and the figures its arms

    return load("forced-rendering").arms(scale)


def task_of(evidence: Evidence, arm: str) -> Task:
    """The task of an arm."""
    return _built(trial_of(evidence, arm).task)


@lru_cache(maxsize=8)
def _built(task: Part) -> Task:
    built: Task = task()
    return built


def present(evidence: Evidence, names: dict[str, str]) -> dict[str, str]:
    """The labels and arms for which there is evidence, in order."""
    return {label: arm for label, arm in names.items() if arm in evidence}


def shares_of_blank(evidence: Evidence, arms: Mapping[str, str]) -> dict[str, dict[str, np.ndarray]]:
    """Errors of some arms on seen and unseen cells relative to the blank image's, by label."""
    return {
        label: {"seen": evidence[arm].share_of_blank("in"), "unseen": evidence[arm].share_of_blank("out")}
        for label, arm in arms.items()
    }


def shares_figure(groups: Mapping[str, Mapping[str, np.ndarray]], title: str) -> Figure:
    """`shares_of_blank` as points, one per seed, with the blank image as a line."""
    figure, panels = new_figure(aspect=0.2 + 0.05 * len(groups))
    seed_points(
        panels[0, 0],
        groups,
        baselines={"blank image": 1.0},
        log=True,
        title=title,
        label="error / error of a blank image",
    )
    return figure


def cell_rows(task: Task) -> np.ndarray:
    """The rows that show a cell: one for each, in order, before any stripes."""
    return np.flatnonzero(task.cell >= 0)


def unseen_grid(task: Task) -> Bool[np.ndarray, "nx ny"]:
    """True where a cell is unseen, as a map."""
    return task.split.space.grid(task.split.unseen)


def median_grid(evidence: Evidence, arm: str, value: str = "error") -> Float[np.ndarray, "nx ny"]:
    """The median over seeds of a value per cell, as a map."""
    return task_of(evidence, arm).split.space.grid(np.nanmedian(evidence[arm][value], axis=0))


def shown_cells(evidence: Evidence, arm: str) -> np.ndarray:
    """The cells `(cells, 2)` whose images an arm records."""
    name = Part(decoders.output_images).name
    probe = next(probe for probe in trial_of(evidence, arm).probes if probe.name == name)
    return np.array(probe["cells"])


def cell_names(cells: np.ndarray) -> list[str]:
    """Cells as column labels: `x 14, y 9`."""
    return [f"x {x}, y {y}" for x, y in cells]


def are_unseen(task: Task, cells: np.ndarray) -> Bool[np.ndarray, " cells"]:
    """Which of these cells are unseen."""
    return task.split.unseen[task.split.space.index(cells)]


def cells_figure(
    evidence: Evidence, arm: str, rows: Mapping[str, np.ndarray], *, largest: float | None = None, **grid: Any
) -> Figure:
    """Images of the cells that an arm records: a column for each cell, a cross where its bump belongs.

    **Arguments:**

    - `rows`: `(cells, height, width)` images by label.
    - `largest`: the maximum size of one image in inches.
    - `grid`: further settings of `recombine.report.image_grid`.
    """
    task, cells = task_of(evidence, arm), shown_cells(evidence, arm)
    size = {} if largest is None else {"largest": largest}
    figure = image_figure(len(cells), len(rows), **size)
    settings = {"shades": decoders.polarity_of(task), **grid}
    unseen = are_unseen(task, cells)
    image_grid(figure, rows, columns=cell_names(cells), marks=cells, unseen=unseen, **settings)
    return figure


def superposed(evidence: Evidence, arm: str) -> Float[np.ndarray, "cells height width"]:
    """For the cells that an arm records, the sum of the seen images that share a level, at full contrast."""
    task = task_of(evidence, arm)
    space, rows = task.split.space, cell_rows(task)
    baselines = baseline_images(task.targets[rows], task.split.seen, space.cells, task.blank)
    return baselines["superposition"][space.index(shown_cells(evidence, arm))]


def layer_names(layers: int) -> list[str]:
    """Names of the input, of the hidden layers from 1 on, and of the output image."""
    return ["input", *(str(layer) for layer in range(1, layers - 1)), "image"]


def median(values: Any) -> float:
    """The median of the values that are finite."""
    finite = np.asarray(values, dtype=float)
    finite = finite[np.isfinite(finite)]
    return float(np.median(finite)) if finite.size else float("nan")
