"""Folds for cross-validation, drawn from a seed."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from recombine.errors import InputError


def fold_numbers(rows: int, folds: int = 5, seed: int = 0) -> Int[np.ndarray, " rows"]:
    """Assigns rows to folds at random; the sizes of the folds differ by at most one.

    **Arguments:**

    - `rows`: how many rows there are.
    - `folds`: how many parts to make.
    - `seed`: of the random assignment.

    **Returns:**

    `(rows,)` fold numbers from 0.

    ```python
    >>> import numpy as np
    >>> from recombine.probes import fold_numbers
    >>> np.bincount(fold_numbers(11, folds=5)).tolist()
    [3, 2, 2, 2, 2]

    ```
    """
    if not 2 <= folds <= rows:
        raise InputError("folds", folds, f"from 2 to the number of rows, {rows}")
    return np.random.default_rng(seed).permutation(np.arange(rows) % folds)
