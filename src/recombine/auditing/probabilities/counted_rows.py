"""Which rows stand for a cell, and means over them: the same rows as those of which errors are means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from jaxtyping import Bool, Float, Int

from recombine.auditing.cells import Cells, means_by_cell
from recombine.auditing.thresholds import RESAMPLES
from recombine.intervals import Estimate, Resampler, mean_over_cells, sums_by_unit
from recombine.spaces.observations import Observations


@dataclass(frozen=True, eq=False)
class CountedRows:
    """The rows that count, by cell.

    **Attributes:**

    - `cell_index`: the cell of every row; `counted`: rows that count: if errors on seen cells are those of rows that
        training did not use, only these rows of seen cells.
    - `seen`, `unseen`: the seen cells, and the unseen ones all of whose levels are seen, that have such rows.
    - `weights`: how much every cell counts; `unit`: equal numbers for cells that are copies of each other, see
        `recombine.auditing.independent_units`.
    """

    cell_index: Int[np.ndarray, " rows"]
    counted: Bool[np.ndarray, " rows"]
    seen: Int[np.ndarray, " seen"]
    unseen: Int[np.ndarray, " unseen"]
    weights: Float[np.ndarray, " cells"]
    unit: Int[np.ndarray, " cells"]

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
            cells.unit,
        )

    def means(self, values: Float[np.ndarray, "rows measures"]) -> Float[np.ndarray, "cells measures"]:
        """Means by cell; NaN for cells without rows that count."""
        n = int(self.cell_index.max()) + 1
        means = means_by_cell(values.astype(np.float64), self.cell_index, n, self.counted)
        return means.round(12)  # three thirds are 1

    def sampler(self, seed: int) -> Resampler:
        """Resamples of the units of seen cells (group 0) and of unseen ones (group 1)."""
        seen, unseen = (len(np.unique(self.unit[index])) for index in (self.seen, self.unseen))
        return Resampler((seen, unseen), RESAMPLES, seed)

    def mean(self, group: int, by_cell: Float[np.ndarray, " cells ..."]) -> Float[np.ndarray, ...]:
        """The mean over seen (0) or unseen (1) cells."""
        index = (self.seen, self.unseen)[group]
        return np.average(by_cell[index], axis=0, weights=self.weights[index])

    def draws(
        self, sampler: Resampler, group: int, by_cell: Float[np.ndarray, " cells ..."]
    ) -> Float[np.ndarray, "resamples ..."]:
        """Such means over resampled units."""
        index = (self.seen, self.unseen)[group]
        weights = self.weights[index].reshape(-1, *[1] * (by_cell.ndim - 1))
        sums, total = (sums_by_unit(one, self.unit[index]) for one in (by_cell[index] * weights, weights))
        return sampler.means(group, sums) / np.maximum(sampler.means(group, total), 1e-300)

    def mean_with_interval(self, group: int, by_cell: Float[np.ndarray, " cells"]) -> Estimate:
        """The mean over seen (0) or unseen (1) cells with its interval over units."""
        index = (self.seen, self.unseen)[group]
        return mean_over_cells(by_cell[index], self.weights[index], self.unit[index])

    def draw_of(self, rows: Int[np.ndarray, " some"]) -> Int[np.ndarray, " some"]:
        """Of some rows the numbers of independent draws: equal for the first rows of copied cells, and so on."""
        cell = self.cell_index[rows]
        order = np.argsort(cell, kind="stable")
        place = np.empty(len(rows), dtype=np.int64)
        place[order] = np.arange(len(rows)) - np.searchsorted(cell[order], cell[order])
        code = self.unit[cell].astype(np.int64) * (int(place.max(initial=0)) + 1) + place
        _, first, draw = np.unique(code, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[draw.ravel()]  # in the order of rows

    def estimate(self, group: int, by_cell: Float[np.ndarray, " cells"], *, largest: float = 1.0) -> Estimate:
        """The mean over seen (0) or unseen (1) cells with its interval, clipped to the range from 0."""
        one = self.mean_with_interval(group, by_cell)
        low, high = np.clip(one.pair, 0.0, largest)
        return Estimate(one.value, float(low), float(high))
