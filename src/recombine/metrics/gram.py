"""Gram matrices of wide layers, computed in blocks so that a layer of 50,000 units is never copied as a whole."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from jaxtyping import Float, Real

from recombine.errors import InputError

_BLOCK_BYTES = 32 * 2**20
"""Small next to any layer worth splitting, large enough that the loop costs nothing."""


def unit_blocks(units: int, bytes_per_unit: int, *, block_bytes: int = _BLOCK_BYTES) -> Iterator[slice]:
    """Slices that cover the units in order, each of at most `block_bytes` (but at least one unit).

    ```python
    >>> from recombine.metrics.gram import unit_blocks
    >>> [(s.start, s.stop) for s in unit_blocks(5, bytes_per_unit=8, block_bytes=16)]
    [(0, 2), (2, 4), (4, 6)]

    ```
    """
    step = max(1, block_bytes // max(1, bytes_per_unit))
    return (slice(start, start + step) for start in range(0, units, step))


def centred_gram(activations: Real[np.ndarray, "rows ..."]) -> Float[np.ndarray, "rows rows"]:
    """Inner products of all rows after subtracting the mean row, `G = (A - mean) (A - mean)^T`, in float64.

    It is all that linear regression and principal components need to know about a layer with more units than rows.

    **Arguments:**

    - `activations`: `(rows, ...)`, flattened to units; converted to float64 block by block.

    **Returns:**

    `(rows, rows)`; every row and column sums to zero.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import centred_gram
    >>> centred_gram(np.array([[1.0, 5.0], [3.0, 5.0]])).tolist()
    [[1.0, -1.0], [-1.0, 1.0]]

    ```
    """
    flat = as_units(activations)
    rows, units = flat.shape
    gram = np.zeros((rows, rows))
    for block in unit_blocks(units, bytes_per_unit=8 * rows):
        part = flat[:, block].astype(np.float64)
        part -= part.mean(axis=0)
        gram += part @ part.T
    return gram


def as_units(activations: Real[np.ndarray, "rows ..."]) -> Real[np.ndarray, "rows units"]:
    """Activations as `(rows, units)`, without a copy where possible; at least two rows."""
    activations = np.asarray(activations)
    if activations.ndim < 2 or len(activations) < 2:
        raise InputError("activations", activations.shape, "shape (rows, ...) with at least two rows")
    return activations.reshape(len(activations), -1)
