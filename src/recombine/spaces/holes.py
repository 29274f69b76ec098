"""Holes: which combinations are held out of training.

A hole is a function from a space to a boolean mask over its cells that is true where a combination is held out. Bounds
are level indices, both included.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Bool

from recombine.errors import InputError
from recombine.spaces.factors import Space
from recombine.spaces.splits import Split

Hole = Callable[[Space], Any] | np.ndarray | tuple[Any, ...] | list[Any] | None
"""A function from a space to a mask that is true where a cell is held out (a `Part` of `recombine.spaces`, a
`functools.partial`, a lambda), or such a mask itself, or `None` to hold nothing out."""


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

    Whole levels are then unseen, so this does not test composition: `Split` needs `allow_unseen_levels=True`.

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


def split_by_hole(space: Space, hole: Hole, *, allow_unseen_levels: bool = False) -> Split:
    """The split that sees everything outside a hole.

    **Arguments:**

    - `space`: the space, of any number of factors.
    - `hole`: see `Hole`; a mask has the space's own shape or shape `(cells,)`.
    - `allow_unseen_levels`: accept a hole that hides a level altogether. Its cells are then not new
        combinations of seen levels, so the split tests interpolation or extrapolation, not composition.

    **Returns:**

    A `recombine.spaces.Split`.

    ```python
    >>> from recombine.parts import Part
    >>> from recombine.spaces import Space, corner_hole
    >>> from recombine.spaces import split_by_hole
    >>> split_by_hole(Space({"x": 28, "y": 28}), Part(corner_hole, low=14))
    Split(x 28 × y 28: 588 seen, 196 unseen)

    ```
    """
    if hole is None:
        return Split(space, np.ones(space.n_cells, dtype=bool))
    held_out = masked_hole(space, mask=hole(space) if callable(hole) else hole)
    if not held_out.any():
        raise InputError("hole", "a hole that hides no cell", "at least one held-out cell, or hole=None")
    return Split(space, ~held_out, allow_unseen_levels=allow_unseen_levels)
