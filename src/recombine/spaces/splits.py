"""Splits: which cells training shows (`in`) and which it holds out (`out`).

A hole is a function from a space to a boolean mask over its cells that is true where a combination is held
out. Bounds are level indices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Int

from recombine.errors import InputError
from recombine.spaces.factors import Space


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
        table: Any, *, factors: Sequence[str], seen: str, allow_unseen_levels: bool = False
    ) -> tuple[Split, Int[np.ndarray, " rows"]]:
        """A split from any data frame, whose rows may repeat cells or leave cells out.

        **Arguments:**

        - `table`: a Polars or pandas data frame, or a mapping of columns.
        - `factors`: the columns that are factors; their sorted distinct values become the levels.
        - `seen`: a boolean column, true for training rows. A cell is seen if any of its rows is.

        **Returns:**

        The split, and the cell number of every row. Cells without rows count as unseen.
        """
        columns = {name: np.asarray(_column(table, name)) for name in (*factors, seen)}
        if columns[seen].dtype != bool:
            raise InputError(seen, columns[seen].dtype.name, "a boolean column")
        levels, codes = {}, []
        for name in factors:
            values, code = np.unique(columns[name], return_inverse=True)
            levels[name] = values.tolist()
            codes.append(code)
        space = Space(levels)
        rows = space.index(np.stack(codes, axis=1))
        mask = np.zeros(space.n_cells, dtype=bool)
        mask[rows[columns[seen]]] = True
        return Split(space, mask, allow_unseen_levels=allow_unseen_levels), rows


def _column(table: Any, name: str) -> Any:
    try:
        return table[name]
    except Exception as error:
        raise InputError("table", name, f"a column of the table, which has {list(table)}") from error


def _as_mask(space: Space, seen: np.ndarray | Sequence[int]) -> Bool[np.ndarray, " cells"]:
    seen = np.asarray(seen)
    if seen.dtype == bool:
        if seen.shape not in {space.shape, (space.n_cells,)}:
            raise InputError("mask", seen.shape, f"shape {space.shape} or ({space.n_cells},)")
        mask = seen.reshape(-1).copy()
    else:
        mask = np.zeros(space.n_cells, dtype=bool)
        if seen.size:
            if not np.issubdtype(seen.dtype, np.integer) or seen.min() < 0 or seen.max() >= space.n_cells:
                raise InputError("seen", seen, f"a boolean mask, or cell numbers below {space.n_cells}")
            mask[seen] = True
    mask.setflags(write=False)
    return mask


def _between(space: Space, low: float, high: float) -> Bool[np.ndarray, "cells factors"]:
    if low > high:
        raise InputError("hole", (low, high), "low <= high")
    return (space.cells >= low) & (space.cells <= high)


def centre_hole(space: Space, *, low: int, high: int) -> Bool[np.ndarray, " cells"]:
    """A cube of combinations: every factor's level index between `low` and `high`, both included.

    ```python
    >>> from recombine.spaces import Space, centre_hole
    >>> space = Space({"x": 4, "y": 4})
    >>> space.grid(centre_hole(space, low=1, high=2)).astype(int).tolist()
    [[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]]

    ```
    """
    return np.all(_between(space, low, high), axis=1)


def corner_hole(space: Space, *, low: int) -> Bool[np.ndarray, " cells"]:
    """The corner where every factor's level index is at least `low`.

    ```python
    >>> from recombine.spaces import Space, corner_hole
    >>> space = Space({"x": 4, "y": 4})
    >>> space.grid(corner_hole(space, low=2)).astype(int).tolist()
    [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]

    ```
    """
    return np.all(space.cells >= low, axis=1)


def cross_hole(space: Space, *, low: int, high: int) -> Bool[np.ndarray, " cells"]:
    """All cells in which *any* factor lies between `low` and `high` (included).

    Whole levels are then unseen, so this is no test of composition: `Split` wants `allow_unseen_levels=True`.

    ```python
    >>> from recombine.spaces import Space, cross_hole
    >>> space = Space({"x": 4, "y": 4})
    >>> space.grid(cross_hole(space, low=1, high=1)).astype(int).tolist()
    [[0, 1, 0, 0], [1, 1, 1, 1], [0, 1, 0, 0], [0, 1, 0, 0]]

    ```
    """
    return np.any(_between(space, low, high), axis=1)


def fraction_hole(space: Space, *, p: float, where: str = "centre") -> Bool[np.ndarray, " cells"]:
    """A cube whose side is `floor(p * size)` of every factor, in the `"centre"` or the last `"corner"`.

    The centre cube starts at `size / 2 - side / 2`, rounded down to a level.

    ```python
    >>> from recombine.spaces import Space, fraction_hole
    >>> space = Space({"x": 4, "y": 4})
    >>> space.grid(fraction_hole(space, p=0.5)).astype(int).tolist()
    [[0, 0, 0, 0], [0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]]

    ```
    """
    if not 0 < p < 1:
        raise InputError("p", p, "a fraction strictly between 0 and 1")
    if where not in {"centre", "corner"}:
        raise InputError("where", where, "'centre' or 'corner'")
    hole = np.ones(space.n_cells, dtype=bool)
    for axis, size in enumerate(space.shape):
        side = int(p * size + 1e-9)  # 0.29 * 100 is a little less than 29
        low = size - side if where == "corner" else (size - side) // 2
        hole &= (space.cells[:, axis] >= low) & (space.cells[:, axis] < low + side)
    return hole


def masked_hole(space: Space, *, mask: Any) -> Bool[np.ndarray, " cells"]:
    """Any hole: `mask` is true where a cell is held out, as nested lists or an array in the space's shape.

    ```python
    >>> from recombine.spaces import Space, masked_hole
    >>> masked_hole(Space({"x": 2, "y": 2}), mask=[[0, 0], [0, 1]]).tolist()
    [False, False, False, True]

    ```
    """
    mask = np.asarray(mask)
    if mask.shape not in {space.shape, (space.n_cells,)}:
        raise InputError("mask", mask.shape, f"shape {space.shape} or ({space.n_cells},)")
    if not np.isin(mask, (0, 1)).all():
        raise InputError("mask", np.unique(mask)[:5].tolist(), "only true and false (1 and 0)")
    return mask.astype(bool).reshape(-1)


def random_hole(space: Space, *, held_out: int, seed: int) -> Bool[np.ndarray, " cells"]:
    """`held_out` cells at random, such that every level of every factor stays seen.

    ```python
    >>> from recombine.spaces import Space, random_hole
    >>> int(random_hole(Space({"x": 4, "y": 4}), held_out=9, seed=0).sum())
    9

    ```
    """
    hole, cells = np.zeros(space.n_cells, dtype=bool), space.cells
    left = [np.bincount(cells[:, axis], minlength=size) for axis, size in enumerate(space.shape)]
    for cell in np.random.default_rng(seed).permutation(space.n_cells):
        if hole.sum() == held_out:
            break
        if min(counts[level] for counts, level in zip(left, cells[cell], strict=True)) > 1:
            hole[cell] = True
            for counts, level in zip(left, cells[cell], strict=True):
                counts[level] -= 1
    if hole.sum() < held_out or held_out < 1:
        raise InputError(
            "held_out", held_out, f"1 to {hole.sum()} cells here, so that every level stays seen"
        )
    return hole
