"""Whether a draw shows its behaviour; all on predictions by cell, where whole numbers are classes."""

from __future__ import annotations

import numpy as np
from tests.auditing.planted.designs import Design


def is_labels(values: np.ndarray) -> bool:
    """Classes are whole numbers."""
    return values.dtype.kind == "i"


def errors(values: np.ndarray, predictions: np.ndarray) -> np.ndarray:
    """By cell: wrong or not, or the summed square."""
    if is_labels(values):
        return (values != predictions).astype(float)
    return ((values - predictions) ** 2).reshape(len(values), -1).sum(axis=1)


def typical(values: np.ndarray, among: np.ndarray) -> np.ndarray:
    """The best constant for some of the cells."""
    return np.bincount(values[among]).argmax() if is_labels(values) else values[among].mean(axis=0)


def relative_error(
    design: Design, target: np.ndarray, predictions: np.ndarray, *, seen: bool = False
) -> float:
    """The error on unseen cells (or on seen ones) over that of the best constant in training."""
    where = design.seen == seen
    constant = np.broadcast_to(typical(target, design.seen), target.shape)
    return float(errors(target, predictions)[where].sum() / errors(target, constant)[where].sum().clip(1e-12))


def by_level(design: Design, target: np.ndarray, axis: int) -> np.ndarray:
    """For every cell the typical training target of its level of one factor."""
    index = design.grid.cells[:, axis]
    table = [typical(target, design.seen & (index == level)) for level in range(design.grid.sizes[axis])]
    return np.array(table)[index]


def of_one_factor(design: Design, target: np.ndarray, predictions: np.ndarray) -> float:
    """How well some single factor, by its levels' typical training targets, explains the unseen predictions."""
    best, unseen = 0.0, ~design.seen
    for axis in range(len(design.grid.sizes)):
        missed = errors(predictions, by_level(design, target, axis))[unseen]
        if is_labels(target):
            best = max(best, 1 - float(missed.mean()))
        else:
            centred = errors(predictions, np.broadcast_to(typical(predictions, unseen), predictions.shape))[
                unseen
            ]
            best = max(best, 1 - float(missed.sum() / centred.sum().clip(1e-12)))
    return best


def of_neighbours(design: Design, target: np.ndarray, predictions: np.ndarray) -> float:
    """How often unseen predictions are the labels of the seen cells that share the most levels, one drawn at random."""
    near = design.shared == design.shared.max(axis=1, keepdims=True)
    same = predictions[~design.seen][:, None] == target[design.seen]
    return float(((near & same).sum(axis=1) / near.sum(axis=1)).mean())


def varies(design: Design, target: np.ndarray) -> bool:
    """Whether targets differ enough, among seen and among unseen cells, for predictions to be right or wrong."""
    if is_labels(target):
        shares = [np.bincount(target[among]).max() / among.sum() for among in (design.seen, ~design.seen)]
        known = np.unique(target[design.seen])
        alone = max(
            (by_level(design, target, axis) == target).mean() for axis in range(len(design.grid.sizes))
        )
        return max(shares) <= 0.7 and len(known) == target.max() + 1 and bool(alone <= 0.9)
    spread = [
        errors(target, np.broadcast_to(typical(target, among), target.shape))[among].mean()
        for among in (design.seen, ~design.seen)
    ]
    return bool(spread[1] >= 0.35 * spread[0] > 0)
