"""The information in slots as a penalty: the KL divergence of a Gaussian posterior from a unit Gaussian.

The arithmetic, `capacity_of`, takes arrays of NumPy, JAX and PyTorch alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jaxtyping import Array, Float

from recombine.errors import InputError
from recombine.nets import posterior_of
from recombine.remedies.array_namespace import namespace_of
from recombine.remedies.penalties import as_penalty


def capacity_of(mean: Any, deviation: Any) -> Any:
    """Σ over a slot's latents of -ln ς + (ς² + μ²)/2 - ½, in nats: `(batch, slots, width)` to `(batch, slots)`.

    ```python
    >>> import numpy as np
    >>> from recombine.remedies import capacity_of
    >>> capacity_of(np.zeros((1, 2, 4)), np.ones((1, 2, 4))).tolist()
    [[0.0, 0.0]]

    ```
    """
    return (-namespace_of(deviation).log(deviation) + 0.5 * (deviation**2 + mean**2) - 0.5).sum(-1)


@as_penalty
def capacity(
    net: Any, outputs: Mapping[str, Array], batch: Any, *, stage: str = "encoding"
) -> Float[Array, ""]:
    """`capacity_of` the posterior, summed over slots, mean over the batch: the KL term of a variational autoencoder.

    **Arguments:**

    - `stage`: the stage whose output holds mean μ and log-scale s of every slot, one after the other; see
        `recombine.nets.posterior_of`.

    ```python
    >>> import jax.numpy as jnp
    >>> from recombine.nets import Net
    >>> from recombine.remedies import capacity
    >>> net = Net(("encoding",), (lambda x: x,))
    >>> mean, log_scale = jnp.zeros((4, 2, 3)), jnp.full((4, 2, 3), jnp.log(2.0))  # a unit Gaussian: ½ exp(s) = 1
    >>> abs(round(float(capacity(net, jnp.concatenate([mean, log_scale], axis=-1))), 5))
    0.0

    ```
    """
    if "slots" in outputs and outputs[stage].shape[-1] != 2 * outputs["slots"].shape[-1]:
        raise InputError("stage", stage, "mean and log-scale of every latent (a net with variational=True)")
    return capacity_of(*posterior_of(outputs[stage])).sum(axis=1).mean()
