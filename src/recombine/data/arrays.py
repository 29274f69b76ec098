"""Arrays that users bring in memory: lists, tensors, series."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from recombine.data.files import is_path
from recombine.errors import InputError


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
    """An array of real numbers; anything else is refused with what was expected.

    ```python
    >>> from recombine.data import as_numbers
    >>> as_numbers("cost", ["cheap", "dear"], "numbers")
    Traceback (most recent call last):
        ...
    recombine.errors.InputError: cost: got 'str160 of shape (2,)', expected numbers

    ```
    """
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
