"""Weights as a chain of layers, checked once, and which units are live."""

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
Orientation: TypeAlias = Literal["inputs-first", "outputs-first"]

ORIENTATIONS: tuple[Orientation, ...] = ("inputs-first", "outputs-first")
LIVE_SHARE = 0.01
"""A unit is live if its strength is at least this share of that of the units it is compared with."""


def layer_weights(weights: Sequence[Any], *, orientation: Orientation = "inputs-first") -> Chain:
    """The connections of a net from input to output as matrices `(units before, units after)`.

    Convolution kernels become one number per pair of channels, the root sum of squares. A dense layer behind a
    convolution that reads every pixel is summed over pixels in the same way.

    **Arguments:**

    - `weights`: one array per layer, from any framework that NumPy can read.
    - `orientation`: `"inputs-first"` if a matrix is `(inputs, outputs)` and a kernel `(height, width, inputs,
        outputs)`, as in this package, Flax and Keras; `"outputs-first"` if they are `(outputs, inputs)` and `(outputs,
        inputs, height, width)`, as in PyTorch.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import layer_weights
    >>> [m.shape for m in layer_weights([np.ones((8, 3)), np.ones((2, 8))], orientation="outputs-first")]
    [(3, 8), (8, 2)]

    ```
    """
    if orientation not in ORIENTATIONS:
        raise InputError("orientation", orientation, "'inputs-first' or 'outputs-first'")
    if isinstance(weights, np.ndarray) and weights.ndim == 2:
        raise InputError("weights", f"one matrix {weights.shape}", "a list of matrices")
    chain: list[Matrix] = []
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
        array = array if orientation == "inputs-first" else _inputs_first(array)
        matrix = array if array.ndim == 2 else np.sqrt((array**2).sum(axis=(0, 1)))
        if behind_kernel and array.ndim == 2:
            matrix = _summed_over_pixels(matrix, chain[-1].shape[1], orientation)
        chain.append(matrix)
        behind_kernel = array.ndim == 4
    if not chain:
        raise InputError("weights", "no matrix", "at least one")
    for number, (before, after) in enumerate(pairwise(chain)):
        if before.shape[1] != after.shape[0]:
            transposed = all(a.shape[0] == b.shape[1] for a, b in pairwise(chain))
            other = ORIENTATIONS[1 - ORIENTATIONS.index(orientation)]
            hint = f"; transposed they fit together: orientation='{other}'" if transposed else ""
            raise InputError(
                f"weights[{number + 1}]",
                f"shape {after.shape} behind {before.shape}",
                f"{before.shape[1]} rows, one for each unit of the layer before{hint}",
            )
    return tuple(chain)


def _inputs_first(array: np.ndarray) -> np.ndarray:
    return array.T if array.ndim == 2 else array.transpose(2, 3, 1, 0)


def _summed_over_pixels(matrix: Matrix, channels: int, orientation: Orientation) -> Matrix:
    """Root sum of squares over the pixels of a flattened image.

    Frameworks that have outputs first have channels first, too, so that they flatten channel by channel.
    """
    features = matrix.shape[0]
    if features == channels or features % channels:
        return matrix
    pixels_first = orientation == "inputs-first"
    shape = (-1, channels) if pixels_first else (channels, -1)
    return np.sqrt((matrix.reshape(*shape, matrix.shape[1]) ** 2).sum(axis=0 if pixels_first else 1))


def live_units(
    weights: Chain, activations: Sequence[Any] | None = None, *, threshold: float = LIVE_SHARE
) -> Live:
    """Which units are live: for the inputs, every hidden layer, and the outputs.

    A hidden unit's signal is the standard deviation of its activity; without activations, the length of its incoming
    weights. Its strength is its signal times the length of its outgoing weights. A unit is dead if

    - its strength is below `threshold` times that of the strongest unit of its layer, and
    - in the live units that it sends to, its signal is drowned out by others: weighted by where it sends, its signal
        times the weight is below `threshold` times the largest that arrives there.

    The second condition does not depend on the scale of a block of units: if one block of a net is scaled by 100, the
    weak blocks stay live, because nothing drowns them out in their own block. Inputs and outputs are always live.

    **Arguments:**

    - `weights`: from `layer_weights`.
    - `activations`: one array `(rows, ..., units)` per hidden layer.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import layer_weights, live_units
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
    signals = []
    for layer in range(hidden):
        units = weights[layer].shape[1]
        if activations is None:
            signal = np.linalg.norm(weights[layer], axis=0)
        else:
            signal = _activity_spread(activations[layer], units, f"activations[{layer}]")
        if not (signal * np.linalg.norm(weights[layer + 1], axis=1)).max() > 0:
            raise InputError(
                f"weights[{layer + 1}]",
                f"all {units} units of hidden layer {layer + 1} dead",
                "at least one unit that varies and has outgoing weights",
            )
        signals.append(signal)
    live = [np.ones(weights[-1].shape[1], dtype=bool)]
    for signal, matrix in zip(signals[::-1], weights[:0:-1], strict=True):  # from the outputs to the inputs
        strength = signal * np.linalg.norm(matrix, axis=1)
        strong = strength >= threshold * strength.max()
        live.append(strong | (_relative_drive(signal, matrix[:, live[-1]]) >= threshold))
    return (np.ones(weights[0].shape[0], dtype=bool), *live[::-1])


def _relative_drive(
    signal: Float[np.ndarray, " units"], outgoing: Float[np.ndarray, "units receivers"]
) -> Float[np.ndarray, " units"]:
    """How a unit's drive of its receivers compares with the strongest drive there; 1 for a unit that leads in all.

    The mean over receivers k of d_jk / max_i d_ik with d_jk = signal_j |w_jk|, weighted by d_jk².
    """
    drive = signal[:, None] * np.abs(outgoing)
    largest = drive.max(axis=0, initial=0.0)
    relative = np.divide(drive, largest, out=np.zeros_like(drive), where=largest > 0)
    scaled = drive / np.maximum(drive.max(axis=1, keepdims=True), np.finfo(float).tiny)  # against underflow
    weight = scaled**2
    total = weight.sum(axis=1)
    return np.divide((weight * relative).sum(axis=1), total, out=np.zeros_like(total), where=total > 0)


def _activity_spread(activity: Any, units: int, field: str) -> Float[np.ndarray, " units"]:
    array = np.asarray(activity, dtype=np.float64)
    if array.ndim < 2 or array.shape[-1] != units or not len(array):
        raise InputError(field, f"shape {array.shape}", f"(rows, {units}), a column for every unit")
    if not np.isfinite(array).all():
        raise InputError(field, "values that are not finite", "finite numbers")
    return array.reshape(-1, units).std(axis=0)


def all_live(weights: Chain) -> Live:
    """Every unit of the net as live.

    ```python
    >>> import numpy as np
    >>> from recombine.metrics.connectivity import all_live
    >>> [mask.tolist() for mask in all_live((np.ones((1, 2)),))]
    [[True], [True, True]]

    ```
    """
    sizes = [weights[0].shape[0], *(matrix.shape[1] for matrix in weights)]
    return tuple(np.ones(size, dtype=bool) for size in sizes)


def checked_live(weights: Chain, live: Live | None) -> Live:
    """`live`, or all units; it must have the weights' sizes."""
    if live is None:
        return all_live(weights)
    sizes = [len(mask) for mask in all_live(weights)]
    if [len(mask) for mask in live] != sizes:
        raise InputError("live", [len(mask) for mask in live], f"a mask for layers of {sizes} units")
    return tuple(np.asarray(mask, dtype=bool) for mask in live)
