"""Networks that take images as input: a plain convolutional net, a residual net and a vision transformer.

As used by Lippl & Stachenfeld (arXiv 2405.16391); the defaults are the published sizes. All take images
`(batch, height, width, channels)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from recombine.errors import InputError
from recombine.nets.layers.convolution import Conv2d
from recombine.nets.layers.dense import Dropout, Linear, he_normal
from recombine.nets.layers.normalisation import BatchNorm, LayerNorm
from recombine.nets.layers.residual import residual_trunk
from recombine.nets.pixel_tokens import attend
from recombine.nets.stages import Chain, Net, Reshape, Stage


class MaxPool(eqx.Module):
    """The largest value of every 2 × 2 block; an odd last row or column is left out.

    The gradient goes to the first of equal values, as in PyTorch.
    """

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        height, width = (size // 2 * 2 for size in x.shape[1:3])
        x = _larger(x[:, :height, 0:width:2], x[:, :height, 1:width:2])
        return _larger(x[:, 0::2], x[:, 1::2])


def _larger(one: Array, other: Array) -> Array:
    # The gradient of `jnp.max` divides by the number of values that equal the maximum. A compiler may compute a value
    # twice and round it differently; then none is equal, and the gradient is 0 / 0. A selection has no such case.
    return jnp.where(one >= other, one, other)


class CropAndFlip(eqx.Module):
    """In training, shifts every component's image at random by up to `margin` pixels and mirrors half of them.

    **Attributes:**

    - `black`: the value of pixels from outside the image, for each channel of one component. Components are moved
        independently.
    """

    margin: int = eqx.field(static=True)
    black: tuple[float, ...] = eqx.field(static=True)

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        if key is None:
            return x
        batch, height, width, channels = x.shape
        own, black = len(self.black), jnp.asarray(self.black)
        parts = jnp.moveaxis(x.reshape(batch, height, width, -1, own), 3, 1).reshape(-1, height, width, own)
        edges = ((0, 0), (self.margin, self.margin), (self.margin, self.margin), (0, 0))
        shift_key, flip_key = jax.random.split(key)
        starts = jax.random.randint(shift_key, (len(parts), 2), 0, 2 * self.margin + 1)
        flips = jax.random.bernoulli(flip_key, 0.5, (len(parts),))

        def move(image: Array, start: Array, flip: Array) -> Array:
            crop = jax.lax.dynamic_slice(image, (*start, 0), (height, width, own))
            return jnp.where(flip, crop[:, ::-1], crop)

        moved = jax.vmap(move)(jnp.pad(parts - black, edges), starts, flips) + black
        return jnp.moveaxis(moved.reshape(batch, -1, height, width, own), 1, 3).reshape(
            batch, height, width, channels
        )


def _augmented(margin: int, black: tuple[float, ...]) -> list[tuple[str, Stage]]:
    if margin and not black:
        raise InputError("black", black, "the value of a black pixel in each channel of a component")
    return [("augment", CropAndFlip(margin, black))] if margin else []


def image_convnet(
    *,
    size: tuple[int, int],
    channels: int,
    filters: Sequence[int] = (32, 32, 64, 64),
    kernel: int = 5,
    dense: Sequence[int] = (512, 1024),
    outputs: int = 1,
    key: PRNGKeyArray,
) -> Net:
    """Convolutions without padding, each with ReLU, then batch normalisation; a 2 × 2 maximum; dense layers.

    Stages `relu0`, `norm0`, ..., `pool`, `dense0`, ..., `output`. Weights are normal with variance 2 / fan_in.

    ```python
    >>> import equinox, jax
    >>> from recombine.nets import image_convnet, parameter_count
    >>> shapes = equinox.filter_eval_shape(image_convnet, size=(28, 28), channels=2, key=jax.random.key(0))
    >>> parameter_count(shapes)
    1887873

    ```
    """
    keys = (jax.random.fold_in(key, draw) for draw in count())
    height, width = (side - len(filters) * (kernel - 1) for side in size)
    if min(height, width) < 2:
        raise InputError("size", size, f"at least {len(filters) * (kernel - 1) + 2} pixels a side")
    stages: list[tuple[str, Stage]] = []
    for layer, (c_in, c_out) in enumerate(zip([channels, *filters[:-1]], filters, strict=True)):
        convolution = Conv2d(c_in, c_out, kernel, key=next(keys))
        stages += [(f"relu{layer}", Chain(he_normal(convolution, next(keys)), jax.nn.relu))]
        stages += [(f"norm{layer}", BatchNorm(c_out))]
    features = (height // 2) * (width // 2) * filters[-1]
    stages += [("pool", Chain(MaxPool(), Reshape((features,))))]
    for layer, units in enumerate(dense):
        linear = he_normal(Linear(features, units, key=next(keys)), next(keys))
        stages += [(f"dense{layer}", Chain(linear, jax.nn.relu))]
        features = units
    stages += [("output", he_normal(Linear(features, outputs, key=next(keys)), next(keys)))]
    return Net(*zip(*stages, strict=True))


class MeanPool(eqx.Module):
    """The mean over all pixels."""

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        return x.mean(axis=(1, 2))


def image_resnet(
    *,
    channels: int,
    widths: Sequence[int] = (16, 32, 64, 128),
    blocks: int = 2,
    outputs: int = 1,
    augment: int = 0,
    black: tuple[float, ...] = (),
    key: PRNGKeyArray,
) -> Net:
    """ResNet-18's layout with narrow layers: a 3 × 3 stem, `blocks` residual blocks of every width, mean over pixels.

    Every width but the first halves the image. Images of 32 × 32 pixels are reduced to 4 × 4 before the published
    mean over pixels. With `augment`, training moves images by up to this many pixels and mirrors them (`CropAndFlip`).

    ```python
    >>> import equinox, jax
    >>> from recombine.nets import image_resnet, parameter_count
    >>> shapes = equinox.filter_eval_shape(image_resnet, channels=6, key=jax.random.key(0))
    >>> parameter_count(shapes)
    700737

    ```
    """
    keys = (jax.random.fold_in(key, draw) for draw in count())
    stages = _augmented(augment, black) + residual_trunk(channels, widths, blocks, keys=keys)
    stages += [("pool", MeanPool()), ("output", Linear(widths[-1], outputs, key=next(keys)))]
    return Net(*zip(*stages, strict=True))


class PatchTokens(eqx.Module):
    """A token for every patch, by one linear map, after a class token; with learned positions."""

    project: Linear
    first: Float[Array, " width"]
    positions: Float[Array, "tokens width"]
    patch: int = eqx.field(static=True)

    def __init__(
        self, size: tuple[int, int], channels: int, patch: int, width: int, *, key: PRNGKeyArray
    ) -> None:
        if size[0] % patch or size[1] % patch:
            raise InputError("patch", patch, f"a number of pixels that divides {size[0]} and {size[1]}")
        keys = jax.random.split(key, 3)
        tokens = (size[0] // patch) * (size[1] // patch) + 1
        self.project = Linear(patch * patch * channels, width, key=keys[0])
        self.first = jax.random.normal(keys[1], (width,))
        self.positions = jax.random.normal(keys[2], (tokens, width))
        self.patch = patch

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Float[Array, "batch tokens width"]:
        batch, height, width, channels = x.shape
        p = self.patch
        x = x.reshape(batch, height // p, p, width // p, p, channels).transpose(0, 1, 3, 2, 4, 5)
        patches = self.project(x.reshape(batch, -1, p * p * channels))
        first = jnp.broadcast_to(self.first, (batch, 1, len(self.first)))
        return jnp.concatenate([first, patches], axis=1) + self.positions


class PreNormLayer(eqx.Module):
    """Pre-norm attention and an MLP, each with a residual connection."""

    norms: tuple[LayerNorm, LayerNorm]
    mix: Linear
    merge: Linear
    expand: Linear
    contract: Linear
    heads: int = eqx.field(static=True)
    dropout: Dropout

    def __init__(
        self, width: int, heads: int, head: int, hidden: int, *, dropout: float, key: PRNGKeyArray
    ) -> None:
        keys = jax.random.split(key, 4)
        self.norms = (LayerNorm(width), LayerNorm(width))
        self.mix = Linear(width, 3 * heads * head, bias=False, key=keys[0])
        self.merge = Linear(heads * head, width, key=keys[1])
        self.expand, self.contract = Linear(width, hidden, key=keys[2]), Linear(hidden, width, key=keys[3])
        self.heads, self.dropout = heads, Dropout(dropout)

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        keys = [None if key is None else jax.random.fold_in(key, i) for i in range(4)]
        attended = attend(self.mix(self.norms[0](x)), self.heads, self.dropout, key=keys[0])
        x = x + self.dropout(self.merge(attended), key=keys[1])
        hidden = jax.nn.gelu(self.expand(self.norms[1](x)), approximate=False)
        return x + self.dropout(self.contract(self.dropout(hidden, key=keys[2])), key=keys[3])


class FirstToken(eqx.Module):
    """The class token, which the output is read from."""

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        return x[:, 0]


def image_vit(
    *,
    size: tuple[int, int] = (32, 32),
    channels: int,
    patch: int = 8,
    width: int = 256,
    depth: int = 4,
    heads: int = 6,
    head: int = 64,
    hidden: int = 256,
    dropout: float = 0.1,
    outputs: int = 1,
    augment: int = 0,
    black: tuple[float, ...] = (),
    key: PRNGKeyArray,
) -> Net:
    """A vision transformer on patches, whose output is read from its first token.

    ```python
    >>> import equinox, jax
    >>> from recombine.nets import image_vit, parameter_count
    >>> shapes = equinox.filter_eval_shape(image_vit, channels=6, key=jax.random.key(0))
    >>> parameter_count(shapes)
    2208257

    ```
    """
    keys = (jax.random.fold_in(key, draw) for draw in count())
    stages: list[tuple[str, Stage]] = _augmented(augment, black)
    tokens = PatchTokens(size, channels, patch, width, key=next(keys))
    stages += [("tokens", Chain(tokens, Dropout(dropout)))]
    for layer in range(depth):
        block = PreNormLayer(width, heads, head, hidden, dropout=dropout, key=next(keys))
        stages += [(f"layer{layer}", block)]
    readout = Linear(width, outputs, key=next(keys))
    stages += [("output", Chain(FirstToken(), LayerNorm(width), readout))]
    return Net(*zip(*stages, strict=True))
