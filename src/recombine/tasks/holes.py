"""From a hole to a split: the one place where a builder's `hole` setting is understood."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.spaces import Space, Split, masked_hole

Hole = Callable[[Space], Any] | np.ndarray | tuple[Any, ...] | list[Any] | None
"""A function from a space to a mask that is true where a cell is held out (a `Part` of `recombine.spaces`, a
`functools.partial`, a lambda), or such a mask itself, or `None` to hold nothing out."""


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
    >>> from recombine.tasks import split_by_hole
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
