"""Targets of extreme size in a unit in which squares neither overflow nor vanish: no verdict depends on units."""

from __future__ import annotations

import numpy as np

from recombine.auditing.thresholds import ORDINARY_TARGETS
from recombine.data.limits import MAX_MAGNITUDE, check_magnitude
from recombine.errors import InputError


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
    check_magnitude("prediction", predictions, largest=np.inf)
    check_magnitude("target", np.where(np.isnan(targets), 0.0, targets), largest=np.inf)  # NaN: not known
    largest = float(np.nanmax(np.abs(targets), initial=0.0))
    low, high = ORDINARY_TARGETS
    if largest == 0 or low <= largest <= high:
        check_magnitude("prediction", predictions)
        return targets, predictions, 1.0
    unit = float(f"1e{int(np.floor(np.log10(largest)))}")
    with np.errstate(over="ignore"):
        targets, predictions = (one.astype(np.float64) / unit for one in (targets, predictions))
    if not (np.abs(predictions) <= MAX_MAGNITUDE).all():
        got = f"a number more than {MAX_MAGNITUDE:g} times as large as the targets"
        raise InputError("prediction", got, "predictions in the units of the targets")
    return targets, predictions, unit
