"""Can the modules work on their own? The net's error without the connections between them, and its derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.metrics.connectivity import (
    Labels,
    Perceptron,
    block_pruned,
    jacobian_ratio,
    numerical_jacobian,
)

MAX_ROWS = 200
"""Rows at which derivatives are taken."""
STEP = 1e-3
"""The step of a derivative, in standard deviations of the inputs."""


@dataclass(frozen=True)
class Separability:
    """Mean squared errors with and without the connections between modules, and the ratio of derivatives.

    **Attributes:**

    - `error`: of the net; `pruned`: with every connection between modules set to zero; `constant`: of predicting the
        mean target. `None` without targets.
    - `jacobian_ratio`: mean |∂y/∂x| between modules over that within; `None` if it is not defined, for example because
        all outputs are in one module.
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


def separability(
    net: Perceptron,
    labels: Labels,
    means: Sequence[Any] | None,
    x: Float[np.ndarray, "rows inputs"],
    y: Float[np.ndarray, "rows outputs"] | None,
) -> Separability:
    """Runs the net and its modules on data.

    **Arguments:**

    - `means`: mean activity of the hidden units, if known; a pruned dead unit then goes on as a bias.

    ```python
    >>> import numpy as np
    >>> from recombine.modularity.separability import separability
    >>> from recombine.metrics.connectivity import Perceptron
    >>> net = Perceptron((np.array([[1.0, 0.1], [0.0, 1.0]]),), (np.zeros(2),))
    >>> result = separability(net, (np.arange(2), np.arange(2)), None, np.eye(2), np.eye(2))
    >>> round(result.error, 4), result.pruned, round(result.jacobian_ratio, 3)
    (0.0025, 0.0, 0.05)

    ```
    """
    error: float | None = None
    pruned: float | None = None
    constant: float | None = None
    if y is not None:
        without = Perceptron(
            *block_pruned(net.weights, labels, biases=net.biases, means=means), activation=net.activation
        )
        predictions = (net(x), without(x), y.mean(axis=0))
        error, pruned, constant = (float(((prediction - y) ** 2).mean()) for prediction in predictions)
    some = x[:: -(-len(x) // MAX_ROWS)]
    spread = float(x.std()) or 1.0
    try:
        ratio = jacobian_ratio(
            numerical_jacobian(net, some, step=STEP * spread), labels[0].tolist(), labels[-1].tolist()
        )
    except InputError:  # only one module, or outputs that depend on nothing
        ratio = None
    return Separability(error, pruned, constant, ratio)
