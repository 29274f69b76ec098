"""Memory: the prediction for the nearest seen cell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, final

import numpy as np

from recombine.auditing.rules.failure import Failure
from recombine.auditing.rules.rule import Rule
from recombine.auditing.rules.rule_test import RuleResult, RuleTest, best_of


@final
class NearestCell(Rule):
    """The prediction for one particular seen cell among the nearest, or the mean over all of them.

    Three distances are tried: the number of levels that differ, and the city-block and Euclidean distance of level
    numbers. Of equally near cells, the first in C order or the first in the table counts. The mean is tried for the
    first distance, and not for images, whose mean would be a superposition.
    """

    name: ClassVar[str] = "nearest"
    rank: ClassVar[float] = 3
    finding: ClassVar[str] = "memorisation_leak"

    def results(self, test: RuleTest) -> Iterator[RuleResult]:
        """Tests the rule."""
        ranks = (np.arange(len(test.seen.cells)), test.cells.first_row[test.cells.seen])
        results = []
        for by, near in test.neighbours.items():
            results += [test.evaluate_predictions(self, test.seen.first_of(near, rank)) for rank in ranks]
            if by == 0 and not test.images:
                results.append(test.evaluate_predictions(self, test.seen.mean_of(near)))
        yield best_of(results)

    def sentence(self, result: RuleResult, failure: Failure, names: Sequence[str]) -> str:
        """How a model that follows the rule predicts."""
        return MEMORY_SENTENCE


MEMORY_SENTENCE = (
    "For unseen combinations it repeats what it stored for seen ones that share levels with them."
)
