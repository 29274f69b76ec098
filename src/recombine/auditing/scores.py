"""How wrong is the model on seen and on unseen cells, and what would simple predictors get?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from recombine.auditing.cells import Cells
from recombine.auditing.extrapolation import orders_below
from recombine.auditing.resampling import UNKNOWN, Estimate, Resampler
from recombine.auditing.seen_cells import targets_of_seen

COMPOSES = 0.9
"""A model composes if unseen cells are this far on the way from a constant's error to the error on seen cells,"""
AT_LEAST = 0.75
"""and at least this far with 95 % confidence. It does not if 95 % confidence excludes the former."""
LEARNED = 0.5
"""A model that removes less than this share of a constant's error on seen cells has not learned the task."""
NOTHING = 0.1
"""One that removes no more than this has learned nothing, so it does not compose either."""
MOST_BASED = 500
"""Unseen cells on which baselines are measured; more are sampled."""
EXACT = 1e-12
"""A baseline's error below this share of a constant's is rounding."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Mean errors over cells, each cell counting once.

    - `measure`: what an error is; `held_out`: whether seen cells are judged by rows that training did not have.
    - `seen`, `unseen`: of the model; `constant_seen`, `constant`: of a constant, on seen cells and on all of them.
    - `baselines`: on unseen cells, of predictors that know the targets of seen cells.
    - `transfer`: (C - unseen) / (C - seen), C being a constant's error over all cells: 1 if unseen cells are
        handled like seen ones, 0 if like a constant would.
    - `skill`: the share of a constant's error that the model removes on seen cells.
    - `unjudged`: why nothing can be said, empty if something can.
    """

    measure: str
    held_out: bool
    cells_seen: int
    cells_unseen: int
    seen: Estimate
    unseen: Estimate
    constant_seen: float
    constant: float
    baselines: Mapping[str, Estimate]
    transfer: Estimate
    skill: Estimate
    unjudged: str = ""

    @property
    def learned(self) -> bool:
        """Whether the model knows the seen cells."""
        return bool(self.skill.value >= LEARNED)

    @property
    def composes(self) -> bool | None:
        """Whether unseen cells are handled like seen ones; `None` if that cannot be told."""
        if self.unjudged:
            return None
        if self.skill.value <= NOTHING or self.transfer.high < COMPOSES:
            return False
        if not self.learned or not np.isfinite(self.transfer.value):
            return None
        return True if self.transfer.value >= COMPOSES and self.transfer.low >= AT_LEAST else None


def score(cells: Cells, measure: str, *, seed: int = 0) -> Scores:
    """Errors with intervals over cells; unseen ones are unknown if no unseen cell has a target."""
    inside, outside = cells.inside, cells.outside
    sampler = Resampler((len(inside), len(outside)), seed=seed)
    constants = (cells.error_of_constant[inside], cells.error_of_constant[outside])
    least = EXACT * float(np.concatenate(constants).mean()) if len(inside) or len(outside) else 0.0
    errors = tuple(np.where(one > least, one, 0.0) for one in (cells.error[inside], cells.error[outside]))
    draws = [sampler.means(group, errors[group]) for group in (0, 1)]

    def mean(group: int) -> Estimate:
        if not len(errors[group]):
            return UNKNOWN
        return _possible(sampler.estimate(float(errors[group].mean()), draws[group], [group]), cells.kind)

    baselines = {}
    if len(inside) and len(outside):
        rng = np.random.default_rng([seed, 89])
        some = (
            outside if len(outside) <= MOST_BASED else np.sort(rng.choice(outside, MOST_BASED, replace=False))
        )
        fewer = sampler if len(some) == len(outside) else Resampler((len(inside), len(some)), seed=seed)
        baselines = {
            name: _possible(fewer.estimate(float(values.mean()), fewer.means(1, values), [1]), cells.kind)
            for name, values in _baselines(cells, some).items()
        }
    skill = transfer = UNKNOWN
    if len(inside):
        skill = sampler.estimate(
            float(_over(constants[0].mean() - errors[0].mean(), constants[0].mean())),
            _over(constants[0].mean() - draws[0], constants[0].mean()),
            [0],
        )
    if len(inside) and len(outside):
        scale = float(np.concatenate(constants).mean())
        transfer = sampler.estimate(
            float(_over(scale - errors[1].mean(), scale - errors[0].mean())),
            _over(scale - draws[1], scale - draws[0]),
            [0, 1],
        )
    return Scores(
        measure,
        cells.held_out,
        len(inside),
        len(outside),
        mean(0),
        mean(1),
        float(constants[0].mean()) if len(inside) else np.nan,
        float(np.concatenate(constants).mean()) if len(inside) or len(outside) else np.nan,
        baselines,
        transfer,
        skill,
        _unjudged(cells),
    )


def _unjudged(cells: Cells) -> str:
    if not cells.known.any():
        return "there are no targets"
    if not len(cells.inside):
        return "no seen cell has a target"
    if not (~cells.seen & cells.familiar).any():
        return "every unseen cell has a level that training never shows, so that this split does not test composition"
    if not len(cells.outside):
        return "no unseen cell has a target"
    if not cells.error_of_constant[cells.inside].any():
        return "all seen cells have the same target, so that there is nothing to learn from them"
    return ""


def _baselines(
    cells: Cells, outside: Int[np.ndarray, " outside"]
) -> dict[str, Float[np.ndarray, " outside"]]:
    """The error that every baseline has on every unseen cell."""
    seen = targets_of_seen(cells)
    wanted = cells.cells[outside]
    answers = {"nearest_seen_cell": seen.mean_of(seen.neighbours(wanted))}
    for order in orders_below(cells.sizes):
        if seen.can_add(order):
            answers[f"additive_{order}"] = seen.additive(order, wanted)
    found = {"constant": cells.error_of_constant[outside]}
    for name, said in answers.items():
        truth = cells.targets[outside]
        if cells.kind == "classification":
            found[name] = np.maximum(1 - (truth * said).sum(axis=1).round(12), 0.0)
        else:
            off = ((truth - said) ** 2).mean(axis=1) + cells.scatter[outside]
            found[name] = np.where(off > EXACT * found["constant"].mean(), off, 0.0)
    return found


def _possible(one: Estimate, kind: str) -> Estimate:
    """An interval within what an error can be."""
    most = 1.0 if kind == "classification" else np.inf
    return Estimate(one.value, float(np.clip(one.low, 0.0, most)), float(np.clip(one.high, 0.0, most)))


def _over(a: np.ndarray | float, b: np.ndarray | float) -> np.ndarray:
    """a / b, NaN where b is not positive."""
    top, bottom = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    return np.divide(top, bottom, out=np.full(np.broadcast(top, bottom).shape, np.nan), where=bottom > 1e-300)
