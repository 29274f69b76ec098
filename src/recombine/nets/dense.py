"""Dense layers and what goes with them."""

from __future__ import annotations

import math
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.scipy.linalg
from jaxtyping import Array, Float, PRNGKeyArray

from recombine.nets.stages import Buffer


def uniform_fan_in(key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Array:
    """PyTorch's default: uniform between ±1/√fan_in, for weights and biases alike."""
    bound = fan_in**-0.5
    return jax.random.uniform(key, shape, jnp.float32, -bound, bound)


class Linear(eqx.Module):
    """`x @ weight + bias` on the last axis, weight `(inputs, outputs)`, initialised as in PyTorch.

    All other axes are made one for the product: on a CPU its gradients are then twice as fast.
    """

    weight: Float[Array, "inputs outputs"]
    bias: Float[Array, " outputs"] | None

    def __init__(self, inputs: int, outputs: int, *, bias: bool = True, key: PRNGKeyArray) -> None:
        weight_key, bias_key = jax.random.split(key)
        self.weight = uniform_fan_in(weight_key, (inputs, outputs), inputs)
        self.bias = uniform_fan_in(bias_key, (outputs,), inputs) if bias else None

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        product = (x.reshape(-1, x.shape[-1]) @ self.weight).reshape(*x.shape[:-1], self.weight.shape[1])
        return product if self.bias is None else product + self.bias


class BlockLinear(eqx.Module):
    """Several linear maps side by side, weight `(blocks, inputs, outputs)` of one block: a dense map that is block
    diagonal by construction.

    Features `[i * inputs, (i + 1) * inputs)` belong to block `i`. Initialised as in PyTorch, by a block's own fan-in.

    ```python
    >>> import jax, jax.numpy as jnp
    >>> from recombine.nets import BlockLinear
    >>> layer = BlockLinear(2, 3, 1, key=jax.random.key(0))
    >>> layer(jnp.ones((5, 6))).shape, layer.matrix.shape, int((layer.matrix != 0).sum())
    ((5, 2), (6, 2), 6)

    ```
    """

    weight: Float[Array, "blocks inputs outputs"]
    bias: Float[Array, " blocks*outputs"] | None

    def __init__(
        self, blocks: int, inputs: int, outputs: int, *, bias: bool = True, key: PRNGKeyArray
    ) -> None:
        weight_key, bias_key = jax.random.split(key)
        self.weight = uniform_fan_in(weight_key, (blocks, inputs, outputs), inputs)
        self.bias = uniform_fan_in(bias_key, (blocks * outputs,), inputs) if bias else None

    @property
    def matrix(self) -> Float[Array, "all_inputs all_outputs"]:
        """The same map as one matrix, zero outside the blocks."""
        return jax.scipy.linalg.block_diag(*self.weight)

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        blocks, inputs, outputs = self.weight.shape
        parts = x.reshape(*x.shape[:-1], blocks, inputs)
        product = jnp.einsum("...bi,bio->...bo", parts, self.weight).reshape(*x.shape[:-1], blocks * outputs)
        return product if self.bias is None else product + self.bias


Weighted = TypeVar("Weighted", bound=eqx.Module)


def he_normal(layer: Weighted, key: PRNGKeyArray) -> Weighted:
    """The layer or convolution with weights from a normal distribution of variance 2 / fan_in (He et al. 2015)."""
    shape = layer.weight.shape  # type: ignore[attr-defined]
    weight = jax.random.normal(key, shape) * (2 / math.prod(shape[:-1])) ** 0.5
    changed: Weighted = eqx.tree_at(lambda new: new.weight, layer, weight)
    return changed


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
    normalised too, but count for neither.
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
        """The output in training, and the layer with running statistics that have taken in the batch `x`."""
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
    """Mean and variance of every channel, and over how many values they were taken."""
    axes, per_row = tuple(range(x.ndim - 1)), x.size // (x.shape[0] * x.shape[-1])
    if weight is None:
        mean = x.mean(axis=axes)
        return mean, ((x - mean) ** 2).mean(axis=axes), float(x.shape[0] * per_row)
    rows, count = weight.reshape(-1, *[1] * (x.ndim - 1)), weight.sum() * per_row
    mean = (rows * x).sum(axis=axes) / count
    return mean, (rows * (x - mean) ** 2).sum(axis=axes) / count, count


class Dropout(eqx.Module):
    """Sets a fraction `rate` of the values to 0 in training and scales the rest by 1 / (1 - rate)."""

    rate: float = eqx.field(static=True)

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        if key is None or self.rate == 0:
            return x
        keep = jax.random.bernoulli(key, 1 - self.rate, x.shape)
        return jnp.where(keep, x / (1 - self.rate), 0.0)
