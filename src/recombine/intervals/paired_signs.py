"""A test of paired cells: would random signs of their differences do as well?"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

MAX_FLIPPED, MAX_DRAWN_FLIPS, SIGN_FLIPS = 13, 500, 9999
"""Differences up to which all signs are tried, up to which so many random signs are drawn; beyond, their sum is
normal."""


def paired_p_value(differences: ArrayLike, *, seed: int = 0) -> float:
    """The probability that differences with random signs have a mean as far from 0 as these have.

    A bootstrap of few cells that differ is too sure: if 4 of 18 cells get better and none gets worse, its interval
    excludes 0, but 4 fair coins all show heads in one of eight cases (both sides).

    **Arguments:**

    - `differences`: `(cells,)`, one per pair; zeros do not count.

    ```python
    >>> from recombine.intervals import paired_p_value
    >>> paired_p_value([1.0, 1.0, 1.0, 1.0, 0.0]), paired_p_value([0.0, 0.0])
    (0.125, 1.0)

    ```

    **Reference:** Fisher 1935, The Design of Experiments, section 21.
    """
    from scipy.special import ndtr

    values = np.asarray(differences, dtype=np.float64)
    values = values[values != 0]
    n = len(values)
    if not n:
        return 1.0
    values = values / np.abs(values).max()
    observed = abs(float(values.sum()))
    if n > MAX_DRAWN_FLIPS:
        return float(2 * ndtr(-observed / np.sqrt((values**2).sum())))
    if n <= MAX_FLIPPED:
        signs = 1.0 - 2.0 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
        return float((np.abs(signs @ values) >= observed - 1e-9).mean())
    rng = np.random.default_rng([seed, 67])
    signs = 1.0 - 2.0 * rng.integers(0, 2, size=(SIGN_FLIPS, n))
    as_far = int((np.abs(signs @ values) >= observed - 1e-9).sum())
    return (as_far + 1) / (SIGN_FLIPS + 1)
