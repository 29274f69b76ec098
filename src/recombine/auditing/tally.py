"""Mean activity of every cell in every layer, from chunks of rows, in bounded memory."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse

MOST_UNITS = 2048
"""Units that are kept of a layer; wider layers are sketched, which keeps inner products up to 1/sqrt(this)."""
LEAST_UNITS = 128
MOST_BYTES = 2**30
"""For all layers together."""
MOST_ROWS = 400
"""Rows whose activity is kept as it is."""


class Tally:
    """Sums of activity by cell and layer.

    **Arguments:**

    - `place`: `(rows,)` the number of every row's cell; `cells`: how many there are.
    - `layers`: how many layers will be added, so that all of them fit into memory.

    The activity of some rows is kept besides, so that what varies within cells can be seen, too.

    A layer that is too wide is multiplied by a sparse random matrix with one sign per unit (a count sketch), whose
    inner products have the same expectation.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.tally import Tally
    >>> tally = Tally(np.array([0, 1, 0]), cells=2, layers=1)
    >>> tally.add(slice(0, 2), {"a": np.array([[1.0], [5.0]])})
    >>> tally.add(slice(2, 3), {"a": np.array([[3.0]])})
    >>> tally.means()["a"].tolist()
    [[2.0], [5.0]]

    ```
    """

    def __init__(self, place: Int[np.ndarray, " rows"], cells: int, layers: int, *, seed: int = 0) -> None:
        self._place, self._cells, self._seed = place, cells, seed
        fitting = MOST_BYTES // (4 * max(1, cells) * max(1, layers))
        self._most = int(min(MOST_UNITS, max(LEAST_UNITS, fitting)))
        self._sums: dict[str, Float[np.ndarray, "cells units"]] = {}
        self._counts: dict[str, Int[np.ndarray, " cells"]] = {}
        self._sketches: dict[str, sparse.csr_array] = {}
        self.sketched: dict[str, int] = {}
        self.rows = spread_rows(place, MOST_ROWS, seed)
        self._kept: dict[str, Float[np.ndarray, "sample units"]] = {}

    def add(self, rows: slice, activities: dict[str, np.ndarray]) -> None:
        """Takes in the activity of some rows."""
        found, place = np.unique(self._place[rows], return_inverse=True)
        gather = sparse.csr_array(
            (np.ones(len(place), dtype=np.float32), (place, np.arange(len(place)))),
            shape=(len(found), len(place)),
        )
        for name, activity in activities.items():
            flat = np.asarray(activity, dtype=np.float32).reshape(len(place), -1)
            if name not in self._sums:
                width = min(flat.shape[1], self._most)
                self._sums[name] = np.zeros((self._cells, width), dtype=np.float32)
                self._counts[name] = np.zeros(self._cells, dtype=np.int64)
                if flat.shape[1] > width:
                    self._sketches[name] = _sketch(flat.shape[1], width, [self._seed, *name.encode()])
                    self.sketched[name] = flat.shape[1]
                self._kept[name] = np.zeros((len(self.rows), width), dtype=np.float32)
            sums = gather @ flat
            if name in self._sketches:
                sums = sums @ self._sketches[name]
            self._sums[name][found] += sums
            self._counts[name][found] += np.bincount(place, minlength=len(found))
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


def spread_rows(place: Int[np.ndarray, " rows"], most: int, seed: int) -> Int[np.ndarray, " sample"]:
    """Rows from as many cells as possible: a first one of every cell, then a second one, up to `most`."""
    rng = np.random.default_rng([seed, 83])
    order = rng.permutation(len(place))
    by_cell = order[np.argsort(place[order], kind="stable")]
    starts = np.flatnonzero(np.diff(place[by_cell], prepend=-1))
    turn = np.arange(len(place)) - np.repeat(starts, np.diff(np.append(starts, len(place))))
    shuffled = rng.permutation(len(place))
    return np.sort(by_cell[shuffled[np.argsort(turn[shuffled], kind="stable")][:most]])


def _sketch(units: int, width: int, seed: list[int]) -> sparse.csr_array:
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], size=units).astype(np.float32)
    return sparse.csr_array(
        (signs, (np.arange(units), rng.integers(width, size=units))), shape=(units, width)
    )
