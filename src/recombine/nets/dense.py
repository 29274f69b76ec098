"""Dense layers and what goes with them."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from recombine.nets.stages import Buffer


def uniform_fan_in(key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Array:
    """PyTorch's default: uniform between ±1/√fan_in, for weights and biases alike."""
    bound = fan_in**-0.5
    return jax.random.uniform(key, shape, jnp.float32, -bound, bound)


class Linear(eqx.Module):
    """`x @ weight + bias` on the last axis, weight `(inputs, outputs)`, initialised as in PyTorch."""

    weight: Float[Array, "inputs outputs"]
    bias: Float[Array, " outputs"] | None

    def __init__(self, inputs: int, outputs: int, *, bias: bool = True, key: PRNGKeyArray) -> None:
        weight_key, bias_key = jax.random.split(key)
        self.weight = uniform_fan_in(weight_key, (inputs, outputs), inputs)
        self.bias = uniform_fan_in(bias_key, (outputs,), inputs) if bias else None

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        product = x @ self.weight
        return product if self.bias is None else product + self.bias


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
    which `absorb` moves by `momentum` towards the batch (with the unbiased variance).
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
            mean, variance = self.mean.value, self.variance.value
        else:
            mean, variance = _moments(x)
        return (x - mean) * jax.lax.rsqrt(variance + self.epsilon) * self.scale + self.shift

    def absorb(self, x: Array) -> BatchNorm:
        """The layer with running statistics that have taken in the batch `x`."""
        mean, variance = _moments(x)
        count = x.size // x.shape[-1]
        unbiased = variance * count / max(count - 1, 1)
        keep = 1 - self.momentum
        return eqx.tree_at(
            lambda layer: (layer.mean.value, layer.variance.value),
            self,
            (
                keep * self.mean.value + self.momentum * mean,
                keep * self.variance.value + self.momentum * unbiased,
            ),
        )


def _moments(x: Array) -> tuple[Array, Array]:
    axes = tuple(range(x.ndim - 1))
    mean = x.mean(axis=axes)
    return mean, ((x - mean) ** 2).mean(axis=axes)


class Dropout(eqx.Module):
    """Sets a fraction `rate` of the values to 0 in training and scales the rest by 1 / (1 - rate)."""

    rate: float = eqx.field(static=True)

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        if key is None or self.rate == 0:
            return x
        keep = jax.random.bernoulli(key, 1 - self.rate, x.shape)
        return jnp.where(keep, x / (1 - self.rate), 0.0)
