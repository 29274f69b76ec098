"""Encoders from images to slots: a transformer with one learned query per slot, and slot attention (Brady et al. 2025).

Both use the same tokens: four convolutions at full resolution, a linear code of the position, one normalisation over
all tokens and channels without trained scale, and an MLP on every token.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from recombine.errors import InputError
from recombine.nets.layers.activations import gelu
from recombine.nets.layers.attention import CrossAttention
from recombine.nets.layers.convolution import Conv2d
from recombine.nets.layers.dense import MLP, Linear, uniform_fan_in
from recombine.nets.layers.normalisation import LayerNorm
from recombine.nets.stages import Buffer

Shape = Sequence[int]
Slots = Float[Array, "batch slots width"]


def position_grid(height: int, width: int) -> Float[np.ndarray, "height width 4"]:
    """(r, c, 1 - r, 1 - c) of every pixel, r and c from 0 to 1 over rows and columns, ends included."""
    rows, columns = np.meshgrid(*(_unit(n) for n in (height, width)), indexing="ij")
    return np.stack([rows, columns, 1 - rows, 1 - columns], axis=-1).astype(np.float32)


def _unit(n: int) -> np.ndarray:
    return np.linspace(0, 1, n) if n > 1 else np.zeros(1)


def normalised(tokens: Float[Array, "batch tokens width"], epsilon: float = 1e-5) -> Array:
    """One mean and one variance for all tokens and channels of an image."""
    centred = tokens - tokens.mean(axis=(1, 2), keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(axis=(1, 2), keepdims=True) + epsilon)


class RowConvolution(eqx.Module):
    """A convolution of images with a single row that keeps their length (at stride 1)."""

    weight: Float[Array, "1 wide c_in c_out"]
    bias: Float[Array, " c_out"]
    stride: int = eqx.field(static=True)

    def __init__(self, c_in: int, c_out: int, window: int, *, stride: int = 1, key: PRNGKeyArray) -> None:
        weight_key, bias_key = jax.random.split(key)
        self.weight = uniform_fan_in(weight_key, (1, window, c_in, c_out), window * c_in)
        self.bias = uniform_fan_in(bias_key, (c_out,), window * c_in)
        self.stride = stride

    def __call__(self, x: Float[Array, "batch 1 width c_in"]) -> Array:
        _, wide, c_in, c_out = self.weight.shape
        length = x.shape[2]
        padded = jnp.pad(x, [(0, 0), (0, 0), (wide // 2, wide // 2), (0, 0)])
        patches = [padded[:, :, i : i + length : self.stride] for i in range(wide)]
        return jnp.concatenate(patches, axis=3) @ self.weight.reshape(wide * c_in, c_out) + self.bias


class PixelTrunk(eqx.Module):
    """Images `(batch, height, width, channels)` to tokens `(batch, tokens, width)`; see the module."""

    convolutions: tuple[Conv2d | RowConvolution, ...]
    position: Linear
    grid: Buffer
    perceptron: MLP

    def __init__(
        self,
        shape: Shape,
        width: int,
        *,
        channels: int,
        window: int = 5,
        strides: Sequence[int] = (1, 1, 1, 1),
        key: PRNGKeyArray,
    ) -> None:
        height, across, colours = shape
        if not 1 <= len(strides) <= 4 or min(strides) < 1:
            raise InputError("strides", tuple(strides), "one to four strides of 1 or more")
        keys = [jax.random.fold_in(key, i) for i in range(6)]
        sizes = (colours, *[channels] * (len(strides) - 1), width)
        padding = {} if height == 1 else {"padding": window // 2}
        make = RowConvolution if height == 1 else Conv2d
        self.convolutions = tuple(
            make(sizes[i], sizes[i + 1], window, stride=stride, key=keys[i], **padding)
            for i, stride in enumerate(strides)
        )
        factor = int(np.prod(strides))
        self.grid = Buffer(jnp.asarray(position_grid(-(-height // factor), -(-across // factor))))
        self.position = Linear(4, width, key=keys[4])
        self.perceptron = MLP((width, width, width), key=keys[5])

    def __call__(self, x: Array) -> Float[Array, "batch tokens width"]:
        for layer in self.convolutions:
            x = gelu(layer(x))
        x = x + self.position(self.grid.value)
        return self.perceptron(normalised(x.reshape(len(x), -1, x.shape[-1])))


class FeatureTrunk(eqx.Module):
    """Features `(batch, tokens, features)` of another net to tokens.

    `idle` holds the convolutions and the position layer that the authors' model creates and never uses, with this many
    channels, so that parameter counts agree; `None` for none.
    """

    perceptron: MLP
    idle: tuple[Any, ...] | None

    def __init__(self, features: int, width: int, *, idle: int | None, key: PRNGKeyArray) -> None:
        self.perceptron = MLP((features, features, width), key=key)
        made = None if idle is None else PixelTrunk((8, 8, 3), width, channels=idle, key=key)
        self.idle = None if made is None else (made.convolutions, made.position)

    def __call__(self, x: Array) -> Array:
        return self.perceptron(normalised(x.reshape(len(x), -1, x.shape[-1])))


class SlotLayer(eqx.Module):
    """Slots attend to the tokens and then to each other, then an MLP; each with a residual connection."""

    look: CrossAttention
    exchange: CrossAttention
    forward: MLP
    norms: tuple[LayerNorm, ...]

    def __init__(self, width: int, heads: int, *, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key, 3)
        self.look = CrossAttention(width, width, width, heads, key=keys[0])
        self.exchange = CrossAttention(width, width, width, heads, key=keys[1])
        self.forward = MLP((width, 2 * width, width), glorot=True, key=keys[2])
        self.norms = tuple(LayerNorm(width) for _ in range(4))

    def __call__(self, slots: Slots, tokens: Array) -> Slots:
        slots = slots + self.look(self.norms[0](slots), self.norms[1](tokens))[0]
        own = self.norms[2](slots)
        slots = slots + self.exchange(own, own)[0]
        return slots + self.forward(self.norms[3](slots))


class SlotTransformer(eqx.Module):
    """One learned query per slot, refined by layers that all read the same tokens, and a final normalisation."""

    trunk: PixelTrunk | FeatureTrunk
    queries: Float[Array, "slots width"]
    layers: tuple[SlotLayer, ...]
    norm: LayerNorm

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Slots:
        tokens = self.trunk(x)
        slots = jnp.broadcast_to(self.queries, (len(x), *self.queries.shape))
        for layer in self.layers:
            slots = layer(slots, tokens)
        return self.norm(slots)


def slot_transformer(
    *,
    shape: Shape,
    slots: int,
    width: int,
    channels: int = 32,
    depth: int = 5,
    heads: int = 4,
    strides: Sequence[int] = (1, 1, 1, 1),
    idle: int | None = None,
    key: PRNGKeyArray,
) -> SlotTransformer:
    """The transformer encoder: `(batch, height, width, channels)` to `(batch, slots, width)`.

    **Arguments:**

    - `shape`: of one image, `(height, width, channels)`; or `(tokens, features)` of another net, which skips
        convolutions and positions.
    - `strides`: of the convolutions; the published ones are all 1.
    - `idle`: see `FeatureTrunk`.

    ```python
    >>> import jax
    >>> from recombine.nets import parameter_count, slot_transformer
    >>> net = slot_transformer(shape=(64, 64, 3), slots=5, width=64, key=jax.random.key(0))
    >>> parameter_count(net)
    365888

    ```
    """
    keys = [jax.random.fold_in(key, i) for i in range(depth + 2)]
    layers = tuple(SlotLayer(width, heads, key=keys[i + 2]) for i in range(depth))
    queries = jax.random.uniform(keys[1], (slots, width))
    trunk = _trunk(shape, width, channels, strides, idle, key=keys[0])
    return SlotTransformer(trunk, queries, layers, LayerNorm(width))


def _trunk(
    shape: Shape, width: int, channels: int, strides: Sequence[int], idle: int | None, *, key: PRNGKeyArray
) -> PixelTrunk | FeatureTrunk:
    if len(shape) == 2:
        return FeatureTrunk(shape[1], width, idle=idle, key=key)
    if len(shape) != 3:
        raise InputError("shape", tuple(shape), "(height, width, channels) or (tokens, features)")
    return PixelTrunk(shape, width, channels=channels, strides=strides, key=key)


class GRUCell(eqx.Module):
    """PyTorch's gated recurrent unit: gates r, z and the candidate n, in this order."""

    new: Linear
    old: Linear

    def __init__(self, width: int, *, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key)
        self.new, self.old = (Linear(width, 3 * width, key=k) for k in keys)

    def __call__(self, x: Array, state: Array) -> Array:
        new, old = (jnp.split(v, 3, axis=-1) for v in (self.new(x), self.old(state)))
        reset, update = jax.nn.sigmoid(new[0] + old[0]), jax.nn.sigmoid(new[1] + old[1])
        candidate = jnp.tanh(new[2] + reset * old[2])
        return (1 - update) * candidate + update * state


