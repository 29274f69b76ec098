"""Testing a rule: how much of a failure it explains, with what certainty, and whether chance would do as well.

With predictions P, targets T and the rule's predictions H on the unseen cells, the **share** of the failure that a rule
explains is

    R = 1 - sum |P - H|² / sum |P - T|²,

1 if the rule predicts every wrong prediction, 0 if it is no closer to the predictions than the targets are. A rule that
is right explains nothing (R = 0), so additive predictions for an additive task are not a failure. Faint images are
close to any other faint image; so for images the denominator is the distance to the target or to a blank, whichever is
less.

The p-value is that of a permutation test: if errors were noise, they could as well have occurred in other cells. For
quantities, the errors P - T change places and signs; for labels, as many wrong labels are put into other cells. In a
second kind of permutation the predictions themselves change places. The p-value is the share of permutations, the
observed one included, whose R is at least as large; of several kinds of permutation, the largest. A rule that may
choose, among factors or among ways to measure distance, chooses anew in every permutation: what counts is the largest R
of all its choices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.auditing.cells import Cells, means_by_cell, squared_distances, squared_lengths
from recombine.auditing.rules.rule import Rule
from recombine.auditing.seen_cells import SeenCells, seen_predictions
from recombine.auditing.thresholds import (
    ADDITIVE_TASK,
    IGNORES,
    MIN_IMAGE_OUTPUTS,
    MOSTLY_WRONG_LABELS,
    PERMUTATIONS,
)
from recombine.intervals import Estimate, Resampler
from recombine.theory import subsets
from recombine.theory.conjunctions import Subset, codes_of

MAX_SHORTCUT_FACTORS = 3
"""Shortcuts by more factors are not looked for: there are too many of them."""
MAX_SHORTCUTS = 300
"""Sets of factors that are tested as shortcuts, each in a permutation test: triples of 12 factors, pairs of 24."""
MAX_DRAWN_TIMES = 2**23
"""Random numbers that are drawn together for permuted labels: 64 MB."""


@dataclass(frozen=True, eq=False)
class RuleResult:
    """One rule, and how much of the failure it explains.

    **Attributes:**

    - `factors`: those that a shortcut uses; `order`: of a sum of effects.
    - `share`: R, corrected for chance where a rule may choose among several cells.
    - `p_value`: of the permutation test.
    - `residual`: by cell, the squared distance (twice the share of other labels) between predictions and rule.
    - `likelihood`: for labels, the logarithm of the probability that the rule gives the predictions; NaN otherwise.
    - `reached`, `permuted`: R itself, and in every permutation of each kind.
    """

    rule: Rule
    share: Estimate
    p_value: float
    residual: Float[np.ndarray, " cells"]
    factors: Subset = ()
    order: int = 0
    likelihood: float = np.nan
    reached: float = np.nan
    permuted: tuple[Float[np.ndarray, " permutations"], ...] = ()

    @property
    def finding(self) -> str:
        """The id of the finding that the rule supports; empty if it supports none."""
        return self.rule.finding


@dataclass(frozen=True, eq=False)
class Permutations:
    """Permutations of the unseen cells, on which a rule that explains something does worse.

    **Attributes:**

    - `order`: whose prediction (or error) every cell gets; `signs`: for quantities, the sign of that error.
    - `labels`: for classes, the targets with as many wrong labels in other cells; `None` if hardly any prediction is
        right, because then there would be nothing to choose.
    """

    order: Int[np.ndarray, "permutations cells"]
    signs: Int[np.ndarray, "permutations cells"]
    labels: Int[np.ndarray, "permutations cells"] | None


def draw_permutations(
    kind: str,
    targets: np.ndarray,
    predictions: np.ndarray,
    rng: np.random.Generator,
    count: int = PERMUTATIONS,
) -> Permutations:
    """Draws the permutations that all rules are tested with."""
    n = len(targets)
    order = np.stack([rng.permutation(n) for _ in range(count)])
    signs = rng.choice([-1, 1], size=order.shape)
    if kind == "regression":
        return Permutations(order, signs, None)
    right, predicted = targets.argmax(axis=1), predictions.argmax(axis=1)
    wrong = predicted != right
    if wrong.mean() > MOSTLY_WRONG_LABELS:
        return Permutations(order, signs, None)
    among = np.unique(predicted)
    weights = np.bincount(predicted[wrong], minlength=targets.shape[1])[among] + 1e-9
    # The smallest of exponential times with given rates belongs to each rate with a probability in proportion to it.
    drawn, step = np.empty_like(order), max(1, MAX_DRAWN_TIMES // (n * len(among)))
    is_right = among == right[:, None]
    cell, place = np.nonzero(is_right)
    for start in range(0, len(order), step):
        block = drawn[start : start + step]
        times = rng.exponential(size=(*block.shape, len(among)))
        times /= weights
        times[:, cell, place] = np.inf
        block[:] = np.where(is_right.all(axis=1), right, among[times.argmin(axis=2)])
    return Permutations(order, signs, np.where(order < max(1, int(wrong.sum())), drawn, right))


@dataclass(frozen=True, eq=False)
class RuleTest:
    """What all rules are tested on: some unseen cells with their targets and predictions.

    **Attributes:**

    - `cell_index`: which of the cells they are.
    - `error`: squared distance between predictions and targets; `reference_error`: the denominator of R.
    """

    cells: Cells
    cell_index: Int[np.ndarray, " cells"]
    targets: Float[np.ndarray, "cells outputs"]
    predictions: Float[np.ndarray, "cells outputs"]
    error: Float[np.ndarray, " cells"]
    reference_error: Float[np.ndarray, " cells"]
    permutations: Permutations
    sampler: Resampler

    @property
    def unseen(self) -> Int[np.ndarray, "cells factors"]:
        """Level indices of the tested cells."""
        return self.cells.cells[self.cell_index]

    @cached_property
    def seen(self) -> SeenCells:
        """The model's predictions for seen cells."""
        return seen_predictions(self.cells)

    @property
    def images(self) -> bool:
        """Whether outputs are large enough to recognise sums of them."""
        return is_image(self.cells)

    @cached_property
    def shortcuts(self) -> tuple[Subset, ...]:
        """Sets of factors that are not enough to solve the task, so that using only them is a shortcut."""
        return tuple(subset for subset, scatter in self._targets_by_levels.items() if not scatter.suffices)

    @cached_property
    def ignoring_shortcuts(self) -> tuple[Subset, ...]:
        """Shortcuts for which predictions depend on the other factors clearly less than the targets do.

        Models that reverse, shift or shuffle right predictions also have predictions that mostly go with the most
        important factor, but they do not ignore the others. Targets of seen cells count, too, because a split may leave
        unseen only cells in which the factor goes with one target.
        """
        of_predictions = _scatters(self.predictions, self.unseen, self.cells.sizes, self.shortcuts)
        return tuple(
            subset
            for subset, scatter in of_predictions.items()
            if not scatter.left > IGNORES * self._targets_by_levels[subset].left + 1e-9
        )

    @cached_property
    def _targets_by_levels(self) -> dict[Subset, _Scatter]:
        """For every set of factors that a shortcut may use, how targets scatter about the means of its levels."""
        cells, factors = self.cells, len(self.cells.sizes)
        known = np.flatnonzero(cells.known & cells.familiar)
        every = subsets(factors, max_shortcut_factors(factors), min_order=1)
        targets = cells.targets[known].astype(np.float64, copy=False)
        return _scatters(targets, cells.cells[known], cells.sizes, every)

    @cached_property
    def neighbours(self) -> dict[int, Bool[np.ndarray, "cells seen"]]:
        """The nearest seen cells by three distances, see `SeenCells.nearest`."""
        return {by: self.seen.nearest(self.unseen, by=by) for by in (0, 1, 2)}

    @cached_property
    def _places(self) -> tuple[Int[np.ndarray, "permutations cells"], Int[np.ndarray, "permutations cells"]]:
        """Where the entries for every permutation are in a flat matrix of pairs of cells, and in two of them.

        The second one is for errors: the first matrix is for their own sign, the second for the other.
        """
        n = len(self.cell_index)
        swaps = np.arange(n) * n + self.permutations.order
        return swaps, np.where(self.permutations.signs > 0, swaps, swaps + n * n)

    @cached_property
    def _label_places(self) -> list[Int[np.ndarray, "permutations cells"]]:
        """Where the labels of every permutation are in a flat matrix of cells and labels.

        For the predictions of other cells, then for the targets with wrong labels in other cells, if these are drawn.
        """
        first = np.arange(len(self.cell_index)) * self.predictions.shape[1]
        swapped = first + self.predictions.argmax(axis=1)[self.permutations.order]
        labels = self.permutations.labels
        return [swapped] if labels is None else [swapped, first + labels]

    def evaluate(
        self,
        rule: Rule,
        residual: Float[np.ndarray, " cells"],
        permuted: Sequence[Float[np.ndarray, " permutations"]],
        *,
        error: Float[np.ndarray, " cells"] | None = None,
        corrected: bool = False,
        factors: Subset = (),
        order: int = 0,
    ) -> RuleResult:
        """The result of a rule, from what it leaves unexplained.

        **Arguments:**

        - `residual`: of every cell; `permuted`: in all cells together, for every permutation. There may be several
            kinds of permutation; the rule has to do better than each.
        - `error`: the denominator of R; default `reference_error`.
        - `corrected`: for chance, because the rule may choose among several predictions.
        """
        error = self.reference_error if error is None else error
        sampler = self.sampler if len(residual) == self.sampler.groups[0] else Resampler((len(residual),))
        total = max(float(error.sum()), 1e-300)
        value = 1 - float(residual.sum()) / total if error.sum() > 0 else 0.0
        others = [1 - null / total for null in permuted]
        means = sampler.means(0, np.stack([residual, error], axis=1))
        some = means[:, 1] > 1e-12 * error.max()  # a resample without errors says nothing
        draws = 1 - np.divide(means[:, 0], means[:, 1], out=np.full(len(means), np.nan), where=some)
        p_value, reached = max(permutation_p_value(value, other) for other in others), value
        if corrected:
            luck = float(np.clip(np.mean(others[0]), 0, 1))
            value, draws = _corrected(value, luck), _corrected(draws, luck)
        share = sampler.estimate(float(value), draws, [0])
        return RuleResult(
            rule, share, p_value, residual, factors, order, reached=reached, permuted=tuple(others)
        )

    def evaluate_predictions(
        self,
        rule: Rule,
        predictions: Float[np.ndarray, "cells outputs"],
        factors: Subset = (),
        order: int = 0,
    ) -> RuleResult:
        """The result of a rule that makes one prediction for every cell."""
        if self.cells.kind == "classification":
            return self.evaluate_labels(rule, 2 - 2 * predictions, factors=factors, order=order)
        # |P - H|² for the error of any other cell, with either sign: (T - H) + or - (P' - T')
        off, error = self.targets - predictions, self.predictions - self.targets
        base, across = squared_lengths(off)[:, None] + squared_lengths(error)[None], 2 * off @ error.T
        swapped = squared_lengths(predictions)[:, None] + squared_lengths(self.predictions)[None]
        swapped = swapped - 2 * predictions @ self.predictions.T
        return self.evaluate_pairs(rule, base + across, base - across, swapped, factors=factors, order=order)

    def evaluate_pairs(
        self,
        rule: Rule,
        plus: Float[np.ndarray, "cells cells"],
        minus: Float[np.ndarray, "cells cells"],
        swapped: Float[np.ndarray, "cells cells"],
        **settings: Any,
    ) -> RuleResult:
        """The result of a rule, from its residual in every cell.

        **Arguments:**

        - `plus`, `minus`: if the cell had the error of any other cell, or that error with the other sign.
        - `swapped`: if it had the prediction of any other cell.
        """
        swaps, flips = self._places
        moved = np.stack([plus, minus]).ravel().take(flips)
        permuted = [np.maximum(moved, 0).sum(axis=1), np.maximum(swapped.ravel().take(swaps), 0).sum(axis=1)]
        return self.evaluate(rule, np.maximum(np.diagonal(plus), 0), permuted, **settings)

    def evaluate_labels(
        self,
        rule: Rule,
        costs: Float[np.ndarray, "cells classes"],
        probabilities: Float[np.ndarray, "cells classes"] | None = None,
        **settings: Any,
    ) -> RuleResult:
        """The result of a rule, from its residual in every cell for any of the labels.

        **Arguments:**

        - `probabilities`: of every label by the rule, if it leaves a choice; default: of the labels that cost nothing.
        """
        swapped, *noisy = (costs.ravel().take(places).sum(axis=1) for places in self._label_places)
        residual = (costs * self.predictions).sum(axis=1)
        result = self.evaluate(rule, residual, [*noisy, swapped], **settings)
        # Slips, labels that the rule does not give, are spread over all classes; half a slip is added (Jeffreys).
        slips = (residual.sum() / 2 + 0.5) / (len(residual) + 1)
        chosen = np.maximum(1 - costs / 2, 0.0) if probabilities is None else probabilities
        likely = np.log((1 - slips) * (chosen * self.predictions).sum(axis=1) + slips / costs.shape[1])
        return replace(result, likelihood=float(likely.sum()))


