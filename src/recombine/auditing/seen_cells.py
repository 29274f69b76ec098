"""What simple predictors would say about any cell, given values for the seen cells only.

They show what the data allow if they start from the targets of seen cells, and explain a model's predictions if they
start from the model's own predictions for seen cells.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import linalg, sparse

from recombine.auditing.cells import Cells
from recombine.auditing.outputs import decide
from recombine.auditing.thresholds import (
    CELL_PAIR_BLOCK,
    EFFECT_RIDGE,
    LOGIT_COST,
    MAX_EFFECTS,
    MAX_LOGIT_CELLS,
)
from recombine.tasks.task import Kind
from recombine.theory import Conjunctions
from recombine.theory.conjunctions import Subset, codes_of
from recombine.theory.cooccurrence import cooccurrence

MEAN_BLOCK = 2**21
"""Pairs of cells that are averaged at a time, and outputs that are added up, which bounds the memory for them."""
MAX_DENSE = 100_000
"""Cells times effects up to which a dense design is faster than a sparse one."""

if TYPE_CHECKING:
    from sklearn.linear_model import LogisticRegression


@dataclass(frozen=True, eq=False)
class SeenCells:
    """Values for seen cells, from which others are extrapolated.

    **Attributes:**

    - `cells`: level indices; `rows`: the number of training rows of each cell.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.seen_cells import SeenCells
    >>> corner = np.array([[0, 0], [0, 1], [1, 0]])
    >>> seen = SeenCells("regression", (2, 2), corner, np.array([[0.0], [1.0], [10.0]]), np.ones(3, dtype=int))
    >>> seen.additive(1, np.array([[1, 1]])).round(6).tolist()
    [[11.0]]

    ```
    """

    kind: Kind
    sizes: tuple[int, ...]
    cells: Int[np.ndarray, "seen factors"]
    values: Float[np.ndarray, "seen outputs"]
    rows: Int[np.ndarray, " seen"]

    def constant(self, cells: Int[np.ndarray, "cells factors"]) -> Float[np.ndarray, "cells outputs"]:
        """The mean value (the commonest label) for every cell."""
        return np.repeat(self._mean, len(cells), axis=0)

    @cached_property
    def _mean(self) -> Float[np.ndarray, "1 outputs"]:
        mean = self.rows.astype(np.float64) @ self.values / self.rows.sum()
        return decide(mean[None], self.kind)

    def given_levels(
        self, subset: Subset, cells: Int[np.ndarray, "cells factors"], *, by_rows: bool
    ) -> Float[np.ndarray, "cells outputs"]:
        """The mean (commonest) value of the seen cells with the same levels of some factors; else the constant.

        **Arguments:**

        - `by_rows`: whether seen cells count by their training rows, or once each.
        """
        weights = self.rows if by_rows else np.ones(len(self.rows))
        known, group = np.unique(codes_of(self.cells, subset, self.sizes), return_inverse=True)
        shape = (len(known), len(self.values))
        sums = sparse.csr_array((weights, (group, np.arange(len(group)))), shape=shape) @ self.values
        means = decide(sums / np.bincount(group, weights=weights)[:, None], self.kind)
        codes = codes_of(cells, subset, self.sizes)
        index = np.minimum(np.searchsorted(known, codes), len(known) - 1)
        given, unknown = means[index], known[index] != codes
        given[unknown] = self.constant(cells[unknown])
        return given

    def can_add(self, order: int) -> bool:
        """Whether there are few enough effects up to this order to fit them."""
        return Conjunctions.of(self.cells, self.sizes, order=order).starts[-1] <= MAX_EFFECTS

    def additive(
        self, order: int, cells: Int[np.ndarray, "cells factors"], *, by_rows: bool = False
    ) -> Float[np.ndarray, "cells outputs"]:
        """The best sum of effects of up to `order` factors, fitted to seen cells; unseen conjunctions add nothing.

        **Arguments:**

        - `by_rows`: whether seen cells count by their training rows, or once each.
        """
        conjunctions, weights = self._effects(order, by_rows=by_rows)
        sums, step = np.empty((len(cells), weights.shape[1])), max(1, MEAN_BLOCK // weights.shape[1])
        for start in range(0, len(cells), step):
            design = conjunctions.design(cells[start : start + step])
            sums[start : start + step] = decide(design @ weights, self.kind)
        return sums

    def _effects(
        self, order: int, *, by_rows: bool
    ) -> tuple[Conjunctions, Float[np.ndarray, "effects outputs"]]:
        """The fitted effects of all conjunctions; fitted once."""
        if (order, by_rows) not in self._fitted:
            conjunctions = Conjunctions.of(self.cells, self.sizes, order=order)
            design = conjunctions.design(self.cells)
            if by_rows:
                weighted = design.multiply(self.rows[:, None]).tocsr()
                gram = (design.T @ weighted).toarray()
            else:
                weighted, gram = design, cooccurrence(self.cells, conjunctions).astype(np.float64)
            gram[np.diag_indices_from(gram)] += EFFECT_RIDGE * gram.max()
            weights = linalg.cho_solve(linalg.cho_factor(gram, overwrite_a=True), weighted.T @ self.values)
            self._fitted[order, by_rows] = conjunctions, weights
        return self._fitted[order, by_rows]

    @cached_property
    def _fitted(self) -> dict[tuple[int, bool], tuple[Conjunctions, np.ndarray]]:
        return {}

    def additive_scores(self, cells: Int[np.ndarray, "cells factors"]) -> Float[np.ndarray, "cells outputs"]:
        """Labels whose scores are sums of effects of single factors (multinomial logistic regression)."""
        if self._scoring is None:
            return self.constant(cells)
        conjunctions, machine = self._scoring
        return np.eye(self.values.shape[1])[machine.predict(conjunctions.design(cells))]

    @cached_property
    def _scoring(self) -> tuple[Conjunctions, LogisticRegression] | None:
        """The fitted regression; `None` if all labels are the same."""
        from sklearn.linear_model import LogisticRegression

        conjunctions = Conjunctions.of(self.cells, self.sizes, order=1, min_order=1)
        rows = np.arange(len(self.cells))
        if len(rows) > MAX_LOGIT_CELLS:
            rows = np.sort(np.random.default_rng(0).choice(rows, MAX_LOGIT_CELLS, replace=False))
        label = self.values[rows].argmax(axis=1)
        if len(np.unique(label)) < 2:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore"
            )  # nearly separable labels can be predicted before the fit converges
            design = conjunctions.design(self.cells[rows])
            machine = LogisticRegression(C=LOGIT_COST, max_iter=500).fit(
                design.toarray() if np.prod(design.shape) <= MAX_DENSE else design, label
            )
        return conjunctions, machine

    def mean_of(self, near: Bool[np.ndarray, "cells seen"]) -> Float[np.ndarray, "cells outputs"]:
        """For every cell, the mean (commonest) value of some seen cells."""
        means = np.empty((len(near), self.values.shape[1]))
        step = max(1, MEAN_BLOCK // len(self.cells))
        for start in range(0, len(near), step):
            some = near[start : start + step]
            means[start : start + step] = some.astype(np.float64) @ self.values
        return decide(means / near.sum(axis=1, keepdims=True), self.kind)

    def first_of(
        self, near: Bool[np.ndarray, "cells seen"], rank: Int[np.ndarray, " seen"]
    ) -> Float[np.ndarray, "cells outputs"]:
        """For every cell, the value of the seen cell with the lowest rank among some."""
        return decide(self.values[np.where(near, rank, rank.max() + 1).argmin(axis=1)], self.kind)

    def nearest(
        self, cells: Int[np.ndarray, "cells factors"], *, by: int = 0
    ) -> Bool[np.ndarray, "cells seen"]:
        """Which seen cells are nearest to each cell.

        **Arguments:**

        - `by`: 0 for the number of levels that differ; 1 and 2 for the city-block and the Euclidean distance of level
            numbers.
        """
        nearest = np.zeros((len(cells), len(self.cells)), dtype=bool)
        step = max(1, CELL_PAIR_BLOCK // len(self.cells))
        for start in range(0, len(cells), step):
            distance = np.zeros((len(cells[start : start + step]), len(self.cells)), dtype=np.int32)
            for axis in range(cells.shape[1]):
                one, other = (x[:, axis].astype(np.int32) for x in (cells[start : start + step], self.cells))
                off = one[:, None] - other[None]
                distance += (off != 0) if by == 0 else np.abs(off) ** by
            nearest[start : start + step] = distance == distance.min(axis=1, keepdims=True)
        return nearest


_PREDICTIONS: WeakKeyDictionary[Cells, SeenCells] = WeakKeyDictionary()
_TARGETS: WeakKeyDictionary[Cells, SeenCells] = WeakKeyDictionary()
# What was fitted to the seen cells of a table is fitted once, as long as the table is in use.


def seen_predictions(cells: Cells) -> SeenCells:
    """The model's own predictions for seen cells, from which rules explain its predictions for others."""
    if cells not in _PREDICTIONS:
        _PREDICTIONS[cells] = _seen(cells, np.flatnonzero(cells.seen), cells.predictions)
    return _PREDICTIONS[cells]


def seen_targets(cells: Cells, index: Int[np.ndarray, " some"] | None = None) -> SeenCells:
    """The targets of seen cells, or of some of them, to which simple models are fitted."""
    if index is not None:
        return _seen(cells, index, cells.targets)
    if cells not in _TARGETS:
        _TARGETS[cells] = _seen(cells, cells.inside, cells.targets)
    return _TARGETS[cells]


def _seen(cells: Cells, index: np.ndarray, values: np.ndarray) -> SeenCells:
    return SeenCells(
        cells.kind,
        cells.sizes,
        cells.cells[index],
        values[index].astype(np.float64, copy=False),
        np.maximum(cells.training_rows[index], 1),
    )


def orders_below(sizes: Sequence[int], max_order: int = 3) -> range:
    """Orders of interaction below the number of factors: at that number, effects could fit anything."""
    return range(1, min(len(sizes) - 1, max_order) + 1)
