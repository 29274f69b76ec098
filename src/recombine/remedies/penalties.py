"""Penalties that force every factor to be drawn as a stripe (Liang et al. 2025).

Both act on a render layer's canvases, Σ_j λ_tj l_tj r_tjᵀ for each level t. They are penalties in the sense
of `recombine.Penalty`, `(net, trace, batch) -> scalar`, and their arithmetic is open to other training loops:
`entropy_of` and `variance_of` are functions of plain arrays.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from recombine.nets import render_layer


def entropy_of(spectrum: Float[Array, "levels rank"], *, floor: float = 1e-8) -> Float[Array, ""]:
    """Entropy of the shares λ² / Σλ² of every level's spectrum, in nats, summed over levels.

    H = -Σ_t Σ_j p ln p with p = max(λ_tj² / Σ_j' λ_tj'², floor). Zero (up to the floor) if and only if every
    level's matrix has rank 1; at most levels · ln(rank).

    ```python
    >>> import jax.numpy as jnp
    >>> from recombine.remedies.penalties import entropy_of
    >>> flat, single = jnp.ones((1, 4)), jnp.array([[1.0, 0.0, 0.0, 0.0]])
    >>> [round(float(entropy_of(spectrum)), 4) for spectrum in (flat, single)]
    [1.3863, 0.0]

    ```
    """
    energy = spectrum**2
    share = jnp.maximum(energy / energy.sum(axis=1, keepdims=True), floor)
    return -(share * jnp.log(share)).sum()


def variance_of(vectors: Float[Array, "levels a b"], *, axis: int) -> Float[Array, ""]:
    """Unbiased variance along `axis`, summed over everything else: zero if all vectors are constant."""
    return vectors.var(axis=axis, ddof=1).sum()


def spectrum_entropy(net: Any, trace: Any, batch: Any) -> Float[Array, ""]:
    """Pushes every level's matrix to rank 1: `entropy_of` all canvases' spectra."""
    return sum((entropy_of(canvas.spectrum) for canvas in render_layer(net).canvases), start=jnp.zeros(()))


def flatness(net: Any, trace: Any, batch: Any, *, normalised: bool = False) -> Float[Array, ""]:
    """Pushes the vectors of every level's matrix to be constant, so that a rank-1 matrix is a stripe.

    The published penalty acts on the raw vectors, which could also meet it by shrinking. With `normalised` it
    acts on unit vectors, which cannot.
    """
    total = jnp.zeros(())
    for canvas in render_layer(net).canvases:
        used = canvas.normalised() if normalised else canvas
        total = total + variance_of(used.columns, axis=1) + variance_of(used.rows, axis=2)
    return total
