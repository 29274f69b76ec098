"""Rules that could have made a model's answers for unseen cells, from its own answers for seen ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from recombine.auditing.cells import Cells
from recombine.auditing.extrapolation import FromSeen, orders_below
from recombine.auditing.mixtures import superposition
from recombine.auditing.seen_cells import answers_of_seen, targets_of_seen
from recombine.auditing.trial import Explanation, Trial, best_of, lengths
from recombine.theory import subsets

SUM = 0.05
"""A task is a sum of effects if what is left of the unseen targets is below this share of their spread."""
SHRUNKEN = 0.9
"""Answers that vary at least this much of what they should are not shrunken."""
LEAST_PIXELS = 16
"""Outputs with fewer numbers are no pictures, and their sums no superpositions."""
DISTANCES = (0, 1, 2)
"""By levels that differ, and by city-block and Euclidean distance of level numbers."""
MOST_NEIGHBOURS = 200
MOST_COPIES = 1e8
"""Seen cells times squared unseen cells up to which copies of any seen cell are looked for."""


def all_rules(trial: Trial) -> Iterator[Explanation]:
    """Every rule that applies, tried."""
    cells, wanted = trial.cells, trial.cells.cells[trial.chosen]
    seen = answers_of_seen(cells)
    pictures = is_picture(cells)
    yield trial.fixed("constant", seen.constant(wanted))
    for subset in subsets(len(cells.sizes), min(2, len(cells.sizes) - 1), least=1):
        yield best_of(
            trial.fixed("given", seen.given(subset, wanted, by_rows=rows), subset) for rows in (True, False)
        )
    ranks = (np.arange(len(seen.cells)), cells.first_row[cells.seen])
    near = [seen.nearest(wanted, by=by, first=rank) for by in DISTANCES for rank in ranks]
    near += [] if pictures else [seen.nearest(wanted)]  # a mean of pictures is a superposition
    yield best_of(trial.fixed("nearest", one) for one in near)
    yield best_of(_copies(trial, seen, seen.neighbours(wanted, by=by)) for by in DISTANCES)
    if cells.kind == "regression" and len(seen.cells) * len(wanted) ** 2 <= MOST_COPIES:
        yield _copies(trial, seen, None)
    for order in _missing_orders(cells, trial):
        if seen.can_add(order):
            yield trial.fixed("additive", seen.additive(order, wanted), order=order)
    if cells.kind == "regression":
        yield _slope_rule(trial)
    if pictures:
        yield superposition(trial, seen, wanted)


def _missing_orders(cells: Cells, trial: Trial) -> Iterator[int]:
    """Orders up to which sums of effects are not what the task is; beyond, being a sum is no failure."""
    known = targets_of_seen(cells)
    for order in orders_below(cells.sizes):
        if not known.can_add(order):
            return
        off = lengths(known.additive(order, cells.cells[trial.chosen]) - trial.truth)
        if off.sum() <= SUM * lengths(trial.truth - cells.constant).sum():
            return
        yield order


def _copies(trial: Trial, seen: FromSeen, near: Iterable[np.ndarray] | None) -> Explanation:
    """Every answer is that of some seen cell, whichever fits best: among the nearest (masks in blocks), or any."""
    n = len(trial.chosen)
    every = np.ones((n, len(seen.cells)), dtype=bool)
    masks = every if near is None else (row for block in near for row in block)
    if trial.cells.kind == "classification":
        costs = np.stack([2 - 2 * seen.values[mask].max(axis=0) for mask in masks])
        return trial.labelled("copy", costs, corrected=True)
    pairs = np.empty((n, n))
    error = trial.said - trial.truth
    across, size = seen.values @ error.T, lengths(error)
    own = trial.truth @ error.T
    for u, mask in enumerate(masks):
        chosen = np.flatnonzero(mask)[: MOST_NEIGHBOURS if near is not None else None]
        apart = lengths(trial.truth[u] - seen.values[chosen])
        pairs[u] = (apart[:, None] + 2 * (own[u] - across[chosen])).min(axis=0) + size
    return trial.paired("any_copy" if near is None else "copy", pairs, corrected=True)


def _slope_rule(trial: Trial) -> Explanation:
    """The truth, shrunken towards some answer, as a memorisation leak does it; slope and offset are fitted."""
    about = trial.truth - trial.truth.mean(axis=0)
    error = trial.said - trial.truth
    error = error - error.mean(axis=0)
    spread, size, own = lengths(about), lengths(error), (about * error).sum(axis=1)

    def share(together: np.ndarray, wide: np.ndarray, left: np.ndarray, against: np.ndarray) -> np.ndarray:
        slope = together / np.maximum(wide, 1e-300)
        found = 1 - (left - slope * together) / np.maximum(against, 1e-300)
        return np.where(slope < SHRUNKEN - 1, found, 0.0)

    sums = [values.sum() for values in (spread, size, trial.against)]
    value = float(share(own.sum(), *sums))
    across = about @ error.T
    other = share(across[np.arange(len(own)), trial.turns].sum(axis=1), *sums)
    chance = float((1 + (other >= value - 1e-12).sum()) / (1 + len(other)))
    means = trial.sampler.means(0, np.stack([own, spread, size, trial.against], axis=1))
    residual = lengths(error - own.sum() / max(spread.sum(), 1e-300) * about)
    interval = trial.sampler.estimate(value, share(*means.T), [0])
    return Explanation("slope", interval, chance, residual)


def is_picture(cells: Cells) -> bool:
    """Whether answers have so many numbers that sums of them can be told from something else."""
    return cells.kind == "regression" and cells.answers.shape[1] >= LEAST_PIXELS
