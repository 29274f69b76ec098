"""Constructions that fail on unseen cells: lookup, main effects alone, kernels, shortcuts."""

from __future__ import annotations

import numpy as np
from tests.auditing.planted.checks import is_labels, of_neighbours, of_one_factor, relative_error, varies
from tests.auditing.planted.composing import draw_outputs, draw_split_task, written
from tests.auditing.planted.construction import Planted, construct
from tests.auditing.planted.designs import draw_design, draw_grid
from tests.auditing.planted.forms import as_labels, as_numbers
from tests.auditing.planted.models import (
    draw_kernel,
    least_squares,
    majority,
    nearest,
    smallest_norm,
)
from tests.auditing.planted.redraw import insist
from tests.auditing.planted.targets import additive_numbers, mixed_numbers, shortcut_classes

from recombine.theory import retention


def lookup(rng: np.random.Generator) -> Planted:
    """Right on seen cells, elsewhere the nearest seen cell's prediction; not such that one factor would explain it."""
    design, target, task = draw_split_task(rng)
    predictions, how = nearest(rng, design, target)
    if is_labels(target):
        wrong = (predictions != target)[~design.seen].mean()
        insist(wrong >= 0.3, relative_error(design, target, predictions) >= 0.3)
        insist(of_one_factor(design, target, predictions) <= 0.7)
    else:
        insist(
            relative_error(design, target, predictions) >= 0.2,
            of_one_factor(design, target, predictions) <= 0.8,
        )
    *rows, form = written(rng, target[design.cell], predictions[design.cell])
    return construct("lookup", "memorisation_leak", design, *rows, task, how, form)


def additive(rng: np.random.Generator) -> Planted:
    """Main effects alone where interactions matter, so it errs on seen cells, too."""
    grid, share = draw_grid(rng), rng.uniform(0.25, 0.6)
    target = mixed_numbers(rng, grid, draw_outputs(rng), share)
    design = draw_design(rng, grid)
    by_row = bool(rng.random() < 0.5)
    predictions = least_squares(design, target, by_row=by_row)
    seen, unseen = (relative_error(design, target, predictions, seen=seen) for seen in (True, False))
    insist(varies(design, target), 0.12 <= seen <= 0.75, unseen >= 0.2)
    insist(of_one_factor(design, predictions, predictions) <= 0.9)
    *rows, form = as_numbers(rng, target[design.cell], predictions[design.cell])
    fit = f"least squares by {'row' if by_row else 'cell'}"
    return construct("additive", "additive_only", design, *rows, f"interactions {share:.2f}", fit, form)


def kernel(rng: np.random.Generator) -> Planted:
    """A machine of minimum norm that stores whole cells, on an additive task: predictions for unseen cells shrink."""
    grid = draw_grid(rng)
    target = additive_numbers(rng, grid, draw_outputs(rng))
    design = draw_design(rng, grid)
    insist(varies(design, target))
    similarity, name = draw_kernel(rng, len(grid.sizes))
    (kept,) = retention([similarity], grid.cells[design.seen], grid.cells[~design.seen], grid.sizes)
    insist(np.median(kept) < 0.85)
    offset = bool(rng.random() < 0.7)
    predictions = smallest_norm(design, target, similarity, offset=offset)
    insist(relative_error(design, target, predictions, seen=True) < 1e-10)
    centre = target[design.seen].mean(axis=0)
    truth, predicted = (values[~design.seen] - centre for values in (target, predictions))
    slope = float((truth * predicted).sum() / (truth**2).sum())
    insist(slope < 0.85, relative_error(design, target, predictions) >= 0.15**2)
    notes = [
        name,
        "with offset" if offset else "no offset",
        f"retention {np.median(kept):.2f}, slope {slope:.2f}",
    ]
    *rows, form = as_numbers(rng, target[design.cell], predictions[design.cell])
    return construct("kernel", "memorisation_leak", design, *rows, *notes, form)


def shortcut(rng: np.random.Generator) -> Planted:
    """One factor decides, on all cells or on unseen ones; it goes with the class in training, much less elsewhere."""
    grid = draw_grid(rng)
    axis = int(rng.integers(len(grid.sizes)))
    target, own, task = shortcut_classes(rng, grid, axis)
    design = draw_design(rng, grid, favour=np.where(target == own, 1.0, rng.uniform(1, 5)))
    rule, unseen = majority(design, target, axis), ~design.seen
    known = np.bincount(target[design.seen], weights=design.weight[design.seen])
    constant, right = known.max() / known.sum(), np.average(rule == target, weights=design.weight)
    insist(unseen.sum() >= 8, (known > 0).all(), constant <= 0.7, constant + 0.1 <= right <= 0.92)
    insist((rule != target)[unseen].mean() >= 0.3, relative_error(design, target, rule) >= 0.15)
    insist(np.bincount(rule[unseen]).max() <= 0.8 * unseen.sum(), of_neighbours(design, target, rule) <= 0.8)
    pure = bool(rng.random() < 0.5)
    predictions = rule if pure else np.where(design.seen, target, rule)
    *rows, form = as_labels(rng, target[design.cell], predictions[design.cell])
    how = (
        f"{'pure' if pure else 'right on seen cells'}, by {grid.factors[axis]}, right in training {right:.2f}"
    )
    return construct("shortcut", "shortcut", design, *rows, task, how, form)
