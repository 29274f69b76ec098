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

MAX_STORED_ROWS = 20_000
"""Training rows up to which single rows are compared."""


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
        closest = _copied(test.predictions, test.targets, stored, STORED_VALUE * scale)
        if closest is not None:
            residual = squared_lengths(test.predictions - closest)
        elif _rows_are_copied(test, STORED_VALUE * scale):
            residual = np.zeros(len(test.predictions))
        else:
            return
        # as small as a permutation test could make it: there is nothing to permute
        yield test.evaluate(self, residual, [np.full(len(test.permutations.order), test.error.sum())])

    def sentence(self, result: RuleResult, failure: Failure, names: Sequence[str]) -> str:
        """How a model that follows the rule predicts."""
        return "Its predictions for unseen combinations are, digit by digit, values that it stored for seen ones."


def _copied(
    predictions: Float[np.ndarray, "cells outputs"],
    targets: Float[np.ndarray, "cells outputs"],
    stored: Float[np.ndarray, "stored outputs"],
    tolerance: float,
) -> Float[np.ndarray, "cells outputs"] | None:
    """The stored values that predictions are, if nearly all are one and targets are not; otherwise `None`."""
    matched, closest = _matches(predictions, stored, tolerance)
    by_target, _ = _matches(targets, stored, tolerance)
    different = len(np.unique(closest[matched], axis=0))
    enough = matched.mean() >= STORED_CELLS and different >= min(MIN_STORED_VALUES, len(matched)) // 2
    return closest if enough and by_target.mean() <= 1 - STORED_CELLS else None


def _rows_are_copied(test: RuleTest, tolerance: float) -> bool:
    """Whether predictions for rows of unseen cells are targets of training rows, where rows of a cell differ."""
    rows, cells = test.cells.measured, test.cells
    tested = np.zeros(len(cells.cells), dtype=bool)
    tested[test.cell_index] = True
    new = np.flatnonzero(tested[rows.cell_index] & rows.outputs.known)
    old = np.flatnonzero(rows.outputs.known & cells.seen[rows.cell_index])
    if len(new) <= len(test.cell_index) or len(old) > MAX_STORED_ROWS:
        return False
    stored = np.unique(rows.outputs.targets[old].astype(np.float64), axis=0)
    predictions, targets = (
        one[new].astype(np.float64) for one in (rows.outputs.predictions, rows.outputs.targets)
    )
    return len(stored) >= MIN_STORED_VALUES and _copied(predictions, targets, stored, tolerance) is not None


def _matches(
    values: Float[np.ndarray, "cells outputs"], stored: Float[np.ndarray, "stored outputs"], tolerance: float
) -> tuple[Bool[np.ndarray, " cells"], Float[np.ndarray, "cells outputs"]]:
    """Which rows agree with a stored one, and the stored row that is closest to each."""
    distance, index = cKDTree(stored).query(values)
    return distance <= tolerance, stored[index]
