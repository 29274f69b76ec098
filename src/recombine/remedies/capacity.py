"""The information that slots carry, as a penalty: the KL divergence of a Gaussian posterior from a unit Gaussian."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from recombine.nets import posterior_of


def capacity_of(
    mean: Float[Array, "batch slots width"], deviation: Float[Array, "batch slots width"]
) -> Float[Array, "batch slots"]:
    """Σ over a slot's latents of -ln ς + (ς² + μ²)/2 - ½, in nats.

    ```python
    >>> import jax.numpy as jnp
    >>> from recombine.remedies import capacity_of
    >>> capacity_of(jnp.zeros((1, 2, 4)), jnp.ones((1, 2, 4))).tolist()
    [[0.0, 0.0]]

    ```
    """
    return (-jnp.log(deviation) + 0.5 * (deviation**2 + mean**2) - 0.5).sum(axis=-1)


def capacity(
    net: Any, trace: Mapping[str, Array], batch: Any, *, stage: str = "encoding"
) -> Float[Array, ""]:
    """`capacity_of` the posterior, summed over slots, mean over the batch: the KL term of a variational autoencoder.

    **Arguments:**

    - `stage`: gives μ and s side by side; see `recombine.nets.posterior_of`.
    """
    return capacity_of(*posterior_of(trace[stage])).sum(axis=1).mean()
