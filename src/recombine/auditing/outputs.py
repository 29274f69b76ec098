"""Targets and predictions, row by row, and the error of a row: quantities of any shape, or classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from recombine.auditing.error_measure import ErrorMeasure, error_measure
from recombine.auditing.thresholds import LOG_FLOOR, ORDINARY_TARGETS
from recombine.errors import InputError
from recombine.tasks.task import Kind


@dataclass(frozen=True, eq=False)
class Outputs:
    """Targets and predictions of all rows.

    **Attributes:**

    - `targets`, `predictions`: the values of quantities; one-hot codes of classes.
    - `known`: whether a row has a target.
    - `shape`: of one prediction as the user passed it: `()` for a number, `(28, 28)` for an image.
    - `classes`: names, in the order of the columns; empty for quantities.
    - `notes`: assumptions that were made.
    - `chosen_measure`: what an error is, if the user chose it.
    - `unit`: the power of ten by which extreme values were divided; `spreads`: the standard deviations by which several
        outputs were divided, so that each counts.
    """

    kind: Kind
    targets: Float[np.ndarray, "rows outputs"]
    predictions: Float[np.ndarray, "rows outputs"]
    known: Bool[np.ndarray, " rows"]
    shape: tuple[int, ...]
    classes: tuple[Any, ...]
    notes: tuple[str, ...]
    chosen_measure: ErrorMeasure | None = None
    unit: float = 1.0
    spreads: Float[np.ndarray, " outputs"] | None = None

    @property
    def measure(self) -> ErrorMeasure:
        """How predictions are compared with targets."""
        return self.chosen_measure or error_measure(None, self.kind, unit=self.unit)

    def as_given(self, values: Float[np.ndarray, "*any outputs"]) -> Float[np.ndarray, "*any outputs"]:
        """Targets or predictions as the user knows them: not logarithms, and in the units of the targets.

        ```python
        >>> import numpy as np
        >>> from recombine.auditing.output_reading import read_outputs
        >>> from recombine.auditing.outputs import measured_by
        >>> outputs = measured_by(read_outputs(np.array([1.5, 10.0]), np.array([1.5, 10.0])), "log")
        >>> outputs.as_given(outputs.targets).round(9).tolist()
        [[1.5], [10.0]]

        ```
        """
        values = values if self.spreads is None else values * self.spreads
        if self.measure.name == "log":
            values = np.exp(values)
        return values if self.unit == 1 else values * self.unit

    def row_errors(self, of: Float[np.ndarray, "rows outputs"] | None = None) -> Float[np.ndarray, " rows"]:
        """The error of every row, NaN without a target; `of` replaces the model's predictions."""
        predictions = self.predictions if of is None else of
        if self.known.all():
            return self.measure.errors(self.targets, predictions)
        errors = np.full(len(self.targets), np.nan)
        if self.known.any():
            errors[self.known] = self.measure.errors(self.targets[self.known], predictions[self.known])
        return errors


def measured_by(outputs: Outputs, metric: Any) -> Outputs:
    """The outputs with the error that the user chose.

    On a logarithmic scale, targets and predictions are replaced by their logarithms, so that everything else, such as
    sums of effects, is about logarithms, too.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.output_reading import read_outputs
    >>> from recombine.auditing.outputs import measured_by
    >>> outputs = read_outputs(np.array([1.5, 10.0, 100.0]), np.array([1.5, 10.0, 10.0]))
    >>> measured_by(outputs, "absolute").row_errors().tolist()
    [0.0, 0.0, 90.0]

    ```
    """
    measure = error_measure(metric, outputs.kind, outputs.classes, outputs.shape, outputs.unit)
    if metric is None:
        return outputs
    outputs = replace(outputs, chosen_measure=measure)
    if measure.name == "function":
        _check_size_of_errors(outputs)
    if outputs.kind == "classification" or measure.name not in {"relative", "log"}:
        return outputs
    known = outputs.targets[outputs.known]
    if measure.name == "relative":
        if (known == 0).any():
            raise InputError(
                "metric", "relative, but some targets are 0", "targets other than 0, or another metric"
            )
        return outputs
    if not (known > 0).all():
        raise InputError(
            "metric", "log, but some targets are not positive", "positive targets, or another metric"
        )
    smallest = LOG_FLOOR * known.min(axis=0) if len(known) else np.ones(known.shape[1])
    low = outputs.predictions < smallest
    notes = outputs.notes
    if low.any():
        rows, floors = int(low.any(axis=1).sum()), np.unique(smallest[low.any(axis=0)] * outputs.unit)
        counts = f"{rows:,} predictions are" if rows > 1 else "1 prediction is"
        count_as = f"count{'' if rows > 1 else 's'} as {floors[0]:.3g}"
        if len(floors) > 1:
            count_as += f" to {floors[-1]:.3g}, {LOG_FLOOR:g} times the smallest target of each output"
        notes = (*notes, f"{counts} too small for a logarithm and {count_as}")
    return replace(
        outputs,
        targets=np.log(np.where(outputs.known[:, None], outputs.targets, 1.0)),
        predictions=np.log(np.maximum(outputs.predictions, smallest)),
        notes=notes,
    )


def _check_size_of_errors(outputs: Outputs) -> None:
    """Refuses a function whose errors, for a constant prediction, are too large or too small to be squared."""
    if not outputs.known.any():
        return
    constant = outputs.measure.constant(outputs.targets[outputs.known])
    errors = outputs.row_errors(np.broadcast_to(constant, outputs.targets.shape))
    largest, (low, high) = float(np.nanmax(errors)), ORDINARY_TARGETS
    if largest > high or 0 < largest < low:
        expected = f"errors between {low:g} and {high:g}, or relative ones"
        raise InputError("metric", f"a function with an error of {largest:.3g}", expected)


def decide(values: Float[np.ndarray, "cells outputs"], kind: Kind) -> Float[np.ndarray, "cells outputs"]:
    """Votes for classes as the one-hot code of the winner; quantities unchanged.

    ```python
    >>> import numpy as np
    >>> from recombine.auditing.outputs import decide
    >>> decide(np.array([[0.2, 0.4, 0.4]]), "classification").tolist()
    [[0.0, 1.0, 0.0]]

    ```
    """
    if kind == "regression":
        return values
    # of equal votes the first wins, regardless of rounding
    return np.eye(values.shape[1])[(values > values.max(axis=1, keepdims=True) - 1e-9).argmax(axis=1)]
