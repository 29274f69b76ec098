"""Memory: predictions that are, digit by digit, those of seen cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, final

import numpy as np
from jaxtyping import Bool, Float
from scipy.spatial import cKDTree

from recombine.auditing.cells import squared_lengths
from recombine.auditing.rules.failure import Failure
from recombine.auditing.rules.rule import Rule
from recombine.auditing.rules.rule_test import RuleResult, RuleTest
from recombine.auditing.thresholds import MIN_STORED_VALUES, STORED_CELLS, STORED_VALUE


@final
class StoredValue(Rule):
    """Every prediction agrees with that of some seen cell, wherever it is, to many digits.

    Trees and nearest neighbours repeat stored values exactly, but which ones need not depend on levels in a simple way.
    Among real numbers such a coincidence has no other explanation; a permutation test could not see that. The rule does
    not apply if targets agree with stored values as well, as whole numbers do.
    """

    name: ClassVar[str] = "stored"
    rank: ClassVar[float] = 4.5
    finding: ClassVar[str] = "memorisation_leak"

    def results(self, test: RuleTest) -> Iterator[RuleResult]:
        """Tests the rule."""
        if test.cells.kind != "regression":
            return
        stored = np.unique(test.seen.values, axis=0)
        scale = float(np.sqrt(squared_lengths(stored - stored.mean(axis=0)).mean()))
        if len(stored) < MIN_STORED_VALUES or not scale > 0:
            return
        matched, closest = _matches(test.predictions, stored, STORED_VALUE * scale)
        by_target, _ = _matches(test.targets, stored, STORED_VALUE * scale)
        different = len(np.unique(closest[matched], axis=0))
        enough = matched.mean() >= STORED_CELLS and different >= min(MIN_STORED_VALUES, len(matched)) // 2
        if not enough or by_target.mean() > 1 - STORED_CELLS:
            return
        residual = squared_lengths(test.predictions - closest)
        # as small as a permutation test could make it: there is nothing to permute
        yield test.evaluate(self, residual, [np.full(len(test.permutations.order), test.error.sum())])

    def sentence(self, result: RuleResult, failure: Failure, names: Sequence[str]) -> str:
        """How a model that follows the rule predicts."""
        return "Its predictions for unseen combinations are, digit by digit, values that it stored for seen ones."


def _matches(
    values: Float[np.ndarray, "cells outputs"], stored: Float[np.ndarray, "stored outputs"], tolerance: float
) -> tuple[Bool[np.ndarray, " cells"], Float[np.ndarray, "cells outputs"]]:
    """Which rows agree with a stored one, and the stored row that is closest to each."""
    distance, index = cKDTree(stored).query(values)
    return distance <= tolerance, stored[index]
