"""Kernels between cells: how similar two combinations of levels are.

A net that fails to compose behaves like a kernel machine for which two cells are similar if they share a level
of any factor (the binary factorised kernel of Liang et al., arXiv 2501.18797).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int, Real

from recombine.errors import InputError


def shared_levels(
    levels: Real[np.ndarray, "rows factors"], others: Real[np.ndarray, "others factors"] | None = None
) -> Int[np.ndarray, "rows others"]:
    """The number of factors with the same level in two cells, `sum over factors of 1[level = level']`.

    **Arguments:**

    - `levels`: `(rows, factors)` level indices (or any values that can be compared for equality).
    - `others`: the cells to compare with; default: the same.

    **Returns:**

    `(rows, others)`, from 0 (nothing in common) to the number of factors (the same cell). Null value: the sum over
    factors of one over the number of levels, for random cells.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import shared_levels
    >>> shared_levels(np.array([[0, 0], [0, 1], [1, 1]])).tolist()
    [[2, 1, 0], [1, 2, 1], [0, 1, 2]]

    ```
    """
    levels, others = _paired_levels(levels, others)
    shared = np.zeros((len(levels), len(others)), dtype=np.int64)
    for level, other in zip(levels.T, others.T, strict=True):
        shared += np.equal.outer(level, other)
    return shared


def binary_kernel(
    levels: Real[np.ndarray, "rows factors"], others: Real[np.ndarray, "others factors"] | None = None
) -> Float[np.ndarray, "rows others"]:
    """The binary factorised kernel: `K = 1` if the cells share the level of any factor, else 0.

    For two factors, `K((x, y), (x', y')) = 1` if `x = x'` or `y = y'`. In general not positive definite.

    **Arguments:** as for [`recombine.metrics.shared_levels`][].

    **Returns:**

    `(rows, others)`, 0 or 1.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import binary_kernel
    >>> binary_kernel(np.array([[0, 0], [0, 1], [1, 1]])).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 1.0, 1.0]]

    ```
    """
    return (shared_levels(levels, others) > 0).astype(np.float64)


def additive_kernel(
    levels: Real[np.ndarray, "rows factors"], others: Real[np.ndarray, "others factors"] | None = None
) -> Float[np.ndarray, "rows others"]:
    """The additive form of the kernel: `K` is the number of shared levels, `1[x = x'] + 1[y = y']`.

    Kernel machines with this kernel represent exactly the sums of functions of single factors.

    **Arguments:** as for [`recombine.metrics.shared_levels`][].

    **Returns:**

    `(rows, others)`, from 0 to the number of factors.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import additive_kernel
    >>> additive_kernel(np.array([[0, 0]]), np.array([[0, 0], [0, 1], [1, 1]])).tolist()
    [[2.0, 1.0, 0.0]]

    ```
    """
    return shared_levels(levels, others).astype(np.float64)


def gaussian_kernel(
    levels: Real[np.ndarray, "rows factors"],
    others: Real[np.ndarray, "others factors"] | None = None,
    *,
    widths: float | Sequence[float],
) -> Float[np.ndarray, "rows others"]:
    """The factorised Gaussian kernel, the product over factors of `exp(-(a - a')^2 / (2 width^2))`.

    With the same width for every factor it *is* the radial kernel `exp(-r^2 / (2 width^2))`, so the
    factorised family can never fit worse than the radial one on the points that select its widths.

    **Arguments:**

    - `levels`, `others`: `(rows, factors)`, as numbers on a line.
    - `widths`: one for all factors or one for each, in levels.

    **Returns:**

    `(rows, others)`, from 0 (far apart) to 1 (the same cell).

    ```python
    >>> import numpy as np
    >>> from recombine.metrics import gaussian_kernel
    >>> gaussian_kernel(np.array([[0, 0]]), np.array([[1, 2]]), widths=(1.0, 2.0)).round(4).tolist()
    [[0.3679]]

    ```
    """
    levels, others = _paired_levels(levels, others)
    per_factor = np.broadcast_to(np.asarray(widths, dtype=np.float64), levels.shape[1])
    if not (per_factor > 0).all():
        raise InputError("widths", widths, "positive widths in levels")
    exponent = np.zeros((len(levels), len(others)))
    for level, other, width in zip(levels.T, others.T, per_factor, strict=True):
        exponent += np.subtract.outer(level / width, other / width) ** 2
    return np.exp(-0.5 * exponent)


def _paired_levels(
    levels: Real[np.ndarray, "rows factors"], others: Real[np.ndarray, "others factors"] | None
) -> tuple[np.ndarray, np.ndarray]:
    levels = np.asarray(levels)
    others = levels if others is None else np.asarray(others)
    if levels.ndim != 2 or others.ndim != 2 or levels.shape[1] != others.shape[1]:
        raise InputError("levels", (levels.shape, others.shape), "two arrays of shape (rows, factors)")
    return levels, others
