"""Which rows stand for a cell, and means over them: the same rows as those of which errors are means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.auditing.cells import Cells, means_by_cell
from recombine.auditing.thresholds import RESAMPLES
from recombine.intervals import Estimate, Resampler, mean_over_cells
from recombine.spaces.observations import Observations


@dataclass(frozen=True, eq=False)
class CountedRows:
    """The rows that count, by cell.

    **Attributes:**

    - `cell_index`: the cell of every row; `counted`: rows that count: if errors on seen cells are those of rows that
        training did not use, only these rows of seen cells.
    - `seen`, `unseen`: the seen cells, and the unseen ones all of whose levels are seen, that have such rows.
    - `weights`: how much every cell counts.
    """

    cell_index: Int[np.ndarray, " rows"]
    counted: Bool[np.ndarray, " rows"]
    seen: Int[np.ndarray, " seen"]
    unseen: Int[np.ndarray, " unseen"]
    weights: Float[np.ndarray, " cells"]

    @classmethod
    def of(cls, table: Observations, cells: Cells, known: Bool[np.ndarray, " rows"]) -> Self:
        """The rows of a table that count, of those about which something is known."""
        cell_index = np.unique(table.codes, return_inverse=True)[1]
        fresh = ~table.seen | ~cells.seen[cell_index] if cells.held_out else np.ones_like(table.seen)
        counted = known & fresh
        some = np.bincount(cell_index[counted], minlength=len(cells.cells)) > 0
        return cls(
            cell_index,
            counted,
            np.flatnonzero(cells.seen & some),
            np.flatnonzero(~cells.seen & cells.familiar & some),
            cells.weights,
        )

    def means(self, values: Float[np.ndarray, "rows measures"]) -> Float[np.ndarray, "cells measures"]:
        """Means by cell; NaN for cells without rows that count."""
        n = int(self.cell_index.max()) + 1
        means = means_by_cell(values.astype(np.float64), self.cell_index, n, self.counted)
        return means.round(12)  # three thirds are 1

    def sampler(self, seed: int) -> Resampler:
        """Resamples of the seen cells (group 0) and of the unseen ones (group 1)."""
        return Resampler((len(self.seen), len(self.unseen)), RESAMPLES, seed)

    def mean(self, group: int, by_cell: Float[np.ndarray, " cells ..."]) -> Float[np.ndarray, ...]:
        """The mean over seen (0) or unseen (1) cells."""
        index = (self.seen, self.unseen)[group]
        return np.average(by_cell[index], axis=0, weights=self.weights[index])

    def draws(
        self, sampler: Resampler, group: int, by_cell: Float[np.ndarray, " cells ..."]
    ) -> Float[np.ndarray, "resamples ..."]:
        """Such means over resampled cells."""
        index = (self.seen, self.unseen)[group]
        weights = self.weights[index].reshape(-1, *[1] * (by_cell.ndim - 1))
        total = sampler.means(group, self.weights[index]).reshape(-1, *[1] * (by_cell.ndim - 1))
        return sampler.means(group, by_cell[index] * weights) / np.maximum(total, 1e-300)

    def estimate(self, group: int, by_cell: Float[np.ndarray, " cells"], *, largest: float = 1.0) -> Estimate:
        """The mean over seen (0) or unseen (1) cells with its interval, clipped to the range from 0."""
        index = (self.seen, self.unseen)[group]
        one = mean_over_cells(by_cell[index], self.weights[index])
        low, high = np.clip(one.pair, 0.0, largest)
        return Estimate(one.value, float(low), float(high))
