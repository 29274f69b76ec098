"""Autoencoders with slots: an encoder, an optional Gaussian posterior, and a decoder, as a net of four stages.

| stage | output |
|---|---|
| `encoding` | `(batch, slots, 2 · width)`: mean and log-scale; `(batch, slots, width)` without a posterior |
| `slots` | `(batch, slots, width)`, drawn in training, the mean in evaluation |
| `decoder` | the decoder's output: `DecodedPixels` with attention weights, or the image |
| `output` | the image; in training a `PixelSample` if the decoder outputs only some pixels |
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from recombine.errors import InputError
from recombine.nets.layers.dense import MLP
from recombine.nets.slots.slot_decoders import AsImage
from recombine.nets.slots.slot_encoders import Shape, Slots
from recombine.nets.stages import Net, call
from recombine.parts import Part


def posterior_of(
    encoding: Float[Array, "batch slots twice_width"],
) -> tuple[Float[Array, "batch slots width"], Float[Array, "batch slots width"]]:
    """Mean and standard deviation ½ exp(s) of the posterior, from the two halves (μ, s) of every slot."""
    mean, log_scale = jnp.split(encoding, 2, axis=-1)
    return mean, 0.5 * jnp.exp(log_scale)


class Posterior(eqx.Module):
    """Samples slots from the posterior in training; in evaluation, takes its mean."""

    def __call__(self, encoding: Array, *, key: PRNGKeyArray | None = None) -> Slots:
        mean, deviation = posterior_of(encoding)
        return mean if key is None else mean + deviation * jax.random.normal(key, mean.shape)


class SameSlots(eqx.Module):
    """The slots of an autoencoder without a posterior."""

    def __call__(self, encoding: Array, *, key: PRNGKeyArray | None = None) -> Slots:
        return encoding


class DenseSlots(eqx.Module):
    """An MLP from a whole input to all slots."""

    perceptron: MLP
    slots: int = eqx.field(static=True)

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Slots:
        return self.perceptron(x.reshape(len(x), -1)).reshape(len(x), self.slots, -1)


def dense_slots(
    *, shape: Shape, slots: int, width: int, hidden: Sequence[int] = (128, 128), key: PRNGKeyArray
) -> DenseSlots:
    """An MLP as encoder, for vectors."""
    return DenseSlots(MLP((math.prod(shape), *hidden, slots * width), key=key), slots)


def slot_autoencoder(
    *,
    shape: Shape,
    slots: int,
    width: int,
    encoder: Part,
    decoder: Part,
    variational: bool = True,
    key: PRNGKeyArray,
) -> Net:
    """An encoder and a decoder with `slots` slots of `width` latents.

    **Arguments:**

    - `encoder`, `decoder`: parts that are called with `shape`, `slots`, `width` and `key`. The encoder of a variational
        autoencoder is called with twice the width.

    ```python
    >>> import jax
    >>> from recombine import Part
    >>> from recombine.nets import attention_decoder, parameter_count, slot_autoencoder, slot_transformer
    >>> parts = {"encoder": Part(slot_transformer), "decoder": Part(attention_decoder)}
    >>> net = slot_autoencoder(shape=(64, 64, 3), slots=5, width=32, **parts, key=jax.random.key(0))
    >>> parameter_count(net)
    3346247

    ```
    """
    if slots < 2:
        raise InputError("slots", slots, "2 or more")
    keys = jax.random.split(key)
    encoding_width = 2 * width if variational else width
    stages = (
        encoder(shape=tuple(shape), slots=slots, width=encoding_width, key=keys[0]),
        Posterior() if variational else SameSlots(),
        decoder(shape=tuple(shape), slots=slots, width=width, key=keys[1]),
        AsImage(tuple(shape)),
    )
    return Net(("encoding", "slots", "decoder", "output"), stages)


def encode(net: Any, inputs: Array, *, key: PRNGKeyArray | None = None) -> Slots:
    """The slots of some inputs: posterior means, or draws if a key is given."""
    for name, stage in net.stages:
        inputs = call(stage, inputs, key=key if name == "slots" else None)
        if name == "slots":
            return inputs
    raise InputError("net", [name for name, _ in net.stages], "a net with a stage 'slots'")


def decode(net: Any, slots: Slots) -> Array:
    """The images of some slots: the output of all stages after `slots`."""
    names = [name for name, _ in net.stages]
    if "slots" not in names:
        raise InputError("net", names, "a net with a stage 'slots'")
    x: Any = slots
    for _, stage in net.stages[names.index("slots") + 1 :]:
        x = call(stage, x, key=None)
    images: Array = x
    return images
