"""Rules that could have made a model's answers for unseen cells, from its own answers for seen ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from jaxtyping import Bool

from recombine.auditing.cells import Cells, means_by_cell
from recombine.auditing.extrapolation import FromSeen, decide, orders_below
from recombine.auditing.mixtures import superposition
from recombine.auditing.seen_cells import answers_of_seen, targets_of_seen
from recombine.auditing.slope import slope_of
from recombine.auditing.trial import Explanation, Trial, best_of, chance_of, lengths
from recombine.theory import Conjunctions, subsets
from recombine.theory.conjunctions import Subset, codes_of

SUM = 0.05
"""A task is a sum of effects if what is left of the unseen targets is below this share of their spread."""
NOISY = 1.25
"""What noise of targets leaves of a sum is known to about a quarter."""
STILL = 0.1
"""Answers hardly vary if they keep this close to a constant, beside the truth."""
MOST_GROUPED, SOME = 64, 299
"""Outputs up to which answers are compared with each other, and in how many rearrangements."""
SHRUNKEN = 0.9
"""Answers that vary at least this much of what they should, or do on seen cells, are not shrunken,"""
TURNED = -0.1
"""and those with a slope below this are turned round."""
LEAST_PIXELS = 16
"""Outputs with fewer numbers are no pictures, and their sums no superpositions."""
DISTANCES = (0, 1, 2)
"""By levels that differ, and by city-block and Euclidean distance of level numbers."""
MOST_NEIGHBOURS = 200


def all_rules(trial: Trial) -> Iterator[Explanation]:
    """Every rule that applies, tried."""
    cells, wanted = trial.cells, trial.cells.cells[trial.chosen]
    seen = answers_of_seen(cells)
    pictures = is_picture(cells)
    yield _constant(trial, seen.constant(wanted))
    if cells.kind == "classification":
        yield _confusion(trial)
    for subset in subsets(len(cells.sizes), min(3, len(cells.sizes) - 1), least=1):
        if _suffice(cells, subset):
            continue
        found = [
            trial.fixed("given", seen.given(subset, wanted, by_rows=rows), subset) for rows in (True, False)
        ]
        yield best_of(found)
        own = _function(trial, subset) if len(subset) == 1 else None
        if own is not None:
            yield own
    yield from _memory(trial, seen, wanted, pictures)
    for order in _missing_orders(cells, trial):
        if seen.can_add(order):
            yield best_of(
                trial.fixed("additive", answers, order=order) for answers in _sums(cells, seen, order, wanted)
            )
    if cells.kind == "regression":
        yield _slope_rule(trial)
    if pictures:
        yield superposition(trial, seen, wanted)


def _suffice(cells: Cells, subset: Subset) -> bool:
    """Whether the task depends on some factors alone, so that going by them is no shortcut.

    What is left of a cell's target is told from the other cells with the same levels there.
    """
    known = np.flatnonzero(cells.known & cells.familiar)
    targets = cells.targets[known].astype(np.float64)
    codes = codes_of(cells.cells[known], subset, cells.sizes)
    _, group, counts = np.unique(codes, return_inverse=True, return_counts=True)
    means = means_by_cell(targets, group, len(counts))
    spread = lengths(targets - targets.mean(axis=0))
    alone = counts[group] < 2
    grow = (counts[group] / np.maximum(counts[group] - 1, 1)) ** 2
    left = np.where(alone, spread, grow * lengths(targets - means[group]))
    return bool(left.sum() <= SUM * spread.sum())


def _function(trial: Trial, subset: Subset) -> Explanation | None:
    """Answers that are some function of one factor, told from the other unseen cells that share its level.

    What is left of a cell's answer is its distance to the mean of the others, `n / (n - 1)` times that to the mean of
    all n. `None` if a cell stands alone, or outputs are too many to try this often.
    """
    _, group, counts = np.unique(
        trial.cells.cells[trial.chosen][:, list(subset)], axis=0, return_inverse=True, return_counts=True
    )
    group = group.ravel()
    if counts.min() < 2 or trial.said.shape[1] > MOST_GROUPED:
        return None
    average = (group == np.arange(len(counts))[:, None]) / counts[:, None]
    grow = ((counts / (counts - 1)) ** 2)[group]

    def left(answers: np.ndarray) -> np.ndarray:
        return grow * lengths(answers - (average @ answers)[group])

    turns, signs = trial.chance.turns[:SOME], trial.chance.signs[:SOME, :, None]
    error = trial.said - trial.truth
    swapped = np.array([left(trial.said[turn]).sum() for turn in turns])
    if trial.chance.labels is not None:
        hot = np.eye(trial.truth.shape[1])
        moved = [np.array([left(hot[labels]).sum() for labels in trial.chance.labels[:SOME]])]
    elif trial.cells.kind == "classification":
        moved = []
    else:
        turned = (trial.truth + sign * error[turn] for turn, sign in zip(turns, signs, strict=True))
        moved = [np.array([left(one).sum() for one in turned])]
    found = trial.judge("function", left(trial.said), [*moved, swapped], factors=subset)
    if trial.cells.kind == "regression":
        return found
    others = counts[group][:, None] * (average @ trial.said)[group] - trial.said
    chances = (others + 1 / trial.said.shape[1]) / counts[group][:, None]
    return replace(found, likelihood=float(np.log((chances * trial.said).sum(axis=1)).sum()))


def _constant(trial: Trial, answer: np.ndarray) -> Explanation:
    """One and the same answer, if answers really hardly vary; no rearrangement would show that."""
    found = trial.fixed("constant", answer)
    spread = lengths(trial.truth - answer).sum()
    return replace(found, chance=0.0 if found.residual.sum() <= STILL * spread else 1.0)


def _sums(cells: Cells, seen: FromSeen, order: int, wanted: np.ndarray) -> Iterator[np.ndarray]:
    """Sums of effects that follow from the model's answers for seen cells.

    Labels do not show the scores behind them, so that those of a model which can only add are looked for in the targets
    that it was fitted to, too.
    """
    yield seen.additive(order, wanted)
    if cells.kind == "classification" and order == 1:
        known = targets_of_seen(cells)
        yield from (known.additive(order, wanted, by_rows=by_rows) for by_rows in (False, True))
        yield from (one.additive_scores(wanted) for one in (seen, known))


def _confusion(trial: Trial) -> Explanation:
    """Labels that are taken for others on seen cells are so on unseen ones, too."""
    cells = trial.cells
    known = cells.inside
    votes = cells.targets[known].T @ cells.answers[known]
    voted = votes.sum(axis=1) > 0
    taken = np.where(voted[:, None], decide(votes, cells.kind), np.eye(len(votes)))
    return trial.fixed("confusion", taken[trial.truth.argmax(axis=1)])


def _missing_orders(cells: Cells, trial: Trial) -> Iterator[int]:
    """Orders up to which sums of effects are not what the task is; beyond, being a sum is no failure."""
    known, wanted = targets_of_seen(cells), cells.cells[trial.chosen]
    noise = float(cells.target_noise[trial.chosen].sum())
    spread = max(lengths(trial.truth - cells.constant).sum() - noise, 0.0)
    for order in orders_below(cells.sizes):
        if not known.can_add(order):
            return
        sums = [known.additive(order, wanted)]
        if cells.kind == "classification" and order == 1:
            sums.append(known.additive_scores(wanted))
        fitted = 1 + Conjunctions.of(known.cells, cells.sizes, order=order).starts[-1] / len(known.cells)
        if min(lengths(one - trial.truth).sum() for one in sums) - NOISY * fitted * noise <= SUM * spread:
            return
        yield order


def _memory(trial: Trial, seen: FromSeen, wanted: np.ndarray, pictures: bool) -> Iterator[Explanation]:
    """Answers of the nearest seen cells: of a certain one among them, of all together, or of whichever fits best."""
    ranks = (np.arange(len(seen.cells)), trial.cells.first_row[trial.cells.seen])
    certain, whichever = [], []
    for by in DISTANCES:
        near = seen.neighbours(wanted, by=by)
        certain += [trial.fixed("nearest", seen.first_of(near, rank)) for rank in ranks]
        if by == 0 and not pictures:  # a mean of pictures is a superposition
            certain.append(trial.fixed("nearest", seen.mean_of(near)))
        whichever.append(_copies(trial, seen, near))
    yield best_of(certain)
    yield best_of(whichever)


def _copies(trial: Trial, seen: FromSeen, near: Bool[np.ndarray, "cells seen"]) -> Explanation:
    """Every answer is that of some seen cell among the nearest, whichever fits best."""
    if trial.cells.kind == "classification":
        costs = np.stack([2 - 2 * seen.values[mask].max(axis=0) for mask in near])
        chances = near.astype(np.float64) @ seen.values / near.sum(axis=1, keepdims=True)
        return trial.labelled("copy", costs, chances, corrected=True)
    n = len(trial.chosen)
    plus, minus, swapped = np.empty((3, n, n))
    error = trial.said - trial.truth
    across, with_answers = seen.values @ error.T, seen.values @ trial.said.T
    own, size, said = trial.truth @ error.T, lengths(error), lengths(trial.said)
    for u, mask in enumerate(near):
        chosen = np.flatnonzero(mask)[:MOST_NEIGHBOURS]
        apart = lengths(trial.truth[u] - seen.values[chosen])[:, None]
        along = 2 * (own[u] - across[chosen])
        plus[u], minus[u] = ((apart + sign * along).min(axis=0) + size for sign in (1, -1))
        swapped[u] = (lengths(seen.values[chosen])[:, None] - 2 * with_answers[chosen]).min(axis=0) + said
    return trial.paired("copy", plus, minus, swapped, corrected=True)


def _slope_rule(trial: Trial) -> Explanation:
    """The truth, shrunken towards some answer, as a memorisation leak does it; slope and offset are fitted."""
    about = trial.truth - trial.truth.mean(axis=0)
    error = trial.said - trial.truth
    error = error - error.mean(axis=0)
    spread, size, own = lengths(about), lengths(error), (about * error).sum(axis=1)

    # Noise of targets makes any slope on them smaller, on seen cells as on unseen ones.
    usual = float(np.clip(np.nan_to_num(slope_of(trial.cells, trial.cells.inside), nan=1.0), 0.0, 1.0))

    def share(together: np.ndarray, wide: np.ndarray, left: np.ndarray, against: np.ndarray) -> np.ndarray:
        slope = together / np.maximum(wide, 1e-300)
        unexplained, failed = np.asarray(left - slope * together), np.asarray(against)
        some = failed > 1e-12 * spread.sum()
        found = 1 - np.divide(unexplained, failed, out=np.ones(unexplained.shape), where=some)
        return np.where((slope < SHRUNKEN * usual - 1) & (slope > TURNED - 1), found, 0.0)

    varied = lengths(trial.said - trial.said.mean(axis=0))
    against = (
        trial.against if trial.against.sum() <= varied.sum() else varied
    )  # nearer to the truth, or to a constant
    sums = [values.sum() for values in (spread, size, against)]
    value = float(share(own.sum(), *sums))
    places, turns = np.arange(len(own)), trial.chance.turns
    across, crossed = about @ error.T, about @ (trial.said - trial.said.mean(axis=0)).T
    moved = (across[places, turns] * trial.chance.signs).sum(axis=1)
    swapped = (
        crossed[places, turns].sum(axis=1) - spread.sum()
    )  # the error that other cells' answers would be
    swapped_size = varied.sum() + spread.sum() - 2 * crossed[places, turns].sum(axis=1)
    nulls = [share(moved, *sums), share(swapped, spread.sum(), swapped_size, against.sum())]
    chance = max(chance_of(value, null) for null in nulls)
    means = trial.sampler.means(0, np.stack([own, spread, size, against], axis=1))
    residual = lengths(error - own.sum() / max(spread.sum(), 1e-300) * about)
    interval = trial.sampler.estimate(value, share(*means.T), [0])
    return Explanation("slope", interval, chance, residual)


def is_picture(cells: Cells) -> bool:
    """Whether answers have so many numbers that sums of them can be told from something else."""
    return cells.kind == "regression" and cells.answers.shape[1] >= LEAST_PIXELS
