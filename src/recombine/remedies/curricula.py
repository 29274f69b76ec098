"""Curricula: rows to add to the training set so that factors are learnt separately."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recombine.tasks import Task, single_factor_rows


def add_single_factors(
    task: Task,
    *,
    render: Callable[[np.ndarray], Any],
    encode: Callable[[np.ndarray], Any],
    positions: Sequence[Any] | None = None,
) -> Task:
    """The stripes curriculum for any task: every level of every factor is also shown on its own.

    **Arguments:**

    - `render`, `encode`: from positions `(rows, factors)` to targets and to inputs; NaN marks an absent
        factor.
    - `positions`: for every factor a list of positions; by default its level numbers.

    **Returns:**

    The task with as many further training rows as there are levels in all (2N for two factors of N levels).

    ```python
    >>> from recombine import Part
    >>> from recombine.spaces import corner_hole
    >>> from recombine.tasks import bump_code, bump_images, bumps
    >>> from recombine.remedies import add_single_factors
    >>> task = bumps(n=12, hole=Part(corner_hole, low=6))
    >>> more = add_single_factors(task, render=Part(bump_images, n=12), encode=Part(bump_code, n=12))
    >>> len(task.train), len(more.train)
    (108, 132)

    ```
    """
    levels = task.split.space.shape if positions is None else positions
    return task.with_rows(*single_factor_rows(render, encode, levels))
