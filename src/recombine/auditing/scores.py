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
    KNOWS_SEEN,
    LEARNED,
    LEARNED_NOTHING,
    MAX_BASELINE_CELLS,
    MIN_REPLICATES,
    RESAMPLES,
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
    - `skill`: the share of a constant's error that the model removes on seen cells. Both are about errors beyond those
        that noisy labels cause.
    - `excess`: the error on unseen cells beyond what noisy labels cause.
    - `ratio`: unseen over seen error; NaN if seen cells have none.
    - `knows_seen`: whether most of the error on unseen cells, beyond noise, is one that seen cells do not have.
    - `unlearned`: the share of a constant's error that is left on seen cells beyond noise; NaN without repeated rows.
    - `label_noise`: the share of labels that are wrong; NaN if that cannot be told.
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
    excess: Estimate = UNKNOWN
    ratio: Estimate = UNKNOWN
    knows_seen: bool = False
    unlearned: float = np.nan
    unjudged: str = ""
    label_noise: float = 0.0

    @property
    def learned(self) -> bool:
        """Whether the model has learned the seen cells."""
        return bool(self.skill.value >= LEARNED)

    @property
    def learned_nothing(self) -> bool:
        """Whether the model is surely hardly better than a constant on seen cells."""
        return bool(self.skill.value <= LEARNED_NOTHING and not self.skill.high >= LEARNED)

    @property
    def composes(self) -> bool | None:
        """Whether unseen cells are handled like seen ones; `None` if that is unclear."""
        if self.unjudged:
            return None
        if self.learned_nothing or self.transfer.high < COMPOSES:
            return False
        if not self.learned or not np.isfinite(self.transfer.value):
            return None
        surely = self.transfer.value >= COMPOSES and self.transfer.low >= COMPOSES_SURELY
        return True if surely else None


def score(cells: Cells, measure: str, *, seed: int = 0) -> Scores:
    """Errors with intervals over cells; NaN for unseen cells if none of them has a target."""
    inside, outside = cells.inside, cells.outside
    sampler = Resampler((len(inside), len(outside)), RESAMPLES, seed)
    constants = (cells.error_of_constant[inside], cells.error_of_constant[outside])
    rounding = (
        ROUNDING_ERROR * float(np.concatenate(constants).mean()) if len(inside) or len(outside) else 0.0
    )
    errors, excess = (
        tuple(np.where(np.abs(one) > rounding, one, 0.0) for one in (by_cell[inside], by_cell[outside]))
        for by_cell in (cells.error, cells.excess)
    )
    draws = [sampler.means(group, errors[group]) for group in (0, 1)]
    beyond = [sampler.means(group, excess[group]) for group in (0, 1)]
    constant = (cells.excess_of_constant[inside], cells.excess_of_constant[outside])

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
    skill = transfer = ratio = UNKNOWN
    if len(inside):
        skill = sampler.estimate(
            float(_over(constant[0].mean() - excess[0].mean(), constant[0].mean())),
            _over(constant[0].mean() - beyond[0], constant[0].mean()),
            [0],
        )
    if len(inside) and len(outside):
        ratio = sampler.estimate(
            float(_over(errors[1].mean(), errors[0].mean())), _over(draws[1], draws[0]), [0, 1]
        )
        scale = float(np.concatenate(constant).mean())
        transfer = sampler.estimate(
            float(_over(scale - excess[1].mean(), scale - excess[0].mean())),
            _over(scale - beyond[1], scale - beyond[0]),
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
        sampler.estimate(float(excess[1].mean()), beyond[1], [1]) if len(outside) else UNKNOWN,
        ratio,
        _knows_seen(cells),
        _unlearned(cells),
        _unjudged(cells),
        cells.label_noise,
    )


def _knows_seen(cells: Cells) -> bool:
    """Whether errors on unseen cells are larger than those on seen ones, as those of a model that stores cells are."""
    beyond = _beyond_noise(cells)
    seen, unseen = (float(beyond[one].mean()) if len(one) else 0.0 for one in (cells.inside, cells.outside))
    return unseen >= KNOWS_SEEN * max(seen, 0.0)


def _unlearned(cells: Cells) -> float:
    if not len(cells.inside) or np.maximum(cells.rows - 1, 0).sum() < MIN_REPLICATES:
        return float("nan")
    left = float(_beyond_noise(cells)[cells.inside].mean())
    return float(_over(max(left, 0.0), cells.excess_of_constant[cells.inside].mean()))


def _beyond_noise(cells: Cells) -> Float[np.ndarray, " cells"]:
    """Errors of cells beyond what rows of the same cell differ by."""
    return cells.excess if cells.kind == "classification" else cells.error - cells.scatter


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
            wrong = 1 - (targets * predicted).sum(axis=1).round(12)
            if cells.label_noise > 0:  # targets are probabilities of the true labels: back to noisy ones
                beyond = wrong - (1 - (targets**2).sum(axis=1))
                kept = 1 - cells.label_noise * targets.shape[1] / (targets.shape[1] - 1)
                wrong = cells.label_noise + kept * beyond
            errors[name] = np.maximum(wrong, 0.0)
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