class SlotAttention(eqx.Module):
    """Slots compete for tokens in several steps (Locatello et al. 2020).

    `"standard"`: slots start as draws around a learned mean (always the same draws in evaluation) and gradients flow
    through all steps. `"authors"`: they start at a fixed random array, which never gets a gradient because only the
    last step does, and the recurrent unit keeps the *normalised* slots; the learned mean and deviation exist but are
    not used.
    """

    trunk: PixelTrunk | FeatureTrunk
    start: Float[Array, "slots width"] | None
    mean: Float[Array, " width"]
    log_deviation: Float[Array, " width"]
    norms: tuple[LayerNorm, LayerNorm, LayerNorm]
    maps: tuple[Linear, Linear, Linear]
    cell: GRUCell
    forward: tuple[Linear, Linear]
    variant: Literal["authors", "standard"] = eqx.field(static=True)
    slots: int = eqx.field(static=True)
    steps: int = eqx.field(static=True)

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Slots:
        tokens = self.norms[0](self.trunk(x))
        keys, values = self.maps[1](tokens), self.maps[2](tokens)
        shape = (len(x), self.slots, self.mean.size)
        if self.variant == "authors":
            assert self.start is not None
            slots = jnp.broadcast_to(self.start, shape)
        else:
            # Slots that start equal stay equal, so evaluation draws as well.
            noise = jax.random.normal(jax.random.key(0) if key is None else key, shape)
            slots = self.mean + jnp.exp(self.log_deviation) * noise
        for _ in range(self.steps):
            slots = self._step(slots, keys, values)
        if self.variant == "authors":
            slots = self._step(jax.lax.stop_gradient(slots), keys, values)
        return slots

    def _step(self, slots: Slots, keys: Array, values: Array) -> Slots:
        own = self.norms[1](slots)
        logits = self.maps[0](own) @ keys.swapaxes(1, 2) * keys.shape[-1] ** -0.5
        share = jax.nn.softmax(logits, axis=1) + 1e-8
        attended = (share / share.sum(axis=2, keepdims=True)) @ values
        slots = self.cell(attended, own if self.variant == "authors" else slots)
        hidden = jax.nn.relu(self.forward[0](self.norms[2](slots)))
        return slots + self.forward[1](hidden)


