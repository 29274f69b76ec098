"""The information that slots carry."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch.distributions import Normal, kl_divergence

from recombine.errors import InputError
from recombine.nets import posterior_of
from recombine.remedies import capacity, capacity_of

ENCODING = np.random.default_rng(0).normal(size=(3, 2, 8)).astype(np.float32)


def expected() -> torch.Tensor:
    mean, log_scale = torch.tensor(ENCODING).chunk(2, dim=-1)
    return kl_divergence(Normal(mean, 0.5 * log_scale.exp()), Normal(0.0, 1.0)).sum(dim=-1)


def test_the_divergence_of_every_slot_against_torch() -> None:
    np.testing.assert_allclose(capacity_of(*posterior_of(jnp.asarray(ENCODING))), expected(), rtol=1e-5)


def test_the_penalty_sums_over_slots() -> None:
    trace = {"encoding": jnp.asarray(ENCODING), "slots": jnp.zeros((3, 2, 4))}
    np.testing.assert_allclose(capacity(None, trace, None), expected().sum(dim=1).mean(), rtol=1e-5)


def test_slots_without_a_posterior_are_refused() -> None:
    """Half of the latents would silently be taken for log-scales."""
    trace = {"encoding": jnp.asarray(ENCODING), "slots": jnp.asarray(ENCODING)}
    with pytest.raises(InputError, match="a net with variational=True"):
        capacity(None, trace, None)
