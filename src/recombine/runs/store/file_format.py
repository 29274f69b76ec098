"""The store's file format: a result as an `.npz` file that NumPy alone can read, with a checksum over all of it.

The file holds `record` (JSON as bytes: everything but the arrays, and the arrays' names), `array.0`,
`array.1`, ... in the order of those names, and `checksum`. Nothing in it is pickled. Sizes are checked before anything
is unpacked.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.runs.store.quick_archive import read_first, read_members
from recombine.runs.trial import Trial, canonical_json, from_json
from recombine.runs.trial_result import Result

FORMAT = 1

MAX_BYTES = 2**30
"""The largest result, unpacked. The largest of our own studies take a few megabytes; a gigabyte fits into the memory of
any machine that can train the net."""

_FIELDS: dict[str, type | tuple[type, ...]] = {
    "key": str,
    "trial": str,
    "summary": str,
    "status": list,
    "seconds": (int, float),
    "version": str,
    "machine": str,
    "created": str,
    "values": list,
    "curves": list,
}


class DamagedError(Exception):
    """The bytes are not a result as it was written."""


class UnknownFormatError(DamagedError):
    """The bytes are a result in a format that this version does not know."""


def encode(result: Result) -> bytes:
    """The bytes of one result."""
    arrays = [*result.values.values(), *result.curves.values()]
    size = sum(array.nbytes for array in arrays)
    if size > MAX_BYTES:
        raise InputError(
            "values", f"{size:,} bytes", f"at most {MAX_BYTES:,} bytes in all arrays of a result"
        )
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

    **Raises:**

    `DamagedError`, or `UnknownFormatError` if another version of this package wrote the bytes.
    """
    record, arrays = verified(data, key=key)
    n_values = len(record["values"])
    trial = from_json(record["trial"]) if trial is None else trial
    with _damage_reported():
        return Result(
            trial=trial,
            status=tuple(record["status"]),
            values=dict(zip(record["values"], arrays[:n_values], strict=True)),
            curves=dict(zip(record["curves"], arrays[n_values:], strict=True)),
            seconds=record["seconds"],
            version=record["version"],
            machine=record["machine"],
            created=record["created"],
            key=key,
        )


def verified(data: bytes, *, key: str) -> tuple[dict[str, Any], list[np.ndarray]]:
    """The record and the arrays of a result, after all checks but those of the trial itself.

    **Raises:**

    `DamagedError`, or `UnknownFormatError` if another version of this package wrote the bytes.
    """
    check_size(len(data))
    members = read_members(data, MAX_BYTES + 2**20)
    with _damage_reported():
        if members is None:
            text, record, arrays, checksum = _read_slowly(data)
        else:
            text = members["record"].tobytes()
            record = _record(text)
            arrays = [members[f"array.{i}"] for i in range(_n_arrays(record))]
            checksum = members["checksum"].tobytes()
    if checksum != _checksum(text, arrays):
        raise DamagedError("the checksum does not fit the content")
    if record["key"] != key:
        raise DamagedError(f"it holds the result of another trial ({record['key']})")
    return record, arrays


def _read_slowly(data: bytes) -> tuple[bytes, dict[str, Any], list[np.ndarray], bytes]:
    """By `zipfile`, which says what is wrong with damaged bytes."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        check_size(sum(member.file_size for member in archive.infolist()))
        text = _member(archive, "record").tobytes()
        record = _record(text)
        arrays = [_member(archive, f"array.{i}") for i in range(_n_arrays(record))]
        return text, record, arrays, _member(archive, "checksum").tobytes()


def _n_arrays(record: dict[str, Any]) -> int:
    return len(record["values"]) + len(record["curves"])


HEAD_BYTES = 4096
"""How much of a file is read for its record, which comes first. Few records are longer."""


def peek(file: Any) -> dict[str, Any]:
    """The record alone, from a path or an open file; the arrays and the checksum are not read."""
    with _damage_reported(), zipfile.ZipFile(file) as archive:
        return _record(_member(archive, "record").tobytes())


def peek_bytes(head: bytes, tail: bytes) -> dict[str, Any] | None:
    """The short fields of the record, from the first and last bytes of a file.

    **Returns:**

    `None` if they do not tell, and `peek` should look.
    """
    text = read_first(head, tail, "record", MAX_BYTES) or b""
    # The trial is most of the text. Quotes inside it are escaped, so it ends where the summary begins.
    start = text.find(b'", "summary": "')
    if start < 0 or not text.startswith(b'{"format": %d, ' % FORMAT):
        return None
    with _damage_reported():
        record = json.loads("{" + text[start + 3 :].decode())
        is_valid = isinstance(record["created"], str) and isinstance(record["summary"], str)
        return record if is_valid else None


def check_size(size: int) -> None:
    """Refuses what is larger than any result, in bytes on the disk or unpacked."""
    # A megabyte more than the arrays may have: for headers, and for the record.
    if size > MAX_BYTES + 2**20:
        raise DamagedError(f"{size:,} bytes, more than the {MAX_BYTES:,} that a result may have")


@contextmanager
def _damage_reported() -> Iterator[None]:
    try:
        yield
    except (DamagedError, MemoryError, FileNotFoundError):
        raise
    except Exception as error:  # damage takes any form, down to flags that claim encryption
        raise DamagedError(f"{type(error).__name__}: {error}") from error


def _record(text: bytes) -> dict[str, Any]:
    """The record, if it has the format that this version writes."""
    record = json.loads(text)
    if not isinstance(record, dict) or "format" not in record:
        raise DamagedError("its record has no format")
    if type(record["format"]) is not int or record["format"] != FORMAT:
        raise UnknownFormatError(
            f"has format {record['format']!r}, and this version knows only format {FORMAT}"
        )
    for name, kind in _FIELDS.items():
        if not isinstance(record.get(name), kind):
            raise DamagedError(f"its record has no valid {name!r}")
    return record


def _member(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    member = archive.getinfo(f"{name}.npy")
    check_size(member.file_size)
    # Reading up to the stated size bounds what is unpacked, even if the size is a lie, and checks the CRC.
    with archive.open(member) as file:
        data = io.BytesIO(file.read(member.file_size))
    version = np.lib.format.read_magic(data)
    read_header = (
        np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    )
    shape, _, dtype = read_header(data)
    left = data.getbuffer().nbytes - data.tell()
    if not dtype.hasobject and math.prod(shape) * dtype.itemsize != left:
        raise DamagedError(f"the array {name} has shape {shape}, which does not fit its {left:,} bytes")
    data.seek(0)
    return np.lib.format.read_array(data, allow_pickle=False)


def _checksum(text: bytes, arrays: Iterable[np.ndarray]) -> bytes:
    digest = hashlib.sha256(text)
    for array in arrays:
        digest.update(f"\n{array.dtype.str} {array.shape} ".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.digest()
