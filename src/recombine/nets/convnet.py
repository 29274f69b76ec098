"""Convolutional decoders (codes to images) and encoders (images to codes)."""

from __future__ import annotations

from itertools import count
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, PRNGKeyArray

from recombine.errors import InputError
from recombine.nets.layers.convolution import Conv2d, ConvTranspose2d
from recombine.nets.layers.dense import Linear
from recombine.nets.layers.normalisation import BatchNorm
from recombine.nets.stages import Chain, Net, Reshape, Stage

Layer = TypeVar("Layer", bound=Linear | Conv2d | ConvTranspose2d)


class NearestResize(eqx.Module):
    """Resizes maps `(batch, height, width, channels)` to `size` × `size` by nearest-neighbour sampling."""

    size: int = eqx.field(static=True)

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        rows, columns = ((jnp.arange(self.size) * side) // self.size for side in x.shape[1:3])
        return x[:, rows][:, :, columns]


def cnn_decoder(
    *, inputs: int, width: int, depth: int, size: int = 28, start: int = 7, key: PRNGKeyArray
) -> Net:
    """A transposed-convolution decoder from a code to a `size` × `size` image.

    The code becomes a `start` × `start` map of `width` channels; the map is doubled (kernel 4, stride 2)
    until it is at least `size` wide, further blocks keep its size (kernel 3), and a last kernel-3 convolution
    produces one channel, resized by nearest-neighbour sampling if the map is larger than the image.

    **Arguments:**

    - `depth`: hidden blocks after the first; at least the number of doublings.
    - `start`: width of the first map. A `start` of `size / 2^k` needs no resizing.

    Stages `block0` ... `block{depth}` are the maps after their ReLU, `output` is the image.

    ```python
    >>> import jax
    >>> from recombine.nets import cnn_decoder, parameter_count
    >>> parameter_count(cnn_decoder(inputs=56, width=64, depth=4, key=jax.random.key(0)))
    381313

    ```
    """
    doublings = max(0, (-(-size // start) - 1).bit_length())
    if depth < doublings:
        raise InputError("depth", depth, f"at least {doublings}, to get from {start} to {size} pixels")
    keys = [jax.random.fold_in(key, block) for block in range(depth + 2)]
    first = ConvTranspose2d(inputs, width, start, key=keys[0])
    blocks: list[Stage] = [Chain(Reshape((1, 1, inputs)), first, jax.nn.relu)]
    for block in range(1, depth + 1):
        kernel, stride = (4, 2) if block <= doublings else (3, 1)
        layer = ConvTranspose2d(width, width, kernel, stride=stride, padding=1, key=keys[block])
        blocks.append(Chain(layer, jax.nn.relu))
    resize = [] if start << doublings == size else [NearestResize(size)]
    readout = ConvTranspose2d(width, 1, 3, padding=1, key=keys[-1])
    names = (*(f"block{block}" for block in range(depth + 1)), "output")
    return Net(names, (*blocks, Chain(readout, *resize, Reshape((size, size)))))


def cnn_encoder(*, outputs: int, size: int = 28, key: PRNGKeyArray) -> Net:
    """The encoder of the reverse task: three stride-2 convolutions, a dense layer of 128, a linear output.

    Takes images `(batch, size, size, 1)`.

    ```python
    >>> import jax
    >>> from recombine.nets import cnn_encoder, parameter_count
    >>> [parameter_count(cnn_encoder(outputs=n, key=jax.random.key(0))) for n in (56, 2)]
    [362168, 355202]

    ```
    """
    keys = [jax.random.fold_in(key, layer) for layer in range(5)]
    channels = (1, 32, 64, 128)
    blocks = [
        Chain(Conv2d(channels[i], channels[i + 1], 3, stride=2, padding=1, key=keys[i]), jax.nn.relu)
        for i in range(3)
    ]
    side = size
    for _ in blocks:
        side = (side + 1) // 2
    flat = side * side * channels[-1]
    dense = Chain(Reshape((flat,)), Linear(flat, 128, key=keys[3]), jax.nn.relu)
    return Net(
        ("block0", "block1", "block2", "dense", "output"),
        (*blocks, dense, Linear(128, outputs, key=keys[4])),
    )


def rotation_decoder(*, inputs: int, width: int = 128, deep: bool = False, key: PRNGKeyArray) -> Net:
    """The decoder from an angle to a 28 × 28 image, with batch normalisation and a sigmoid output.

    **Arguments:**

    - `inputs`: 1 for a scalar angle, 2 for its cosine and sine.
    - `deep`: one more dense layer in front and one more convolution at the end.

    Weights are drawn as by He et al. (2015): normal, with variance 2 / fan_out for convolutions and
    2 / fan_in for dense layers; biases start at 0.

    ```python
    >>> import jax
    >>> from recombine.nets import parameter_count, rotation_decoder
    >>> key = jax.random.key(0)
    >>> [parameter_count(rotation_decoder(inputs=2, deep=deep, key=key)) for deep in (False, True)]
    [413185, 1240897]

    ```
    """
    keys = (jax.random.fold_in(key, draw) for draw in count())
    half = width // 2
    stages: list[tuple[str, Stage]] = []
    features = inputs
    if deep:
        stages += [("dense0", Chain(_he_linear(inputs, width, next(keys)), jax.nn.relu))]
        features = width
    stages += [("dense", Chain(_he_linear(features, 49 * width, next(keys)), Reshape((7, 7, width))))]
    for name, c_in, c_out in (("up0", width, width), ("up1", width, half)):
        layer = _he_convolution(
            ConvTranspose2d(c_in, c_out, 4, stride=2, padding=1, key=next(keys)), next(keys)
        )
        stages += [(name, layer), (f"{name}_norm", BatchNorm(c_out)), (f"{name}_relu", jax.nn.relu)]
    if deep:
        refine = _he_convolution(Conv2d(half, half, 3, padding=1, key=next(keys)), next(keys))
        stages += [("refine", refine), ("refine_norm", BatchNorm(half)), ("refine_relu", jax.nn.relu)]
    readout = _he_convolution(Conv2d(half, 1, 3, padding=1, key=next(keys)), next(keys))
    stages += [("output", Chain(readout, jax.nn.sigmoid, Reshape((28, 28))))]
    return Net(tuple(name for name, _ in stages), tuple(stage for _, stage in stages))


def _he_linear(inputs: int, outputs: int, key: PRNGKeyArray) -> Linear:
    weight = jax.random.normal(key, (inputs, outputs)) * (2 / inputs) ** 0.5
    return _with(Linear(inputs, outputs, key=key), weight)


def _he_convolution(layer: Layer, key: PRNGKeyArray) -> Layer:
    """PyTorch's `fan_out` is `weight.shape[0]` × kernel area: the *input* channels of a transposed layer."""
    kernel_area = layer.weight.shape[0] * layer.weight.shape[1]
    channels = layer.weight.shape[2 if isinstance(layer, ConvTranspose2d) else 3]
    weight = jax.random.normal(key, layer.weight.shape) * (2 / (channels * kernel_area)) ** 0.5
    return _with(layer, weight)


def _with(layer: Layer, weight: Array) -> Layer:
    """The layer with another weight and a zero bias."""
    zeros = jnp.zeros(weight.shape[-1])
    changed: Layer = eqx.tree_at(lambda new: (new.weight, new.bias), layer, (weight, zeros))
    return changed
