"""Simple models refitted to the seen cells: what they reach on seen cells that were left out, and on unseen ones.

This is what the data allow. A model that does worse on unseen cells than a sum of effects could have known better; if
no simple model predicts cells that it was not fitted to, neither may any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.auditing.cells import Cells
from recombine.auditing.refits.kernel_fit import KernelMachine
from recombine.auditing.refits.product_fit import product_fit
from recombine.auditing.seen_cells import SeenCells, orders_below, seen_targets
from recombine.auditing.thresholds import (
    MAX_BASELINE_CELLS,
    MAX_FITTED_OUTPUTS,
    MAX_LOGIT_CLASSES,
    REFIT_FOLDS,
    ROUNDING_ERROR,
)
from recombine.intervals import Estimate
from recombine.theory import Conjunctions

Predictor = Callable[[SeenCells, np.ndarray], np.ndarray]
"""Predicts any cells from values of seen ones."""


@dataclass(frozen=True, eq=False)
class Refit:
    """One simple model.

    **Attributes:**

    - `name`: `constant`, `level:colour`, `additive_1`, `additive_2`, `product`, `nearest_seen_cell`, `kernel`,
        `logistic`.
    - `held_out`: its error on seen cells that were left out of the fit; `unseen`: on unseen cells, fitted to all seen
        ones.
    - `held_out_errors`, `unseen_errors`: by cell, see `Refits.held_out_cells` and `Refits.unseen_cells`.
    - `predictions`: for the unseen cells.
    """

    name: str
    held_out: Estimate
    unseen: Estimate
    held_out_errors: Float[np.ndarray, " held_out"]
    unseen_errors: Float[np.ndarray, " unseen"]
    predictions: Float[np.ndarray, "unseen outputs"]

    @property
    def title(self) -> str:
        """The model in words."""
        return refit_title(self.name)


@dataclass(frozen=True, eq=False)
class Refits:
    """All simple models.

    **Attributes:**

    - `held_out_cells`, `unseen_cells`: the cells on which they were measured, a sample if there are many.
    - `predictors`: the models by name, to be fitted to other cells.
    """

    models: tuple[Refit, ...] = ()
    held_out_cells: Int[np.ndarray, " held_out"] = field(default_factory=lambda: np.zeros(0, dtype=int))
    unseen_cells: Int[np.ndarray, " unseen"] = field(default_factory=lambda: np.zeros(0, dtype=int))
    predictors: Mapping[str, Predictor] = field(default_factory=dict)

    @cached_property
    def best(self) -> Refit | None:
        """The model with the smallest error on seen cells that were left out; of equal ones the simplest."""
        able = [one for one in self.models if np.isfinite(one.held_out.value)]
        if not able:
            return None
        constant = self.named("constant")
        scale = max(able[0].held_out.value if constant is None else constant.held_out.value, 1e-300)
        return min(able, key=lambda one: round(one.held_out.value / scale, 3))

    def named(self, name: str) -> Refit | None:
        """One model by name."""
        return next((one for one in self.models if one.name == name), None)


def refit_models(cells: Cells, names: Sequence[str], *, seed: int = 0) -> Refits:
    """Fits every simple model to the seen cells, and to the seen cells without some of them.

    **Arguments:**

    - `names`: of the factors.
    """
    inside, outside = cells.inside, cells.outside
    if len(inside) < 2 or not len(outside):
        return Refits()
    if cells.kind == "classification" and not _shares_classes(cells):
        return Refits()
    rng = np.random.default_rng([seed, 89])
    unseen = _some(outside, rng)
    seen = seen_targets(cells)
    folds = _folds(cells, rng)
    order = np.concatenate(folds)
    models = []
    floor = ROUNDING_ERROR * float(cells.error_of_constant[inside].mean())
    predictors = _predictors(cells, seen, names, seed)
    # one fold at a time in memory
    by_fold = [_Fold.of(cells, fold).errors(cells, predictors) for fold in folds]
    for name, predict in predictors.items():
        left_out = np.concatenate([errors[name] for errors in by_fold])
        predictions = predict(seen, cells.cells[unseen])
        errors = cells.error_of(unseen, predictions)
        errors = np.where(errors > floor, errors, 0.0)
        models.append(
            Refit(
                name,
                _mean(cells, order, left_out),
                _mean(cells, unseen, errors),
                left_out,
                errors,
                predictions,
            )
        )
    return Refits(tuple(models), order, unseen, predictors)


def _folds(cells: Cells, rng: np.random.Generator) -> list[Int[np.ndarray, " fold"]]:
    """Parts of the seen cells, a sample if there are many, that are left out in turn.

    Cells that are copies of each other are left out together, unless unseen cells have copies among the seen ones, too.
    """
    inside = cells.inside
    unit = inside if cells.copies_are_seen else cells.unit[inside]
    units, sizes = np.unique(unit, return_counts=True)
    order = rng.permutation(len(units))
    few = max(2, int((np.cumsum(sizes[order]) <= MAX_BASELINE_CELLS).sum()))
    parts = np.array_split(units[order[:few]], min(REFIT_FOLDS, len(units), few))
    return [inside[np.isin(unit, part)] for part in parts]


def _shares_classes(cells: Cells) -> bool:
    """Whether unseen cells have labels that seen cells have; if every combination has its own, none can be known."""
    seen, unseen = (np.unique(cells.targets[one].argmax(axis=1)) for one in (cells.inside, cells.outside))
    return bool(np.isin(unseen, seen).any())


def _some(cells: Int[np.ndarray, " cells"], rng: np.random.Generator) -> Int[np.ndarray, " some"]:
    if len(cells) <= MAX_BASELINE_CELLS:
        return cells
    return np.sort(rng.choice(cells, MAX_BASELINE_CELLS, replace=False))


def _predictors(cells: Cells, seen: SeenCells, names: Sequence[str], seed: int) -> dict[str, Predictor]:
    """All simple models that can be fitted to these cells, simplest first."""
    labels, outputs = cells.kind == "classification", cells.targets.shape[1]
    models: dict[str, Predictor] = {"constant": partial(_constant, cells)}
    models |= {f"level:{name}": partial(_given_level, axis) for axis, name in enumerate(names)}
    orders = [order for order in orders_below(cells.sizes, max_order=2) if seen.can_add(order)]
    models |= {f"additive_{order}": partial(_additive, order) for order in orders}
    if labels and outputs <= MAX_LOGIT_CLASSES:
        models["logistic"] = SeenCells.additive_scores
    if not labels and outputs <= MAX_FITTED_OUTPUTS:
        models["product"] = product_fit
    models["nearest_seen_cell"] = _nearest
    if outputs <= MAX_FITTED_OUTPUTS:
        models["kernel"] = KernelMachine.of(seen, seed)
    return models


def _constant(cells: Cells, known: SeenCells, some: np.ndarray) -> np.ndarray:
    """The best single prediction for the seen cells, by the measure of errors."""
    if cells.kind == "classification":
        return known.constant(some)
    return np.repeat(cells.measured.outputs.measure.constant(known.values)[None], len(some), axis=0)


def _given_level(axis: int, known: SeenCells, some: np.ndarray) -> np.ndarray:
    return known.given_levels((axis,), some, by_rows=False)


def _additive(order: int, known: SeenCells, some: np.ndarray) -> np.ndarray:
    return known.additive(order, some)


def _nearest(known: SeenCells, some: np.ndarray) -> np.ndarray:
    return known.mean_of(known.nearest(some))


@dataclass(frozen=True, eq=False)
class _Fold:
    """Some seen cells, all others, and which of the first have only levels that the others have as well."""

    held_out: Int[np.ndarray, " held_out"]
    known: SeenCells
    familiar: Bool[np.ndarray, " held_out"]

    @staticmethod
    def of(cells: Cells, held_out: Int[np.ndarray, " held_out"]) -> _Fold:
        known = seen_targets(cells, np.setdiff1d(cells.inside, held_out))
        levels = Conjunctions.of(known.cells, cells.sizes, order=1)
        familiar = np.logical_not(levels.missing(cells.cells[held_out]).any(axis=1))
        return _Fold(held_out, known, familiar)

    def errors(
        self, cells: Cells, predictors: Mapping[str, Predictor]
    ) -> dict[str, Float[np.ndarray, " held_out"]]:
        """Errors on the held-out cells of models fitted to the others; NaN where these lack a level."""
        asked = self.held_out[self.familiar]
        errors = {name: np.full(len(self.held_out), np.nan) for name in predictors}
        if len(asked) and len(self.known.cells) > 1:
            for name, predict in predictors.items():
                predictions = predict(self.known, cells.cells[asked])
                errors[name][self.familiar] = cells.error_of(asked, predictions)
        return errors


def _mean(cells: Cells, index: np.ndarray, errors: np.ndarray) -> Estimate:
    """The weighted mean of some cells, with its interval; cells without an error do not count."""
    known = np.isfinite(errors)
    some = index[known]
    return cells.possible(cells.mean_error(errors[known], some))


def refit_title(name: str) -> str:
    """A simple model in words.

    ```python
    >>> from recombine.auditing.refits import refit_title
    >>> refit_title("additive_2"), refit_title("level:colour")
    ('additive (order 2)', 'colour alone')

    ```
    """
    if name.startswith("level:"):
        return f"{name.removeprefix('level:')} alone"
    if name.startswith("additive_"):
        return f"additive (order {name.removeprefix('additive_')})"
    return {"kernel": "kernel machine", "logistic": "additive scores"}.get(name, name.replace("_", " "))
