"""Nets that are modular by construction, and dense controls with the same number of parameters.

The published sizes (Qian et al. 2025, arXiv 2512.13707) are in the examples.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import equinox as eqx
import jax
from jaxtyping import PRNGKeyArray

from recombine.errors import InputError
from recombine.nets.layers.activations import leaky_relu
from recombine.nets.layers.dense import BlockLinear, Linear
from recombine.nets.stages import Chain, Net, Stage, parameter_count


def parallel_mlp(
    *,
    modules: int,
    width: int,
    depth: int,
    inputs: int = 1,
    outputs: int = 1,
    activation: Stage = leaky_relu,
    key: PRNGKeyArray,
) -> Net:
    """`modules` MLPs in parallel, without connections between them.

    Each has `inputs`, `depth` hidden layers of `width` units and `outputs`. Module `i` reads and writes the `i`-th
    group of features. Stages `hidden0`, ..., `output`.

    ```python
    >>> import jax
    >>> from recombine.nets import parallel_mlp, parameter_count
    >>> parameter_count(parallel_mlp(modules=4, width=8, depth=3, key=jax.random.key(0)))  # four of 1-8-8-8-1
    676

    ```
    """
    if depth < 0:
        raise InputError("depth", depth, "a number of hidden layers, 0 or more")
    hidden = _modules(modules, (inputs, *[width] * depth), activation, key)
    last = BlockLinear(modules, width if depth else inputs, outputs, key=jax.random.fold_in(key, depth))
    names = tuple(f"hidden{layer}" for layer in range(depth))
    return Net((*names, "output"), (*hidden, last))


def modules_then_dense(
    *,
    modules: int,
    module_width: int,
    module_depth: int,
    width: int,
    depth: int,
    outputs: int,
    activation: Stage = leaky_relu,
    key: PRNGKeyArray,
) -> Net:
    """One MLP per input, each with one output (and the activation on it), then a dense MLP on those.

    Stages `module0`, ..., `scalars` (one value per module), `hidden0`, ..., `output`.

    ```python
    >>> import jax
    >>> from recombine.nets import modules_then_dense, parameter_count
    >>> net = modules_then_dense(
    ...     modules=2, module_width=64, module_depth=1, width=128, depth=1, outputs=1, key=jax.random.key(0)
    ... )
    >>> parameter_count(net), net.names
    (899, ('module0', 'scalars', 'hidden0', 'output'))

    ```
    """
    first, second = jax.random.split(key)
    stages = _modules(modules, (1, *[module_width] * module_depth, 1), activation, first)
    names = [*(f"module{layer}" for layer in range(module_depth)), "scalars"]
    for layer, (before, after) in enumerate(pairwise((modules, *[width] * depth))):
        linear = Linear(before, after, key=jax.random.fold_in(second, layer))
        stages.append(Chain(linear, activation))
        names.append(f"hidden{layer}")
    last = width if depth else modules
    output = Linear(last, outputs, key=jax.random.fold_in(second, depth))
    return Net((*names, "output"), (*stages, output))


def matched_width(make: Callable[..., Any], parameters: int) -> int:
    """The width with which `make(width=..., key=...)` has the number of parameters closest to `parameters`.

    For a dense control of a modular net. Ties go to the smaller width.

    ```python
    >>> from recombine import Part
    >>> from recombine.nets import matched_width, mlp
    >>> matched_width(Part(mlp, inputs=2, depth=3, outputs=1), 899)
    20

    ```
    """
    if parameters < 1:
        raise InputError("parameters", parameters, "a positive number")

    def count(width: int) -> int:
        shapes = eqx.filter_eval_shape(lambda: make(width=width, key=jax.random.key(0)))
        return parameter_count(shapes)

    high = 1
    while count(high) < parameters:
        if count(2 * high) == count(high):
            raise InputError(
                "make", f"{count(high)} parameters at any width", "a net that grows with its width"
            )
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if count(middle) < parameters else (low, middle)
    return min((w for w in (low, high) if w), key=lambda w: (abs(count(w) - parameters), w))


def _modules(modules: int, widths: tuple[int, ...], activation: Stage, key: PRNGKeyArray) -> list[Stage]:
    if modules < 1:
        raise InputError("modules", modules, "a positive number")
    return [
        Chain(BlockLinear(modules, before, after, key=jax.random.fold_in(key, layer)), activation)
        for layer, (before, after) in enumerate(pairwise(widths))
    ]
