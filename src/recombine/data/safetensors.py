"""Files of tensors in the safetensors format: a JSON header, then raw numbers. The header is checked first."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from recombine.errors import InputError

_TYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "F16": "<f2",
    "BF16": "<u2",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U8": "|u1",
    "BOOL": "|u1",
}
_MAX_HEADER = 100_000_000
"""Bytes of the header; the reference implementation has the same limit."""


class _BadFileError(Exception):
    """What is wrong with a file."""


def read_safetensors(field: str, path: str | Path) -> dict[str, np.ndarray]:
    """The arrays of a `.safetensors` file by name; bfloat16 becomes float32.

    **Reference:** https://github.com/huggingface/safetensors#format
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            return _arrays(file, path.stat().st_size)
    except (_BadFileError, OSError) as error:
        reason = str(error) if isinstance(error, _BadFileError) else type(error).__name__
        raise InputError(field, str(path), f"a .safetensors file that can be read ({reason})") from None


def _arrays(file: BinaryIO, size: int) -> dict[str, np.ndarray]:
    length = int.from_bytes(file.read(8), "little")
    if size < 8 or not 2 <= length <= min(size - 8, _MAX_HEADER):
        raise _BadFileError("its header does not fit into the file")
    tensors = _checked_tensors(_header(file.read(length)), size - 8 - length)
    arrays = {}
    for name, (kind, shape, start, end) in tensors.items():
        file.seek(8 + length + start)
        data = file.read(end - start)
        if len(data) != end - start:
            raise _BadFileError("it ends too early")
        array = np.frombuffer(data, dtype=_TYPES[kind])
        if kind == "BF16":  # the upper half of a float32
            array = (array.astype(np.uint32) << 16).view(np.float32)
        try:
            arrays[name] = (array != 0 if kind == "BOOL" else array).reshape(shape).copy()
        except (ValueError, OverflowError):  # an empty array with an axis that is too long, or too many axes
            raise _BadFileError(f"{name!r} has the shape {list(shape)[:8]}") from None
    return arrays


def _header(text: bytes) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if len(dict(pairs)) < len(pairs):
            raise _BadFileError("its header has a name twice")
        return dict(pairs)

    try:
        header = json.loads(text.decode("utf-8"), object_pairs_hook=unique)
    except (ValueError, RecursionError):  # also of numbers with thousands of digits
        raise _BadFileError("its header is not JSON") from None
    if not isinstance(header, dict):
        raise _BadFileError("its header is not an object")
    header.pop("__metadata__", None)
    return header


def _checked_tensors(header: dict[str, Any], size: int) -> dict[str, tuple[str, tuple[int, ...], int, int]]:
    """Type, shape and bytes of every array; arrays must follow each other and fill the file."""
    tensors = {}
    for name, entry in header.items():
        if not isinstance(entry, dict):
            raise _BadFileError(f"the entry of {name!r} is not an object")
        kind: Any = entry.get("dtype")
        shape: Any = entry.get("shape")
        offsets: Any = entry.get("data_offsets")
        if not isinstance(kind, str) or kind not in _TYPES:
            raise _BadFileError(f"{name!r} has the type {kind!r}; known are {', '.join(_TYPES)}")
        if not _are_counts(shape):
            raise _BadFileError(f"{name!r} has the shape {shape!r}")
        if not _are_counts(offsets) or len(offsets) != 2 or not offsets[0] <= offsets[1] <= size:
            raise _BadFileError(f"{name!r} lies outside the file")
        if offsets[1] - offsets[0] != math.prod(shape) * np.dtype(_TYPES[kind]).itemsize:
            raise _BadFileError(f"{name!r} has {offsets[1] - offsets[0]} bytes for the shape {shape}")
        tensors[name] = (kind, tuple(shape), offsets[0], offsets[1])
    end = 0
    for name, (_, _, start, stop) in sorted(tensors.items(), key=lambda item: item[1][2:]):
        if start != end:
            raise _BadFileError(f"there is a gap or an overlap before {name!r}")
        end = stop
    if end != size:
        raise _BadFileError("it has bytes after its last array")
    return tensors


def _are_counts(values: Any) -> bool:
    return isinstance(values, list) and all(
        isinstance(value, int) and not isinstance(value, bool) and value >= 0 for value in values
    )
