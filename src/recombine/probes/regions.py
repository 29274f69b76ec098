"""Probes of nets on functions of two numbers, with a region held out."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.nets import evaluate
from recombine.tasks import Task

Values = dict[str, Any]
BATCH = 500


def region_errors(net: Any, task: Task) -> Values:
    """Mean squared error inside and outside the region that training showed: `mse_in`, `mse_out`, and their `ratio`.

    ```python
    >>> import jax
    >>> from recombine import nets, tasks
    >>> from recombine.probes import regions
    >>> net = nets.mlp(inputs=2, width=8, depth=1, outputs=1, key=jax.random.key(0))
    >>> sorted(regions.region_errors(net, tasks.gaussian_wedge(draws=100)))
    ['mse_in', 'mse_out', 'ratio']

    ```
    """
    error = (evaluate(net, task.inputs, batch=BATCH) - task.targets) ** 2
    inside, outside = (float(error[rows].mean()) for rows in (task.rows_in, task.rows_out))
    return {"mse_in": inside, "mse_out": outside, "ratio": outside / inside}


def map_of(net: Any, task: Task, *, side: int = 61) -> Values:
    """`map` `(side, side)`: the net's output over [-1, 1]², x along the first axis.

    ```python
    >>> import jax
    >>> from recombine import nets, tasks
    >>> from recombine.probes import regions
    >>> net = nets.mlp(inputs=2, width=8, depth=1, outputs=1, key=jax.random.key(0))
    >>> regions.map_of(net, tasks.gaussian_wedge(draws=100), side=9)["map"].shape
    (9, 9)

    ```
    """
    found = evaluate(net, lattice(side).astype(np.float32), batch=BATCH)
    return {"map": found.reshape(side, side).astype(np.float32)}


def lattice(side: int) -> np.ndarray:
    """The points of `map_of`, x varying slowest."""
    line = np.linspace(-1, 1, side)
    return np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
