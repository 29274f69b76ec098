"""Predictions in other units: right up to one factor and one offset, for example after a forgotten normalisation."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool

from recombine.auditing.outputs import Outputs
from recombine.auditing.thresholds import CAUTIOUS_OFFSET, MISCALIBRATED, SAME_UP_TO_UNITS


@dataclass(frozen=True)
class Units:
    """Predictions are `factor` times the targets plus `offset`, on training rows."""

    factor: float
    offset: float

    def __str__(self) -> str:
        return f"{self.factor:.3g} times the targets" + (f" plus {self.offset:.3g}" if self.offset else "")


def in_target_units(outputs: Outputs, seen: Bool[np.ndarray, " rows"]) -> tuple[Outputs, Units | None]:
    """Predictions in the units of the targets, and the units they were in if these are others.

    A forgotten normalisation is not a failure to compose, but would look like one.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.output_reading import read_outputs
    >>> from recombine.auditing.units import in_target_units
    >>> target = np.array([0.5, 1.0, 3.0, 4.5])
    >>> _, units = in_target_units(read_outputs(target, 2 * target - 1), np.array([True, True, True, False]))
    >>> print(units)
    2 times the targets plus -1

    ```
    """
    rows = seen & outputs.known
    if outputs.kind == "classification" or rows.sum() < 3:
        return outputs, None
    targets, predictions = (x[rows].astype(np.float64) for x in (outputs.targets, outputs.predictions))
    spread, varied = ((x - x.mean()) ** 2 for x in (targets, predictions))
    if spread.sum() <= 0 or varied.sum() <= 0:
        return outputs, None
    together = (targets - targets.mean()) * (predictions - predictions.mean())
    factor = float(together.sum() / spread.sum())
    offset = float(predictions.mean() - factor * targets.mean())
    left = ((predictions - factor * targets - offset) ** 2).sum()
    constant = ((targets - targets.mean(axis=0)) ** 2).sum()
    if left > (1 - SAME_UP_TO_UNITS) * varied.sum():
        return outputs, None
    if ((predictions - targets) ** 2).sum() <= MISCALIBRATED * constant:
        return outputs, None
    bias = abs(predictions.mean() - targets.mean())
    if 0 < factor < 1 and bias <= CAUTIOUS_OFFSET * targets.std():
        return outputs, None
    offset = 0.0 if abs(offset) <= 1e-9 * np.abs(predictions).max() else offset
    return replace(outputs, predictions=(outputs.predictions - offset) / factor), Units(
        factor, offset * outputs.unit
    )
