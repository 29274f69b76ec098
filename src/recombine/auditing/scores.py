"""Errors of the model on seen and unseen cells, and of simple baselines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from recombine.auditing.cells import Cells
from recombine.auditing.seen_cells import orders_below, seen_targets
from recombine.auditing.thresholds import (
    COMPOSES,
    COMPOSES_SURELY,
    LEARNED,
    LEARNED_NOTHING,
    MAX_BASELINE_CELLS,
    ROUNDING_ERROR,
)
from recombine.intervals import UNKNOWN, Estimate, Resampler


@dataclass(frozen=True, eq=False)
class Scores:
    """Mean errors over cells; every cell counts once.

    **Attributes:**

    - `measure`: what an error is; `held_out`: whether the error on seen cells is that of rows training did not use.
    - `seen`, `unseen`: of the model; `constant_seen`, `constant`: of a constant, on seen cells and on all cells.
    - `baselines`: on unseen cells, of predictors that know the targets of seen cells.
    - `transfer`: (C - unseen) / (C - seen), where C is the error of a constant over all cells: 1 if unseen cells are
        handled like seen ones, 0 if as badly as by a constant.
    - `skill`: the share of a constant's error that the model removes on seen cells.
    - `unjudged`: why the model cannot be judged; empty if it can.
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
        """Whether the model has learned the seen cells."""
        return bool(self.skill.value >= LEARNED)

    @property
    def composes(self) -> bool | None:
        """Whether unseen cells are handled like seen ones; `None` if that is unclear."""
        if self.unjudged:
            return None
        if self.skill.value <= LEARNED_NOTHING or self.transfer.high < COMPOSES:
            return False
        if not self.learned or not np.isfinite(self.transfer.value):
            return None
        surely = self.transfer.value >= COMPOSES and self.transfer.low >= COMPOSES_SURELY
        return True if surely else None


def score(cells: Cells, measure: str, *, seed: int = 0) -> Scores:
    """Errors with intervals over cells; NaN for unseen cells if none of them has a target."""
    inside, outside = cells.inside, cells.outside
    sampler = Resampler((len(inside), len(outside)), seed=seed)
    constants = (cells.error_of_constant[inside], cells.error_of_constant[outside])
    rounding = (
        ROUNDING_ERROR * float(np.concatenate(constants).mean()) if len(inside) or len(outside) else 0.0
    )
    errors = tuple(np.where(one > rounding, one, 0.0) for one in (cells.error[inside], cells.error[outside]))
    draws = [sampler.means(group, errors[group]) for group in (0, 1)]

    def mean(group: int) -> Estimate:
        if not len(errors[group]):
            return UNKNOWN
        return _possible(sampler.estimate(float(errors[group].mean()), draws[group], [group]), cells.kind)

    baselines = {}
    if len(inside) and len(outside):
        rng = np.random.default_rng([seed, 89])
        some = outside
        if len(outside) > MAX_BASELINE_CELLS:
            some = np.sort(rng.choice(outside, MAX_BASELINE_CELLS, replace=False))
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
        return (
            "every unseen cell has a level that training never shows, so this split tests new levels, not new "
            "combinations"
        )
    if not len(cells.outside):
        return "no unseen cell has a target"
    if not cells.error_of_constant[cells.inside].any():
        return "all seen cells have the same target, so there is nothing to learn from them"
    return ""


def _baselines(
    cells: Cells, outside: Int[np.ndarray, " outside"]
) -> dict[str, Float[np.ndarray, " outside"]]:
    """The error of every baseline on every unseen cell."""
    seen = seen_targets(cells)
    unseen = cells.cells[outside]
    predictions = {"nearest_seen_cell": seen.mean_of(seen.nearest(unseen))}
    for order in orders_below(cells.sizes):
        if seen.can_add(order):
            predictions[f"additive_{order}"] = seen.additive(order, unseen)
    errors = {"constant": cells.error_of_constant[outside]}
    targets = cells.targets[outside]
    for name, predicted in predictions.items():
        if cells.kind == "classification":
            errors[name] = np.maximum(1 - (targets * predicted).sum(axis=1).round(12), 0.0)
        else:
            off = ((targets - predicted) ** 2).mean(axis=1) + cells.scatter[outside]
            errors[name] = np.where(off > ROUNDING_ERROR * errors["constant"].mean(), off, 0.0)
    return errors


def _possible(one: Estimate, kind: str) -> Estimate:
    """An interval clipped to the range of errors."""
    largest = 1.0 if kind == "classification" else np.inf
    return Estimate(one.value, float(np.clip(one.low, 0.0, largest)), float(np.clip(one.high, 0.0, largest)))


def _over(a: np.ndarray | float, b: np.ndarray | float) -> np.ndarray:
    """a / b, NaN where b is not positive."""
    top, bottom = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    return np.divide(top, bottom, out=np.full(np.broadcast(top, bottom).shape, np.nan), where=bottom > 1e-300)


def baseline_name(name: str) -> str:
    """A baseline in words.

    ```python
    >>> from recombine.auditing.scores import baseline_name
    >>> baseline_name("additive_2")
    'additive (order 2)'

    ```
    """
    order = name.removeprefix("additive_")
    return name.replace("_", " ") if order == name else f"additive (order {order})"
