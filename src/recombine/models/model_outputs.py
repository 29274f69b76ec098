"""Which array in a model's result is its output; and arrays of any framework as NumPy arrays."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np

from recombine.errors import InputError
from recombine.models.model_errors import unknown_name

OutputPath: TypeAlias = tuple[str | int, ...]
"""The keys that lead to an array through tuples, mappings and records; empty for a bare array."""


def is_array(value: Any) -> bool:
    """Whether it has a shape and a type, in any framework."""
    return hasattr(value, "shape") and hasattr(value, "dtype")


def to_numpy(array: Any) -> np.ndarray:
    """A copy as a NumPy array, from any device; bfloat16 becomes float32."""
    if hasattr(array, "detach"):
        array = array.detach().cpu()
        if array.layout.__str__() != "torch.strided":
            array = array.to_dense()
        if str(array.dtype) in {"torch.bfloat16", "torch.float8_e4m3fn", "torch.float8_e5m2"}:
            array = array.float()
        array = array.resolve_conj().resolve_neg().numpy()
    elif hasattr(array, "toarray"):
        array = array.toarray()
    copy = np.array(array)
    return copy.astype(np.float32) if copy.dtype.kind == "V" and "float" in copy.dtype.name else copy


def same_order(scores: np.ndarray, outputs: np.ndarray) -> bool:
    """Whether outputs order classes, or rows if there is one output, as scores do: probabilities and their scores.

    ```python
    >>> import numpy as np
    >>> from recombine.models.model_outputs import same_order
    >>> same_order(np.array([[2.0, -1.0]]), np.array([[0.9, 0.1]])), same_order(np.eye(2), 1 - np.eye(2))
    (True, False)

    ```
    """
    if scores.shape != outputs.shape:
        return False
    one, other = (x.reshape(len(x), -1) for x in (scores, outputs))
    axis = 1 if one.shape[1] > 1 else 0
    ranked = np.take_along_axis(other, np.argsort(one, axis=axis), axis=axis)
    return bool((np.diff(ranked, axis=axis) >= 0).all())


def entries(result: Any) -> list[tuple[str | int, Any]]:
    """What a tuple, list, mapping or record holds, with the keys that lead there; nothing for anything else."""
    if isinstance(result, Mapping):
        return list(result.items())
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return [(name, getattr(result, name)) for name in result._fields]
    if isinstance(result, tuple | list):
        return list(enumerate(result))
    if dataclasses.is_dataclass(result) and not is_array(result):
        return [(field.name, getattr(result, field.name)) for field in dataclasses.fields(result)]
    return []


def arrays_in(result: Any, path: OutputPath = ()) -> list[tuple[OutputPath, Any]]:
    """All arrays of a nested result, in order."""
    if is_array(result):
        return [(path, result)]
    return [each for key, value in entries(result) for each in arrays_in(value, (*path, key))]


def at(result: Any, path: OutputPath) -> Any:
    """The array that a path leads to."""
    for key in path:
        result = result[key] if isinstance(result, Mapping) or isinstance(key, int) else getattr(result, key)
    return result


def first_array(result: Any) -> Any:
    """The first array of a nested result, or `None`."""
    arrays = arrays_in(result)
    return arrays[0][1] if arrays else None


def choose(
    results: Mapping[int, Any], output: str | int | None, *, check: bool = True
) -> tuple[OutputPath, str | None]:
    """The path to the output in results for several numbers of rows; and a note if there was a choice.

    **Arguments:**

    - `results`: from a number of rows to the model's result for that many.
    - `output`: an index or name; by default the first array that has a row for every row of the inputs, and the same
        shape otherwise.
    - `check`: whether it must have one.

    ```python
    >>> import numpy as np
    >>> from recombine.models.model_outputs import choose
    >>> choose({2: (np.zeros(()), np.zeros((2, 3))), 3: (np.zeros(()), np.zeros((3, 3)))}, None)
    ((1,), 'the model returns 0, 1; 1 is read as its output (output= picks another)')

    ```
    """
    result = next(iter(results.values()))
    start: OutputPath = () if output is None else (_key(result, output),)
    paths = [(*start, *path) for path, _ in arrays_in(at(result, start))]
    if not paths:
        raise InputError("model", _kind(at(result, start)), "an array of outputs, with a row for every row")
    fitting = [path for path in paths if _follows({rows: at(r, path) for rows, r in results.items()})]
    if check and not fitting:
        raise rows_error(at(result, paths[0]), next(iter(results)))
    path = fitting[0] if check else paths[0]
    if output is not None or not path:
        return path, None
    names = [key for key, value in entries(result) if arrays_in(value)]
    if len(names) == 1:
        return path, None
    listed = ", ".join(str(name) for name in names)
    return path, f"the model returns {listed}; {path[0]} is read as its output (output= picks another)"


def rows_error(array: Any, rows: int) -> InputError:
    """The error about outputs whose number of rows is not that of the inputs."""
    shape = tuple(array.shape)
    what = f"{shape[0]} outputs (shape {shape})" if shape else "a single number"
    return InputError("model", f"{what} for {rows} rows of inputs", f"{rows} outputs, one for every row")


def _follows(arrays: Mapping[int, Any]) -> bool:
    """Whether arrays for several numbers of rows have that many, and are alike otherwise."""
    shapes = {rows: tuple(array.shape) for rows, array in arrays.items()}
    return len({shape[1:] for shape in shapes.values()}) == 1 and all(
        shape[:1] == (rows,) for rows, shape in shapes.items()
    )


def _key(result: Any, output: str | int) -> str | int:
    known = entries(result)
    if not known:
        raise InputError("output", output, "None: the model returns one array")
    keys = [key for key, _ in known]
    if output in keys:
        return output
    number = int(output) if isinstance(output, str) and output.isdigit() else output
    if isinstance(number, int) and not isinstance(number, bool) and 0 <= number < len(keys):
        return keys[number]
    raise unknown_name("output", output, keys)


def _kind(result: Any) -> str:
    return "None" if result is None else f"a {type(result).__name__} without arrays"
