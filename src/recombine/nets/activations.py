"""Pointwise non-linearities that a `Part` can name."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array


def leaky_relu(x: Array, *, slope: float = 0.1) -> Array:
    """`x` above zero, `slope` times `x` below."""
    return jnp.where(x >= 0, x, slope * x)


def tanh(x: Array) -> Array:
    """The hyperbolic tangent."""
    return jnp.tanh(x)


def sigmoid(x: Array) -> Array:
    """`1 / (1 + exp(-x))`."""
    return jax.nn.sigmoid(x)


def identity(x: Array) -> Array:
    """`x` itself: a linear net."""
    return x
