"""Which module a unit belongs to, with the modules of inputs known or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from jaxtyping import Float, Int

from recombine.errors import InputError
from recombine.probes.connectivity.graph import layered_graph, newman_modularity
from recombine.probes.connectivity.layered import Chain, Live, checked_live

Labels: TypeAlias = tuple[Int[np.ndarray, " units"], ...]
"""A module number for every unit of the inputs, the hidden layers and the outputs; -1 for dead units."""

DEAD = -1
RESTARTS = 20


def influence(
    weights: Chain, inputs: Sequence[int] | None = None, *, live: Live | None = None
) -> tuple[Float[np.ndarray, "units modules"], ...]:
    """How strongly each module's inputs reach every unit: |W¹||W²|..., for the inputs and every layer behind.

    ```python
    >>> import numpy as np
    >>> from recombine.probes.connectivity import influence
    >>> influence((np.array([[1.0, -2.0], [0.0, 3.0]]),))[1].tolist()  # unit 0: input 0 alone; unit 1: both
    [[1.0, 0.0], [2.0, 3.0]]

    ```
    """
    labels = input_labels(weights, inputs)
    masks = checked_live(weights, live)
    reached = np.eye(labels.max() + 1)[labels]
    found = [reached]
    for matrix, before, after in zip(weights, masks[:-1], masks[1:], strict=True):
        reached = np.abs(matrix * before[:, None] * after).T @ reached
        found.append(reached)
    return tuple(found)


def input_labels(weights: Chain, inputs: Sequence[int] | None) -> Int[np.ndarray, " inputs"]:
    """The modules of the inputs; by default every input is one of its own."""
    return _labels("inputs", inputs, weights[0].shape[0])


def _labels(field: str, given: Sequence[int] | None, size: int) -> Int[np.ndarray, " units"]:
    if given is None:
        return np.arange(size)
    labels = np.asarray(given)
    if labels.shape != (size,) or labels.dtype.kind not in "iu" or labels.min() < 0:
        raise InputError(field, given, f"a module number, 0 or more, for each of {size} units")
    return labels.astype(int)


def assign_known(
    weights: Chain,
    *,
    inputs: Sequence[int] | None = None,
    outputs: Sequence[int] | None = None,
    live: Live | None = None,
) -> Labels:
    """Every unit joins the module whose inputs reach it most (`influence`).

    **Arguments:**

    - `inputs`: module of every input; by default each is its own.
    - `outputs`: module of every output, if it is known; else by influence, too.

    ```python
    >>> import numpy as np
    >>> from recombine.probes.connectivity import assign_known
    >>> labels = assign_known((np.array([[0.1, 2.0, 1.0], [1.0, 0.1, 0.2]]), np.ones((3, 2))), outputs=(0, 1))
    >>> [found.tolist() for found in labels]
    [[0, 1], [1, 0, 0], [0, 1]]

    ```
    """
    masks = checked_live(weights, live)
    reached = influence(weights, inputs, live=masks)
    modules = reached[0].shape[1]
    found = [np.where(mask, table.argmax(axis=1), DEAD) for mask, table in zip(masks, reached, strict=True)]
    if outputs is not None:
        found[-1] = _labels("outputs", outputs, weights[-1].shape[1])
        if found[-1].max() >= modules:
            raise InputError(
                "outputs", outputs, f"module numbers from 0 to {modules - 1}, as the inputs have"
            )
    return tuple(found)


def assign_unknown(
    weights: Chain,
    modules: int,
    *,
    live: Live | None = None,
    restarts: int = RESTARTS,
    seed: int = 0,
) -> Labels:
    """Spectral clustering of all live units at once, from the graph of the net's layers.

    The leading eigenvectors of D^(-1/2) A D^(-1/2), A holding |W| between neighbouring layers; rows scaled to length
    one, then k-means.

    ```python
    >>> import numpy as np
    >>> from recombine.probes.connectivity import assign_unknown
    >>> first, second, third = assign_unknown((np.eye(2).repeat(2, axis=1), np.eye(2).repeat(2, axis=0)), 2)
    >>> bool(second[0] == second[1] == first[0] == third[0] != second[2] == second[3] == first[1])
    True

    ```
    """
    masks = checked_live(weights, live)
    keep = np.concatenate(masks)
    if not 1 <= modules <= keep.sum():
        raise InputError(
            "modules", modules, f"a number from 1 to {int(keep.sum())}, the live units of the net"
        )
    graph = layered_graph(weights)[np.ix_(keep, keep)]
    vectors = _leading(graph, modules)[1]
    found = np.full(len(keep), DEAD)
    found[keep] = _k_means(vectors, modules, restarts, seed)
    cuts = np.cumsum([len(mask) for mask in masks])[:-1]
    return tuple(np.split(found, cuts))


def choose_modules(
    weights: Chain,
    *,
    live: Live | None = None,
    most: int = 12,
    by: Literal["newman", "gap"] = "newman",
    seed: int = 0,
) -> int:
    """A number of modules from the weights alone.

    **Arguments:**

    - `most`: the largest number tried.
    - `by`: `"newman"` takes the clustering with the largest Newman modularity, `"gap"` the largest step between
        neighbouring leading eigenvalues of the graph.

    ```python
    >>> import numpy as np
    >>> from scipy.linalg import block_diag
    >>> from recombine.probes.connectivity import choose_modules
    >>> rng = np.random.default_rng(0)
    >>> choose_modules([block_diag(*rng.uniform(0.5, 1, (3, a, b))) for a, b in ((1, 6), (6, 6), (6, 1))])
    3

    ```
    """
    masks = checked_live(weights, live)
    most = min(most, int(sum(mask.sum() for mask in masks)))
    if by == "gap":
        keep = np.concatenate(masks)
        values = _leading(layered_graph(weights)[np.ix_(keep, keep)], most)[0]
        return int(np.argmax(values[:-1] - values[1:])) + 1 if len(values) > 1 else 1
    if by != "newman":
        raise InputError("by", by, "'newman' or 'gap'")
    scores = [
        newman_modularity(weights, assign_unknown(weights, k, live=masks, seed=seed))
        for k in range(1, most + 1)
    ]
    best = max(scores)
    return next(k for k, score in enumerate(scores, start=1) if score >= best - 1e-9)


def _leading(graph: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues of the normalised graph, descending, and their eigenvectors in columns."""
    degree = graph.sum(axis=1)
    scale = np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    values, vectors = np.linalg.eigh(scale[:, None] * graph * scale)
    order = np.argsort(values)[::-1][:count]
    return values[order], vectors[:, order]


def _k_means(points: np.ndarray, clusters: int, restarts: int, seed: int) -> Int[np.ndarray, " points"]:
    from sklearn.cluster import KMeans

    length = np.linalg.norm(points, axis=1, keepdims=True)
    unit = np.divide(points, length, out=np.zeros_like(points), where=length > 0)
    distinct = len(np.unique(unit.round(9), axis=0))
    fitted = KMeans(min(clusters, distinct), n_init=restarts, random_state=seed).fit(unit)
    return fitted.labels_.astype(int)
