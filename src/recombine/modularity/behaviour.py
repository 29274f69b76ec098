"""What a net does: its error, the error of its modules alone, and whose input moves whose output."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.probes.connectivity import (
    Labels,
    Perceptron,
    block_pruned,
    jacobian_ratio,
    numerical_jacobian,
)

MOST_ROWS = 200
"""Rows at which derivatives are taken."""
STEP = 1e-3
"""The step of a derivative, in standard deviations of the inputs."""


@dataclass(frozen=True)
class Behaviour:
    """Mean squared errors, and the ratio of derivatives between modules to those within.

    - `error`: of the net; `pruned`: after everything between modules was set to zero; `constant`: of an answer that is
        always the mean target. `None` without targets.
    - `jacobian_ratio`: mean |∂y/∂x| between modules over that within; `None` if it cannot be had, say because all
        outputs are in one module.
    """

    error: float | None
    pruned: float | None
    constant: float | None
    jacobian_ratio: float | None

    @property
    def ratio(self) -> float | None:
        """How many times as large the error is after pruning; `None` for a net without error."""
        if self.error is None or self.pruned is None or not self.error > 0:
            return None
        return self.pruned / self.error


def behaviour(
    net: Perceptron,
    labels: Labels,
    means: Sequence[Any] | None,
    x: Float[np.ndarray, "rows inputs"],
    y: Float[np.ndarray, "rows outputs"] | None,
) -> Behaviour:
    """Runs the net and its modules on data.

    ```python
    >>> import numpy as np
    >>> from recombine.modularity.behaviour import behaviour
    >>> from recombine.probes.connectivity import Perceptron
    >>> net = Perceptron((np.array([[1.0, 0.1], [0.0, 1.0]]),), (np.zeros(2),))
    >>> found = behaviour(net, (np.arange(2), np.arange(2)), None, np.eye(2), np.eye(2))
    >>> round(found.error, 4), found.pruned, round(found.jacobian_ratio, 3)
    (0.0025, 0.0, 0.05)

    ```
    """
    error: float | None = None
    pruned: float | None = None
    constant: float | None = None
    if y is not None:
        cut = Perceptron(
            *block_pruned(net.weights, labels, biases=net.biases, means=means), activation=net.activation
        )
        answers = (net(x), cut(x), y.mean(axis=0))
        error, pruned, constant = (float(((answer - y) ** 2).mean()) for answer in answers)
    few = x[:: -(-len(x) // MOST_ROWS)]
    spread = float(x.std()) or 1.0
    try:
        ratio = jacobian_ratio(
            numerical_jacobian(net, few, step=STEP * spread), labels[0].tolist(), labels[-1].tolist()
        )
    except InputError:  # one module alone, or outputs that depend on nothing
        ratio = None
    return Behaviour(error, pruned, constant, ratio)


def checked_rows(
    field: str, given: Any, columns: int, length: int | None = None
) -> Float[np.ndarray, "rows columns"]:
    """Data as an array of `columns` columns, and of `length` rows if that is known."""
    array = np.asarray(given)
    rows = "rows" if length is None else str(length)
    if array.dtype.kind not in "fiub" or array.ndim != 2 or array.shape[1] != columns or not len(array):
        got = f"{array.dtype.name} of shape {array.shape}"
        raise InputError(field, got, f"numbers of shape ({rows}, {columns})")
    if length is not None and len(array) != length:
        raise InputError(field, f"{len(array)} rows", f"{length}, as x has")
    if not np.isfinite(array).all():
        raise InputError(field, "values that are not finite", "finite numbers")
    return array.astype(np.float64)
