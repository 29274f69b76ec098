"""Weights, biases, activity and data of somebody's net, from arrays or from files. Nothing is unpickled."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.modularity.safetensors import read_safetensors

_PICKLES = {".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".bin", ".joblib"}
_FILE = "an .npz file of arrays that can be read (nothing is unpickled)"


@dataclass(frozen=True, eq=False)
class Arrays:
    """The arrays of a net: its name, weights with their names from input to output, and biases if there are any."""

    name: str
    weights: Any
    names: Sequence[str]
    biases: Sequence[Any] | None

    @contextmanager
    def named(self) -> Iterator[None]:
        """Errors about `weights[1]` say the name that the matrix has in its file, too."""
        try:
            yield
        except InputError as error:
            place = re.fullmatch(r"weights\[(\d+)\]", error.field)
            if place is None or not self.names:
                raise
            known = self.names[int(place[1])]
            raise InputError(f"{error.field} ({known!r})", error.got, error.expected) from None


def read_net(weights: Any) -> Arrays:
    """The arrays of a net, from a list of matrices, a mapping, or the path of an `.npz` or `.safetensors` file.

    In a mapping and in a file, arrays of two or four axes are weights and arrays of one axis biases, each in the
    natural order of their names: `W2` before `W10`. Single numbers are passed over.

    ```python
    >>> import numpy as np
    >>> from recombine.modularity.reading import read_net
    >>> found = read_net({"W10": np.ones((2, 1)), "W2": np.ones((3, 2)), "b2": np.zeros(2), "b10": np.zeros(1)})
    >>> found.names, len(found.biases)
    (['W2', 'W10'], 2)

    ```
    """
    if isinstance(weights, str | Path):
        return _from_mapping(Path(weights).name, read_arrays("weights", weights))
    if isinstance(weights, Mapping):
        return _from_mapping("the net", {str(name): np.asarray(array) for name, array in weights.items()})
    if not isinstance(weights, Sequence | np.ndarray):
        got = type(weights).__name__
        raise InputError("weights", got, "a list of matrices, a mapping, or the path of a file")
    return Arrays("the net", weights, (), None)


def _from_mapping(name: str, arrays: Mapping[str, np.ndarray]) -> Arrays:
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
    return Arrays(name, [arrays[key] for key in matrices], matrices, vectors or None)


def read_arrays(field: str, path: str | Path) -> dict[str, np.ndarray]:
    """The arrays of an `.npz` or `.safetensors` file by name; pickles are refused."""
    path = Path(path)
    if path.suffix.lower() in _PICKLES:
        raise InputError(
            field,
            str(path),
            "an .npz or .safetensors file (pickles are never read, since they can run any code: write the arrays "
            "with numpy.savez, or safetensors.torch.save_file for a state dict)",
        )
    if not path.is_file():
        raise InputError(field, str(path), "the path of an .npz or .safetensors file that exists")
    if path.suffix.lower() == ".safetensors":
        return read_safetensors(field, path)
    try:
        with path.open("rb") as file:
            if file.read(2) != b"PK":  # a single array, or no NumPy file at all
                raise ValueError
            file.seek(0)
            with np.load(file, allow_pickle=False) as arrays:
                found = {name: arrays[name] for name in arrays.files}
    except Exception:  # a damaged file can fail anywhere in NumPy, in zlib or in zipfile
        raise InputError(field, str(path), _FILE) from None
    return found


def read_data(path: str | Path) -> tuple[np.ndarray, np.ndarray | None]:
    """The arrays `x` and, if it is there, `y` of an `.npz` or `.safetensors` file."""
    arrays = read_arrays("data", path)
    if "x" not in arrays:
        raise InputError("data", f"arrays {list(arrays)[:8]}", "an array 'x', and 'y' for errors")
    return arrays["x"], arrays.get("y")


def natural(name: str) -> tuple[tuple[int, int | str], ...]:
    """A key that sorts names as people do.

    ```python
    >>> from recombine.modularity.reading import natural
    >>> sorted(["W10", "W2", "W1"], key=natural)
    ['W1', 'W2', 'W10']

    ```
    """
    pieces = re.split(r"([0-9]+)", name)  # every second one is a number
    return tuple((0, int(piece)) if turn % 2 else (1, piece) for turn, piece in enumerate(pieces) if piece)


def read_activations(activations: Any, *, channels_first: bool) -> list[Any] | None:
    """One array `(rows, ..., units)` per hidden layer; units come second in pictures if `channels_first`."""
    if activations is None:
        return None
    if isinstance(activations, str | Path):
        activations = read_arrays("activations", activations)
    if isinstance(activations, Mapping):
        activations = [activations[name] for name in sorted(activations, key=natural)]
    if isinstance(activations, np.ndarray) and activations.ndim == 2:
        activations = [activations]
    found = []
    for number, given in enumerate(activations):
        array = np.asarray(given)
        if array.dtype.kind not in "fiub":
            got = f"{array.dtype.name} of shape {array.shape}"
            raise InputError(f"activations[{number}]", got, "(rows, units) of real numbers")
        found.append(np.moveaxis(array, 1, -1) if channels_first and array.ndim > 2 else array)
    return found
