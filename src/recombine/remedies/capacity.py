"""The information that slots carry, as a penalty: the KL divergence of a Gaussian posterior from a unit Gaussian."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jaxtyping import Array, Float

from recombine.errors import InputError
from recombine.nets import capacity_of, posterior_of


def capacity(
    net: Any, trace: Mapping[str, Array], batch: Any, *, stage: str = "encoding"
) -> Float[Array, ""]:
    """`capacity_of` the posterior, summed over slots, mean over the batch: the KL term of a variational autoencoder.

    **Arguments:**

    - `stage`: gives μ and s side by side; see `recombine.nets.posterior_of`.
    """
    if "slots" in trace and trace[stage].shape[-1] != 2 * trace["slots"].shape[-1]:
        raise InputError("stage", stage, "mean and log-scale of every latent (a net with variational=True)")
    return capacity_of(*posterior_of(trace[stage])).sum(axis=1).mean()
