"""The weights behind transitive equivalence: do hidden units group the items that are equivalent?"""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float

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


def grouping(weights: Float[np.ndarray, "units positions items"], classes: tuple[int, ...]) -> float:
    """How much more alike the weights of equivalent items are than those of other items, from -2 to 2.

    Every item at a position is a vector over hidden units. The mean cosine of two items of one class minus that of two
    items of different classes, over both positions. 0 for weights that ignore the classes; 2 if items of one class
    have the same weights and those of the other class the opposite ones.

    **Arguments:**

    - `classes`: the class of every item.

    ```python
    >>> import numpy as np
    >>> from recombine.studies.kernel_theory.weights import grouping
    >>> unit = np.array([[1.0, 1.0, -1.0, -1.0], [1.0, 1.0, -1.0, -1.0]])  # both positions see the class
    >>> round(grouping(np.stack([unit, -2 * unit]), (0, 0, 1, 1)), 6)
    2.0

    ```
    """
    labels = np.array(classes)
    first, second = np.triu_indices(len(labels), k=1)
    same = labels[first] == labels[second]
    gaps = []
    for position in range(weights.shape[1]):
        vectors = weights[:, position] / np.linalg.norm(weights[:, position], axis=0)
        cosine = (vectors.T @ vectors)[first, second]
        gaps.append(cosine[same].mean() - cosine[~same].mean())
    return float(np.mean(gaps))


def diagonality(weights: Float[np.ndarray, "units positions items"], hubs: tuple[int, int]) -> float:
    """Whether hidden units weight the class of the first and of the second item equally, from 0 to 1.

    A unit's contrast at a position is the weight of one class's hub minus that of the other's. The mean over units of
    `2 |a b| / (a² + b²)` for their contrasts a and b, weighted by `a² + b²`: 1 if all units lie on the two diagonals,
    `2 / π`, about 0.64, for independent Gaussian contrasts, and 0 if every unit looks at one position.

    ```python
    >>> import numpy as np
    >>> from recombine.studies.kernel_theory.weights import diagonality
    >>> unit = np.array([[1.0, 1.0, -1.0, -1.0], [-1.0, -1.0, 1.0, 1.0]])  # the anti-diagonal
    >>> diagonality(unit[None], (0, 2))
    1.0

    ```
    """
    a, b = (weights[:, position, hubs[0]] - weights[:, position, hubs[1]] for position in (0, 1))
    return float(2 * np.abs(a * b).sum() / (a**2 + b**2).sum())