def max_shortcut_factors(factors: int) -> int:
    """The number of factors up to which a shortcut is looked for, given how many factors there are.

    ```python
    >>> from recombine.auditing.rules.rule_test import max_shortcut_factors
    >>> [max_shortcut_factors(factors) for factors in (2, 12, 13)]
    [1, 3, 2]

    ```
    """
    most = min(MAX_SHORTCUT_FACTORS, factors - 1)
    while most > 1 and len(subsets(factors, most, min_order=1)) > MAX_SHORTCUTS:
        most -= 1
    return most


@dataclass(frozen=True, eq=False)
class _Scatter:
    """How values scatter about the means of cells that share the levels of some factors.

    **Attributes:**

    - `count`: how many cells share the levels of each cell, itself included.
    - `to_mean`, `to_all`: its squared distance to their mean, and to the mean of all cells.
    """

    count: Int[np.ndarray, " cells"]
    to_mean: Float[np.ndarray, " cells"]
    to_all: Float[np.ndarray, " cells"]

    @property
    def left(self) -> float:
        """The share of the variance within levels; NaN if no level has several cells."""
        several, n = self.count > 1, len(self.count)
        if not several.any():
            return float("nan")
        grow = self.count / np.maximum(self.count - 1, 1)
        within, spread = (grow * self.to_mean)[several].mean(), self.to_all.mean() * n / max(1, n - 1)
        return float(within / spread) if spread > 0 else float("nan")

    @property
    def suffices(self) -> bool:
        """Whether the values depend on these factors alone, so that using only them is not a shortcut.

        What these factors leave of a cell's value is estimated from the other cells with the same levels: with n cells,
        the distance to the mean of the others is n / (n - 1) times the distance to the mean of all.
        """
        grow = (self.count / np.maximum(self.count - 1, 1)) ** 2
        left = np.where(self.count < 2, self.to_all, grow * self.to_mean)
        return bool(left.sum() <= ADDITIVE_TASK * self.to_all.sum())


