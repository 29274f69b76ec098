"""Multi-layer perceptrons (MLPs)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import equinox as eqx
import jax
from jaxtyping import PRNGKeyArray

from recombine.errors import InputError
from recombine.nets.layers.dense import Linear, he_normal
from recombine.nets.layers.normalisation import BatchNorm
from recombine.nets.stages import Chain, Net, Reshape, Stage


def mlp(
    *,
    inputs: int,
    width: int | Sequence[int],
    depth: int | None = None,
    outputs: int | tuple[int, ...],
    activation: Stage = jax.nn.relu,
    bias: bool = True,
    normalise: bool = False,
    normal: bool = False,
    key: PRNGKeyArray,
) -> Net:
    """An MLP with `depth` hidden layers of `width` units and a linear output.

    Hidden layers of different widths, such as a bottleneck, are given as `width=(128, 2, 128)`, without `depth`.
    Stages `hidden0` ... give the activations after the non-linearity, `output` the result, reshaped to
    `outputs` if that is an image's shape. With `normalise`, there is batch normalisation between each linear
    map and its non-linearity (stages `linear0`, `norm0`, `hidden0`, ...), and hidden weights are drawn
    uniformly with variance 2 / fan_in (He et al. 2015). With `normal`, the weights of all layers are drawn from a
    normal distribution with variance 2 / fan_in; biases stay uniform within ±1/√fan_in.

    ```python
    >>> import jax
    >>> from recombine.nets import mlp, parameter_count
    >>> net = mlp(inputs=56, width=256, depth=3, outputs=(28, 28), key=jax.random.key(0))
    >>> parameter_count(net), list(net.names)
    (347664, ['hidden0', 'hidden1', 'hidden2', 'output'])

    ```
    """
    hidden = _hidden_widths(width, depth)
    shape = (outputs,) if isinstance(outputs, int) else outputs
    stages: list[tuple[str, Stage]] = []
    for layer, (before, after) in enumerate(pairwise((inputs, *hidden))):
        linear = _linear(before, after, bias=bias, normal=normal, key=jax.random.fold_in(key, layer))
        if normalise:
            linear = eqx.tree_at(lambda new: new.weight, linear, linear.weight * 6**0.5)
            stages += [(f"linear{layer}", linear), (f"norm{layer}", BatchNorm(after))]
            stages += [(f"hidden{layer}", activation)]
        else:
            stages += [(f"hidden{layer}", Chain(linear, activation))]
    last = (inputs, *hidden)[-1]
    readout = _linear(
        last, math.prod(shape), bias=bias, normal=normal, key=jax.random.fold_in(key, len(hidden))
    )
    stages += [("output", Chain(readout, Reshape(shape)))]
    return Net(tuple(name for name, _ in stages), tuple(stage for _, stage in stages))


def _hidden_widths(width: int | Sequence[int], depth: int | None) -> tuple[int, ...]:
    if isinstance(width, int):
        if depth is None or depth < 0:
            raise InputError("depth", depth, "a number of hidden layers, 0 or more")
        return (width,) * depth
    if depth is not None:
        raise InputError("depth", depth, "None, since width lists the hidden layers")
    return tuple(width)


def _linear(inputs: int, outputs: int, *, bias: bool, normal: bool, key: PRNGKeyArray) -> Linear:
    linear = Linear(inputs, outputs, bias=bias, key=key)
    return he_normal(linear, jax.random.fold_in(key, 1)) if normal else linear
