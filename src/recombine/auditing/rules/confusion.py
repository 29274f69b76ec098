"""The same labels are mistaken for others on seen and on unseen cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, final

import numpy as np
from scipy import sparse

from recombine.auditing.outputs import decide
from recombine.auditing.rules.failure import Failure
from recombine.auditing.rules.rule import Rule
from recombine.auditing.rules.rule_test import RuleResult, RuleTest


@final
class Confusion(Rule):
    """Every target label is replaced by the label that the model mostly gives for it on seen cells.

    It is the simplest rule and not a failure to compose: often the classes are in the wrong order.
    """

    name: ClassVar[str] = "confusion"
    rank: ClassVar[float] = 0

    def results(self, test: RuleTest) -> Iterator[RuleResult]:
        """Tests the rule."""
        cells = test.cells
        if cells.kind != "classification":
            return
        known = cells.inside
        # most predictions are one label for the whole cell, so that a sparse product takes far less time
        votes = (sparse.csr_array(cells.predictions[known].T) @ cells.targets[known]).T
        voted = votes.sum(axis=1) > 0
        replacement = np.where(voted[:, None], decide(votes, cells.kind), np.eye(len(votes)))
        yield test.evaluate_predictions(self, replacement[test.targets.argmax(axis=1)])

    def sentence(self, result: RuleResult, failure: Failure, names: Sequence[str]) -> str:
        """How a model that follows the rule predicts."""
        return ""
