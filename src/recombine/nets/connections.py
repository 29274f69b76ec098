"""Connections: the weight matrices of a net, and which stage each of them reads.

Nets made of this package's stages can be used directly. `staged` turns Equinox's own `MLP` and `Sequential` into such
a net without copying weights, so gradients flow back to them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from recombine.errors import InputError
from recombine.nets.layers.convolution import Conv2d, ConvTranspose2d
from recombine.nets.layers.dense import BlockLinear, Linear
from recombine.nets.stages import Chain, Net, Reshape, Stage


class PerExample(eqx.Module):
    """One of Equinox's own layers, which take one example, as a stage on batches."""

    layer: Any

    @property
    def weight(self) -> Array:
        """The layer's weights, outputs first."""
        return self.layer.weight

    def __call__(self, x: Array, *, key: PRNGKeyArray | None = None) -> Array:
        return jax.vmap(self.layer)(x)


Weighted: TypeAlias = Linear | BlockLinear | Conv2d | ConvTranspose2d | PerExample
"""A linear map between units, which has a weight matrix."""


@dataclass(frozen=True)
class Link:
    """A linear map, the stage that contains it, and the stage whose output it reads (`None`: the net's input).

    `reads(activity)` turns that stage's output into the input of the map (such as a flattened image).
    """

    source: str | None
    target: str
    layer: Weighted
    reads: Callable[[Array], Array]

    @property
    def matrix(self) -> Float[Array, "before after"]:
        """Signed weights `(units before, units after)`; see `matrix_of` for convolutions."""
        return matrix_of(self.layer)


def matrix_of(layer: Weighted) -> Float[Array, "before after"]:
    """The connections of a layer as a matrix; for a convolution one non-negative number per pair of channels."""
    if isinstance(layer, BlockLinear):
        return layer.matrix
    weight = layer.weight
    if isinstance(layer, Conv2d | ConvTranspose2d):
        return jnp.sqrt((weight**2).sum(axis=(0, 1)))
    if isinstance(layer, PerExample):  # Equinox puts outputs first
        return weight.T if weight.ndim == 2 else jnp.sqrt((weight**2).sum(axis=(2, 3))).T
    return weight


def with_squared_weights(layer: Weighted) -> Weighted:
    """The map that variances go through when the inputs' noises are independent: weights squared, no bias.

    ```python
    >>> import jax, jax.numpy as jnp
    >>> from recombine.nets import Conv2d
    >>> from recombine.nets.connections import with_squared_weights
    >>> layer = with_squared_weights(Conv2d(2, 3, 3, padding=1, key=jax.random.key(0)))
    >>> layer.bias is None, bool((layer(jnp.ones((1, 5, 5, 2))) > 0).all())
    (True, True)

    ```
    """
    if isinstance(layer, PerExample):  # Equinox stores in a static field whether a layer has a bias
        zero_bias = jax.tree.map(jnp.zeros_like, layer.layer.bias)
        return eqx.tree_at(
            lambda map_: (map_.layer.weight, map_.layer.bias),
            layer,
            (layer.weight**2, zero_bias),
            is_leaf=lambda leaf: leaf is None,
        )
    squared = eqx.tree_at(lambda map_: map_.weight, layer, layer.weight**2)
    return eqx.tree_at(lambda map_: map_.bias, squared, None, is_leaf=lambda leaf: leaf is None)


def links(net: Any) -> tuple[Link, ...]:
    """The linear maps that read a stage of the net, or its input, in order.

    A stage counts if its first layer with weights is linear; layers before it must only reshape.

    ```python
    >>> import jax
    >>> from recombine.nets import links, mlp
    >>> net = mlp(inputs=3, width=8, depth=2, outputs=2, key=jax.random.key(0))
    >>> [(link.source, link.target, link.matrix.shape) for link in links(net)]
    [(None, 'hidden0', (3, 8)), ('hidden0', 'hidden1', (8, 8)), ('hidden1', 'output', (8, 2))]

    ```
    """
    linked, source = [], None
    for name, stage in net.stages:
        before, layer = _first_map(stage)
        if layer is not None:
            linked.append(Link(source, name, layer, before))
        source = name
    return tuple(linked)


def weighted_layers(net: Any) -> tuple[Weighted, ...]:
    """Every linear map in a net."""
    return tuple(leaf for leaf in jax.tree.leaves(net, is_leaf=_is_map) if _is_map(leaf))


def connections(net: Any) -> tuple[Float[Array, "before after"], ...]:
    """The matrices of all `links`; a dense layer that reads every pixel of a convolution is summed over pixels.

    ```python
    >>> import jax
    >>> from recombine.nets import Chain, Conv2d, Linear, Net, Reshape
    >>> from recombine.nets.connections import connections
    >>> pixels = Conv2d(1, 4, 3, padding=1, key=jax.random.key(0))
    >>> net = Net(("pixels", "output"), (pixels, Chain(Reshape((100,)), Linear(100, 3, key=jax.random.key(1)))))
    >>> [matrix.shape for matrix in connections(net)]
    [(1, 4), (4, 3)]

    ```
    """
    matrices: list[Array] = []
    before: Weighted | None = None
    for link in links(net):
        matrix = link.matrix
        if _is_convolution(before) and not _is_convolution(link.layer):
            matrix = _summed_over_pixels(
                matrix, matrices[-1].shape[1], channels_last=not isinstance(before, PerExample)
            )
        matrices.append(matrix)
        before = link.layer
    return tuple(matrices)


