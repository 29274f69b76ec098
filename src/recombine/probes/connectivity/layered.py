"""Weights as a chain of layers, checked once, and which units take part at all."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import numpy as np
from jaxtyping import Bool, Float

from recombine.errors import InputError

Matrix: TypeAlias = Float[np.ndarray, "before after"]
Chain: TypeAlias = tuple[Matrix, ...]
Live: TypeAlias = tuple[Bool[np.ndarray, " units"], ...]
Rows: TypeAlias = Literal["inputs", "outputs"]

LIVE_SHARE = 0.01
"""A unit is live from this share of its layer's strongest unit on."""


def layer_weights(weights: Sequence[Any], *, rows: Rows = "inputs") -> Chain:
    """The connections of a net from input to output as matrices `(units before, units after)`.

    Convolution kernels become one number per pair of channels, the root sum of squares. A dense layer behind a
    convolution that reads every pixel is summed over pixels in the same way.

    **Arguments:**

    - `weights`: one array per layer, from any framework that NumPy can read.
    - `rows`: `"inputs"` if a matrix is `(inputs, outputs)` and a kernel `(height, width, inputs, outputs)`, as in this
        package; `"outputs"` if they are `(outputs, inputs)` and `(outputs, inputs, height, width)`, as in PyTorch.

    ```python
    >>> import numpy as np
    >>> from recombine.probes.connectivity import layer_weights
    >>> [m.shape for m in layer_weights([np.ones((8, 3)), np.ones((2, 8))], rows="outputs")]
    [(3, 8), (8, 2)]

    ```
    """
    if rows not in {"inputs", "outputs"}:
        raise InputError("rows", rows, "'inputs' or 'outputs'")
    if isinstance(weights, np.ndarray) and weights.ndim == 2:
        raise InputError("weights", f"one matrix {weights.shape}", "a list of matrices")
    found: list[Matrix] = []
    behind_kernel = False
    for number, weight in enumerate(weights):
        array = np.asarray(weight)
        if array.dtype.kind not in "fiu" or array.ndim not in {2, 4} or not array.size:
            got = f"{array.dtype.name} of shape {array.shape}"
            raise InputError(
                f"weights[{number}]", got, "a matrix of numbers, or a kernel with four axes for a convolution"
            )
        array = array.astype(np.float64)
        if not np.isfinite(array).all():
            bad = int((~np.isfinite(array)).sum())
            raise InputError(f"weights[{number}]", f"{bad} values that are not finite", "finite numbers")
        array = array if rows == "inputs" else _inputs_first(array)
        matrix = array if array.ndim == 2 else np.sqrt((array**2).sum(axis=(0, 1)))
        if behind_kernel and array.ndim == 2:
            matrix = _summed_over_pixels(matrix, found[-1].shape[1], rows)
        found.append(matrix)
        behind_kernel = array.ndim == 4
    if not found:
        raise InputError("weights", "no matrix", "at least one")
    for number, (before, after) in enumerate(pairwise(found)):
        if before.shape[1] != after.shape[0]:
            turned = all(a.shape[0] == b.shape[1] for a, b in pairwise(found))
            other = "outputs" if rows == "inputs" else "inputs"
            hint = f"; they chain the other way round: rows='{other}'" if turned else ""
            raise InputError(
                f"weights[{number + 1}]",
                f"shape {after.shape} behind {before.shape}",
                f"{before.shape[1]} rows, one for each unit of the layer before{hint}",
            )
    return tuple(found)


def _inputs_first(array: np.ndarray) -> np.ndarray:
    return array.T if array.ndim == 2 else array.transpose(2, 3, 1, 0)


def _summed_over_pixels(matrix: Matrix, channels: int, rows: Rows) -> Matrix:
    """Root sum of squares over the pixels that a flattened picture had; frameworks with outputs first have channels
    first, too.
    """
    features = matrix.shape[0]
    if features == channels or features % channels:
        return matrix
    shape = (-1, channels) if rows == "inputs" else (channels, -1)
    axis = 0 if rows == "inputs" else 1
    return np.sqrt((matrix.reshape(*shape, matrix.shape[1]) ** 2).sum(axis=axis))


def live_units(
    weights: Chain, activations: Sequence[Any] | None = None, *, threshold: float = LIVE_SHARE
) -> Live:
    """Which units take part: for the inputs, every hidden layer, and the outputs.

    A hidden unit's strength is the standard deviation of its activity times the length of its outgoing weights;
    without activations, the length of its incoming times that of its outgoing weights. Units below
    `threshold` times the strongest of their layer are dead. Inputs and outputs always count.

    **Arguments:**

    - `weights`: from `layer_weights`.
    - `activations`: one array `(rows, ..., units)` per hidden layer.

    ```python
    >>> import numpy as np
    >>> from recombine.probes.connectivity import layer_weights, live_units
    >>> weights = layer_weights([np.array([[1.0, 1e-6, 1.0]]), np.array([[1.0], [1.0], [1e-6]])])
    >>> live_units(weights)[1].tolist()
    [True, False, False]

    ```
    """
    hidden = len(weights) - 1
    if activations is not None and len(activations) != hidden:
        raise InputError(
            "activations", f"{len(activations)} arrays", f"one for each of {hidden} hidden layers"
        )
    if not 0 <= threshold < 1:
        raise InputError("threshold", threshold, "a share from 0 to below 1")
    live = [np.ones(weights[0].shape[0], dtype=bool)]
    for layer in range(hidden):
        units = weights[layer].shape[1]
        if activations is None:
            moved = np.linalg.norm(weights[layer], axis=0)
        else:
            moved = _moved(activations[layer], units, f"activations[{layer}]")
        strength = moved * np.linalg.norm(weights[layer + 1], axis=1)
        if not strength.max() > 0:
            raise InputError(
                f"weights[{layer + 1}]",
                f"all {units} units of hidden layer {layer + 1} dead",
                "at least one unit that varies and has outgoing weights",
            )
        live.append(strength >= threshold * strength.max())
    return (*live, np.ones(weights[-1].shape[1], dtype=bool))


def _moved(activity: Any, units: int, field: str) -> Float[np.ndarray, " units"]:
    array = np.asarray(activity, dtype=np.float64)
    if array.ndim < 2 or array.shape[-1] != units or not len(array):
        raise InputError(field, f"shape {array.shape}", f"(rows, {units}), a column for every unit")
    if not np.isfinite(array).all():
        raise InputError(field, "values that are not finite", "finite numbers")
    return array.reshape(-1, units).std(axis=0)


def all_live(weights: Chain) -> Live:
    """Every unit counts."""
    sizes = [weights[0].shape[0], *(matrix.shape[1] for matrix in weights)]
    return tuple(np.ones(size, dtype=bool) for size in sizes)


def checked_live(weights: Chain, live: Live | None) -> Live:
    """`live`, or all units; it must have the weights' sizes."""
    if live is None:
        return all_live(weights)
    if [len(mask) for mask in live] != [len(mask) for mask in all_live(weights)]:
        sizes = [len(mask) for mask in all_live(weights)]
        raise InputError("live", [len(mask) for mask in live], f"a mask for layers of {sizes} units")
    return tuple(np.asarray(mask, dtype=bool) for mask in live)
