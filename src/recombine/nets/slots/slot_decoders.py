"""Decoders from slots `(batch, slots, width)` to images or vectors.

| decoder | interaction across slots |
|---|---|
| `attention_decoder` | unrestricted; pixels attend to slots, and a pixel that attends to one slot depends on it alone |
| `broadcast_decoder` | each slot is drawn separately and a softmax over slots mixes them: of no finite order |
| `additive_decoder` | at most first order by construction |
| `bilinear_decoder` | at most second order by construction |
| `dense_decoder` | unrestricted |
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from recombine.errors import InputError
from recombine.nets.layers.activations import gelu
from recombine.nets.layers.attention import CrossLayer
from recombine.nets.layers.convolution import ConvTranspose2d
from recombine.nets.layers.dense import MLP, Linear
from recombine.nets.layers.normalisation import LayerNorm
from recombine.nets.slots.slot_encoders import Shape, Slots, position_grid
from recombine.nets.stages import Buffer


class DecodedPixels(NamedTuple):
    """The output of an attention decoder: `pixels` `(batch, n, channels)`, their attention weights, and their indices.

    `attention` is `(batch, layers, heads, n, slots)` and sums to 1 over slots; `which` `(n,)` are indices of pixels
    in row-major order, or `None` for all of them.
    """

    pixels: Array
    attention: Array
    which: Array | None


class PixelSample(NamedTuple):
    """Some pixels of an image: `values` `(batch, n, channels)` at the indices `which` `(n,)` in row-major order."""

    values: Array
    which: Array


def position_code(height: int, width: int, octaves: int = 8) -> Float[np.ndarray, "pixels features"]:
    """sin and cos of 2^o π times the row and the column (from 0 to 1), for o = 0 ... octaves - 1.

    All sines come first, then all cosines, each by row and then by column. An image with one row has columns only.
    """
    rows, columns = position_grid(height, width)[..., 0], position_grid(height, width)[..., 1]
    axes = [columns] if height == 1 else [rows, columns]
    angles = [2.0**octave * np.pi * axis.reshape(-1) for axis in axes for octave in range(octaves)]
    table = np.stack(angles, axis=1)
    return np.concatenate([np.sin(table), np.cos(table)], axis=1).astype(np.float32)


class AttentionDecoder(eqx.Module):
    """Pixels are queries made from their position that attend to slots, never to each other; slots do not change.

    So pixel l depends on slot k only through the attention weights A_lk of the layers and heads.
    """

    slot_map: MLP
    query_map: MLP
    layers: tuple[CrossLayer, ...]
    norm: LayerNorm
    readout: MLP
    code: Buffer
    sampled: int | None = eqx.field(static=True)

    def __call__(self, slots: Slots, *, key: PRNGKeyArray | None = None) -> DecodedPixels:
        """All pixels, or in training (if a key is given) a new random choice of `sampled` pixels at every call."""
        code, chosen = self.code.value, None
        if key is not None and self.sampled is not None:
            chosen = jax.random.permutation(key, len(code))[: self.sampled]
            code = code[chosen]
        return self.draw(slots, code)._replace(which=chosen)

    def draw(self, slots: Slots, code: Float[Array, "n features"]) -> DecodedPixels:
        """The pixels at the positions with these codes."""
        context, x, attention = self.slot_map(slots), self.query_map(code)[None], []
        for layer in self.layers:
            x, weights = layer(x, context)
            attention.append(weights)
        return DecodedPixels(self.readout(self.norm(x)), jnp.stack(attention, axis=1), None)


def attention_decoder(
    *,
    shape: Shape,
    slots: int,
    width: int,
    inner: int = 516,
    queries: int = 180,
    heads: int = 12,
    depth: int = 2,
    query_hidden: int | None = None,
    readout: Sequence[int] | None = None,
    sampled: int | None = None,
    key: PRNGKeyArray,
) -> AttentionDecoder:
    """The cross-attention decoder; defaults are the published ones for sprites.

    **Arguments:**

    - `shape`: `(height, width, channels)`; or `(tokens, features)`, whose tokens lie on a square.
    - `inner`, `queries`: widths of the attention and of the pixels' queries.
    - `readout`: hidden widths of the last MLP, by default `(queries, queries)`.
    - `sampled`: the number of random pixels decoded at every training step, by default all. Pixels do not interact, so
        gradients are unbiased with a loss that is scaled accordingly (as `summed_squared_error` is).

    ```python
    >>> import jax
    >>> from recombine.nets import attention_decoder, parameter_count
    >>> net = attention_decoder(shape=(64, 64, 3), slots=5, width=32, key=jax.random.key(0))
    >>> parameter_count(net)
    2980359

    ```
    """
    height, across, channels = _image_shape(shape)
    if sampled is not None and not 1 <= sampled <= height * across:
        raise InputError("sampled", sampled, f"from 1 to {height * across} pixels")
    keys = [jax.random.fold_in(key, i) for i in range(depth + 3)]
    code = position_code(height, across)
    hidden = tuple(readout) if readout is not None else (queries, queries)
    return AttentionDecoder(
        MLP((width, 4 * inner, inner), key=keys[0]),
        MLP((code.shape[1], query_hidden or 2 * queries, queries), key=keys[1]),
        tuple(CrossLayer(queries, inner, inner, heads, 2 * queries, key=keys[3 + i]) for i in range(depth)),
        LayerNorm(queries),
        MLP((queries, *hidden, channels), key=keys[2]),
        Buffer(jnp.asarray(code)),
        sampled,
    )


def _image_shape(shape: Shape) -> tuple[int, int, int]:
    if len(shape) == 3:
        return shape[0], shape[1], shape[2]
    side = math.isqrt(shape[0]) if len(shape) == 2 else 0
    if not side or side**2 != shape[0]:
        raise InputError(
            "shape", tuple(shape), "(height, width, channels), or features of a square of tokens"
        )
    return side, side, shape[1]


class AsImage(eqx.Module):
    """The last stage of a net with an attention decoder: arranges the pixels as an image."""

    shape: tuple[int, ...] = eqx.field(static=True)

    def __call__(
        self, drawn: DecodedPixels | Array, *, key: PRNGKeyArray | None = None
    ) -> Array | PixelSample:
        if isinstance(drawn, DecodedPixels):
            if drawn.which is not None:
                return PixelSample(drawn.pixels, drawn.which)
            drawn = drawn.pixels
        return drawn.reshape(len(drawn), *self.shape)


class BroadcastDecoder(eqx.Module):
    """Every slot is broadcast over a small map, decoded by transposed convolutions, and mixed in by its mask."""

    position: Linear
    grid: Buffer
    doublings: tuple[ConvTranspose2d, ...]
    last: tuple[ConvTranspose2d, ConvTranspose2d]
    size: tuple[int, int] = eqx.field(static=True)

    def __call__(self, slots: Slots, *, key: PRNGKeyArray | None = None) -> Array:
        colours, shares = self.layers(slots)
        return (colours * shares).sum(axis=1)

    def layers(self, slots: Slots) -> tuple[Array, Array]:
        """Each slot's image `(batch, slots, height, width, channels)` and its share of every pixel `(..., 1)`."""
        batch, count, width = slots.shape
        x = slots.reshape(batch * count, 1, 1, width) + self.position(self.grid.value)
        for layer in self.doublings:
            full = layer(
                x
            )  # padding 1 gives 2n + 1 rows; PyTorch's padding 2 with output padding 1, the last 2n
            x = gelu(full[:, 1:, 1:])
        x = self.last[1](gelu(self.last[0](x)))
        x = x[:, : self.size[0], : self.size[1]].reshape(batch, count, *self.size, -1)
        return x[..., :-1], jax.nn.softmax(x[..., -1:], axis=1)


