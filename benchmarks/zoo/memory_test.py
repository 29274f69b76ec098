"""The test of memory: are unseen predictions made of what was stored for seen cells, or the targets shrunken?

The model is trained again with other targets, to see which of them arrive in unseen cells.
"""

from __future__ import annotations

import numpy as np

from benchmarks.zoo import cutoffs
from benchmarks.zoo.designs import Design
from benchmarks.zoo.patterns import extrapolated_sum, matches
from benchmarks.zoo.sample import Fitted, Sample

INTERVENTIONS = 4
"""Trainings on changed targets."""
EXACT = 0.05
"""Of their standard deviation: numbers that differ by less are the same."""


def memory(
    sample: Sample, fitted: Fitted, values: np.ndarray, clean: np.ndarray, failing: np.ndarray
) -> tuple[bool | None, float]:
    """Whether unseen predictions are made of stored targets, or are the targets shrunken."""
    design = sample.design
    if fitted.stored is not None:
        weights = fitted.stored(design.cells[~design.seen])
        share, stored_cells = _averages(sample, weights, values[~design.seen], failing)
        if share >= cutoffs.AVERAGES_STORED and stored_cells <= cutoffs.STORED_CELLS:
            return True, share
    if values.ndim == 2:
        unseen = ~design.seen
        slope, line = _line(values[unseen], clean[unseen])
        if 0 <= slope <= cutoffs.SHRINKS and line >= cutoffs.ON_A_LINE:
            return True, 1 - slope
    near, added = copying(sample, failing)
    yes, no = cutoffs.COPIES, cutoffs.DOES_NOT_COPY
    if values.ndim == 1:
        yes, no = cutoffs.COPIES_LABELS, cutoffs.DOES_NOT_COPY_LABELS
    if near <= no or (added > near and added >= yes):
        return False, near
    clearly = near >= yes and (1 - near) <= cutoffs.COPIES_MORE * (1 - added)
    return (True if clearly else None), near


def _averages(
    sample: Sample, weights: np.ndarray, values: np.ndarray, failing: np.ndarray
) -> tuple[float, float]:
    """How well stored rows reproduce the predictions, and the share of seen cells that have a say."""
    design = sample.design
    target = sample.target[design.train]
    if values.ndim == 1:
        votes = weights @ np.eye(int(sample.clean.max()) + 1)[target]
        share = float((votes.argmax(axis=1) == values).mean())
    else:
        share = matches(weights @ target[:, failing], values)
    by_cell = np.zeros((len(weights), len(design.cells)))
    np.add.at(by_cell.T, design.cell[design.train], weights.T)
    by_cell /= np.maximum(by_cell.sum(axis=1, keepdims=True), 1e-12)
    effective = 1 / (by_cell**2).sum(axis=1)
    return share, float(np.median(effective) / design.seen.sum())


def _line(values: np.ndarray, clean: np.ndarray) -> tuple[float, float]:
    """The slope of predictions on targets, and the share of the predictions that the line explains."""
    one, other = values - values.mean(axis=0), clean - clean.mean(axis=0)
    slope = float((one * other).sum() / max((other**2).sum(), 1e-300))
    return slope, float(1 - ((one - slope * other) ** 2).sum() / max((one**2).sum(), 1e-300))


def copying(sample: Sample, failing: np.ndarray) -> tuple[float, float]:
    """Trains on changed targets: how much of the change of unseen predictions the nearest seen cells explain, and how
    much the sum of effects of the changes does.

    Quantities get independent normal numbers added to every seen cell. Labels are drawn anew for every seen cell.
    """
    rng = np.random.default_rng(1)
    design, labels = sample.design, sample.kind == "labels"
    unseen, near = ~design.seen, _neighbours(design)
    changes: list[np.ndarray] = []
    added: list[np.ndarray] = []
    planted_numbers: list[np.ndarray] = []
    copied: list[list[np.ndarray]] = [[] for _ in near]
    before = None
    for repeat in range(INTERVENTIONS):
        if labels:
            classes = int(sample.clean.max()) + 1
            planted = rng.integers(classes, size=len(design.cells))
            fitted = sample.fit(design, planted[design.cell], repeat)
            changes.append(np.eye(classes)[fitted.predict(design.cells[unseen])])
            stored = np.eye(classes)[planted[design.seen]]
            added.append(np.eye(classes)[extrapolated_sum(design, planted[design.seen])])
        else:
            if before is None:
                before = sample.fit(design, sample.target, 0).predict(design.cells[unseen])
            stored = rng.normal(size=(len(design.cells), sample.clean.shape[1])) * sample.clean.std(axis=0)
            fitted = sample.fit(design, sample.target + stored[design.cell], 0)
            changes.append(
                (fitted.predict(design.cells[unseen]) - before)[
                    :, failing if sample.images is None else slice(None)
                ]
            )
            stored = stored[design.seen][:, failing if sample.images is None else slice(None)]
            added.append(extrapolated_sum(design, stored))
            planted_numbers.append(stored)
        for number, weights in enumerate(near):
            copied[number].append(weights @ stored)
    change = np.concatenate(changes)
    near_share = max(_explained(np.concatenate(one), change) for one in copied)
    if not labels:
        near_share = max(near_share, _copied_exactly(np.stack(changes), np.stack(planted_numbers)))
    return near_share, _explained(np.concatenate(added), change)


def _copied_exactly(changes: np.ndarray, planted: np.ndarray) -> float:
    """The share of unseen cells that change, in every intervention, by just the number of one certain seen cell."""
    off = np.abs(changes[:, :, None] - planted[:, None]).max(axis=(0, 3))
    return float((off.min(axis=1) <= EXACT * planted.std()).mean())


def _neighbours(design: Design) -> list[np.ndarray]:
    """Weights of seen cells for every unseen one: its nearest ones, by three distances, and the two nearest shells."""
    one, other = design.cells[~design.seen][:, None], design.cells[design.seen][None]
    weights = []
    for distance in (
        (one != other).sum(axis=2),
        np.abs(one - other).sum(axis=2),
        ((one - other) ** 2).sum(axis=2),
    ):
        nearest = distance == distance.min(axis=1, keepdims=True)
        weights.append(nearest / nearest.sum(axis=1, keepdims=True))
    close = (np.abs(one - other).max(axis=2) <= 1).astype(float)
    weights.append(close / np.maximum(close.sum(axis=1, keepdims=True), 1))
    return weights


def _explained(rule: np.ndarray, change: np.ndarray) -> float:
    """The squared correlation of a rule with what happened."""
    one, other = rule - rule.mean(axis=0), change - change.mean(axis=0)
    top = float((one * other).sum())
    if top <= 0:
        return 0.0
    return top**2 / max(float((one**2).sum() * (other**2).sum()), 1e-300)
