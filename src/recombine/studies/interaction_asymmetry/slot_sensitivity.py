"""Derivatives of a decoder with respect to its slots, with one forward-mode product per latent and little memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from recombine.errors import InputError
from recombine.nets import decode
from recombine.nets.layers.convolution import forward_differentiable

Norm = Literal["l1", "l2"]


def slot_sensitivity(
    decoder: Callable[[Array], Array],
    slots: Float[np.ndarray, "n slots width"],
    *,
    channels: int = 3,
    norm: Norm = "l1",
    batch: int = 32,
) -> Float[np.ndarray, "n pixels slots"]:
    """How strongly every pixel depends on every slot: |∂x/∂z| summed over a slot's latents and a pixel's channels.

    **Arguments:**

    - `decoder`: from `(n, slots, width)` to images `(n, ..., channels)`, differentiable by JAX.
    - `norm`: `"l1"` sums absolute values (the published scores), `"l2"` takes the root of the sum of squares.
    - `batch`: rows at a time.

    ```python
    >>> import jax.numpy as jnp, numpy as np
    >>> from recombine.studies.interaction_asymmetry.slot_sensitivity import slot_sensitivity
    >>> slot_sensitivity(lambda z: 2 * z, np.ones((1, 2, 3)))[0].tolist()  # pixel k is slot k
    [[6.0, 0.0], [0.0, 6.0]]

    ```
    """
    slots = np.asarray(slots, dtype=np.float32)
    if slots.ndim != 3 or slots.shape[1] < 2:
        raise InputError("slots", slots.shape, "(n, slots, width) with 2 slots or more")
    return sensitivity_of(lambda _, z: decoder(z), None, slots, channels=channels, norm=norm, batch=batch)


def net_sensitivity(
    net: Any,
    slots: Float[np.ndarray, "n slots width"],
    *,
    channels: int = 3,
    norm: Norm = "l1",
    batch: int = 32,
) -> Float[np.ndarray, "n pixels slots"]:
    """`slot_sensitivity` of the decoder of a slot autoencoder; equal nets share the compiled program."""
    net, slots = forward_differentiable(net), np.asarray(slots, np.float32)
    return sensitivity_of(decode, net, slots, channels=channels, norm=norm, batch=batch)


def sensitivity_of(
    decoder: Callable[[Any, Array], Array],
    net: Any,
    slots: np.ndarray,
    *,
    channels: int,
    norm: Norm,
    batch: int,
) -> np.ndarray:
    """`slot_sensitivity` of `decoder(net, slots)`."""
    if norm not in {"l1", "l2"}:
        raise InputError("norm", norm, "'l1' or 'l2'")
    values = []
    for start in range(0, len(slots), batch):
        piece = slots[start : start + batch]
        padded = np.concatenate([piece, np.repeat(piece[:1], batch - len(piece), axis=0)])
        lengths = np.asarray(_lengths(decoder, net, jnp.asarray(padded), channels, norm))
        values.append(lengths[: len(piece)])
    lengths = np.concatenate(values)
    if not np.isfinite(lengths).all():
        raise InputError(
            "decoder", "derivatives that are not finite", "a decoder with finite derivatives there"
        )
    return lengths


@eqx.filter_jit
def _lengths(
    decoder: Callable[[Any, Array], Array], net: Any, slots: Array, channels: int, norm: Norm
) -> Float[Array, "n pixels slots"]:
    rows, count, width = slots.shape

    def along(latent: Array) -> Array:
        direction = jnp.broadcast_to(jax.nn.one_hot(latent, count * width).reshape(count, width), slots.shape)
        pushed = jax.jvp(lambda z: decoder(net, z), (slots,), (direction,))[1].reshape(rows, -1, channels)
        return (jnp.abs(pushed) if norm == "l1" else pushed**2).sum(axis=2)

    def of_slot(slot: Array) -> Array:
        total = jax.lax.map(along, slot * width + jnp.arange(width)).sum(axis=0)
        return total if norm == "l1" else jnp.sqrt(total)

    return jnp.moveaxis(jax.lax.map(of_slot, jnp.arange(count)), 0, -1)
