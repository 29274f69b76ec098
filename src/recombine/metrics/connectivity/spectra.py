"""The spectrum of a layer's similarity graph: K modules give K eigenvalues near zero.

After Qian et al. (arXiv 2512.13707), with the symmetric Laplacian, which has the eigenvalues that their random-walk
Laplacian should have. Its limits: similarity is a cosine and ignores size, so dead units are similar to all others and
hide the modules; in a collapsed layer, and in one with K inputs, eigenvalue K + 1 is 1 for any weights, so a gap after
K means nothing: look at the size of eigenvalue K. In dense random nets it is above 0.8; with K = 2, only in layers of
more than two units with more than two inputs (elsewhere it is about 0.75).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from recombine.errors import InputError
from recombine.metrics.connectivity.assignment import DEAD
from recombine.metrics.connectivity.clusters import k_means
from recombine.metrics.connectivity.graph import check_labels, undirected_graph
from recombine.metrics.connectivity.layered import Chain, Live, checked_live

FLOOR = 1e-7
"""Added to every size, as published, so that a unit without connections is similar to all others."""
PUBLISHED_SEED = 42


def similarity(matrix: Any) -> Float[np.ndarray, "after after"]:
    """Cosines between the columns of |matrix| + 1e-7: which units have the same inputs.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import similarity
    >>> similarity(np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]])).round(6).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]

    ```
    """
    size = np.abs(np.asarray(matrix, dtype=np.float64)) + FLOOR
    unit = size / np.linalg.norm(size, axis=0)
    return unit.T @ unit


def laplacian_spectrum(graph: Any) -> tuple[Float[np.ndarray, " units"], Float[np.ndarray, "units units"]]:
    """Eigenvalues, ascending, and eigenvectors of I - D^(-1/2) S D^(-1/2).

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import laplacian_spectrum
    >>> laplacian_spectrum(np.kron(np.eye(2), np.ones((2, 2))))[0].round(6).tolist()
    [0.0, 0.0, 1.0, 1.0]

    ```
    """
    array = undirected_graph(graph)
    degree = array.sum(axis=1)
    if not (degree > 0).all():
        raise InputError("graph", f"unit {int(np.argmin(degree))} without a connection", "connected units")
    scale = 1 / np.sqrt(degree)
    values, vectors = np.linalg.eigh(np.eye(len(array)) - scale[:, None] * array * scale)
    return np.clip(values, 0.0, None), vectors


def layer_spectra(
    weights: Chain,
    modules: int,
    *,
    collapsed: bool = True,
    communities: Sequence[Int[np.ndarray, " units"]] | None = None,
    live: Live | None = None,
    seed: int = PUBLISHED_SEED,
) -> Float[np.ndarray, "layers values"]:
    """The first `modules + 2` Laplacian eigenvalues of every layer, its units joined by the similarity of their inputs.

    **Arguments:**

    - `collapsed`: sum each layer's rows within the communities of the layer before; otherwise units are compared by
        every single weight.
    - `communities`: module numbers of all units, to collapse by; by default they are found layer by layer as
        published: by k-means on the leading eigenvectors, starting with one community per input.
    - `live`: units that count; by default all.

    **Returns:**

    `(layers, modules + 2)`, NaN where a layer has fewer units.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import layer_spectra
    >>> layer_spectra((np.eye(2).repeat(3, axis=1), np.eye(2).repeat(3, axis=0)), 2).round(3).tolist()
    [[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, nan, nan]]

    ```
    """
    masks = checked_live(weights, live)
    fewest = min(int(mask.sum()) for mask in masks[1:])
    if not 1 <= modules <= fewest:
        raise InputError(
            "modules", modules, f"a number from 1 to {fewest}, the live units of the smallest layer"
        )
    known = None if communities is None else check_labels(weights, communities)
    groups = np.arange(weights[0].shape[0]) if known is None else known[0]
    spectra = np.full((len(weights), modules + 2), np.nan)
    for layer, matrix in enumerate(weights):
        size = np.abs(matrix)[masks[layer]][:, masks[layer + 1]]
        if collapsed:
            groups_here = groups[masks[layer]]
            size = np.stack([size[groups_here == group].sum(axis=0) for group in np.unique(groups_here)])
        values, vectors = laplacian_spectrum(similarity(size))
        kept = min(modules + 2, len(values))
        spectra[layer, :kept] = values[:kept]
        groups = np.full(matrix.shape[1], DEAD)
        if not collapsed or layer == len(weights) - 1:
            continue
        if known is None:
            groups[masks[layer + 1]] = k_means(vectors[:, :modules], modules, seed=seed)
        else:
            groups = known[layer + 1]
    return spectra
