"""How much of a model's predictions its hidden layer, its gates and random gates explain.

Each is a machine of maximum margin trained on the same rows as the model. One that predicts the model's own predictions
on other rows explains them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.intervals import Estimate, rate_interval
from recombine.theory.gated import (
    GatedRows,
    GroupMachine,
    InseparableError,
    kernel_margin,
    min_group_norm_machine,
)

Array = np.ndarray
Source = Literal["hidden layer", "learned gates", "random gates"]
SOURCES: tuple[Source, ...] = get_args(Source)
SOFT = 10.0
"""Cost of slack where labels cannot be separated, in units of the norm that a typical row needs."""
TOLERANCE = 1e-4
"""Relative duality gap of the machines."""
Scores = Callable[[Array], Array]
"""From row numbers to outputs."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """What one machine says about the model.

    - `agreement`: share of compared rows on which it predicts the same class as the model, with Wilson's interval.
    - `by_chance`: the same if both erred independently; without targets, if both predicted classes independently.
    - `error`: share of compared rows that it gets wrong; NaN without targets. `model_error`: the same for the model.
    - `separable`: whether a hard margin was possible.
    - `units`: that the machine uses; `machines`: one per class, or one for two classes.
    """

    source: Source
    agreement: Estimate
    by_chance: float
    error: float
    separable: bool
    units: int

    @property
    def explained(self) -> float:
        """The share of the model's predictions that is explained beyond chance; 1: all of them."""
        return (
            (self.agreement.value - self.by_chance) / (1 - self.by_chance)
            if self.by_chance < 1
            else float("nan")
        )


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows that machines are trained on, and those on which they are compared with the model."""

    train: Int[Array, " train"]
    compare: Int[Array, " compare"]
    classes: Int[Array, " rows"]
    """Numbers of classes; only those of training rows are used for training."""
    predictions: Int[Array, " rows"]
    targets_known: bool


def explain(
    source: Source, scores: Callable[[Array], tuple[Scores, bool, int]], rows: Rows, n_classes: int
) -> Explanation:
    """Trains one machine per class (one for two classes) and compares its predictions with the model's.

    **Arguments:**

    - `scores`: from labels -1 and 1 of the training rows to a function that gives outputs for row numbers, whether a
        hard margin was possible, and how many units are used.
    """
    labels = [1] if n_classes == 2 else range(n_classes)
    outputs, separable, units = [], True, 0
    for label in labels:
        predict, hard, used = scores(np.where(rows.classes[rows.train] == label, 1.0, -1.0))
        outputs.append(predict(rows.compare))
        separable, units = separable and hard, max(units, used)
    together = np.stack(outputs, axis=1)
    predicted = (together[:, 0] > 0).astype(int) if n_classes == 2 else together.argmax(axis=1)
    model = rows.predictions[rows.compare]
    same = int((predicted == model).sum())
    truth = rows.classes[rows.compare] if rows.targets_known else np.zeros(len(model), dtype=int)
    wrong = float(np.mean(predicted != rows.classes[rows.compare])) if rows.targets_known else float("nan")
    chance = _agreement_by_chance(predicted, model, truth, n_classes)
    return Explanation(source, rate_interval(same, len(model)), chance, wrong, separable, units)


def _agreement_by_chance(first: Array, second: Array, truth: Array, n_classes: int) -> float:
    """How often two classifiers agree if, among the rows of each class, they predict independently."""
    agreement = 0.0
    for known in np.unique(truth):
        own = truth == known
        one, other = (np.bincount(p[own], minlength=n_classes) / own.sum() for p in (first, second))
        agreement += float(own.mean() * (one @ other))
    return agreement


def hidden_layer_scores(
    activities: Float[Array, "rows units"], train: Array
) -> Callable[[Array], tuple[Scores, bool, int]]:
    """The readout of maximum margin on the hidden layer as it is."""
    own = activities[train]
    gram = own @ own.T

    def fit(labels: Array) -> tuple[Scores, bool, int]:
        try:
            machine, hard = kernel_margin(gram, labels), True
        except InseparableError:
            cost = SOFT / max(float(np.mean(np.diag(gram))), 1e-300)
            machine, hard = kernel_margin(gram, labels, kind="soft margin", cost=cost), False
        readout = own.T @ machine.signed
        return (lambda index: activities[index] @ readout), hard, int((readout != 0).sum())

    return fit


def gated_scores(
    inputs: Float[Array, "rows inputs"], gates: Bool[Array, "rows units"], train: Array
) -> Callable[[Array], tuple[Scores, bool, int]]:
    """New weights of minimum group norm behind fixed gates."""
    seen = GatedRows.of(inputs[train], gates[train])

    def fit(labels: Array) -> tuple[Scores, bool, int]:
        machine, hard = fit_gates(seen, labels)
        return (
            lambda index: machine.predict(GatedRows.of(inputs[index], gates[index])),
            hard,
            len(machine.active),
        )

    return fit


def fit_gates(rows: GatedRows, labels: Array) -> tuple[GroupMachine, bool]:
    """The machine of minimum group norm, with a soft margin where a hard one is impossible."""
    try:
        return min_group_norm_machine(rows, labels, tolerance=TOLERANCE), True
    except InseparableError:
        cost = SOFT / max(float(np.sqrt(rows.squared_sizes.mean())), 1e-300)
        return min_group_norm_machine(rows, labels, kind="soft margin", cost=cost, tolerance=TOLERANCE), False


def median_gates(
    inputs: Float[Array, "rows inputs"], units: int, train: Array, *, seed: int
) -> Bool[Array, "rows units"]:
    """Gates of random orthogonal directions at the median of the training rows, and one unit that is always on."""
    rng = np.random.default_rng(seed)
    columns = inputs.shape[1]
    blocks = [np.linalg.qr(rng.normal(size=(columns, columns)))[0] for _ in range(-(-units // columns))]
    sides = inputs @ np.concatenate(blocks, axis=1)[:, :units]
    gates = sides >= np.median(sides[train], axis=0)
    return np.concatenate([gates, np.ones((len(inputs), 1), dtype=bool)], axis=1)
