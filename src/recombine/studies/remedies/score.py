"""How well a net does on unseen cells: 0 is as well as on seen cells, 1 as badly as the best constant."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

from recombine.nets import evaluate
from recombine.tasks import Task

FITTED = 0.1
"""A net fits if its error on seen cells is below this share of the best constant's."""


def score(net: Any, task: Task) -> dict[str, float]:
    """Errors on seen and unseen cells, those of the best constants, and the score.

    Seen cells are tested on rows that were not trained on, if there are any.
    """
    seen = task.test_in if len(task.test_in) else task.rows_in
    errors: dict[str, float] = {}
    for name, rows in (("seen", seen), ("unseen", task.rows_out)):
        targets = np.asarray(task.targets[rows])
        outputs = np.asarray(evaluate(net, task.inputs[rows]))
        errors[name] = error(outputs, targets, task.kind)
        errors[f"constant_{name}"] = constant_error(targets, task.kind)
    return errors | {"score": score_of(**errors), "fits": float(fits(**errors))}


def score_of(*, seen: float, unseen: float, constant_unseen: float, constant_seen: float = 1.0) -> float:
    """(unseen - seen) / (constant - seen), NaN for a net that is worse on seen cells than a constant on unseen ones.

    ```python
    >>> from recombine.studies.remedies.score import score_of
    >>> score_of(seen=0.1, unseen=0.1, constant_unseen=0.6), score_of(seen=0.1, unseen=0.6, constant_unseen=0.6)
    (0.0, 1.0)

    ```
    """
    room = constant_unseen - seen
    return (unseen - seen) / room if room > 0 else float("nan")


def fits(*, seen: float, constant_seen: float, unseen: float = 0.0, constant_unseen: float = 0.0) -> bool:
    """Whether the net has learned what it was shown."""
    return bool(seen < FITTED * constant_seen)


def error(outputs: np.ndarray, targets: np.ndarray, kind: str) -> float:
    """The mean squared error, or the share of wrong labels."""
    if kind == "classification":
        return float(np.mean(outputs.argmax(axis=-1).reshape(targets.shape) != targets))
    return float(np.mean((outputs.reshape(targets.shape).astype(np.float64) - targets) ** 2))


def constant_error(targets: Float[np.ndarray, "rows ..."], kind: str) -> float:
    """The error of the best prediction that is the same for all rows: their mean, or their commonest label."""
    if kind == "classification":
        flat = targets.reshape(len(targets), -1)
        return float(np.mean([1 - np.unique(c, return_counts=True)[1].max() / len(c) for c in flat.T]))
    return float(np.mean((targets - targets.mean(axis=0, dtype=np.float64)) ** 2))
