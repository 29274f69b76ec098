"""What exact kernel machines would answer on the labelled cells of interest: quantities, and two classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, nan

import numpy as np
from jaxtyping import Bool, Float

from recombine.advice.labels import MOST_MACHINE_CELLS, CellLabels
from recombine.errors import InputError
from recombine.theory import Machine, OverlapKernel, max_margin, min_norm, random_network

DEPTHS = tuple(range(1, 11))
"""Random ReLU networks whose saliences are tried beside those that were asked for."""
FEW_DEPTHS = (1, 3, 10)
MOST_FOR_ALL_DEPTHS = 500
"""Training cells up to which all of `DEPTHS` are tried for quantities; beyond, `FEW_DEPTHS`."""
WIDEST = 64.0
"""Ratios of saliences are tried between this and its inverse."""
RIGHT = 1e-3
"""Answers count as right from this on, where training cells have 1: closer to 0 the solver's rounding decides."""


@dataclass(frozen=True)
class SlopeForecast:
    """How answers grow with the truth over the labelled cells of interest, for minimum-norm interpolation.

    - `slope`: of answers on truth, for the saliences that were asked for; `explained`: the share of the answers'
        variance that a line on the truth explains; `cells`: on how many cells.
    - `depths`, `slopes`: the same for random ReLU networks of some depths.
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


def slope_forecast(
    labels: CellLabels, interesting: Bool[np.ndarray, " cells"], kernel: OverlapKernel
) -> SlopeForecast | None:
    """The slope of answers on truth. `None` unless labels are quantities that differ, and cells are not too many."""
    truth, trained = labels.values[interesting, 0], int(labels.seen.sum())
    if labels.classes or trained > MOST_MACHINE_CELLS or len(truth) < 2 or not np.ptp(truth) > 0:
        return None
    depths = DEPTHS if trained <= MOST_FOR_ALL_DEPTHS else FEW_DEPTHS

    def line(one: OverlapKernel) -> tuple[float, float]:
        answers = _answers(one, labels, interesting)
        spread = truth - truth.mean()
        slope = float(spread @ answers / (spread @ spread))
        total = float(((answers - answers.mean()) ** 2).sum())
        return slope, slope**2 * float(spread @ spread) / total if total > 1e-18 else nan

    slope, explained = line(kernel)
    slopes = tuple(line(random_network(kernel.factors, depth))[0] for depth in depths)
    return SlopeForecast(slope, explained, len(truth), depths, slopes)


def _answers(
    kernel: OverlapKernel, labels: CellLabels, interesting: Bool[np.ndarray, " cells"]
) -> Float[np.ndarray, " interesting"]:
    seen = labels.cells[labels.seen]
    machine = min_norm(kernel.gram(seen), labels.values[labels.seen, 0], offset=True)
    return machine(kernel.gram(labels.cells[interesting], seen))


@dataclass(frozen=True)
class LossForecast:
    """Accuracy on the labelled cells of interest of exact kernel machines, by loss.

    - `chosen_margin`, `chosen_squared`: for the saliences that were asked for, with the largest margin
        (cross-entropy) and with squared loss.
    - `depths`, `margin`, `squared`: the same over random ReLU networks of 1 to 10 layers.
    - `ratio`: how many times as salient single factors are as pairs; `critical`: how many times they may be so that
        the largest margin gets every label right, if higher orders keep their share. NaN where there is no such bound
        within a factor of 64, for two factors, and for many cells.

    Accuracies are NaN where the solver found no largest margin.
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
        """The share of the depths at which every label is right: with the largest margin, with squared loss."""
        return _all_right(self.margin), _all_right(self.squared)

    @property
    def squared_helps(self) -> bool | None:
        """Whether squared loss gets every label right for the saliences that were asked for; `None` if no need."""
        return None if self.chosen_margin == 1 else self.chosen_squared == 1


def _all_right(shares: Sequence[float]) -> float:
    return float(np.mean([share == 1 for share in shares]))


def loss_forecast(
    labels: CellLabels, interesting: Bool[np.ndarray, " cells"], kernel: OverlapKernel
) -> LossForecast | None:
    """Does it matter which loss is used? `None` unless there are two classes and not too many cells."""
    if not has_two_classes(labels) or not interesting.any() or labels.seen.sum() > MOST_MACHINE_CELLS:
        return None
    seen, truth = labels.cells[labels.seen], labels.values[:, 0]
    margin, squared = [], []
    for one in (kernel, *(random_network(kernel.factors, depth) for depth in DEPTHS)):
        gram, across = one.gram(seen), one.gram(labels.cells[interesting], seen)
        machine = margin_machine(gram, truth[labels.seen])
        margin.append(nan if machine is None else share_right(machine(across), truth[interesting]))
        answers = min_norm(gram, truth[labels.seen], offset=True)(across)
        squared.append(share_right(answers, truth[interesting]))
    ratio, critical = critical_ratio(labels, interesting, kernel)
    return LossForecast(margin[0], squared[0], DEPTHS, tuple(margin[1:]), tuple(squared[1:]), ratio, critical)


def critical_ratio(
    labels: CellLabels, interesting: Bool[np.ndarray, " cells"], kernel: OverlapKernel
) -> tuple[float, float]:
    """The saliences' own ratio of single factors to pairs, and the one up to which the largest margin is right.

    Found by bisection to 1 %, so it takes for granted that what is right at a ratio is right at smaller ones.
    """
    factors, shares = kernel.factors, kernel.order_shares
    if factors < 3 or shares[1] <= 0:
        return nan, nan
    own, pairs = float(shares[0] / shares[1]), comb(factors, 2)
    lower = float(factors * shares[0] + pairs * shares[1])
    seen, truth = labels.cells[labels.seen], labels.values[:, 0]
    if labels.seen.sum() > MOST_FOR_ALL_DEPTHS:
        return own, nan

    def right(ratio: float) -> bool:
        pair = lower / (factors * ratio + pairs)
        one = OverlapKernel.by_order([0.0, ratio * pair, pair, *shares[2:]])
        machine = margin_machine(one.gram(seen), truth[labels.seen])
        answers = None if machine is None else machine(one.gram(labels.cells[interesting], seen))
        return answers is not None and share_right(answers, truth[interesting]) == 1

    low, high = 1 / WIDEST, WIDEST
    if not right(low) or right(high):
        return own, nan
    while high / low > 1.01:
        middle = (low * high) ** 0.5
        low, high = (middle, high) if right(middle) else (low, middle)
    return own, (low * high) ** 0.5


def has_two_classes(labels: CellLabels) -> bool:
    """Whether there are two classes, both of them in training."""
    return len(labels.classes) == 2 and len(set(labels.label[labels.seen].tolist())) == 2


def share_right(answers: Float[np.ndarray, " cells"], truth: Float[np.ndarray, " cells"]) -> float:
    """The share of answers with the sign of the truth, -1 or 1."""
    return float((answers * truth > RIGHT).mean())


def margin_machine(
    gram: Float[np.ndarray, "train train"], labels: Float[np.ndarray, " train"]
) -> Machine | None:
    """The largest margin, to the precision that signs need; `None` where the solver does not find it."""
    try:
        return max_margin(gram, labels, tolerance=1e-4)
    except InputError:
        return None
