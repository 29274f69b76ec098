"""A result as bytes and back: an `.npz` that NumPy alone can read, with a checksum over all it says.

The file holds `record` (JSON as bytes: everything but the arrays, and the arrays' names), `array.0`,
`array.1`, ... in the order of those names, and `checksum`. Nothing in it is pickled.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable
from typing import Any

import numpy as np

from recombine.runs.result import Result
from recombine.runs.trial import Trial, canonical_json, from_json

FORMAT = 1


class DamagedError(Exception):
    """The bytes are not a result as it was written."""


def encode(result: Result) -> bytes:
    """The bytes of one result."""
    arrays = [*result.values.values(), *result.curves.values()]
    record = {
        "format": FORMAT,
        "key": result.key,
        "trial": canonical_json(result.trial),
        "summary": str(result.trial),
        "status": result.status,
        "seconds": result.seconds,
        "version": result.version,
        "machine": result.machine,
        "created": result.created,
        "values": list(result.values),
        "curves": list(result.curves),
    }
    text = json.dumps(record).encode()
    members = {f"array.{i}": array for i, array in enumerate(arrays)}
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer,
        allow_pickle=False,
        record=np.frombuffer(text, dtype=np.uint8),
        checksum=np.frombuffer(_checksum(text, arrays), dtype=np.uint8),
        **members,
    )
    return buffer.getvalue()


def decode(data: bytes, *, key: str, trial: Trial | None = None) -> Result:
    """The inverse of `encode`.

    **Arguments:**

    - `key`: under which the bytes were kept; other content is refused.
    - `trial`: the trial itself, if at hand; else it is read from the record, which raises
        `recombine.InputError` if this version does not know its settings.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            text = _member(archive, "record").tobytes()
            record = json.loads(text)
            n_arrays = len(record["values"]) + len(record["curves"])
            arrays = [_member(archive, f"array.{i}") for i in range(n_arrays)]
            checksum = _member(archive, "checksum").tobytes()
    except MemoryError:
        raise
    except Exception as error:  # damage takes any form, down to flags that claim encryption
        raise DamagedError(f"{type(error).__name__}: {error}") from error
    if checksum != _checksum(text, arrays):
        raise DamagedError("the checksum does not fit the content")
    if record["key"] != key:
        raise DamagedError(f"it holds the result of another trial ({record['key']})")
    n_values = len(record["values"])
    return Result(
        trial=from_json(record["trial"]) if trial is None else trial,
        status=tuple(record["status"]),
        values=dict(zip(record["values"], arrays[:n_values], strict=True)),
        curves=dict(zip(record["curves"], arrays[n_values:], strict=True)),
        seconds=record["seconds"],
        version=record["version"],
        machine=record["machine"],
        created=record["created"],
        key=key,
    )


def peek(file: Any) -> dict[str, Any]:
    """The record alone, from a path or an open file; the arrays and the checksum are not read."""
    try:
        with zipfile.ZipFile(file) as archive:
            return dict(json.loads(_member(archive, "record").tobytes()))
    except (OSError, MemoryError):
        raise
    except Exception as error:
        raise DamagedError(f"{type(error).__name__}: {error}") from error


def _member(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    # Reading to the end checks the member's CRC before NumPy believes the shape in its header.
    return np.lib.format.read_array(io.BytesIO(archive.read(f"{name}.npy")), allow_pickle=False)


def _checksum(text: bytes, arrays: Iterable[np.ndarray]) -> bytes:
    digest = hashlib.sha256(text)
    for array in arrays:
        digest.update(f"\n{array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.digest()
