"""A memorisation leak: the targets, shrunken towards some value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, final

import numpy as np

from recombine.auditing.cells import slope_of, squared_lengths
from recombine.auditing.rules.failure import Failure
from recombine.auditing.rules.rule import Rule
from recombine.auditing.rules.rule_test import RuleResult, RuleTest, permutation_p_value
from recombine.auditing.thresholds import NO_SLOPE, NOT_SHRUNKEN, REVERSED_SLOPE
from recombine.report import percent


@final
class Slope(Rule):
    """Predictions on unseen cells are a line on the targets with a slope below 1; slope and offset are fitted.

    Kernel theory (Lippl & Stachenfeld 2025) predicts this for models that store whole combinations: what they stored so
    is missing for new ones. The share counts only if the slope is smaller than on seen cells, because noise in the
    targets flattens both, and not if predictions are reversed.
    """

    name: ClassVar[str] = "slope"
    rank: ClassVar[float] = 5
    finding: ClassVar[str] = "memorisation_leak"

    def results(self, test: RuleTest) -> Iterator[RuleResult]:
        """Tests the rule."""
        if test.cells.kind != "regression":
            return
        about = test.targets - test.targets.mean(axis=0)
        error = test.predictions - test.targets
        error = error - error.mean(axis=0)
        spread, size, own = squared_lengths(about), squared_lengths(error), (about * error).sum(axis=1)
        usual = float(np.clip(np.nan_to_num(slope_of(test.cells, test.cells.inside), nan=1.0), 0.0, 1.0))

        def share(
            together: np.ndarray, wide: np.ndarray, left: np.ndarray, reference: np.ndarray
        ) -> np.ndarray:
            # `slope` is that of the errors on the targets: the slope of the predictions minus 1.
            slope = together / np.maximum(wide, 1e-300)
            unexplained, failed = np.asarray(left - slope * together), np.asarray(reference)
            some = failed > 1e-12 * spread.sum()
            value = 1 - np.divide(unexplained, failed, out=np.ones(unexplained.shape), where=some)
            shrunken = (slope < NOT_SHRUNKEN * usual - 1) & (slope > REVERSED_SLOPE - 1)
            return np.where(shrunken, value, 0.0)

        # The denominator is the distance to the targets or to a constant, whichever is less.
        varied = squared_lengths(test.predictions - test.predictions.mean(axis=0))
        reference = test.reference_error if test.reference_error.sum() <= varied.sum() else varied
        sums = [values.sum() for values in (spread, size, reference)]
        value = float(share(own.sum(), *sums))
        index, order = np.arange(len(own)), test.permutations.order
        across = about @ error.T
        crossed = about @ (test.predictions - test.predictions.mean(axis=0)).T
        moved = (across[index, order] * test.permutations.signs).sum(axis=1)
        # with the predictions of other cells, the error and its size are these
        swapped = crossed[index, order].sum(axis=1) - spread.sum()
        swapped_size = varied.sum() + spread.sum() - 2 * crossed[index, order].sum(axis=1)
        permuted = [share(moved, *sums), share(swapped, spread.sum(), swapped_size, reference.sum())]
        p_value = max(permutation_p_value(value, one) for one in permuted)
        means = test.sampler.means(0, np.stack([own, spread, size, reference], axis=1))
        residual = squared_lengths(error - own.sum() / max(spread.sum(), 1e-300) * about)
        yield RuleResult(self, test.sampler.estimate(value, share(*means.T), [0]), p_value, residual)

    def sentence(self, result: RuleResult, failure: Failure, names: Sequence[str]) -> str:
        """How a model that follows the rule predicts."""
        if np.isnan(failure.slope.value):
            return "On unseen combinations it predicts (nearly) the mean of its predictions for seen ones."
        if not failure.slope.value > NO_SLOPE:
            return "On unseen combinations it predicts (nearly) the same everywhere."
        kept = percent(failure.slope.value)
        return f"Its predictions for unseen combinations vary only {kept} as much as they should."