def _is_convolution(layer: Any) -> bool:
    inner = layer.layer if isinstance(layer, PerExample) else layer
    return isinstance(inner, Conv2d | ConvTranspose2d | eqx.nn.Conv2d)


def _summed_over_pixels(matrix: Array, channels: int, *, channels_last: bool) -> Array:
    """Root sum of squares over the pixels if the input is a flattened image; otherwise the matrix itself."""
    if matrix.shape[0] == channels or matrix.shape[0] % channels:
        return matrix
    shape, pixels = ((-1, channels), 0) if channels_last else ((channels, -1), 1)
    return jnp.sqrt((matrix.reshape(*shape, matrix.shape[1]) ** 2).sum(axis=pixels))


def weight_matrices(net: Any) -> tuple[np.ndarray, ...]:
    """The net's `connections` from input to output in float64, as `recombine.metrics.connectivity` takes them.

    ```python
    >>> import jax
    >>> from recombine.nets import mlp, weight_matrices
    >>> [m.shape for m in weight_matrices(mlp(inputs=3, width=8, depth=1, outputs=2, key=jax.random.key(0)))]
    [(3, 8), (8, 2)]

    ```
    """
    return tuple(np.asarray(matrix, dtype=np.float64) for matrix in connections(net))


def with_matrices(net: Any, matrices: Any) -> Any:
    """The net with other weights, of the same shapes as `weight_matrices`; dense layers only."""
    layers = [link.layer for link in links(net)]
    if any(not isinstance(layer, Linear) for layer in layers):
        raise InputError("net", "a layer that is not dense", "a net of dense layers")
    shapes = [tuple(np.shape(matrix)) for matrix in matrices]
    if shapes != [layer.weight.shape for layer in layers]:
        raise InputError("matrices", shapes, f"shapes {[layer.weight.shape for layer in layers]}")
    return eqx.tree_at(
        lambda changed: [link.layer.weight for link in links(changed)],
        net,
        [jnp.asarray(matrix, jnp.float32) for matrix in matrices],
    )


def staged(module: Any) -> Net:
    """A net with stages from Equinox's `MLP` or `Sequential`, sharing its weights; a net with stages is returned as is.

    Every `equinox.nn.Linear` or `Conv2d` begins a stage (`hidden0`, ..., `output`); functions without weights, which
    take one example, join the stage before them. Dropout is off.

    ```python
    >>> import equinox as eqx, jax
    >>> from recombine.nets import staged
    >>> staged(eqx.nn.MLP(3, 2, width_size=8, depth=1, key=jax.random.key(0))).names
    ('hidden0', 'output')

    ```
    """
    if hasattr(module, "stages"):
        return module
    if isinstance(module, eqx.nn.MLP):
        last = len(module.layers) - 1
        ends = [module.final_activation if i == last else module.activation for i in range(last + 1)]
        layers = [part for pair in zip(module.layers, ends, strict=True) for part in pair]
    elif isinstance(module, eqx.nn.Sequential):
        layers = list(module.layers)
    else:
        raise InputError(
            "net", type(module).__name__, "a net with stages, equinox.nn.MLP or equinox.nn.Sequential"
        )
    groups: list[list[Stage]] = [[]]
    for layer in layers:
        converted = _converted(layer)
        if _is_map(converted) and any(_is_map(other) for other in groups[-1]):
            groups.append([])
        groups[-1].append(converted)
    names = [*(f"hidden{number}" for number in range(len(groups) - 1)), "output"]
    return Net(tuple(names), tuple(Chain(*group) for group in groups))


def _first_map(stage: Any) -> tuple[Callable[[Array], Array], Weighted | None]:
    """The map that reads the stage's input, and the reshaping in front of it."""
    before: list[Stage] = []
    for layer in _flat(stage):
        if _is_map(layer):
            return Chain(*before), layer
        if not isinstance(layer, Reshape):
            break
        before.append(layer)
    return Chain(), None


def _flat(stage: Any) -> list[Any]:
    return (
        [inner for layer in stage.layers for inner in _flat(layer)] if isinstance(stage, Chain) else [stage]
    )


def _is_map(layer: Any) -> bool:
    """Whether this is a linear map; of Equinox's own layers only some are."""
    if isinstance(layer, PerExample):
        return isinstance(layer.layer, eqx.nn.Linear | eqx.nn.Conv2d)
    return isinstance(layer, Weighted)


def _converted(layer: Any) -> Stage:
    if isinstance(layer, eqx.nn.Lambda):
        layer = layer.fn
    if isinstance(layer, eqx.nn.Dropout):
        layer = eqx.nn.inference_mode(layer)  # activity is measured without dropout
    if layer is jnp.ravel:
        return Reshape((-1,))
    trained = jax.tree.leaves(eqx.filter(layer, eqx.is_inexact_array))
    if trained and not isinstance(layer, eqx.nn.Linear | eqx.nn.Conv2d):
        raise InputError(
            "net", type(layer).__name__, "Linear and Conv2d layers, and functions without weights"
        )
    return PerExample(layer)