def slot_attention(
    *,
    shape: Shape,
    slots: int,
    width: int,
    channels: int = 32,
    steps: int = 3,
    variant: Literal["authors", "standard"] = "standard",
    strides: Sequence[int] = (1, 1, 1, 1),
    idle: int | None = None,
    key: PRNGKeyArray,
) -> SlotAttention:
    """The slot attention encoder: `(batch, height, width, channels)` to `(batch, slots, width)`.

    ```python
    >>> import jax
    >>> from recombine.nets import parameter_count, slot_attention
    >>> net = slot_attention(shape=(64, 64, 3), slots=5, width=32, variant="authors", key=jax.random.key(0))
    >>> parameter_count(net)
    95712

    ```
    """
    if variant not in {"authors", "standard"}:
        raise InputError("variant", variant, "'authors' or 'standard'")
    keys = [jax.random.fold_in(key, i) for i in range(9)]
    hidden = max(width, 64)
    bound = (6 / (1 + width)) ** 0.5
    mean, log_deviation = (jax.random.uniform(k, (width,), jnp.float32, -bound, bound) for k in keys[7:])
    return SlotAttention(
        _trunk(shape, width, channels, strides, idle, key=keys[0]),
        jax.random.uniform(keys[1], (slots, width)) if variant == "authors" else None,
        mean,
        log_deviation,
        (LayerNorm(width), LayerNorm(width), LayerNorm(width)),
        (
            Linear(width, width, key=keys[2]),
            Linear(width, width, key=keys[3]),
            Linear(width, width, key=keys[4]),
        ),
        GRUCell(width, key=keys[5]),
        (
            Linear(width, hidden, key=jax.random.fold_in(keys[6], 0)),
            Linear(hidden, width, key=jax.random.fold_in(keys[6], 1)),
        ),
        variant,
        slots,
        steps,
    )
