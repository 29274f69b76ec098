"""The best fit of values of many cells by sums of effects of few factors, from counts instead of the design."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from recombine.theory.conjunctions import Conjunctions, codes_of

PRECISION = 1e-14
"""Relative residual of the normal equations at which conjugate gradients stop."""
MAX_ITERATIONS = 100
"""Slower convergence shows that the normal equations lose precision: they are then not used."""
BLOCK = 50_000
"""Cells whose sums are computed together."""


def additive_fit(
    cells: Int[np.ndarray, "cells factors"],
    values: Float[np.ndarray, "cells outputs"],
    seen: Conjunctions,
    counts: Float[np.ndarray, "columns columns"],
    *,
    label: Int[np.ndarray, " cells"] | None = None,
) -> Float[np.ndarray, "cells outputs"] | None:
    """The least-squares fit of the values by sums of one effect for every conjunction.

    The normal equations have one row for each conjunction instead of each cell, and are solved by conjugate gradients.
    That loses no precision if few iterations are enough, because the equations are then well conditioned.

    **Arguments:**

    - `seen`, `counts`: the conjunctions of the cells, and how often two of them occur together.
    - `label`: class numbers, if the values are their indicators, which can be counted.

    **Returns:**

    `None` if the equations are not solved within `MAX_ITERATIONS`.

    ```python
    >>> import numpy as np
    >>> from recombine.theory import Conjunctions
    >>> from recombine.theory.additive_fit import additive_fit
    >>> from recombine.theory.cooccurrence import cooccurrence
    >>> cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> seen = Conjunctions.of(cells, (2, 2), order=1, min_order=1)
    >>> additive_fit(cells, np.array([[0.0], [0.0], [0.0], [4.0]]), seen, cooccurrence(cells, seen)).round(6).ravel()
    array([-1.,  1.,  1.,  3.])

    ```
    """
    effects = _solve(counts.astype(np.float64), _sums(cells, values, seen, label))
    if effects is None:
        return None
    fitted = np.zeros(values.shape)
    for start in range(0, len(cells), BLOCK):
        block = slice(start, start + BLOCK)
        for column in seen.columns(cells[block]).T:
            fitted[block] += effects[column]
    return fitted


def _sums(
    cells: np.ndarray, values: np.ndarray, seen: Conjunctions, label: np.ndarray | None
) -> Float[np.ndarray, "columns outputs"]:
    """For every conjunction, the sum of the values of the cells that have it."""
    sums = np.empty((int(seen.starts[-1]), values.shape[1]))
    for subset, known, start in zip(seen.subsets, seen.codes, seen.starts[:-1].tolist(), strict=True):
        codes, outputs = codes_of(cells, subset, seen.sizes), values.shape[1]
        if label is not None:
            counted = np.bincount(codes * outputs + label, minlength=(int(known[-1]) + 1) * outputs)
            sums[start : start + len(known)] = counted.reshape(-1, outputs)[known]
            continue
        for output in range(outputs):
            by_code = np.bincount(codes, weights=values[:, output], minlength=int(known[-1]) + 1)
            sums[start : start + len(known), output] = by_code[known]
    return sums


def _solve(
    matrix: Float[np.ndarray, "n n"], right: Float[np.ndarray, "n outputs"]
) -> Float[np.ndarray, "n outputs"] | None:
    """Conjugate gradients for all columns at once, preconditioned by the diagonal."""
    diagonal = matrix.diagonal()[:, None]
    solution, residual = np.zeros_like(right), right.copy()
    scaled = residual / diagonal
    direction, size = scaled.copy(), (residual * scaled).sum(axis=0)
    goal = PRECISION**2 * size
    for _ in range(MAX_ITERATIONS):
        active = size > goal
        if not active.any():
            return solution
        along = matrix @ direction
        curvature = (direction * along).sum(axis=0)
        step = np.divide(size, curvature, out=np.zeros_like(size), where=active & (curvature > 0))
        solution += step * direction
        residual -= step * along
        scaled = residual / diagonal
        size, before = (residual * scaled).sum(axis=0), size
        direction = scaled + np.divide(size, before, out=np.zeros_like(size), where=before > 0) * direction
    return None
