"""Targets and predictions, row by row, and the error of a row: quantities of any shape, or classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float

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
    """

    kind: Kind
    targets: Float[np.ndarray, "rows outputs"]
    predictions: Float[np.ndarray, "rows outputs"]
    known: Bool[np.ndarray, " rows"]
    shape: tuple[int, ...]
    classes: tuple[Any, ...]
    notes: tuple[str, ...]

    @property
    def measure(self) -> str:
        """What the error of a row is."""
        return "share of wrong labels" if self.classes else "mean squared error"

    def row_errors(self, of: Float[np.ndarray, "rows outputs"] | None = None) -> Float[np.ndarray, " rows"]:
        """The error of every row, NaN without a target; `of` replaces the model's predictions."""
        predictions = self.predictions if of is None else of
        errors = np.empty(len(self.targets))
        step = max(1, 2**22 // max(1, self.targets.shape[1]))
        for start in range(0, len(errors), step):
            rows = slice(start, start + step)
            errors[rows] = difference(predictions[rows], self.targets[rows], self.kind)
        return np.where(self.known, errors, np.nan)


def difference(a: np.ndarray, b: np.ndarray, kind: Kind) -> Float[np.ndarray, " rows"]:
    """The mean squared difference of rows; for classes half the squared distance, which is the share of wrong
    labels."""
    squares = (a.astype(np.float64, copy=False) - b) ** 2
    return squares.sum(axis=1) / 2 if kind == "classification" else squares.mean(axis=1)


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
