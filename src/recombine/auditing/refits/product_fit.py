"""Products of one number per level: y = offset + u(colour) v(shape) …, fitted by alternating least squares."""

from __future__ import annotations

from dataclasses import replace

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
CONVERGED = 1e-9
"""A round that lowers the squared error by less than this share of it is the last."""
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
    >>> seen = SeenCells("regression", (2, 2), known, np.array([[1.0], [3.0], [2.0]]), np.ones(3, dtype=int))
    >>> product_fit(seen, np.array([[1, 1]])).round(3).tolist()
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
    fits = [
        _alternate(seen, values / scale, cells, start, offset)
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
    seen: SeenCells, values: np.ndarray, cells: np.ndarray, start: str, first_offset: np.ndarray | None
) -> tuple[Float[np.ndarray, " outputs"], Float[np.ndarray, "cells outputs"]]:
    """The squared error of every output, and its predictions."""
    outputs = values.shape[1]
    offset = np.zeros(outputs) if first_offset is None else first_offset
    parts = []
    for axis, size in enumerate(seen.sizes):
        parts.append(_start(seen.cells[:, axis], size, values - offset, start, axis))
    before = np.full(outputs, np.inf)
    error = before
    for _ in range(SWEEPS):
        for axis in range(len(parts)):
            others = np.prod(
                [part[seen.cells[:, other]] for other, part in enumerate(parts) if other != axis], axis=0
            )
            level = seen.cells[:, axis]
            size = seen.sizes[axis]
            top = _by_level(others * (values - offset), level, size)
            bottom = _by_level(others**2, level, size)
            ridge = SHRINKAGE * np.maximum((others**2).mean(axis=0), 1e-300)
            occurs = (np.bincount(level, minlength=size) > 0)[:, None]
            parts[axis] = np.where(occurs, top / (bottom + ridge), 0.0)
        product = np.prod([part[seen.cells[:, axis]] for axis, part in enumerate(parts)], axis=0)
        if first_offset is not None:
            offset = (values - product).mean(axis=0)
        error = ((values - offset - product) ** 2).sum(axis=0)
        if (before - error <= CONVERGED * np.maximum(error, 1e-300)).all():
            break
        before = error
    return error, offset + np.prod([part[cells[:, axis]] for axis, part in enumerate(parts)], axis=0)


def _start(level: np.ndarray, size: int, values: np.ndarray, start: str, axis: int) -> np.ndarray:
    """Means by level, or ones (for the first factor: means), to start from."""
    rows = np.maximum(np.bincount(level, minlength=size), 1)[:, None]
    means = _by_level(values, level, size) / rows
    if start == "ones" and axis > 0:
        # not all the same, so that signs can differ
        return np.ones_like(means) + 0.1 * np.cos(np.arange(size))[:, None]
    centre = np.abs(values.mean(axis=0))
    return means / np.where(centre > 1e-12, centre, 1.0) if axis > 0 else means


def _by_level(values: np.ndarray, level: np.ndarray, size: int) -> np.ndarray:
    """Sums over the cells with each level."""
    count = len(level)
    return sparse.csr_array((np.ones(count), (level, np.arange(count))), shape=(size, count)) @ values
