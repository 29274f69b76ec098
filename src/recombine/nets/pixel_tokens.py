"""Decoders with one token per pixel: a transformer, and the same net without attention."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from recombine.errors import InputError
from recombine.nets.layers.activations import PReLU
from recombine.nets.layers.dense import Dropout, Linear
from recombine.nets.layers.normalisation import LayerNorm
from recombine.nets.stages import Buffer, Chain, Net, Reshape


def position_table(size: int, width: int) -> Float[np.ndarray, "pixels width"]:
    """A fixed two-dimensional sinusoidal code of every pixel, row by row.

    With f_k = 10000^(-4k/width), channels 4k ... 4k+3 of pixel (i, j) are sin(i f_k), cos(i f_k),
    sin(j f_k), cos(j f_k).
    """
    if width % 4:
        raise InputError("width", width, "a multiple of 4")
    frequencies = 10000.0 ** (-4 * np.arange(width // 4) / width)
    angles = np.arange(size)[:, None] * frequencies
    rows, columns = np.broadcast_arrays(angles[:, None], angles[None])
    code = np.stack([np.sin(rows), np.cos(rows), np.sin(columns), np.cos(columns)], axis=-1)
    return code.reshape(size * size, width).astype(np.float32)


class PixelTokens(eqx.Module):
    """One token per pixel: a linear map of the code, plus the pixel's fixed position code."""

    project: Linear
    positions: Buffer

    def __init__(self, inputs: int, width: int, size: int, *, key: PRNGKeyArray) -> None:
        self.project = Linear(inputs, width, key=key)
        self.positions = Buffer(jnp.asarray(position_table(size, width)))

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Float[Array, "batch pixels width"]:
        return self.project(x)[:, None, :] + self.positions.value


def attend(
    mixed: Float[Array, "batch tokens three_inner"], heads: int, dropout: Dropout, *, key: PRNGKeyArray | None
) -> Float[Array, "batch tokens inner"]:
    """Attention of several heads; `mixed` holds queries, keys and values side by side."""
    batch, tokens, inner = mixed.shape
    head = inner // 3 // heads
    mixed = mixed.reshape(batch, tokens, 3, heads, head)
    queries, keys, values = (mixed[:, :, i].swapaxes(1, 2) for i in range(3))
    scores = queries @ keys.swapaxes(-1, -2) * head**-0.5
    attended = dropout(jax.nn.softmax(scores), key=key) @ values
    return attended.swapaxes(1, 2).reshape(batch, tokens, heads * head)


class SelfAttention(eqx.Module):
    """Multi-head self-attention over tokens, with PyTorch's initialisation."""

    mix: Linear
    merge: Linear
    heads: int = eqx.field(static=True)
    dropout: Dropout

    def __init__(self, width: int, heads: int, *, dropout: float, key: PRNGKeyArray) -> None:
        mix_key, merge_key = jax.random.split(key)
        bound = (6 / (width + 3 * width)) ** 0.5
        weight = jax.random.uniform(mix_key, (width, 3 * width), jnp.float32, -bound, bound)
        zeros = (jnp.zeros(3 * width), jnp.zeros(width))
        mix, merge = Linear(width, 3 * width, key=mix_key), Linear(width, width, key=merge_key)
        self.mix = eqx.tree_at(lambda layer: (layer.weight, layer.bias), mix, (weight, zeros[0]))
        self.merge = eqx.tree_at(lambda layer: layer.bias, merge, zeros[1])
        self.heads, self.dropout = heads, Dropout(dropout)

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        return self.merge(attend(self.mix(x), self.heads, self.dropout, key=key))


class EncoderLayer(eqx.Module):
    """PyTorch's default transformer layer: attention and feed-forward, each followed by a normalisation."""

    attention: SelfAttention
    expand: Linear
    contract: Linear
    norms: tuple[LayerNorm, LayerNorm]
    dropout: Dropout

    def __init__(self, width: int, heads: int, hidden: int, *, dropout: float, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key, 3)
        self.attention = SelfAttention(width, heads, dropout=dropout, key=keys[0])
        self.expand, self.contract = Linear(width, hidden, key=keys[1]), Linear(hidden, width, key=keys[2])
        self.norms = (LayerNorm(width), LayerNorm(width))
        self.dropout = Dropout(dropout)

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        keys = [None if key is None else jax.random.fold_in(key, i) for i in range(4)]
        x = self.norms[0](x + self.dropout(self.attention(x, key=keys[0]), key=keys[1]))
        hidden = self.dropout(jax.nn.relu(self.expand(x)), key=keys[2])
        return self.norms[1](x + self.dropout(self.contract(hidden), key=keys[3]))


def pixel_transformer(
    *,
    inputs: int,
    depth: int,
    size: int = 28,
    width: int = 128,
    heads: int = 4,
    hidden: int = 2048,
    dropout: float = 0.1,
    key: PRNGKeyArray,
) -> Net:
    """A transformer whose tokens are the pixels, with one linear read-out per token.

    ```python
    >>> import jax
    >>> from recombine.nets import parameter_count, pixel_transformer
    >>> net = pixel_transformer(inputs=56, depth=2, key=jax.random.key(0))
    >>> parameter_count(net), parameter_count(net, buffers=True)
    (1193473, 1293825)

    ```
    """
    keys = [jax.random.fold_in(key, layer) for layer in range(depth + 2)]
    layers = [EncoderLayer(width, heads, hidden, dropout=dropout, key=keys[i + 1]) for i in range(depth)]
    readout = Chain(Linear(width, 1, key=keys[-1]), Reshape((size, size)))
    names = ("tokens", *(f"layer{i}" for i in range(depth)), "output")
    return Net(names, (PixelTokens(inputs, width, size, key=keys[0]), *layers, readout))


def spatial_mlp(*, inputs: int, depth: int, size: int = 28, width: int = 256, key: PRNGKeyArray) -> Net:
    """The spatially aware MLP: every pixel is drawn by the same MLP from the code and its position.

    ```python
    >>> import jax
    >>> from recombine.nets import parameter_count, spatial_mlp
    >>> parameter_count(spatial_mlp(inputs=56, depth=2, key=jax.random.key(0)))
    146435

    ```
    """
    keys = [jax.random.fold_in(key, layer) for layer in range(depth + 2)]
    layers = [Chain(Linear(width, width, key=keys[i + 1]), PReLU()) for i in range(depth)]
    readout = Chain(Linear(width, 1, key=keys[-1]), Reshape((size, size)))
    names = ("tokens", *(f"hidden{i}" for i in range(depth)), "output")
    return Net(names, (PixelTokens(inputs, width, size, key=keys[0]), *layers, readout))
