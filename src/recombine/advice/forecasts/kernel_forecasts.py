"""Forecasts from exact kernel machines on the labelled unseen cells: slopes for quantities, losses for two classes.

A kernel machine is a linear readout of a fixed representation, here one in which similarity depends only on the factors
that two cells share. Cross-entropy leads it to the maximum margin, squared loss to the minimum norm, and both can be
solved exactly (arXiv 2405.16391, sections 3 to 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, isfinite, nan
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from recombine.advice.labels import CellLabels
from recombine.advice.thresholds import (
    DEPTHS,
    FEW_DEPTHS,
    MAX_CELLS_FOR_ALL_DEPTHS,
    MAX_MACHINE_CELLS,
    MAX_SALIENCE_RATIO,
    MIN_EXPLAINED,
    MIN_MARGIN,
    SLOPE_TOLERANCE,
)
from recombine.errors import InputError
from recombine.report import count, fixed, percent, plain_number
from recombine.theory import (
    Machine,
    OverlapKernel,
    max_margin,
    max_margin_by_pivoting,
    min_norm,
    random_network,
)


@dataclass(frozen=True)
class SlopeForecast:
    """How predictions of the minimum-norm interpolant grow with the true values of the labelled unseen cells.

    **Attributes:**

    - `slope`: of predictions on true values, for the chosen saliences; `explained`: the share of the predictions'
        variance that this line explains; `cells`: the number of cells.
    - `depths`, `slopes`: the slopes for random ReLU networks of several depths.
    """

    slope: float
    explained: float
    cells: int
    depths: tuple[int, ...]
    slopes: tuple[float, ...]

    @property
    def band(self) -> tuple[float, float]:
        """The smallest and the largest slope over the depths."""
        return min(self.slopes), max(self.slopes)

    def to_dict(self) -> dict[str, Any]:
        """The forecast as plain values."""
        return {
            "slope": self.slope,
            "explained": self.explained if isfinite(self.explained) else None,
            "cells": self.cells,
            "depths": list(self.depths),
            "slopes": list(self.slopes),
            "band": list(self.band),
        }

    def sentence(self) -> str:
        """The slope, and what it means for the predictions."""
        low, high = (fixed(end, 2) for end in self.band)
        if self.slope < 0:
            meaning = "they go the wrong way"
        elif isfinite(self.explained) and self.explained < MIN_EXPLAINED:
            meaning = "they are hardly related to the true values"
        elif abs(self.slope - 1) < SLOPE_TOLERANCE:
            meaning = "about right"
        else:
            meaning = f"they are too {'close together' if self.slope < 1 else 'far apart'}"
        fit = (
            f", a line that explains {percent(self.explained)} of their variance"
            if isfinite(self.explained)
            else ""
        )
        return (
            f"predictions for {count(self.cells, 'labelled unseen cell')} rise by {fixed(self.slope, 2)} where the "
            f"true values rise by 1 ({low} to {high} for random ReLU networks with {self.depths[0]} to "
            f"{self.depths[-1]} layers){fit}: {meaning}"
        )


def slope_forecast(
    labels: CellLabels, interesting: Bool[np.ndarray, " cells"], kernel: OverlapKernel
) -> SlopeForecast | None:
    """The slope of predictions on true values; `None` for classes, labels that do not differ, and too many cells."""
    true, n_train = labels.values[interesting, 0], int(labels.seen.sum())
    if labels.classes or n_train > MAX_MACHINE_CELLS or len(true) < 2 or not np.ptp(true) > 0:
        return None
    depths = DEPTHS if n_train <= MAX_CELLS_FOR_ALL_DEPTHS else FEW_DEPTHS
    train = labels.cells[labels.seen]

    def line(kernel: OverlapKernel) -> tuple[float, float]:
        machine = min_norm(kernel.gram(train), labels.values[labels.seen, 0], offset=True)
        predictions = machine(kernel.gram(labels.cells[interesting], train))
        centred = true - true.mean()
        slope = float(centred @ predictions / (centred @ centred))
        total = float(((predictions - predictions.mean()) ** 2).sum())
        return slope, slope**2 * float(centred @ centred) / total if total > 1e-18 else nan

    slope, explained = line(kernel)
    slopes = tuple(line(random_network(kernel.factors, depth))[0] for depth in depths)
    return SlopeForecast(slope, explained, len(true), depths, slopes)


@dataclass(frozen=True)
class LossForecast:
    """Accuracy of exact kernel machines on the labelled unseen cells, by loss.

    **Attributes:**

    - `chosen_margin`, `chosen_squared`: for the chosen saliences, with maximum margin (cross-entropy) and with squared
        loss.
    - `depths`, `margin`, `squared`: the same for random ReLU networks of 1 to 10 layers.
    - `ratio`: the salience of single factors over that of pairs; `critical`: the largest ratio at which maximum margin
        gets every label right, if higher orders keep their share. NaN if there is no such ratio within a factor of 64,
        for two factors, and for many cells.

    Accuracies are NaN where the solver did not find the maximum margin.
    """

    chosen_margin: float
    chosen_squared: float
    depths: tuple[int, ...]
    margin: tuple[float, ...]
    squared: tuple[float, ...]
    ratio: float = nan
    critical: float = nan

    @property
    def passing(self) -> tuple[float, float]:
        """The share of the depths at which every label is right: with maximum margin, with squared loss."""
        return _share_perfect(self.margin), _share_perfect(self.squared)

    @property
    def squared_helps(self) -> bool | None:
        """Whether squared loss gets every label right where maximum margin does not; `None` if that does."""
        return None if self.chosen_margin == 1 else self.chosen_squared == 1

    def to_dict(self) -> dict[str, Any]:
        """The forecast as plain values."""
        margin, squared = self.passing
        return {
            "chosen": {
                "margin": plain_number(self.chosen_margin),
                "squared": plain_number(self.chosen_squared),
            },
            "depths": list(self.depths),
            "margin": [plain_number(share) for share in self.margin],
            "squared": list(self.squared),
            "passing": {"margin": margin, "squared": squared},
            "squared_loss_fixes_it": self.squared_helps,
            "salience_ratio": plain_number(self.ratio),
            "critical_salience_ratio": plain_number(self.critical),
        }

    def sentence(self) -> str:
        """Which loss gets the unseen labels right, and whether another loss would help."""
        n_margin, n_squared = (sum(share == 1 for share in shares) for shares in (self.margin, self.squared))
        tried = len(self.depths)
        depths = f"{self.depths[0]} to {self.depths[-1]} layers"
        machines = f"kernel machines (linear readouts of random ReLU networks with {depths})"
        if n_margin == n_squared == tried and self.squared_helps is None:
            return f"all {tried} {machines} get every unseen label right, with cross-entropy and with squared loss"
        text = (
            f"{n_margin} of {tried} {machines} get every unseen label right with maximum margin, where cross-entropy "
            f"leads (accuracy {_range(self.margin)}); {n_squared} of {tried} do with squared loss "
            f"({_range(self.squared)})"
        )
        if isfinite(self.critical):
            text += (
                f"; maximum margin is right if single factors carry at most {fixed(self.critical, 1)} times as much of "
                f"the representation's similarity as pairs (here {fixed(self.ratio, 1)} times)"
            )
        if self.squared_helps is None:
            return text
        if self.squared_helps:
            return f"{text}: squared loss would fix it"
        better = self.chosen_squared > self.chosen_margin
        return f"{text}: squared loss would {'help, but not fix it' if better else 'not fix it'}"


def loss_forecast(
    labels: CellLabels, interesting: Bool[np.ndarray, " cells"], kernel: OverlapKernel
) -> LossForecast | None:
    """Does the choice of the loss matter? `None` unless there are two classes and not too many cells."""
    if not labels.two_classes or not interesting.any() or labels.seen.sum() > MAX_MACHINE_CELLS:
        return None
    train, true = labels.cells[labels.seen], labels.values[:, 0]
    margin, squared = [], []
    for one in (kernel, *(random_network(kernel.factors, depth) for depth in DEPTHS)):
        gram, across = one.gram(train), one.gram(labels.cells[interesting], train)
        machine = margin_machine(gram, true[labels.seen])
        margin.append(nan if machine is None else accuracy(machine(across), true[interesting]))
        predictions = min_norm(gram, true[labels.seen], offset=True)(across)
        squared.append(accuracy(predictions, true[interesting]))
    ratio, critical = critical_ratio(labels, interesting, kernel)
    return LossForecast(margin[0], squared[0], DEPTHS, tuple(margin[1:]), tuple(squared[1:]), ratio, critical)


def critical_ratio(
    labels: CellLabels, interesting: Bool[np.ndarray, " cells"], kernel: OverlapKernel
) -> tuple[float, float]:
    """The kernel's salience of single factors over pairs, and the largest ratio at which maximum margin is right.

    The latter by bisection to 1%, which assumes that a ratio below a good one is good.
    """
    factors, shares = kernel.factors, kernel.order_shares
    if factors < 3 or shares[1] <= 0:
        return nan, nan
    ratio, n_pairs = float(shares[0] / shares[1]), comb(factors, 2)
    total = float(factors * shares[0] + n_pairs * shares[1])  # stays the same for all ratios
    train, true = labels.cells[labels.seen], labels.values[:, 0]
    if labels.seen.sum() > MAX_CELLS_FOR_ALL_DEPTHS:
        return ratio, nan

    def all_right(ratio: float) -> bool:
        pair = total / (factors * ratio + n_pairs)
        changed = OverlapKernel.by_order([0.0, ratio * pair, pair, *shares[2:]])
        machine = margin_machine(changed.gram(train), true[labels.seen])
        if machine is None:
            return False
        return accuracy(machine(changed.gram(labels.cells[interesting], train)), true[interesting]) == 1

    low, high = 1 / MAX_SALIENCE_RATIO, MAX_SALIENCE_RATIO
    if not all_right(low) or all_right(high):
        return ratio, nan
    while high / low > 1.01:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if all_right(middle) else (low, middle)
    return ratio, (low * high) ** 0.5


def accuracy(predictions: Float[np.ndarray, " cells"], true: Float[np.ndarray, " cells"]) -> float:
    """The share of predictions with the sign of the true label, -1 or 1."""
    return float((predictions * true > MIN_MARGIN).mean())


def margin_machine(
    gram: Float[np.ndarray, "train train"], labels: Float[np.ndarray, " train"]
) -> Machine | None:
    """The maximum margin; `None` where no solver finds it.

    Pivoting is exact and needs no further library, but can fail for singular kernels; there scikit-learn's solver is
    run to the precision that signs need.
    """
    machine = max_margin_by_pivoting(gram, labels)
    if machine is not None:
        return machine
    try:
        return max_margin(gram, labels, tolerance=1e-4)
    except InputError:
        return None


def _share_perfect(shares: Sequence[float]) -> float:
    return float(np.mean([share == 1 for share in shares]))


def _range(shares: Sequence[float]) -> str:
    known = [share for share in shares if isfinite(share)] or [0.0]
    low, high = percent(min(known)), percent(max(known))
    return low if low == high else f"{low} to {high}"
