"""Losses, one number per example."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from recombine.errors import InputError
from recombine.nets import PixelSample, pixels_at


def _per_example(values: Array) -> Float[Array, " batch"]:
    return values.reshape(values.shape[0], -1).mean(axis=1)


def squared_error(outputs: Array, targets: Array) -> Float[Array, " batch"]:
    """Squared error averaged over everything but the batch axis."""
    return _per_example((outputs - targets) ** 2)


def summed_squared_error(
    outputs: Array | PixelSample, targets: Array, *, weight: float = 1.0
) -> Float[Array, " batch"]:
    """`weight` times the squared error summed over everything but the batch axis.

    Of a sample of n pixels the sum is scaled by (all pixels) / n, so that its mean over samples is that of all pixels.
    """
    if isinstance(outputs, PixelSample):
        batch, n, channels = outputs.values.shape
        chosen = pixels_at(targets, outputs.which, channels)
        share = n * channels * batch / targets.size
        return weight / share * ((outputs.values - chosen) ** 2).sum(axis=(1, 2))
    return weight * ((outputs - targets) ** 2).reshape(len(targets), -1).sum(axis=1)


def squared_and_absolute_error(
    outputs: Array, targets: Array, *, absolute: float = 0.1
) -> Float[Array, " batch"]:
    """Squared error plus `absolute` times the absolute error, both averaged."""
    error = outputs - targets
    return _per_example(error**2 + absolute * jnp.abs(error))


def cross_entropy(outputs: Float[Array, "batch *parts classes"], targets: Array) -> Float[Array, " batch"]:
    """Softmax cross-entropy with integer classes; with several classes per example, their mean."""
    if targets.size != outputs.size // outputs.shape[-1]:
        raise InputError(
            "targets", f"shape {targets.shape}", f"a class for each part of outputs {outputs.shape}"
        )
    logits = jax.nn.log_softmax(outputs)
    return -_per_example(jnp.take_along_axis(logits, targets.reshape(*outputs.shape[:-1], 1), axis=-1))


def logistic(outputs: Array, targets: Array) -> Float[Array, " batch"]:
    """`log(1 + exp(-y f))` for targets ±1."""
    return _per_example(jax.nn.softplus(-targets * outputs))
