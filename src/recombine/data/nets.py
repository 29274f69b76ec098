"""The arrays of a user's net: weights, biases and activations, from memory or from files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recombine.data.array_files import read_arrays
from recombine.data.arrays import as_array, as_numbers
from recombine.data.files import is_path
from recombine.errors import InputError


@dataclass(frozen=True, eq=False)
class NetArrays:
    """The arrays of a net: its name, its weights from input to output with their names, and its biases, if any."""

    name: str
    weights: Any
    names: Sequence[str]
    biases: Sequence[Any] | None

    @contextmanager
    def named_errors(self) -> Iterator[None]:
        """Errors about `weights[1]` also give the name that the matrix has in its file."""
        try:
            yield
        except InputError as error:
            index = re.fullmatch(r"weights\[(\d+)\]", error.field)
            if index is None or not self.names:
                raise
            name = self.names[int(index[1])]
            raise InputError(f"{error.field} ({name!r})", error.got, error.expected) from None


def read_net(weights: Any) -> NetArrays:
    """The arrays of a net, from a list of matrices, a mapping, or the path of an `.npz` or `.safetensors` file.

    In a mapping and in a file, arrays with two or four axes are weights and arrays with one axis are biases, each in
    the natural order of their names: `W2` before `W10`. Single numbers are skipped.

    ```python
    >>> import numpy as np
    >>> from recombine.data.nets import read_net
    >>> net = read_net({"W10": np.ones((2, 1)), "W2": np.ones((3, 2)), "b2": np.zeros(2), "b10": np.zeros(1)})
    >>> net.names, len(net.biases)
    (['W2', 'W10'], 2)

    ```
    """
    if is_path(weights):
        return _from_mapping(Path(weights).name, read_arrays("weights", weights))
    if isinstance(weights, Mapping):
        arrays = {str(name): as_array(f"weights[{str(name)!r}]", array) for name, array in weights.items()}
        return _from_mapping("the net", arrays)
    single = isinstance(weights, np.ndarray) and weights.ndim == 0
    if single or not isinstance(weights, Sequence | np.ndarray) or isinstance(weights, bytes | bytearray):
        got = "a single number" if single else type(weights).__name__
        raise InputError("weights", got, "a list of matrices, a mapping, or the path of a file")
    if isinstance(weights, np.ndarray):
        return NetArrays("the net", weights, (), None)
    matrices = [as_array(f"weights[{number}]", matrix) for number, matrix in enumerate(weights)]
    return NetArrays("the net", matrices, (), None)


def read_activations(activations: Any, *, channels_first: bool) -> list[Any] | None:
    """One array `(rows, ..., units)` per hidden layer; with `channels_first`, units are axis 1 of images.

    ```python
    >>> import numpy as np
    >>> from recombine.data import read_activations
    >>> layers = {"conv10": np.ones((5, 8)), "conv2": np.ones((5, 3, 4, 4))}  # PyTorch has channels first
    >>> [layer.shape for layer in read_activations(layers, channels_first=True)]
    [(5, 4, 4, 3), (5, 8)]

    ```
    """
    if activations is None:
        return None
    expected = "(rows, units) of real numbers"
    if is_path(activations):
        activations = read_arrays("activations", activations)
    if isinstance(activations, Mapping):
        activations = [activations[name] for name in sorted(activations, key=lambda name: natural(str(name)))]
    if not isinstance(activations, list | tuple):
        array = as_numbers("activations", activations, expected)
        activations = [array] if array.ndim == 2 else list(array) if array.ndim > 2 else activations
    if not isinstance(activations, list | tuple):
        got = type(activations).__name__
        raise InputError("activations", got, "an array (rows, units) for each hidden layer")
    layers = []
    for number, layer in enumerate(activations):
        array = as_numbers(f"activations[{number}]", layer, expected)
        layers.append(np.moveaxis(array, 1, -1) if channels_first and array.ndim > 2 else array)
    return layers


def natural(name: str) -> tuple[tuple[int, int | str], ...]:
    """A key that sorts names as people do.

    ```python
    >>> from recombine.data.nets import natural
    >>> sorted(["W10", "W2", "W1"], key=natural)
    ['W1', 'W2', 'W10']

    ```
    """
    pieces = re.split(r"([0-9]{1,4000})", name)  # every second piece is a number; int() refuses longer ones
    return tuple((0, int(piece)) if turn % 2 else (1, piece) for turn, piece in enumerate(pieces) if piece)


def _from_mapping(name: str, arrays: Mapping[str, np.ndarray]) -> NetArrays:
    odd = {key: array.shape for key, array in arrays.items() if array.ndim not in {0, 1, 2, 4}}
    if odd:
        key, shape = next(iter(odd.items()))
        expected = "matrices, kernels with four axes, and biases with one axis"
        raise InputError("weights", f"{key!r} of shape {shape}", expected)
    arrays = {key: arrays[key] for key in sorted(arrays, key=natural)}
    matrices = [key for key in arrays if arrays[key].ndim in {2, 4}]
    if not matrices:
        raise InputError("weights", f"no matrix among {list(arrays)[:8]}", "a matrix for every layer")
    vectors = [arrays[key] for key in arrays if arrays[key].ndim == 1 and arrays[key].dtype.kind in "fiu"]
    return NetArrays(name, [arrays[key] for key in matrices], matrices, vectors or None)
