"""Splits: which cells are seen in training and which are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from recombine.data.argument_types import check_flag
from recombine.data.arrays import as_array
from recombine.errors import InputError
from recombine.spaces.factors import Space

MAX_VOLUME = 10**8
"""Level indices of all cells that a split holds; they take 0.8 GB."""


@dataclass(frozen=True, init=False, eq=False)
class Split:
    """Which cells of a space are seen in training.

    A split is refused if nothing is seen, or if some level of some factor is never seen: its cells would not
    be new combinations of familiar levels. `allow_unseen_levels=True` lifts the second condition.

    ```python
    >>> from recombine.spaces import Space, Split, centre_hole
    >>> space = Space({"x": 28, "y": 28})
    >>> Split(space, ~centre_hole(space, low=6, high=22))
    Split(x 28 × y 28: 495 seen, 289 unseen)

    ```
    """

    space: Space
    seen: Bool[np.ndarray, " cells"]

    def __init__(
        self, space: Space, seen: np.ndarray | Sequence[int], *, allow_unseen_levels: bool = False
    ) -> None:
        """**Arguments:**

        - `seen`: a boolean mask over cells, shape `(cells,)` or the space's own shape, or a list of cell
            numbers.
        - `allow_unseen_levels`: accept levels that occur in no seen cell.
        """
        check_flag("allow_unseen_levels", allow_unseen_levels)
        if not isinstance(space, Space):
            raise InputError("space", type(space).__name__, "a recombine.Space")
        _check_volume(space)
        object.__setattr__(self, "space", space)
        object.__setattr__(self, "seen", _as_mask(space, seen))
        if not self.seen.any():
            raise InputError("seen", "no cell", "at least one seen cell; the hole covers the whole space")
        if not allow_unseen_levels:
            for axis, factor in enumerate(space.factors):
                missing = np.setdiff1d(np.arange(factor.size), space.cells[self.seen, axis])
                if missing.size:
                    raise InputError(
                        "hole",
                        f"every cell with {factor.name} = {factor.levels[missing[0]]}",
                        "a hole that leaves at least one cell of every level seen, so that unseen cells are "
                        "new combinations of seen levels (or allow_unseen_levels=True)",
                    )

    @property
    def unseen(self) -> Bool[np.ndarray, " cells"]:
        """The complement of `seen`."""
        return ~self.seen

    def __repr__(self) -> str:
        sizes = " × ".join(f"{f.name} {f.size}" for f in self.space.factors)
        return f"Split({sizes}: {self.seen.sum()} seen, {self.unseen.sum()} unseen)"

    @staticmethod
    def from_table(
        table: Any, *, factors: Any, seen: Any, allow_unseen_levels: bool = False
    ) -> tuple[Split, Int[np.ndarray, " rows"]]:
        """A split from any table, whose rows may repeat cells or leave cells out.

        **Arguments:**

        - `table`: a file, a data frame or a mapping of columns (see `recombine.data.read_table`); or `None`, with
            `factors` as a mapping of names to columns.
        - `factors`: the columns that are factors; their sorted different values become the levels.
        - `seen`: the training rows: `"split=train"`, a column of true and false, or an array of true and false. A cell
            is seen if any of its rows is.

        **Returns:**

        The split, and the cell number of every row. Cells without rows count as unseen.

        ```python
        >>> from recombine.spaces import Split
        >>> table = {"colour": ["red", "red", "blue"], "size": [1, 2, 1], "split": ["train", "train", "test"]}
        >>> Split.from_table(table, factors="colour,size", seen="split=train", allow_unseen_levels=True)
        (Split(colour 2 × size 2: 2 seen, 2 unseen), array([2, 3, 0]))

        ```
        """
        # Imported here, so that the reader belongs only to trials that read tables (see recombine.runs.fingerprint).
        from recombine.spaces.observations import cells_and_training_rows

        levels, codes, training = cells_and_training_rows(table, factors, seen)
        space = Space(levels)
        _check_volume(space)
        rows = space.index(codes)
        mask = np.zeros(space.n_cells, dtype=bool)
        mask[rows[training]] = True
        return Split(space, mask, allow_unseen_levels=allow_unseen_levels), rows


def _check_volume(space: Space) -> None:
    if space.n_cells * len(space.factors) > MAX_VOLUME:
        got = f"{len(space.factors)} factors with {space.n_cells:.0e} combinations"
        raise InputError("space", got, f"at most {MAX_VOLUME:.0e} level indices, cells times factors")


def _as_mask(space: Space, seen: Any) -> Bool[np.ndarray, " cells"]:
    expected = f"a boolean mask, or cell numbers below {space.n_cells}"
    seen = as_array("seen", seen)
    if seen.dtype == bool:
        if seen.shape not in {space.shape, (space.n_cells,)}:
            raise InputError("mask", seen.shape, f"shape {space.shape} or ({space.n_cells},)")
        mask = seen.reshape(-1).copy()
    else:
        mask = np.zeros(space.n_cells, dtype=bool)
        if seen.size:
            if not np.issubdtype(seen.dtype, np.integer) or seen.min() < 0 or seen.max() >= space.n_cells:
                raise InputError("seen", seen, expected)
            mask[seen] = True
    mask.setflags(write=False)
    return mask