def broadcast_decoder(
    *,
    shape: Shape,
    slots: int,
    width: int,
    channels: int = 32,
    start: int = 8,
    doublings: int | None = None,
    key: PRNGKeyArray,
) -> BroadcastDecoder:
    """The spatial broadcast decoder (Watters et al. 2019).

    **Arguments:**

    - `doublings`: transposed convolutions of stride 2, by default as many as the image needs. The authors always
        use 4, up to 128 pixels, and keep the upper left part.

    ```python
    >>> import jax
    >>> from recombine.nets import broadcast_decoder, parameter_count
    >>> parameter_count(broadcast_decoder(shape=(64, 64, 3), slots=5, width=32, doublings=4, key=jax.random.key(0)))
    129476

    ```
    """
    height, across, colours = _image_shape(shape)
    needed = max(0, math.ceil(math.log2(max(height, across) / start)))
    count = needed if doublings is None else doublings
    if count < needed:
        raise InputError(
            "doublings", count, f"at least {needed}, to get from {start} to {max(height, across)} pixels"
        )
    keys = [jax.random.fold_in(key, i) for i in range(count + 3)]
    sizes = (width, *[channels] * count)
    ups = [ConvTranspose2d(sizes[i], channels, 5, stride=2, padding=1, key=keys[i + 3]) for i in range(count)]
    last = (
        ConvTranspose2d(sizes[-1], channels, 5, padding=2, key=keys[1]),
        ConvTranspose2d(channels, colours + 1, 3, padding=1, key=keys[2]),
    )
    grid = Buffer(jnp.asarray(position_grid(start, start)))
    return BroadcastDecoder(Linear(4, width, key=keys[0]), grid, tuple(ups), last, (height, across))


