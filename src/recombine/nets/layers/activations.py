"""Pointwise non-linearities."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray


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


def gelu(x: Array) -> Array:
    """The exact GELU, x Φ(x) with the normal distribution function Φ, not its tanh approximation.

    Written with erf: `jax.nn.gelu` uses erfc, which takes twice the time on a CPU.
    """
    return 0.5 * x * (1 + jax.lax.erf(x * 0.5**0.5))


class PReLU(eqx.Module):
    """`max(0, x) + slope * min(0, x)` with one trained slope, 0.25 at the start as in PyTorch."""

    slope: Float[Array, ""]

    def __init__(self, slope: float = 0.25) -> None:
        self.slope = jnp.asarray(slope, dtype=jnp.float32)

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        return jnp.where(x >= 0, x, self.slope * x)
