"""Dense layers, plain and block diagonal, their initialisations, small MLPs and dropout."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import jax.scipy.linalg
from jaxtyping import Array, Float, PRNGKeyArray

from recombine.nets.layers.activations import gelu


def uniform_fan_in(key: PRNGKeyArray, shape: tuple[int, ...], fan_in: int) -> Array:
    """PyTorch's default: uniform between ±1/√fan_in, for weights and biases alike."""
    bound = fan_in**-0.5
    return jax.random.uniform(key, shape, jnp.float32, -bound, bound)


class Linear(eqx.Module):
    """`x @ weight + bias` on the last axis, weight `(inputs, outputs)`, initialised as in PyTorch.

    All other axes are merged into one for the product, which makes its gradients twice as fast on a CPU.
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


def xavier(layer: Linear, key: PRNGKeyArray) -> Linear:
    """The layer with Xavier weights, uniform within ±√(6 / (inputs + outputs)); its bias is kept."""
    inputs, outputs = layer.weight.shape
    bound = (6 / (inputs + outputs)) ** 0.5
    weight = jax.random.uniform(key, (inputs, outputs), jnp.float32, -bound, bound)
    return eqx.tree_at(lambda changed: changed.weight, layer, weight)


def xavier_linear(inputs: int, outputs: int, *, key: PRNGKeyArray) -> Linear:
    """A linear layer with Xavier weights and PyTorch's default bias."""
    own, weight = jax.random.split(key)
    return xavier(Linear(inputs, outputs, key=own), weight)


class MLP(eqx.Module):
    """Linear layers with GELU between them, on the last axis."""

    layers: tuple[Linear, ...]

    def __init__(self, widths: tuple[int, ...], *, glorot: bool = False, key: PRNGKeyArray) -> None:
        make = xavier_linear if glorot else Linear
        pairs = pairwise(widths)
        self.layers = tuple(make(a, b, key=jax.random.fold_in(key, i)) for i, (a, b) in enumerate(pairs))

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        for layer in self.layers[:-1]:
            x = gelu(layer(x))
        return self.layers[-1](x)


class Dropout(eqx.Module):
    """Sets a fraction `rate` of the values to 0 in training and scales the rest by 1 / (1 - rate)."""

    rate: float = eqx.field(static=True)

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        if key is None or self.rate == 0:
            return x
        keep = jax.random.bernoulli(key, 1 - self.rate, x.shape)
        return jnp.where(keep, x / (1 - self.rate), 0.0)
