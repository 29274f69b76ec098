"""The rows that an arm trains on: the world's own, single factors, cells that `advise` proposes, or seen cells only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Int

from recombine.parts import Part
from recombine.spaces import Split
from recombine.studies.remedies.proposed_cells import proposed_cells
from recombine.tasks import Task


def prepared_task(
    *,
    task: Part,
    additions: bool = False,
    alone: Part | None = None,
    repeats: int = 1,
    held_out: float = 0.0,
    seed: int = 0,
) -> Task:
    """The task of an arm.

    Cells that `advise` proposes are not tested in any arm, so that all arms of a world are tested on the same cells.

    **Arguments:**

    - `additions`: train on the cells that `advise` proposes, too.
    - `alone`: gives inputs and targets that show one factor at a time, trained on `repeats` times.
    - `held_out`: for tuning: rows of unseen cells are removed, and this share of the seen cells takes their place.
    """
    made: Task = task(seed=seed)
    made = without_unseen_cells(made, held_out, seed=seed) if held_out else with_proposed(made, additions)
    if alone is not None:
        inputs, targets = alone(made)
        made = made.with_rows(np.repeat(inputs, repeats, axis=0), np.repeat(targets, repeats, axis=0))
    return made


def with_proposed(task: Task, added: bool) -> Task:
    """The task without tests on the cells that `advise` proposes; `added`: their rows are trained on."""
    proposed = proposed_cells(task)
    if not proposed.any():
        return task
    rows = np.flatnonzero((task.cell >= 0) & proposed[task.cell])
    cell = task.cell.copy()
    cell[rows] = -1  # shows no cell that counts
    train = np.concatenate([task.train, rows]) if added else task.train
    return replace(task, cell=cell, train=train)


def without_unseen_cells(task: Task, share: float, *, seed: int) -> Task:
    """Only rows of seen cells, of which a share is held out as if it were unseen. Nothing of unseen cells is left."""
    if has_cells(task):
        split = Split(task.split.space, task.split.seen & ~held_out_cells(task.split, share, seed=seed))
        kept = np.flatnonzero((task.cell >= 0) & task.split.seen[task.cell])
        trained = np.zeros(len(task.inputs), dtype=bool)
        trained[task.train] = True
        train = trained[kept] & split.seen[task.cell[kept]]
        return _rows(task, split, kept, task.cell[kept], np.flatnonzero(train))
    # Training and test rows are all there is: some training rows are held out.
    rng = np.random.default_rng([seed, 21])
    order = rng.permutation(task.train)
    held = round(share * len(order))
    cell = np.where(np.arange(len(order)) < held, 1, 0)
    return _rows(task, task.split, order, cell, np.arange(held, len(order)))


def has_cells(task: Task) -> bool:
    """Whether the task has combinations of factors, not just training and test rows."""
    return len(task.split.space.shape) > 1


def held_out_cells(split: Split, share: float, *, seed: int) -> Bool[np.ndarray, " cells"]:
    """A share of the seen cells, such that every level that training shows is still shown."""
    rng = np.random.default_rng([seed, 20])
    cells, kept = split.space.cells, split.seen.copy()
    wanted = max(1, round(share * int(split.seen.sum())))
    held = np.zeros(len(kept), dtype=bool)
    for cell in rng.permutation(np.flatnonzero(split.seen)):
        if held.sum() == wanted:
            break
        kept[cell] = False
        partners = [(cells[kept, axis] == cells[cell, axis]).any() for axis in range(cells.shape[1])]
        if all(partners):
            held[cell] = True
        else:
            kept[cell] = True
    return held


def _rows(
    task: Task,
    split: Split,
    rows: Int[np.ndarray, " rows"],
    cell: Int[np.ndarray, " rows"],
    train: Int[np.ndarray, " train"],
) -> Task:
    return Task(split, task.inputs[rows], task.targets[rows], task.kind, cell, train, blank=task.blank)
