"""Constructions that treat seen and unseen cells alike: right, right with noise, and one prediction for everything."""

from __future__ import annotations

import numpy as np
from tests.auditing.planted.checks import is_labels, relative_error, typical, varies
from tests.auditing.planted.construction import Planted, construct
from tests.auditing.planted.designs import Design, Grid, draw_design, draw_grid
from tests.auditing.planted.forms import as_images, as_labels, as_numbers
from tests.auditing.planted.images import draw_world
from tests.auditing.planted.redraw import insist
from tests.auditing.planted.targets import classes, numbers


def draw_outputs(rng: np.random.Generator) -> int:
    """One output, or some."""
    return 1 if rng.random() < 0.5 else int(rng.integers(2, 7))


def draw_task(rng: np.random.Generator) -> tuple[Grid, np.ndarray, str]:
    """Numbers, vectors, images or classes for the cells of a grid, and a word on what was drawn."""
    what = rng.choice(["numbers", "images", "classes"], p=[0.45, 0.2, 0.35])
    if what == "images":
        return draw_world(rng)
    grid = draw_grid(rng)
    if what == "classes":
        return grid, *classes(rng, grid)
    return grid, *numbers(rng, grid, draw_outputs(rng))


def written(
    rng: np.random.Generator, target: np.ndarray, predictions: np.ndarray
) -> tuple[np.ndarray, np.ndarray, str]:
    """Targets and predictions by row, in a form that suits them."""
    form = as_labels if is_labels(target) else as_images if target.ndim == 3 else as_numbers
    return form(rng, target, predictions)


def draw_split_task(rng: np.random.Generator) -> tuple[Design, np.ndarray, str]:
    """A task and a split of its cells."""
    grid, target, task = draw_task(rng)
    design = draw_design(rng, grid)
    insist(varies(design, target))
    return design, target, task


def composer(rng: np.random.Generator) -> Planted:
    """Right everywhere."""
    design, target, task = draw_split_task(rng)
    *rows, form = written(rng, target[design.cell], target[design.cell])
    return construct("composer", "composes", design, *rows, task, form)


def noisy_composer(rng: np.random.Generator) -> Planted:
    """Right but for noise, on seen and unseen rows alike; luck must not gather wrong labels on unseen rows."""
    design, target, task = draw_split_task(rng)
    predictions = target[design.cell]
    if is_labels(target):
        share = rng.uniform(0.01, 0.08)
        wrong = rng.permutation(len(predictions))[: max(1, round(share * len(predictions)))]
        predictions[wrong] = (predictions[wrong] + rng.integers(1, target.max() + 1, size=len(wrong))) % (
            target.max() + 1
        )
        insist((predictions != target[design.cell])[~design.seen[design.cell]].mean() <= 0.125)
        noise = f"{len(wrong)} rows wrong"
    else:
        share = rng.uniform(0.05, 0.3)
        scale = predictions.std(axis=0) if predictions.ndim == 2 else predictions.std()
        predictions = predictions + rng.normal(size=predictions.shape) * share * scale
        noise = f"noise {share:.2f}"
    *rows, form = written(rng, target[design.cell], predictions)
    return construct("noisy_composer", "composes", design, *rows, task, noise, form)


def constant(rng: np.random.Generator) -> Planted:
    """One prediction for everything: typical of training, or any."""
    design, target, task = draw_split_task(rng)
    usual = bool(rng.random() < 0.5)
    if usual:
        prediction = typical(target, design.seen)
    elif is_labels(target):
        prediction = np.int64(rng.integers(target.max() + 1))
    elif target.ndim == 3:
        prediction = rng.random(target.shape[1:]) if rng.random() < 0.5 else target[rng.choice(len(target))]
    else:
        prediction = target.mean(axis=0) + rng.normal(size=target.shape[1]) * target.std(axis=0)
    predictions = np.broadcast_to(prediction, target.shape)
    insist(relative_error(design, target, predictions) > 0.5)
    *rows, form = written(rng, target[design.cell], predictions[design.cell])
    return construct("constant", None, design, *rows, task, "typical" if usual else "any prediction", form)
