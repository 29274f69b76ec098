"""Probes of nets on functions of two numbers with an unseen region."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.nets import evaluate
from recombine.tasks import Task

Values = dict[str, Any]
BATCH = 500


def region_errors(net: Any, task: Task) -> Values:
    """Mean squared error on the seen and the unseen region, `mse_in` and `mse_out`, and the same divided by the
    target's variance there, `relative_in` and `relative_out`: 0 is perfect, 1 no better than the mean.

    ```python
    >>> import jax
    >>> from recombine import nets
    >>> from recombine.studies.poisson_modularity import region_probes
    >>> from recombine.studies.poisson_modularity.compositions import gaussian_wedge
    >>> net = nets.mlp(inputs=2, width=8, depth=1, outputs=1, key=jax.random.key(0))
    >>> sorted(region_probes.region_errors(net, gaussian_wedge(draws=100)))
    ['mse_in', 'mse_out', 'relative_in', 'relative_out']

    ```
    """
    error = (evaluate(net, task.inputs, batch=BATCH) - task.targets) ** 2
    values = {}
    for name, rows in (("in", task.rows_in), ("out", task.rows_out)):
        values[f"mse_{name}"] = float(error[rows].mean())
        values[f"relative_{name}"] = values[f"mse_{name}"] / float(task.targets[rows].var())
    return values


def map_of(net: Any, task: Task, *, side: int = 61) -> Values:
    """`map` `(side, side)`: the net's output over [-1, 1]², x along the first axis.

    ```python
    >>> import jax
    >>> from recombine import nets
    >>> from recombine.studies.poisson_modularity import region_probes
    >>> from recombine.studies.poisson_modularity.compositions import gaussian_wedge
    >>> net = nets.mlp(inputs=2, width=8, depth=1, outputs=1, key=jax.random.key(0))
    >>> region_probes.map_of(net, gaussian_wedge(draws=100), side=9)["map"].shape
    (9, 9)

    ```
    """
    values = evaluate(net, lattice(side).astype(np.float32), batch=BATCH)
    return {"map": values.reshape(side, side).astype(np.float32)}


def lattice(side: int) -> np.ndarray:
    """The points of `map_of`, x varying slowest."""
    line = np.linspace(-1, 1, side)
    return np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
