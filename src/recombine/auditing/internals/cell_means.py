"""The mean activity of every cell in every layer, accumulated from chunks of rows in bounded memory."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse

from recombine.auditing.thresholds import (
    MAX_ACTIVITY_BYTES,
    MAX_KEPT_UNITS,
    MAX_SAMPLED_ROWS,
    MIN_KEPT_UNITS,
)


class CellMeans:
    """The mean activity by cell and layer.

    **Arguments:**

    - `cell_index`: the cell of every row; `cells`: the number of cells.
    - `layers`: how many layers will be added, so that all of them fit into memory.

    The activity of some single rows is kept as well, because it shows what varies within cells.

    A layer that is too wide is multiplied by a sparse random matrix with one sign per unit (a count sketch), which
    keeps the expectation of inner products.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.internals.cell_means import CellMeans
    >>> activity = CellMeans(np.array([0, 1, 0]), cells=2, layers=1)
    >>> activity.add(slice(0, 2), {"a": np.array([[1.0], [5.0]])})
    >>> activity.add(slice(2, 3), {"a": np.array([[3.0]])})
    >>> activity.means()["a"].tolist()
    [[2.0], [5.0]]

    ```
    """

    def __init__(
        self, cell_index: Int[np.ndarray, " rows"], cells: int, layers: int, *, seed: int = 0
    ) -> None:
        self._cell_index, self._cells, self._seed = cell_index, cells, seed
        fitting = MAX_ACTIVITY_BYTES // (4 * max(1, cells) * max(1, layers))
        self._max_units = int(min(MAX_KEPT_UNITS, max(MIN_KEPT_UNITS, fitting)))
        self._sums: dict[str, Float[np.ndarray, "cells units"]] = {}
        self._counts: dict[str, Int[np.ndarray, " cells"]] = {}
        self._sketches: dict[str, sparse.csr_array] = {}
        self.sketched: dict[str, int] = {}
        self.rows = spread_rows(cell_index, MAX_SAMPLED_ROWS, seed)
        self._kept: dict[str, Float[np.ndarray, "sample units"]] = {}

    def add(self, rows: slice, activities: dict[str, np.ndarray]) -> None:
        """Adds the activity of some rows."""
        cells, group = np.unique(self._cell_index[rows], return_inverse=True)
        gather = sparse.csr_array(
            (np.ones(len(group), dtype=np.float32), (group, np.arange(len(group)))),
            shape=(len(cells), len(group)),
        )
        for name, activity in activities.items():
            flat = np.asarray(activity, dtype=np.float32).reshape(len(group), -1)
            if name not in self._sums:
                width = min(flat.shape[1], self._max_units)
                self._sums[name] = np.zeros((self._cells, width), dtype=np.float32)
                self._counts[name] = np.zeros(self._cells, dtype=np.int64)
                if flat.shape[1] > width:
                    self._sketches[name] = _sketch(flat.shape[1], width, [self._seed, *name.encode()])
                    self.sketched[name] = flat.shape[1]
                self._kept[name] = np.zeros((len(self.rows), width), dtype=np.float32)
            sums = gather @ flat
            if name in self._sketches:
                sums = sums @ self._sketches[name]
            self._sums[name][cells] += sums
            self._counts[name][cells] += np.bincount(group, minlength=len(cells))
            chosen = np.flatnonzero((self.rows >= rows.start) & (self.rows < rows.stop))
            if len(chosen):
                sample = flat[self.rows[chosen] - rows.start]
                self._kept[name][chosen] = sample @ self._sketches[name] if name in self._sketches else sample

    def means(self) -> dict[str, Float[np.ndarray, "cells units"]]:
        """The mean activity of every cell, by layer; zero for cells without rows."""
        return {
            name: sums / np.maximum(self._counts[name], 1)[:, None].astype(np.float32)
            for name, sums in self._sums.items()
        }

    def samples(self) -> dict[str, Float[np.ndarray, "sample units"]]:
        """The activity of the rows in `rows`, by layer."""
        return dict(self._kept)


def spread_rows(cell_index: Int[np.ndarray, " rows"], max_rows: int, seed: int) -> Int[np.ndarray, " sample"]:
    """Up to `max_rows` rows from as many cells as possible: one of every cell, then a second one, and so on."""
    rng = np.random.default_rng([seed, 83])
    rows = len(cell_index)
    order = rng.permutation(rows)
    by_cell = order[np.argsort(cell_index[order], kind="stable")]
    starts = np.flatnonzero(np.diff(cell_index[by_cell], prepend=-1))
    turn = np.arange(rows) - np.repeat(starts, np.diff(np.append(starts, rows)))
    shuffled = rng.permutation(rows)
    return np.sort(by_cell[shuffled[np.argsort(turn[shuffled], kind="stable")][:max_rows]])


def _sketch(units: int, width: int, seed: list[int]) -> sparse.csr_array:
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], size=units).astype(np.float32)
    return sparse.csr_array(
        (signs, (np.arange(units), rng.integers(width, size=units))), shape=(units, width)
    )
