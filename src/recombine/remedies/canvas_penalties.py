"""Penalties that force every factor to be drawn as a stripe (Liang et al. 2025).

Both act on a render layer's canvases, Σ_j λ_tj l_tj r_tjᵀ for each level t. Their arithmetic, `entropy_of` and
`variance_of`, takes arrays of NumPy, JAX and PyTorch alike.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from recombine.nets import render_layer
from recombine.remedies.array_namespace import namespace_of
from recombine.remedies.penalties import as_penalty


def entropy_of(spectrum: Any, *, floor: float = 1e-8) -> Any:
    """Entropy of the shares λ² / Σλ² of every level's spectrum `(levels, rank)`, in nats, summed over levels.

    H = -Σ_t Σ_j p ln p with p = max(λ_tj² / Σ_j' λ_tj'², floor). Zero (up to the floor) if and only if every
    level's matrix has rank 1; at most levels · ln(rank).

    ```python
    >>> import jax.numpy as jnp
    >>> from recombine.remedies import entropy_of
    >>> flat, single = jnp.ones((1, 4)), jnp.array([[1.0, 0.0, 0.0, 0.0]])
    >>> [round(float(entropy_of(spectrum)), 4) for spectrum in (flat, single)]
    [1.3863, 0.0]

    ```
    """
    library, energy = namespace_of(spectrum), spectrum**2
    share = library.clip(energy / energy.sum(1)[:, None], floor, None)
    return -(share * library.log(share)).sum()


def variance_of(vectors: Any, *, axis: int) -> Any:
    """Unbiased variance along `axis`, summed over everything else: zero if all vectors are constant.

    ```python
    >>> import numpy as np
    >>> from recombine.remedies import variance_of
    >>> vectors = np.arange(6.0).reshape(1, 2, 3)
    >>> float(variance_of(vectors, axis=1)), float(variance_of(vectors, axis=2))
    (13.5, 2.0)

    ```
    """
    return namespace_of(vectors).var(vectors, axis, correction=1).sum()


@as_penalty(weights_only=True)
def spectrum_entropy(net: Any, outputs: Any, batch: Any) -> Float[Array, ""]:
    """Pushes every level's matrix to rank 1: `entropy_of` the spectra of all canvases.

    ```python
    >>> import jax, numpy as np
    >>> from recombine import nets
    >>> from recombine.remedies import spectrum_entropy
    >>> net = nets.render_net(levels=(4, 4), hidden=0, key=jax.random.key(0))
    >>> even = jax.tree.map(np.ones_like, net)  # all singular values are equal
    >>> round(float(spectrum_entropy(even)), 4)  # 8 levels of ln 4
    11.0904

    ```
    """
    return sum((entropy_of(canvas.spectrum) for canvas in render_layer(net).canvases), start=jnp.zeros(()))


@as_penalty(weights_only=True)
def flatness(net: Any, outputs: Any, batch: Any, *, normalised: bool = False) -> Float[Array, ""]:
    """Pushes the vectors of every level's matrix to be constant, so that a rank-1 matrix is a stripe.

    The published penalty acts on the raw vectors, which could also satisfy it by shrinking. With `normalised` it acts
    on unit vectors, which cannot.

    ```python
    >>> import jax, numpy as np
    >>> from recombine import nets
    >>> from recombine.remedies import flatness
    >>> net = nets.render_net(levels=(4, 4), hidden=0, key=jax.random.key(0))
    >>> float(flatness(jax.tree.map(np.ones_like, net)))  # constant vectors
    0.0

    ```
    """
    total = jnp.zeros(())
    for canvas in render_layer(net).canvases:
        used = canvas.normalised() if normalised else canvas
        total = total + variance_of(used.columns, axis=1) + variance_of(used.rows, axis=2)
    return total
