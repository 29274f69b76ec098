"""Arrays that users bring: from memory (lists, tensors, series) or from `.npz`, `.npy` and `.safetensors` files."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from recombine.data.files import existing_file, is_path
from recombine.data.npz import is_archive, npz_names, read_npy, read_npz
from recombine.data.safetensors import read_safetensors
from recombine.errors import InputError

_PICKLES = {".pt", ".pth", ".pkl", ".pickle", ".ckpt", ".bin", ".joblib"}


def read_arrays(field: str, path: str | Path, names: Collection[str] | None = None) -> dict[str, np.ndarray]:
    """The arrays of an `.npz` or `.safetensors` file by name; pickles are refused.

    - `names`: those that are needed. Others of an `.npz` file are not read, and stand there as empty arrays.
    """
    _refuse_pickle(field, path)
    file = existing_file(field, path, "the path of an .npz or .safetensors file that exists")
    if file.suffix.lower() == ".safetensors":
        return read_safetensors(field, file)
    if names is None:
        return read_npz(field, file)
    unread = dict.fromkeys(npz_names(field, file), np.empty(0))
    return unread | read_npz(field, file, names)


def read_array(field: str, path: str | Path) -> np.ndarray:
    """The array of a `.npy` file (mapped into memory), or of an `.npz` file that has one array."""
    _refuse_pickle(field, path)
    expected = "the path of a .npy file, or of an .npz file with one array (nothing is unpickled)"
    file = existing_file(field, path, expected)
    if not is_archive(file):
        return read_npy(field, file)
    names = npz_names(field, file)
    if len(names) != 1:
        listed = f" (it has {', '.join(names[:8])})" if names else ""
        raise InputError(field, str(file), f"an .npz file with one array{listed}")
    return read_npz(field, file)[names[0]]


def read_xy(path: str | Path) -> tuple[np.ndarray, np.ndarray | None]:
    """The arrays `x` and, if it is there, `y` of an `.npz` or `.safetensors` file."""
    arrays = read_arrays("data", path)
    if "x" not in arrays:
        raise InputError("data", f"arrays {list(arrays)[:8]}", "an array 'x', and 'y' for errors")
    return arrays["x"], arrays.get("y")


def as_array(field: str, values: Any) -> np.ndarray:
    """A list, a tensor, a series or an array as a NumPy array of numbers or labels.

    Missing entries of a list of numbers (`None`) become NaN; tensors in bfloat16 become float32.

    ```python
    >>> from recombine.data.arrays import as_array
    >>> as_array("target", [1, None, 2.5])
    array([1. , nan, 2.5])

    ```
    """
    if values is None or is_path(values):
        raise InputError(field, values, "an array with an entry for each row")
    try:
        if hasattr(values, "detach"):
            values = values.detach().cpu()
            values = values.float() if "bfloat16" in str(values.dtype) else values
        if hasattr(values, "isna") and getattr(getattr(values, "dtype", None), "kind", "O") not in "biuf":
            # Types of pandas with a missing value of their own, which NumPy does not know.
            listed = zip(values.tolist(), values.isna().tolist(), strict=True)
            values = [None if missing else value for value, missing in listed]
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # NumPy only warns about some conversions that lose values
            array = values.filled(np.nan) if _is_masked(values) else np.asarray(values)
    except Exception as error:  # somebody's class may raise anything when it is converted
        reason = " ".join(str(error).split())[:120]
        raise InputError(
            field, type(values).__name__, f"an array with an entry for each row ({reason})"
        ) from None
    if str(array.dtype) == "bfloat16":
        array = array.astype(np.float32)
    if array.dtype == object and array.ndim == 1 and all(_is_number(one) for one in array.tolist()):
        array = np.array([np.nan if one is None else float(one) for one in array.tolist()], dtype=np.float64)
    return array


def as_numbers(field: str, values: Any, expected: str) -> np.ndarray:
    """An array of real numbers; anything else is refused with what was expected."""
    array = as_array(field, values)
    if array.dtype.kind not in "fiub":
        raise InputError(field, f"{array.dtype.name} of shape {array.shape}", expected)
    return array


def _is_masked(values: Any) -> bool:
    return isinstance(values, np.ma.MaskedArray) and values.dtype.kind == "f"


def _is_number(one: Any) -> bool:
    if isinstance(one, int) and not isinstance(one, bool):
        return abs(one) < 2**1023  # beyond, it is not a float
    return one is None or isinstance(one, float | np.number)


def _refuse_pickle(field: str, path: Any) -> None:
    if is_path(path) and Path(path).suffix.lower() in _PICKLES:
        raise InputError(
            field,
            str(path),
            "an .npz or .safetensors file (pickles are never read, since they can run any code: write the arrays "
            "with numpy.savez, or safetensors.torch.save_file for a state dict)",
        )
