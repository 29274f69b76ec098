"""Layer and batch normalisation, as PyTorch defines them."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from recombine.nets.stages import Buffer


class LayerNorm(eqx.Module):
    """Normalises the last axis to mean 0 and variance 1, then scales and shifts (PyTorch's `LayerNorm`)."""

    scale: Float[Array, " features"]
    shift: Float[Array, " features"]
    epsilon: float = eqx.field(static=True)

    def __init__(self, features: int, *, epsilon: float = 1e-5) -> None:
        self.scale, self.shift = jnp.ones(features), jnp.zeros(features)
        self.epsilon = epsilon

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        centred = x - x.mean(axis=-1, keepdims=True)
        variance = (centred**2).mean(axis=-1, keepdims=True)
        return centred * jax.lax.rsqrt(variance + self.epsilon) * self.scale + self.shift


class BatchNorm(eqx.Module):
    """Normalises every channel (the last axis) over the batch and all positions, as PyTorch's `BatchNorm`.

    In training (a key is given) the batch's own mean and variance are used; in evaluation the running ones,
    which `observe` moves by `momentum` towards the batch's (with the unbiased variance). Rows of weight 0 are
    normalised too, but do not enter the statistics.
    """

    scale: Float[Array, " channels"]
    shift: Float[Array, " channels"]
    mean: Buffer
    variance: Buffer
    momentum: float = eqx.field(static=True)
    epsilon: float = eqx.field(static=True)

    def __init__(self, channels: int, *, momentum: float = 0.1, epsilon: float = 1e-5) -> None:
        self.scale, self.shift = jnp.ones(channels), jnp.zeros(channels)
        self.mean, self.variance = Buffer(jnp.zeros(channels)), Buffer(jnp.ones(channels))
        self.momentum, self.epsilon = momentum, epsilon

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        if key is None:
            return self._normalised(x, self.mean.value, self.variance.value)
        return self.observe(x, key=key)[0]

    def observe(
        self, x: Array, *, key: PRNGKeyArray, weight: Float[Array, " batch"] | None = None
    ) -> tuple[Array, BatchNorm]:
        """The output in training, and the layer with running statistics updated by the batch `x`."""
        mean, variance, count = _moments(x, weight)
        unbiased = variance * count / jnp.maximum(count - 1, 1)
        keep = 1 - self.momentum
        new = (
            keep * self.mean.value + self.momentum * mean,
            keep * self.variance.value + self.momentum * unbiased,
        )
        after = eqx.tree_at(
            lambda layer: (layer.mean.value, layer.variance.value), self, jax.lax.stop_gradient(new)
        )
        return self._normalised(x, mean, variance), after

    def _normalised(self, x: Array, mean: Array, variance: Array) -> Array:
        return (x - mean) * jax.lax.rsqrt(variance + self.epsilon) * self.scale + self.shift


def _moments(x: Array, weight: Array | None) -> tuple[Array, Array, float | Array]:
    """Mean and variance of every channel, and the number of values they were taken over."""
    axes, per_row = tuple(range(x.ndim - 1)), x.size // (x.shape[0] * x.shape[-1])
    if weight is None:
        mean = x.mean(axis=axes)
        return mean, ((x - mean) ** 2).mean(axis=axes), float(x.shape[0] * per_row)
    rows, count = weight.reshape(-1, *[1] * (x.ndim - 1)), weight.sum() * per_row
    mean = (rows * x).sum(axis=axes) / count
    return mean, (rows * (x - mean) ** 2).sum(axis=axes) / count, count
