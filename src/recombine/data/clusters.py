"""A factor from embeddings: rows that lie close together get the same level."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from recombine.data.argument_types import check_count
from recombine.data.arrays import as_numbers
from recombine.data.limits import check_magnitude
from recombine.errors import InputError

MAX_CLUSTERS = 100
"""Clusters that can be asked for."""
MAX_TRIED_CLUSTERS = 10
"""Clusters up to which the number is chosen."""
MAX_FITTED_ROWS, MAX_SILHOUETTE_ROWS = 20_000, 2_000
"""Rows on which clusters are fitted and silhouettes measured; of more, so many are drawn. Silhouettes compare pairs."""
_CLUSTER = re.compile(r"cluster [1-9][0-9]*")


def cluster_factor(embeddings: Any, clusters: int | None = None, *, seed: int = 0) -> np.ndarray:
    """A column of levels `"cluster 1"`, `"cluster 2"` … from embeddings, by k-means; the largest cluster is the first.

    Such levels are not annotated: a report on them says so. Scale the embeddings first if their columns have different
    units.

    **Arguments:**

    - `embeddings`: `(rows, dimensions)`; further axes are flattened.
    - `clusters`: how many; by default the number from 2 to 10 with the largest mean silhouette (how much closer a row
        lies to its own cluster than to the next one).

    ```python
    >>> import numpy as np
    >>> from recombine.data import cluster_factor
    >>> cluster_factor(np.array([[0.0, 0.1], [0.1, 0.0], [0.0, 0.0], [9.0, 9.1], [9.1, 9.0]])).tolist()
    ['cluster 1', 'cluster 1', 'cluster 1', 'cluster 2', 'cluster 2']

    ```

    **Reference:** Rousseeuw 1987, doi:10.1016/0377-0427(87)90125-7.
    """
    check_count("seed", seed, "a whole number of at least 0", maximum=2**32 - 1)
    array = as_numbers("embeddings", embeddings, "numbers of shape (rows, dimensions)")
    if array.ndim < 2 or len(array) < 3 or not array[0].size:
        got = f"shape {array.shape}"
        raise InputError("embeddings", got, "at least 3 rows of shape (rows, dimensions)")
    points = array.reshape(len(array), -1).astype(np.float64)
    check_magnitude("embeddings", points)
    rng = np.random.default_rng([seed, 17])
    fitted = points
    if len(points) > MAX_FITTED_ROWS:
        fitted = points[np.sort(rng.choice(len(points), MAX_FITTED_ROWS, replace=False))]
    different = len(np.unique(fitted, axis=0))
    if clusters is not None:
        most = min(MAX_CLUSTERS, different)
        expected = f"a whole number from 2 to {most} (there are {different:,} different embeddings)"
        check_count("clusters", clusters, expected, minimum=2, maximum=most)
    elif different < 3:
        raise InputError("embeddings", f"{different} different rows", "at least 3 different embeddings")
    number = _best_number(fitted, different, rng, seed) if clusters is None else int(clusters)
    return _named(_labels(points, fitted, number, seed))


def is_cluster(level: Any) -> bool:
    """Whether a level has a name that `cluster_factor` gives."""
    return isinstance(level, str) and _CLUSTER.fullmatch(level) is not None


def _labels(
    points: Float[np.ndarray, "rows dimensions"],
    fitted: Float[np.ndarray, "fitted dimensions"],
    number: int,
    seed: int,
) -> Int[np.ndarray, " rows"]:
    from sklearn.cluster import KMeans

    return KMeans(number, n_init=4, random_state=seed).fit(fitted).predict(points)


def _best_number(
    fitted: Float[np.ndarray, "fitted dimensions"], different: int, rng: np.random.Generator, seed: int
) -> int:
    from sklearn.metrics import silhouette_score

    some = np.arange(len(fitted))
    if len(fitted) > MAX_SILHOUETTE_ROWS:
        some = np.sort(rng.choice(len(fitted), MAX_SILHOUETTE_ROWS, replace=False))
    scores = {}
    for number in range(2, min(MAX_TRIED_CLUSTERS, different - 1) + 1):
        labels = _labels(fitted, fitted, number, seed)[some]
        if 2 <= len(np.unique(labels)) < len(some):
            scores[number] = float(silhouette_score(fitted[some], labels))
    return max(scores, key=scores.__getitem__) if scores else 2


def _named(labels: Int[np.ndarray, " rows"]) -> np.ndarray:
    """Names by size, the largest cluster first; of equal ones the one that occurs first."""
    used, first, rows = np.unique(labels, return_index=True, return_counts=True)
    order = np.lexsort((first, -rows))
    names = {int(used[old]): f"cluster {new}" for new, old in enumerate(order, start=1)}
    return np.array([names[label] for label in labels.tolist()])
