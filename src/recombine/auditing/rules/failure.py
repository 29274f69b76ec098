"""A model's failure on unseen cells: what was tested, and how much each rule explains."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from recombine.auditing.cells import Cells, slope_from, slope_of, slope_parts, squared_lengths
from recombine.auditing.independent_units import one_of_each
from recombine.auditing.rules.rule import Rule
from recombine.auditing.rules.rule_test import (
    RuleResult,
    RuleTest,
    centred,
    draw_permutations,
    is_image,
    jointly,
)
from recombine.auditing.thresholds import (
    CLOSE_P_VALUES,
    EXPLAINS,
    EXPLAINS_ALL_LABELS,
    EXPLAINS_SURELY,
    LIKELIHOOD_RATIO,
    MAX_CELL_PAIRS,
    MAX_P_VALUE,
    MAX_PERMUTATIONS,
    MAX_PERMUTED,
    MAX_TESTED_CELLS,
    MIN_TESTED_CELLS,
    NO_ERROR,
    NOISE_FACTOR,
    PERMUTATIONS,
    RESAMPLES,
    RESIDUAL_RATIO,
    RESIDUAL_SLACK,
)
from recombine.intervals import UNKNOWN, Estimate, Resampler


@dataclass(frozen=True, eq=False)
class Failure:
    """The unseen cells that were tested, their errors, and the result of every rule.

    **Attributes:**

    - `slope`, `slope_seen`: of predictions on targets, over unseen and over seen cells; NaN for labels.
    """

    cells: Int[np.ndarray, " cells"]
    error: Float[np.ndarray, " cells"]
    slope: Estimate
    slope_seen: float
    results: tuple[RuleResult, ...]

    def best(self, finding: str) -> RuleResult | None:
        """Of the rules that support a finding, the result that explains most."""
        results = [one for one in self.results if one.finding == finding and np.isfinite(one.share.value)]
        return max(results, key=lambda one: one.share.value, default=None)


def apply_rules(cells: Cells, rules: Iterable[Rule], *, seed: int = 0) -> Failure:
    """Tests rules on the unseen cells; none if there is no error to explain."""
    rng = np.random.default_rng([seed, 67])
    index = one_of_each(cells.outside, cells.unit)
    max_cells = min(MAX_TESTED_CELLS, max(MIN_TESTED_CELLS, MAX_CELL_PAIRS // max(1, int(cells.seen.sum()))))
    if len(index) > max_cells:
        index = np.sort(rng.choice(index, max_cells, replace=False))
    targets, predictions = (x[index].astype(np.float64) for x in (cells.targets, cells.predictions))
    error = (
        2 - 2 * (predictions * targets).sum(axis=1)
        if cells.kind == "classification"
        else squared_lengths(predictions - targets)
    )
    sampler = Resampler((len(index),), RESAMPLES, seed)
    slope, slope_seen = _slopes(cells, index, sampler)
    scale = float(cells.error_of_constant[index].mean())
    if cells.kind == "regression":  # in squared units, as `error` is, whatever the user's measure
        scale = float(squared_lengths(targets - cells.constant).mean())
    noise = NOISE_FACTOR * float(cells.error_noise[index].sum())
    if len(index) < 2 or error.sum() <= max(noise, NO_ERROR * scale * len(index), 1e-300):
        return Failure(index, error, slope, slope_seen, ())
    reference = np.minimum(error, squared_lengths(centred(predictions))) if is_image(cells) else error
    rules = tuple(rules)

    def tested(count: int) -> tuple[RuleResult, ...]:
        permutations = draw_permutations(cells.kind, targets, predictions, rng, count)
        test = RuleTest(cells, index, targets, predictions, error, reference, permutations, sampler)
        return tuple(result for rule in rules for result in jointly(tuple(rule.results(test))))

    results = tested(PERMUTATIONS)
    if any(map(_too_close, results)):
        affordable = MAX_PERMUTED // (len(index) * len(results))
        results = tested(int(np.clip(affordable, PERMUTATIONS, MAX_PERMUTATIONS)))
    return Failure(index, error, slope, slope_seen, results)


def _too_close(one: RuleResult) -> bool:
    """Whether the luck of the permutations may decide about a rule."""
    lowest, highest = CLOSE_P_VALUES
    return one.share.value >= EXPLAINS / 2 and lowest <= one.p_value <= highest


def _slopes(cells: Cells, index: np.ndarray, sampler: Resampler) -> tuple[Estimate, float]:
    """The slope of predictions on targets over unseen cells, with its interval, and over seen cells."""
    if cells.kind == "classification":
        return UNKNOWN, np.nan
    draws = slope_from(sampler.means(0, slope_parts(cells, index)))
    return sampler.estimate(slope_of(cells, index), draws, [0]), slope_of(cells, cells.inside)


def explains(one: RuleResult) -> bool:
    """Whether a rule explains most of the failure, beyond chance and beyond the choice of cells."""
    return one.p_value <= MAX_P_VALUE and one.share.value >= EXPLAINS and one.share.low >= EXPLAINS_SURELY


def simplest(results: Sequence[RuleResult], *, learned: bool, additive: bool) -> RuleResult | None:
    """The simplest of the rules that explain the failure about equally well; `None` if none explains it.

    **Arguments:**

    - `learned`: whether the model knows the seen cells. If it does and predicts a constant for unseen ones, nothing
        that it stored reaches them, the extreme case of a leak; if it does not, it has learned nothing.
    - `additive`: whether the model's predictions for seen cells are sums of effects, too.
    """
    able = [one for one in results if explains(one)]
    labels = all(np.isfinite(one.likelihood) for one in able)
    # A function of one factor is fitted to the very predictions that it explains, so other rules take precedence,
    # unless it explains all labels, which is not an accident.
    wholly = [one for one in able if labels and one.share.value >= EXPLAINS_ALL_LABELS]
    able = [one for one in able if one.rule.name != "function" or one in wholly] or able
    if not able:
        return None
    if labels:
        highest = max(one.likelihood for one in able)
        close = [one for one in able if one.likelihood >= highest - np.log(LIKELIHOOD_RATIO)]
    else:
        limit = RESIDUAL_RATIO * max(0.0, min(1 - one.share.value for one in able)) + RESIDUAL_SLACK
        close = [one for one in able if 1 - one.share.value <= limit]

    def simplicity(one: RuleResult) -> tuple[float, int, int]:
        other = one.rule.rank_if_additive if additive else None
        return one.rule.rank if other is None else other, one.order, len(one.factors)

    best = min(close, key=simplicity)
    if best.rule.name == "constant" and learned:
        slope = next((one for one in results if one.rule.name == "slope"), None)
        # a slope of 0: what the constant explains is what this slope explains
        return best if slope is None else replace(best, rule=slope.rule)
    return best
