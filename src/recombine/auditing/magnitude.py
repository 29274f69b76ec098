"""Targets of extreme size in a unit in which squares neither overflow nor vanish: no verdict depends on units."""

from __future__ import annotations

import numpy as np

from recombine.auditing.thresholds import ORDINARY_TARGETS
from recombine.data.limits import MAX_MAGNITUDE, check_magnitude
from recombine.errors import InputError

SMALLEST_EXPONENT = -307
"""Smaller powers of ten have fewer digits, down to none at all: 1e-324 is 0."""


def in_ordinary_units(targets: np.ndarray, predictions: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Targets and predictions in multiples of a power of ten, and this power; 1 unless targets are extreme.

    **Arguments:**

    - `targets`: `(rows, outputs)`, NaN where there is none; `predictions`: likewise, finite.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.magnitude import in_ordinary_units
    >>> targets, predictions, unit = in_ordinary_units(np.array([[2e-200], [3e-200]]), np.array([[2e-200], [4e-200]]))
    >>> unit, targets.round(9).tolist(), predictions.round(9).tolist()
    (1e-200, [[2.0], [3.0]], [[2.0], [4.0]])

    ```
    """
    known = np.where(np.isnan(targets), 0.0, targets)  # NaN: not known
    for field, values in (("prediction", predictions), ("target", known)):
        check_magnitude(field, values, largest=np.inf)
    sizes = np.abs(known[known != 0])
    usual = float(np.median(sizes)) if len(sizes) else 1.0
    low, high = ORDINARY_TARGETS
    if low <= usual <= high:
        check_magnitude("prediction", predictions)
        check_magnitude("target", known)
        return targets, predictions, 1.0
    unit = float(f"1e{max(int(np.floor(np.log10(usual))), SMALLEST_EXPONENT)}")
    with np.errstate(over="ignore"):
        targets, predictions, known = (one.astype(np.float64) / unit for one in (targets, predictions, known))
    for field, values in (("prediction", predictions), ("target", known)):
        if not (np.abs(values) <= MAX_MAGNITUDE).all():
            got = f"a number more than {MAX_MAGNITUDE:g} times as large as most targets"
            raise InputError(field, got, "numbers in the same units")
    return targets, predictions, unit


def columns_that_vanish(targets: np.ndarray) -> np.ndarray:
    """The numbers of outputs that are not 0 everywhere, but too small to be squared in the unit of all outputs.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.magnitude import columns_that_vanish
    >>> columns_that_vanish(np.array([[1.0, 2e-200, 0.0], [2.0, 3e-200, 0.0]])).tolist()
    [1]

    ```
    """
    largest = np.max(np.abs(np.where(np.isnan(targets), 0.0, targets)), axis=0, initial=0.0)
    return np.flatnonzero((largest > 0) & (largest < ORDINARY_TARGETS[0]))
