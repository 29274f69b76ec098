"""Products of one number per level: y = offset + u(colour) v(shape) …, fitted by alternating least squares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse

from recombine.auditing.seen_cells import SeenCells

MAX_PRODUCT_CELLS = 4000
"""Seen cells from which products are fitted; more are sampled."""
OFFSET_MARGIN = 0.1
"""How far outside of all values, as a share of their range, offsets start."""
SWEEPS = 60
"""Rounds of alternating least squares; each solves for the numbers of one factor after the other."""
CONVERGED, EXACT = 1e-6, 1e-10
"""A round that lowers the squared error by less than the first share of it is the last, and one that leaves less than
the second share of the variance."""
MAX_DENSE = 100_000
"""Levels times cells up to which a dense matrix is faster than a sparse one."""
_Membership = Any
"""A matrix `(levels, cells)` of zeros and ones, dense or sparse."""
SHRINKAGE = 1e-5
"""Ridge, relative to the size of the other factors' products, that keeps levels with tiny products bounded."""


def product_fit(
    seen: SeenCells, cells: Int[np.ndarray, "cells factors"]
) -> Float[np.ndarray, "cells outputs"]:
    """The best product of one number per level, with or without a constant added, at any cells.

    Every output has its own product. Of several starts, for each output the one that fits best counts.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.refits.product_fit import product_fit
    >>> from recombine.auditing.seen_cells import SeenCells
    >>> known = np.array([[0, 0], [0, 1], [1, 0]])
    >>> seen = SeenCells("regression", (2, 2), known, np.array([[2.0], [3.0], [4.0]]), np.ones(3, dtype=int))
    >>> product_fit(seen, np.array([[1, 1]])).round(2).tolist()
    [[6.0]]

    ```
    """
    if len(seen.cells) > MAX_PRODUCT_CELLS:
        some = np.sort(np.random.default_rng(0).choice(len(seen.cells), MAX_PRODUCT_CELLS, replace=False))
        seen = replace(seen, cells=seen.cells[some], values=seen.values[some], rows=seen.rows[some])
    values = seen.values
    scale = np.maximum(np.abs(values).max(axis=0), 1e-300)
    low, high = (values / scale).min(axis=0), (values / scale).max(axis=0)
    margin = OFFSET_MARGIN * (high - low)
    # Products of one sign converge best, so offsets start below and above all values, too.
    mean = (values / scale).mean(axis=0)
    offsets = (None, None, mean, mean, low - margin, high + margin)
    starts = ("means", "ones", "means", "ones", "means", "means")
    levels = [_membership(seen.cells[:, axis], size) for axis, size in enumerate(seen.sizes)]
    fits = [
        _alternate(seen, levels, values / scale, cells, start, offset)
        for start, offset in zip(starts, offsets, strict=True)
    ]
    errors = np.stack([error for error, _ in fits])
    # An offset is one number more, so it has to pay: a thousandth of the variance at least.
    spread = ((values / scale - (values / scale).mean(axis=0)) ** 2).sum(axis=0)
    errors[2:] += 1e-3 * spread
    best = errors.argmin(axis=0)
    predictions = np.stack([one for _, one in fits])
    chosen = np.take_along_axis(predictions, best[None, None, :], axis=0)[0]
    # A level that few cells determine may have any number: at most the seen range beyond what was seen.
    return np.clip(chosen, 2 * low - high, 2 * high - low) * scale


def _alternate(
    seen: SeenCells,
    levels: Sequence[_Membership],
    values: np.ndarray,
    cells: np.ndarray,
    start: str,
    first_offset: np.ndarray | None,
) -> tuple[Float[np.ndarray, " outputs"], Float[np.ndarray, "cells outputs"]]:
    """The squared error of every output, and its predictions."""
    outputs = values.shape[1]
    offset = np.zeros(outputs) if first_offset is None else first_offset
    parts = [_start(one, values - offset, start, axis) for axis, one in enumerate(levels)]
    spread = np.maximum(((values - values.mean(axis=0)) ** 2).sum(axis=0), 1e-300)
    before = np.full(outputs, np.inf)
    error = before
    for _ in range(SWEEPS):
        for axis, level in enumerate(levels):
            others = np.prod(
                [part[seen.cells[:, other]] for other, part in enumerate(parts) if other != axis], axis=0
            )
            squares = others**2
            top, bottom = level @ (others * (values - offset)), level @ squares
            ridge = SHRINKAGE * np.maximum(squares.mean(axis=0), 1e-300)
            parts[axis] = top / (bottom + ridge)  # 0 for levels that do not occur
        product = np.prod([part[seen.cells[:, axis]] for axis, part in enumerate(parts)], axis=0)
        if first_offset is not None:
            offset = (values - product).mean(axis=0)
        error = ((values - offset - product) ** 2).sum(axis=0)
        if ((before - error <= CONVERGED * error) | (error <= EXACT * spread)).all():
            break
        before = error
    return error, offset + np.prod([part[cells[:, axis]] for axis, part in enumerate(parts)], axis=0)


def _membership(level: np.ndarray, size: int) -> _Membership:
    """Which cells have each level, `(levels, cells)`; a product with it sums over them."""
    count = len(level)
    if size * count <= MAX_DENSE:
        return np.asarray(level == np.arange(size)[:, None], dtype=np.float64)
    return sparse.csr_array((np.ones(count), (level, np.arange(count))), shape=(size, count))


def _start(level: _Membership, values: np.ndarray, start: str, axis: int) -> np.ndarray:
    """Means by level, or ones (for the first factor: means), to start from."""
    rows = np.maximum(level @ np.ones((values.shape[0], 1)), 1)
    means = (level @ values) / rows
    if start == "ones" and axis > 0:
        # not all the same, so that signs can differ
        return np.ones_like(means) + 0.1 * np.cos(np.arange(len(means)))[:, None]
    centre = np.abs(values.mean(axis=0))
    return means / np.where(centre > 1e-12, centre, 1.0) if axis > 0 else means
