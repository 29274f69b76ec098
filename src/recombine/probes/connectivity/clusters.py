"""k-means for a few dozen points, where starting threads would cost more than the work."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

RESTARTS = 20
ROUNDS = 300


def k_means(
    points: Float[np.ndarray, "points axes"], clusters: int, *, restarts: int = RESTARTS, seed: int = 0
) -> Int[np.ndarray, " points"]:
    """Cluster numbers of the best of several runs of Lloyd's algorithm, each started by k-means++.

    With fewer different points than clusters, every different point is a cluster.

    ```python
    >>> import numpy as np
    >>> from recombine.probes.connectivity.clusters import k_means
    >>> found = k_means(np.array([[0.0], [0.1], [5.0], [5.1]]), 2)
    >>> bool(found[0] == found[1] != found[2] == found[3])
    True

    ```
    """
    different, which = np.unique(points.round(9), axis=0, return_inverse=True)
    if len(different) <= clusters:
        return which.ravel()
    rng = np.random.default_rng(seed)
    runs = [_lloyd(points, _spread_out(points, clusters, rng)) for _ in range(restarts)]
    return min(runs, key=lambda run: run[1])[0]


def _spread_out(points: np.ndarray, clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Centres among the points, each drawn with a chance that grows with its squared distance from the others."""
    chosen = [int(rng.integers(len(points)))]
    nearest = ((points - points[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < clusters:
        total = nearest.sum()
        chance = nearest / total if total > 0 else None
        chosen.append(int(rng.choice(len(points), p=chance)))
        nearest = np.minimum(nearest, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
    return points[chosen]


def _lloyd(points: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, float]:
    labels = np.full(len(points), -1)
    for _ in range(ROUNDS):
        distance = ((points[:, None] - centres) ** 2).sum(axis=2)
        found = distance.argmin(axis=1)
        if (found == labels).all():
            break
        labels = found
        members = labels[:, None] == np.arange(len(centres))
        sizes = members.sum(axis=0)
        means = (members.T @ points) / np.maximum(sizes, 1)[:, None]
        centres = np.where(sizes[:, None] > 0, means, centres)
    return labels, float(((points - centres[labels]) ** 2).sum())
