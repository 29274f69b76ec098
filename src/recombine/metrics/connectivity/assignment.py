"""Which module a unit belongs to, with the modules of inputs known or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import eigh

from recombine.errors import InputError
from recombine.metrics.connectivity.clusters import RESTARTS, k_means
from recombine.metrics.connectivity.graph import layer_modularity, layered_graph
from recombine.metrics.connectivity.layered import Chain, Live, checked_live

Labels: TypeAlias = tuple[Int[np.ndarray, " units"], ...]
"""A module number for every unit of the inputs, the hidden layers and the outputs; -1 for dead units."""

DEAD = -1
"""The label of a unit that no measure counts."""


def influence(
    weights: Chain, inputs: Sequence[int] | None = None, *, live: Live | None = None
) -> tuple[Float[np.ndarray, "units modules"], ...]:
    """How strongly each module's inputs reach every unit: |W¹||W²|..., for the inputs and every later layer.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import influence
    >>> influence((np.array([[1.0, -2.0], [0.0, 3.0]]),))[1].tolist()  # unit 0: input 0 alone; unit 1: both
    [[1.0, 0.0], [2.0, 3.0]]

    ```
    """
    labels = input_labels(weights, inputs)
    masks = checked_live(weights, live)
    reached = [np.eye(labels.max() + 1)[labels]]
    for matrix, before, after in zip(weights, masks[:-1], masks[1:], strict=True):
        reached.append(np.abs(matrix * before[:, None] * after).T @ reached[-1])
    return tuple(reached)


def input_labels(weights: Chain, inputs: Sequence[int] | None) -> Int[np.ndarray, " inputs"]:
    """The modules of the inputs; by default every input is a separate module."""
    return unit_labels("inputs", inputs, weights[0].shape[0])


def unit_labels(field: str, modules: Sequence[int] | None, size: int) -> Int[np.ndarray, " units"]:
    """The module numbers of `size` units, checked; by default every unit is a separate module."""
    if modules is None:
        return np.arange(size)
    labels = np.asarray(modules)
    if labels.shape != (size,) or labels.dtype.kind not in "iu" or labels.min() < 0:
        raise InputError(field, modules, f"a module number, 0 or more, for each of {size} units")
    return labels.astype(int)


def assign_known(
    weights: Chain,
    *,
    inputs: Sequence[int] | None = None,
    outputs: Sequence[int] | None = None,
    live: Live | None = None,
) -> Labels:
    """Assigns every unit to the module whose inputs reach it most; hidden units that no input reaches are dead.

    A module's `influence` on a unit counts as a share of its total on the layer. Otherwise the inputs with the largest
    weights would claim every unit of a mixed net.

    **Arguments:**

    - `inputs`: module of every input; by default each is its own.
    - `outputs`: module of every output, if known; by default they are assigned by influence, too.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import assign_known
    >>> labels = assign_known((np.array([[0.1, 2.0, 1.0], [1.0, 0.1, 0.2]]), np.ones((3, 2))), outputs=(0, 1))
    >>> [modules.tolist() for modules in labels]
    [[0, 1], [1, 0, 0], [0, 1]]

    ```
    """
    masks = checked_live(weights, live)
    reached = influence(weights, inputs, live=masks)
    modules = reached[0].shape[1]
    shares = [table / np.maximum(table.sum(axis=0), np.finfo(float).tiny) for table in reached]
    labels = [np.where(mask, share.argmax(axis=1), DEAD) for mask, share in zip(masks, shares, strict=True)]
    for layer in range(1, len(weights)):
        labels[layer][~reached[layer].any(axis=1)] = DEAD
    if outputs is not None:
        labels[-1] = unit_labels("outputs", outputs, weights[-1].shape[1])
        if labels[-1].max() >= modules:
            raise InputError(
                "outputs", outputs, f"module numbers from 0 to {modules - 1}, as the inputs have"
            )
    return tuple(labels)


def assign_components(weights: Chain, *, live: Live | None = None) -> Labels:
    """Assigns every unit to the part of the net that it is connected with: exact connected components.

    Two units are connected if a chain of weights other than 0 between live units joins them. Components are numbered in
    the order of their first units; units without any connection get -1.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import assign_components
    >>> first, second = assign_components((np.array([[1.0, 0.0, 2.0], [0.0, 1e-9, 0.0], [0.0, 0.0, 0.0]]),))
    >>> first.tolist(), second.tolist()  # the third input has no connection
    ([0, 1, -1], [0, 1, 0])

    ```
    """
    from scipy.sparse import block_array, coo_array
    from scipy.sparse.csgraph import connected_components

    masks = checked_live(weights, live)
    sizes = [len(mask) for mask in masks]
    blocks: list[list[Any]] = [[None] * len(sizes) for _ in sizes]
    for layer, matrix in enumerate(weights):
        blocks[layer][layer + 1] = coo_array((matrix != 0) & masks[layer][:, None] & masks[layer + 1])
    for layer, size in enumerate(sizes):
        blocks[layer][layer] = coo_array((size, size), dtype=bool)
    _, components = connected_components(block_array(blocks).tocsr(), directed=False)
    connected, first, members = np.unique(components, return_index=True, return_counts=True)
    connected, first = (
        connected[members > 1],
        first[members > 1],
    )  # a single unit is not connected with anything
    number = np.full(components.max() + 1, DEAD)
    number[connected[np.argsort(first)]] = np.arange(len(connected))
    return tuple(np.split(number[components], np.cumsum(sizes)[:-1]))


def assign_unknown(
    weights: Chain,
    modules: int,
    *,
    live: Live | None = None,
    restarts: int = RESTARTS,
    seed: int = 0,
) -> Labels:
    """Spectral clustering of all live units at once, from the graph of the net's layers.

    k-means on the leading eigenvectors of D^(-1/2) A D^(-1/2), with rows scaled to length one (Ng, Jordan and Weiss
    2002). A holds |W| between neighbouring layers.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import assign_unknown
    >>> first, second, third = assign_unknown((np.eye(2).repeat(2, axis=1), np.eye(2).repeat(2, axis=0)), 2)
    >>> bool(second[0] == second[1] == first[0] == third[0] != second[2] == second[3] == first[1])
    True

    ```
    """
    masks = checked_live(weights, live)
    units = int(sum(mask.sum() for mask in masks))
    if not 1 <= modules <= units:
        raise InputError("modules", modules, f"a number from 1 to {units}, the live units of the net")
    return _clustered(masks, _leading(weights, masks, modules)[1], restarts, seed)


def _clustered(masks: Live, vectors: np.ndarray, restarts: int, seed: int) -> Labels:
    """As many clusters of live units as there are eigenvectors, layer by layer."""
    keep = np.concatenate(masks)
    labels = np.full(len(keep), DEAD)
    labels[keep] = k_means(_unit_rows(vectors), vectors.shape[1], restarts=restarts, seed=seed)
    return tuple(np.split(labels, np.cumsum([len(mask) for mask in masks])[:-1]))


def choose_modules(
    weights: Chain,
    *,
    live: Live | None = None,
    max_modules: int = 12,
    by: Literal["newman", "gap"] = "newman",
    seed: int = 0,
) -> int:
    """A number of modules from the weights alone.

    **Arguments:**

    - `max_modules`: the largest number tried.
    - `by`: `"newman"` takes the clustering with the largest modularity, every layer compared with its own chance
        (`layer_modularity`), so that nothing is gained by a cut between early and late layers; `"gap"` takes the
        largest step between neighbouring leading eigenvalues of the graph, above those that a chain of layers has
        without any modules. Clustering finds modules in any weight matrix, so a number alone is not evidence of
        modules: see `newman_null`.

    ```python
    >>> import numpy as np
    >>> from scipy.linalg import block_diag
    >>> from recombine.metrics.connectivity import choose_modules
    >>> rng = np.random.default_rng(0)
    >>> choose_modules([block_diag(*rng.uniform(0.5, 1, (3, a, b))) for a, b in ((1, 6), (6, 6), (6, 1))])
    3

    ```
    """
    if max_modules < 1:
        raise InputError("max_modules", max_modules, "1 or more")
    masks = checked_live(weights, live)
    limit = min(max_modules, int(sum(mask.sum() for mask in masks)))
    if by == "gap":
        values = _leading(weights, masks, limit + 1)[0]
        values = np.maximum(values, _second_of_chain(weights, masks))
        return int(np.argmax(values[:-1] - values[1:])) + 1 if len(values) > 1 else 1
    if by != "newman":
        raise InputError("by", by, "'newman' or 'gap'")
    vectors = _leading(weights, masks, limit)[1]
    scores = [
        layer_modularity(weights, _clustered(masks, vectors[:, :k], RESTARTS, seed))
        for k in range(1, limit + 1)
    ]
    best = max(scores)
    return next(k for k, score in enumerate(scores, start=1) if score >= best - 1e-9)


def _second_of_chain(weights: Chain, live: Live) -> float:
    """The second eigenvalue of the normalised graph if every layer were one unit: what depth alone gives."""
    mass = np.array(
        [np.abs(m[np.ix_(a, b)]).sum() for m, a, b in zip(weights, live[:-1], live[1:], strict=True)]
    )
    degree = np.append(mass, 0) + np.append(0, mass)
    scale = np.sqrt(degree[:-1] * degree[1:])
    between = np.divide(mass, scale, out=np.zeros_like(mass), where=scale > 0)
    return float(np.linalg.eigvalsh(np.diag(between, 1) + np.diag(between, -1))[-2])


def _leading(weights: Chain, live: Live, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The largest eigenvalues of the normalised graph of live units, descending, and eigenvectors in columns."""
    keep = np.concatenate(live)
    graph = layered_graph(weights)[np.ix_(keep, keep)]
    degree, units = graph.sum(axis=1), len(graph)
    scale = np.divide(1, np.sqrt(degree), out=np.zeros_like(degree), where=degree > 0)
    values, vectors = eigh(scale[:, None] * graph * scale, subset_by_index=(max(0, units - count), units - 1))
    return values[::-1], vectors[:, ::-1]


def _unit_rows(points: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(points, axis=1, keepdims=True)
    return np.divide(points, length, out=np.zeros_like(points), where=length > 0)
