"""Finite mixed differences: interaction of any function, smooth or not, from its values alone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.models.function import Directions, OutputRows, Rows


def mixed_difference(
    values: Callable[[Rows], Any], rows: Any, directions: Any, *, centred: bool = False
) -> OutputRows:
    """Δ_u1 … Δ_um f(z), where Δ_u f(z) = f(z + u) - f(z), for every row.

    If interaction across slots is of order n at most, every (n+1)-fold difference along directions of two or more
    slots is zero, whatever the length of the steps and however rough f is (section 2 of the paper, in differences).

    **Arguments:**

    - `values`: from `(rows, latents)` to `(rows, ...)`, in NumPy.
    - `rows`: `(rows, latents)`.
    - `directions`: `(rows, m, latents)`, the m steps of every row.
    - `centred`: whether z is the middle of the box rather than its corner.

    **Returns:**

    `(rows, outputs)`.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.interaction import mixed_difference
    >>> steps = np.array([[[2.0, 0.0], [0.0, 3.0]]])
    >>> mixed_difference(lambda z: z[:, :1] * z[:, 1:] + z**3, np.ones((1, 2)), steps).tolist()
    [[6.0, 6.0]]

    ```
    """
    z, u = np.asarray(rows, dtype=np.float64), np.asarray(directions, dtype=np.float64)
    if z.ndim != 2 or u.ndim != 3 or u.shape[::2] != z.shape:
        raise InputError(
            "directions", f"shape {u.shape} for rows {z.shape}", "(rows, order, latents) for (rows, latents)"
        )
    corner = z - u.sum(axis=1) / 2 if centred else z
    total: Any = 0.0
    for chosen in product((0, 1), repeat=u.shape[1]):
        sign = -1.0 if (u.shape[1] - sum(chosen)) % 2 else 1.0
        at = corner + np.tensordot(u, np.array(chosen, dtype=float), axes=([1], [0]))
        total = total + sign * np.asarray(values(at), dtype=np.float64).reshape(len(z), -1)
    return total


def difference_quotient(
    values: Callable[[Rows], OutputRows], step: float
) -> Callable[[Rows, Directions], OutputRows]:
    """Mixed differences instead of derivatives: steps of `step` times the directions, over step^m."""

    def quotient(rows: Rows, directions: Directions) -> OutputRows:
        differences = mixed_difference(values, rows, step * directions, centred=True)
        return differences / step ** directions.shape[1]

    return quotient