def _scatters(
    values: Float[np.ndarray, "cells outputs"],
    cells: Int[np.ndarray, "cells factors"],
    sizes: Sequence[int],
    every: Iterable[Subset],
) -> dict[Subset, _Scatter]:
    """The scatter of some cells' values for several sets of factors."""
    to_all = squared_distances(values, values.mean(axis=0, keepdims=True), np.zeros(len(values), dtype=int))
    scatters = {}
    for subset in every:
        codes = codes_of(cells, subset, sizes)
        _, group, counts = np.unique(codes, return_inverse=True, return_counts=True)
        means = means_by_cell(values, group, len(counts))
        scatters[subset] = _Scatter(counts[group], squared_distances(values, means, group), to_all)
    return scatters


def permutation_p_value(value: float, permuted: Float[np.ndarray, " permutations"]) -> float:
    """The share of permutations that do at least as well, the observed one included.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.rules.rule_test import permutation_p_value
    >>> permutation_p_value(0.9, np.array([0.1, 0.2, 0.95, 0.3]))
    0.4

    ```
    """
    return float((1 + (permuted >= value - 1e-12).sum()) / (1 + len(permuted)))


def best_of(results: Iterable[RuleResult]) -> RuleResult:
    """The result that explains most; of equal ones, the one with the smallest p-value.

    Permutations get the same choice, so the one that is returned has the largest R of all of them in each.
    """
    every = list(results)
    best = max(every, key=lambda one: (round(one.share.value, 9), -one.p_value))
    return replace(best, permuted=_chosen_anew(every))


def jointly(results: Sequence[RuleResult]) -> Iterator[RuleResult]:
    """The results of one rule, with p-values for the best of them: in every permutation the rule chooses anew."""
    if not results or any(not one.permuted for one in results):
        yield from results
        return
    permuted = _chosen_anew(results)
    for one in results:
        yield replace(one, p_value=max(permutation_p_value(one.reached, other) for other in permuted))


def _chosen_anew(results: Sequence[RuleResult]) -> tuple[Float[np.ndarray, " permutations"], ...]:
    return tuple(np.max(kind, axis=0) for kind in zip(*(one.permuted for one in results), strict=True))


def _corrected(value: Any, luck: float) -> Any:
    return (value - luck) / (1 - luck) if luck < 1 - 1e-9 else value * 0.0


def centred(rows: Float[np.ndarray, "rows outputs"]) -> Float[np.ndarray, "rows outputs"]:
    """Rows minus their means: images regardless of the brightness of their background."""
    return rows - rows.mean(axis=1, keepdims=True)


def is_image(cells: Cells) -> bool:
    """Whether outputs are large enough to tell sums of them from something else."""
    return cells.kind == "regression" and cells.predictions.shape[1] >= MIN_IMAGE_OUTPUTS
