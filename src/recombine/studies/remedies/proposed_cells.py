"""The cells that `recombine.advise` proposes to add to a split."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool

from recombine.advice import advise
from recombine.advice.result import Advice
from recombine.tasks import Task

MAX_SHARE = 0.5
"""Proposals that would add more than this share of the unseen cells leave too little to test."""


def advice_on(task: Task) -> Advice:
    """What `advise` says about the task's split, with its labels where a cell has one label or number."""
    space = task.split.space
    factors = {factor.name: space.cells[:, axis] for axis, factor in enumerate(space.factors)}
    return advise(factors=factors, seen=task.split.seen, target=_labels(task))


def proposed_cells(task: Task) -> Bool[np.ndarray, " cells"]:
    """The smallest set that `advise` proposes: corrective cells, or cells that determine the unseen ones.

    Empty if the task has no combinations of factors, or if nothing short of most unseen cells would help.
    """
    space = task.split.space
    mask = np.zeros(space.n_cells, dtype=bool)
    if len(space.shape) < 2:
        return mask
    advice = advice_on(task)
    corrective = advice.corrective_cells
    proposals = [] if corrective is None else [corrective.cells]
    proposals += [order.additions.cells for order in advice.orders.values()]
    limit = MAX_SHARE * int((~task.split.seen).sum())
    sizes = [len(cells) for cells in proposals]
    usable = [cells for cells, n in zip(proposals, sizes, strict=True) if 0 < n <= limit]
    if usable:
        smallest = min(usable, key=len)
        mask[np.ravel_multi_index(tuple(np.asarray(smallest).T), space.shape)] = True
    return mask


def _labels(task: Task) -> Any:
    """The number or class of every cell, if a row per cell has exactly one."""
    one_row_each = (
        len(task.cell) == task.split.space.n_cells and (task.cell == np.arange(len(task.cell))).all()
    )
    one_number = task.targets.ndim == 1 or task.targets.shape[1:] == (1,)
    if not one_row_each or not one_number:
        return None
    values = task.targets.reshape(len(task.targets))
    return 2 * values - 1 if task.kind == "classification" else values
