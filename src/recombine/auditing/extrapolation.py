"""What predictors without any notion of the task would answer for a cell, from the answers for seen cells.

They are baselines if they start from the targets of seen cells, and explanations of a model's answers if they start
from the model's own answers for seen cells.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import linalg

from recombine.auditing.answers import Kind
from recombine.theory import Conjunctions
from recombine.theory.conjunctions import Subset, codes_of

MOST_COLUMNS = 1500
"""Seen conjunctions up to which effects are fitted."""
BLOCK = 2**24
"""Pairs of cells that are compared at a time."""
MOST_SCORED, SCORE_COST = 2000, 100.0
"""Seen cells from which sums of scores are fitted, and the cost of what they miss beside the size of effects."""
RIDGE = 1e-10
"""Share of the largest entry that makes normal equations regular; the fit is then that of least norm."""


@dataclass(frozen=True, eq=False)
class FromSeen:
    """Values of seen cells, to be carried over to others.

    - `cells`: `(seen, factors)` level indices; `values`: `(seen, outputs)`; `rows`: how many rows training has of each.
    """

    kind: Kind
    sizes: tuple[int, ...]
    cells: Int[np.ndarray, "seen factors"]
    values: Float[np.ndarray, "seen outputs"]
    rows: Int[np.ndarray, " seen"]

    def constant(self, cells: Int[np.ndarray, "cells factors"]) -> Float[np.ndarray, "cells outputs"]:
        """One answer for all."""
        mean = decide(np.average(self.values, axis=0, weights=self.rows)[None], self.kind)
        return np.repeat(mean, len(cells), axis=0)

    def given(
        self, subset: Subset, cells: Int[np.ndarray, "cells factors"], *, by_rows: bool
    ) -> Float[np.ndarray, "cells outputs"]:
        """The mean (commonest) answer among seen cells with the same levels at some factors; else the constant.

        - `by_rows`: whether seen cells count by their training rows, or each once.
        """
        weights = self.rows if by_rows else np.ones(len(self.rows))
        known, group = np.unique(codes_of(self.cells, subset, self.sizes), return_inverse=True)
        sums = np.zeros((len(known), self.values.shape[1]))
        np.add.at(sums, group, self.values * weights[:, None])
        means = decide(sums / np.bincount(group, weights=weights)[:, None], self.kind)
        wanted = codes_of(cells, subset, self.sizes)
        place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
        return np.where((known[place] == wanted)[:, None], means[place], self.constant(cells))

    def can_add(self, order: int) -> bool:
        """Whether effects up to this order are few enough to be fitted."""
        return Conjunctions.of(self.cells, self.sizes, order=order).starts[-1] <= MOST_COLUMNS

    def additive(
        self, order: int, cells: Int[np.ndarray, "cells factors"], *, by_rows: bool = False
    ) -> Float[np.ndarray, "cells outputs"]:
        """The best sum of effects of up to `order` factors, fitted to seen cells; unseen conjunctions add nothing.

        - `by_rows`: whether seen cells count by their training rows, or each once.
        """
        found = Conjunctions.of(self.cells, self.sizes, order=order)
        design = found.design(self.cells)
        weighted = design.multiply(self.rows[:, None]).tocsr() if by_rows else design
        gram = (design.T @ weighted).toarray()
        gram[np.diag_indices_from(gram)] += RIDGE * gram.max()
        weights = linalg.cho_solve(linalg.cho_factor(gram, overwrite_a=True), weighted.T @ self.values)
        return decide(found.design(cells) @ weights, self.kind)

    def additive_scores(self, cells: Int[np.ndarray, "cells factors"]) -> Float[np.ndarray, "cells outputs"]:
        """For classes: the labels of the best scores that are sums of effects of single factors (multinomial logit)."""
        from sklearn.linear_model import LogisticRegression

        found = Conjunctions.of(self.cells, self.sizes, order=1, least=1)
        rows = np.arange(len(self.cells))
        if len(rows) > MOST_SCORED:
            rows = np.sort(np.random.default_rng(0).choice(rows, MOST_SCORED, replace=False))
        label = self.values[rows].argmax(axis=1)
        if len(np.unique(label)) < 2:
            return self.constant(cells)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # nearly separable labels need not converge to be told apart
            machine = LogisticRegression(C=SCORE_COST, max_iter=500).fit(
                found.design(self.cells[rows]), label
            )
        return np.eye(self.values.shape[1])[machine.predict(found.design(cells))]

    def mean_of(self, near: Bool[np.ndarray, "cells seen"]) -> Float[np.ndarray, "cells outputs"]:
        """The mean (commonest) answer of some seen cells for every cell."""
        return decide(near.astype(np.float64) @ self.values / near.sum(axis=1, keepdims=True), self.kind)

    def first_of(
        self, near: Bool[np.ndarray, "cells seen"], rank: Int[np.ndarray, " seen"]
    ) -> Float[np.ndarray, "cells outputs"]:
        """The answer of that one among some seen cells which has the lowest rank."""
        return decide(self.values[np.where(near, rank, rank.max() + 1).argmin(axis=1)], self.kind)

    def neighbours(
        self, cells: Int[np.ndarray, "cells factors"], *, by: int = 0
    ) -> Bool[np.ndarray, "cells seen"]:
        """Which seen cells are nearest to each cell.

        - `by`: 0 for the number of levels that differ; 1 and 2 for the city-block and the Euclidean distance of level
            numbers.
        """
        found = np.zeros((len(cells), len(self.cells)), dtype=bool)
        step = max(1, BLOCK // len(self.cells))
        for start in range(0, len(cells), step):
            apart = np.zeros((len(cells[start : start + step]), len(self.cells)), dtype=np.int32)
            for axis in range(cells.shape[1]):
                one, other = (x[:, axis].astype(np.int32) for x in (cells[start : start + step], self.cells))
                off = one[:, None] - other[None]
                apart += (off != 0) if by == 0 else np.abs(off) ** by
            found[start : start + step] = apart == apart.min(axis=1, keepdims=True)
        return found


def decide(values: Float[np.ndarray, "cells outputs"], kind: Kind) -> Float[np.ndarray, "cells outputs"]:
    """Votes for classes as the one-hot code of the winner; quantities as they are."""
    if kind == "regression":
        return values
    # of equal votes the first wins, whatever rounding says
    return np.eye(values.shape[1])[(values > values.max(axis=1, keepdims=True) - 1e-9).argmax(axis=1)]


def orders_below(sizes: Sequence[int], most: int = 3) -> range:
    """Orders at which effects say something: below the number of factors."""
    return range(1, min(len(sizes) - 1, most) + 1)