class SlotwiseDecoder(eqx.Module):
    """Σ_k f_k(z_k) + bias, plus Σ_{j<k} z_jᵀ C_jk z_k if there is a `bilinear` part.

    `perceptrons` holds one for all slots, or stacked weights of one per slot (`shared` false).
    """

    perceptrons: MLP
    bilinear: Float[Array, "latents latents outputs"] | None
    shared: bool = eqx.field(static=True)
    shape: tuple[int, ...] = eqx.field(static=True)

    def __call__(self, slots: Slots, *, key: PRNGKeyArray | None = None) -> Array:
        drawn = self.parts(slots).sum(axis=1)
        if self.bilinear is not None:
            drawn = drawn + _crossed(slots, self.bilinear)
        return drawn.reshape(len(slots), *self.shape)

    def parts(self, slots: Slots) -> Float[Array, "batch slots outputs"]:
        """The contribution of each slot."""
        if self.shared:
            return self.perceptrons(slots)
        return jax.vmap(lambda net, z: net(z), in_axes=(0, 1), out_axes=1)(self.perceptrons, slots)


def _crossed(slots: Slots, weight: Float[Array, "latents latents outputs"]) -> Float[Array, "batch outputs"]:
    """Σ_{j<k} z_jᵀ C_jk z_k; the rest of `weight` is not used."""
    batch, count, width = slots.shape
    apart = np.kron(np.triu(np.ones((count, count)), 1), np.ones((width, width)))
    flat = slots.reshape(batch, count * width)
    left = jnp.einsum("bi,ijo->bjo", flat, weight * jnp.asarray(apart, weight.dtype)[..., None])
    return jnp.einsum("bjo,bj->bo", left, flat)


def additive_decoder(
    *,
    shape: Shape,
    slots: int,
    width: int,
    hidden: Sequence[int] = (128, 128),
    shared: bool = True,
    key: PRNGKeyArray,
) -> SlotwiseDecoder:
    """A sum of one MLP's output per slot (Lachapelle et al. 2023): interaction of at most first order.

    **Arguments:**

    - `shared`: one MLP for all slots, or one each.

    ```python
    >>> import jax, jax.numpy as jnp
    >>> from recombine.nets import additive_decoder
    >>> decoder = additive_decoder(shape=(20,), slots=2, width=3, shared=False, key=jax.random.key(0))
    >>> decoder(jnp.ones((5, 2, 3))).shape
    (5, 20)

    ```
    """
    widths = (width, *hidden, math.prod(shape))
    if shared:
        made = MLP(widths, key=key)
    else:
        made = eqx.filter_vmap(lambda k: MLP(widths, key=k))(jax.random.split(key, slots))
    return SlotwiseDecoder(made, None, shared, tuple(shape))


def bilinear_decoder(
    *,
    shape: Shape,
    slots: int,
    width: int,
    hidden: Sequence[int] = (128, 128),
    shared: bool = True,
    key: PRNGKeyArray,
) -> SlotwiseDecoder:
    """`additive_decoder` plus a bilinear form of every two slots: interaction of at most second order.

    ```python
    >>> import jax, jax.numpy as jnp
    >>> from recombine.nets import bilinear_decoder
    >>> decoder = bilinear_decoder(shape=(20,), slots=2, width=3, key=jax.random.key(0))
    >>> decoder.bilinear.shape
    (6, 6, 20)

    ```
    """
    own, crossed = jax.random.split(key)
    plain = additive_decoder(shape=shape, slots=slots, width=width, hidden=hidden, shared=shared, key=own)
    latents = slots * width
    weight = jax.random.normal(crossed, (latents, latents, math.prod(shape))) / latents
    return eqx.tree_at(lambda net: net.bilinear, plain, weight, is_leaf=lambda leaf: leaf is None)


class DenseDecoder(eqx.Module):
    """One MLP on all slots together."""

    perceptron: MLP
    shape: tuple[int, ...] = eqx.field(static=True)

    def __call__(self, slots: Slots, *, key: PRNGKeyArray | None = None) -> Array:
        return self.perceptron(slots.reshape(len(slots), -1)).reshape(len(slots), *self.shape)


def dense_decoder(
    *, shape: Shape, slots: int, width: int, hidden: Sequence[int] = (128, 128), key: PRNGKeyArray
) -> DenseDecoder:
    """One MLP of all latents, without any separation of slots.

    ```python
    >>> import jax, jax.numpy as jnp
    >>> from recombine.nets import dense_decoder
    >>> dense_decoder(shape=(1, 32, 3), slots=3, width=8, key=jax.random.key(0))(jnp.ones((5, 3, 8))).shape
    (5, 1, 32, 3)

    ```
    """
    return DenseDecoder(MLP((slots * width, *hidden, math.prod(shape)), key=key), tuple(shape))


def pixels_at(images: Float[Array, "batch ..."], index: Int[Array, " n"], channels: int) -> Array:
    """The pixels of `images` with these indices, `(batch, n, channels)`."""
    return images.reshape(len(images), -1, channels)[:, index]
