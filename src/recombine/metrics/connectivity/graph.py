"""How well a division into modules fits the weights: the share of weight within modules, and Newman modularity."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from recombine.errors import InputError
from recombine.metrics.connectivity.layered import Chain, Live


def undirected_graph(graph: Any) -> Float[np.ndarray, "units units"]:
    """The weights of connections between all units; refused if they are not symmetric, or below 0."""
    array = np.asarray(graph, dtype=np.float64)
    if array.ndim != 2 or array.shape[0] != array.shape[1]:
        raise InputError("graph", f"shape {array.shape}", "a square matrix, as many rows as columns")
    if not np.isfinite(array).all() or (array < 0).any():
        raise InputError("graph", "values below 0 or not finite", "numbers of 0 or more")
    if not np.allclose(array, array.T):
        raise InputError("graph", "a matrix that differs from its transpose", "a symmetric matrix")
    return array


def layered_graph(weights: Chain) -> Float[np.ndarray, "units units"]:
    """The symmetric graph of all units: |W| between neighbouring layers, 0 elsewhere.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import layered_graph
    >>> layered_graph((np.array([[-2.0]]), np.array([[1.0]]))).tolist()
    [[0.0, 2.0, 0.0], [2.0, 0.0, 1.0], [0.0, 1.0, 0.0]]

    ```
    """
    starts = np.cumsum([0, weights[0].shape[0], *(matrix.shape[1] for matrix in weights)])
    graph = np.zeros((starts[-1], starts[-1]))
    for layer, matrix in enumerate(weights):
        rows, columns = slice(starts[layer], starts[layer + 1]), slice(starts[layer + 1], starts[layer + 2])
        graph[rows, columns] = np.abs(matrix)
        graph[columns, rows] = np.abs(matrix).T
    return graph


def in_block_mass(
    weights: Chain, labels: Sequence[Int[np.ndarray, " units"]], *, power: float = 2.0
) -> dict[str, Float[np.ndarray, " layers"]]:
    """The share of Σ|w|^power that joins units of one module, layer by layer.

    **Returns:**

    `mass`; `chance`, what equal weights would give, Σ_m n_m n'_m / (n n'); `score`, (mass - chance) / (1 - chance),
    NaN if chance is 1. Units with label -1 are left out.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import in_block_mass
    >>> result = in_block_mass((np.array([[3.0, 1.0], [1.0, 1.0]]),), ([0, 1], [0, 1]))
    >>> {name: float(value[0].round(3)) for name, value in result.items()}
    {'mass': 0.833, 'chance': 0.5, 'score': 0.667}

    ```
    """
    labels = check_labels(weights, labels)
    result: dict[str, list[float]] = {"mass": [], "chance": [], "score": []}
    for layer, matrix in enumerate(weights):
        before, after = labels[layer], labels[layer + 1]
        live = np.ix_(before >= 0, after >= 0)
        size = np.abs(matrix[live]) ** power
        same = (before[:, None] == after)[live]
        total = size.sum()
        if not total > 0:
            raise InputError(f"weights[{layer}]", "only zeros between live units", "at least one connection")
        mass, chance = float(size[same].sum() / total), float(same.mean())
        result["mass"].append(mass)
        result["chance"].append(chance)
        result["score"].append((mass - chance) / (1 - chance) if chance < 1 else np.nan)
    return {name: np.array(values) for name, values in result.items()}


def newman(graph: Any, labels: Any) -> float:
    """Newman modularity of any undirected graph: Q = (1/2M) Σ_ij (G_ij - k_i k_j / 2M) [c_i = c_j].

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import newman
    >>> newman(np.kron(np.eye(2), np.ones((3, 3))), [0, 0, 0, 1, 1, 1])  # two disconnected parts
    0.5

    ```
    """
    array, groups = undirected_graph(graph), np.asarray(labels)
    if groups.shape != (len(array),):
        raise InputError("labels", f"shape {groups.shape}", f"a module number for each of {len(array)} units")
    total = array.sum()
    if not total > 0:
        raise InputError("graph", "no connection", "at least one")
    degree = array.sum(axis=1)
    same = groups[:, None] == groups
    return float((array[same].sum() - np.outer(degree, degree)[same].sum() / total) / total)


def newman_modularity(weights: Chain, labels: Sequence[Int[np.ndarray, " units"]]) -> float:
    """`newman` of the layered graph of |W| over live units: at most 1 - 1/K for K equal modules.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import newman_modularity
    >>> newman_modularity((np.eye(4), np.eye(4)), (np.arange(4), np.arange(4), np.arange(4)))
    0.75

    ```
    """
    labels = check_labels(weights, labels)
    return _newman([np.abs(matrix) for matrix in weights], _indicators(labels))


def layer_modularity(weights: Chain, labels: Sequence[Int[np.ndarray, " units"]]) -> float:
    """Like `newman_modularity`, but with a null model that respects layers: units connect only to neighbouring layers.

    Σ_l Σ_m (e_lm - r_lm s_lm / e_l) / Σ_l e_l, with e_l the weight of layer l, e_lm its part inside module m, and r_lm
    and s_lm its parts that leave units of m and that reach units of m (Barber's bipartite modularity, layer by layer).

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity.graph import layer_modularity, newman_modularity
    >>> dense = (np.ones((2, 2)),) * 3
    >>> early, late = np.zeros(2, dtype=int), np.ones(2, dtype=int)
    >>> layer_modularity(dense, (early, early, late, late)), newman_modularity(dense, (early, early, late, late))
    (0.0, 0.16666666666666663)

    ```
    """
    indicators = _indicators(check_labels(weights, labels))
    gained = total = 0.0
    for matrix, before, after in zip(weights, indicators[:-1], indicators[1:], strict=True):
        between = before.T @ np.abs(matrix) @ after
        layer = between.sum()
        expected = (between.sum(axis=0) * between.sum(axis=1)).sum() / layer if layer > 0 else 0.0
        gained, total = gained + np.trace(between) - expected, total + layer
    if not total > 0:
        raise InputError("weights", "no connection between live units", "at least one")
    return float(gained / total)


def newman_null(
    weights: Chain, labels: Sequence[Int[np.ndarray, " units"]], *, permutations: int = 100, seed: int = 0
) -> dict[str, float]:
    """Newman modularity compared with nets whose weights were shuffled within each layer, with the same labels.

    **Returns:**

    `newman`, the shuffled nets' `null_mean` and `null_std`, and `z`, the distance from their mean in their standard
    deviations.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import newman_null
    >>> labels = (np.arange(4).repeat(4),) * 3
    >>> result = newman_null((np.kron(np.eye(4), np.ones((4, 4))),) * 2, labels)
    >>> result["newman"], bool(result["z"] > 10)
    (0.75, True)

    ```
    """
    if permutations < 2:
        raise InputError("permutations", permutations, "2 or more")
    labels = check_labels(weights, labels)
    indicators = _indicators(labels)
    sizes = tuple(np.abs(matrix) for matrix in weights)
    live = tuple(values >= 0 for values in labels)
    rng = np.random.default_rng(seed)
    others = [_newman(shuffled(sizes, live, rng), indicators) for _ in range(permutations)]
    value, mean, spread = _newman(sizes, indicators), float(np.mean(others)), float(np.std(others, ddof=1))
    z = (value - mean) / spread if spread > 1e-12 else np.nan
    return {"newman": value, "null_mean": mean, "null_std": spread, "z": float(z)}


def shuffled(weights: Chain, live: Live, rng: np.random.Generator) -> Chain:
    """The weights of each layer in random places among live units; all other weights are 0."""
    chain = []
    for matrix, (before, after) in zip(weights, pairwise(live), strict=True):
        block = np.ix_(before, after)
        copy = np.zeros_like(matrix)
        copy[block] = rng.permutation(matrix[block].ravel()).reshape(matrix[block].shape)
        chain.append(copy)
    return tuple(chain)


def module_shares(
    weights: Chain, labels: Sequence[Int[np.ndarray, " units"]]
) -> Float[np.ndarray, " modules"]:
    """Each module's share of Σ|w| over live units, with every connection counted at both of its ends.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity.graph import module_shares
    >>> module_shares((np.array([[3.0, 0.0], [0.0, 1.0]]),), ([0, 1], [0, 1])).tolist()
    [0.75, 0.25]

    ```
    """
    labels = check_labels(weights, labels)
    return _shares([np.abs(matrix) for matrix in weights], _indicators(labels))[1]


def check_labels(weights: Chain, labels: Sequence[Any]) -> tuple[Int[np.ndarray, " units"], ...]:
    """Labels as integer arrays that fit the weights."""
    sizes = [weights[0].shape[0], *(matrix.shape[1] for matrix in weights)]
    arrays = tuple(np.asarray(values) for values in labels)
    if [values.shape for values in arrays] != [(size,) for size in sizes]:
        raise InputError("labels", [values.shape for values in arrays], f"module numbers for {sizes} units")
    return arrays


def _indicators(labels: Sequence[Int[np.ndarray, " units"]]) -> list[Float[np.ndarray, "units modules"]]:
    modules = max(int(values.max()) for values in labels) + 1
    return [(values[:, None] == np.arange(modules)).astype(float) for values in labels]


def _newman(sizes: Sequence[np.ndarray], indicators: Sequence[np.ndarray]) -> float:
    """Q from the weight between every two modules, without the graph of all units."""
    inside, shares = _shares(sizes, indicators)
    return float(inside - (shares**2).sum())


def _shares(
    sizes: Sequence[np.ndarray], indicators: Sequence[np.ndarray]
) -> tuple[float, Float[np.ndarray, " modules"]]:
    """The share of all weight within modules, and each module's share of all ends of connections."""
    inside, ends = 0.0, np.zeros(indicators[0].shape[1])
    for size, before, after in zip(sizes, indicators[:-1], indicators[1:], strict=True):
        between = before.T @ size @ after
        inside += float(np.trace(between))
        ends += between.sum(axis=0) + between.sum(axis=1)
    total = ends.sum() / 2
    if not total > 0:
        raise InputError("weights", "no connection between live units", "at least one")
    return inside / total, ends / (2 * total)
