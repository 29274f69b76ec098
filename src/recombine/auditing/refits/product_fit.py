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
    errors, predictions = _alternate(seen, levels, values / scale, cells, starts, offsets)
    # An offset is one number more, so it has to pay: a thousandth of the variance at least.
    spread = ((values / scale - (values / scale).mean(axis=0)) ** 2).sum(axis=0)
    errors[2:] += 1e-3 * spread
    best = errors.argmin(axis=0)
    chosen = np.take_along_axis(predictions, best[None, None, :], axis=0)[0]
    # A level that few cells determine may have any number: at most the seen range beyond what was seen.
    return np.clip(chosen, 2 * low - high, 2 * high - low) * scale


def _alternate(
    seen: SeenCells,
    levels: Sequence[_Membership],
    values: Float[np.ndarray, "seen outputs"],
    cells: Int[np.ndarray, "cells factors"],
    starts: Sequence[str],
    offsets: Sequence[np.ndarray | None],
) -> tuple[Float[np.ndarray, "starts outputs"], Float[np.ndarray, "starts cells outputs"]]:
    """For every start, the squared error of every output, and its predictions.

    All starts take their steps together, as further columns of one matrix; those that have converged drop out.
    """
    n_seen, outputs = values.shape
    has_offset = np.array([one is not None for one in offsets])
    offset = np.stack([np.zeros(outputs) if one is None else one for one in offsets])
    parts = [  # by factor, (levels, starts, outputs)
        np.stack(
            [_start(one, values - o, start, axis) for start, o in zip(starts, offset, strict=True)], axis=1
        )
        for axis, one in enumerate(levels)
    ]
    spread = np.maximum(((values - values.mean(axis=0)) ** 2).sum(axis=0), 1e-300)
    errors, predictions = np.empty(offset.shape), np.empty((len(starts), len(cells), outputs))
    before, active = np.full(offset.shape, np.inf), np.arange(len(starts))
    index = [np.ascontiguousarray(seen.cells[:, axis]) for axis in range(len(levels))]
    by_cell = [part[one] for part, one in zip(parts, index, strict=True)]  # (seen, starts, outputs)
    for sweep in range(SWEEPS):
        residual = values[:, None] - offset
        for axis, level in enumerate(levels):
            others = _product([one for other, one in enumerate(by_cell) if other != axis], residual.shape)
            squares = np.square(others)
            top = (level @ (others * residual).reshape(n_seen, -1)).reshape(-1, *offset.shape)
            bottom = (level @ squares.reshape(n_seen, -1)).reshape(-1, *offset.shape)
            # sums by ufunc: the arrays are so small that the calls of `mean` would take half of the time
            ridge = SHRINKAGE * np.maximum(np.add.reduce(squares) / n_seen, 1e-300)
            bottom += ridge
            parts[axis] = np.divide(top, bottom, out=top)  # 0 for levels that do not occur
            by_cell[axis] = parts[axis].take(index[axis], axis=0)
        product = _product(by_cell, residual.shape)
        if has_offset.any():
            mean = np.add.reduce(values[:, None] - product) / n_seen
            offset = np.where(has_offset[:, None], mean, offset)
        error = np.add.reduce(np.square(values[:, None] - offset - product))
        done = ((before - error <= CONVERGED * error) | (error <= EXACT * spread)).all(axis=1)
        done |= sweep == SWEEPS - 1
        if done.any():
            finished, running = active[done], ~done
            at_cells = [part[cells[:, axis]][:, done] for axis, part in enumerate(parts)]
            product = _product(at_cells, (len(cells), len(finished), outputs))
            errors[finished], predictions[finished] = error[done], (offset[done] + product).swapaxes(0, 1)
            active, has_offset, offset, error = (one[running] for one in (active, has_offset, offset, error))
            parts, by_cell = ([one[:, running] for one in some] for some in (parts, by_cell))
        if not len(active):
            break
        before = error
    return errors, predictions


def _product(arrays: Sequence[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    """The product of all arrays; ones if there are none. A single array is not copied."""
    if not arrays:
        return np.ones(shape)
    product = arrays[0]
    for array in arrays[1:]:
        product = product * array
    return product


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
