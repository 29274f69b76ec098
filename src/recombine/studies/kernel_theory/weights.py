"""The weights behind transitive equivalence."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.tasks import Task

LARGEST = 200
"""How many hidden units are recorded: those with the largest weights."""


def item_weights(net: Any, task: Task) -> dict[str, Any]:
    """The contribution of each item at each position to the output, through each hidden unit while it is active.

    `item_weights` `(units, positions, items)`: input weight times readout weight, for the `LARGEST` units.
    """
    inputs, readout = (np.asarray(net.layers[i].layers[0].weight) for i in (0, -1))
    space = task.split.space.shape
    together = (inputs * readout[:, 0]).T.reshape(-1, len(space), space[0])
    order = np.argsort(-np.abs(together).sum(axis=(1, 2)), kind="stable")[:LARGEST]
    return {"item_weights": together[order]}
