"""Reading the archives that `recombine.runs.store.file_format` writes, several times faster than `zipfile` does.

It accepts only what that writes: few members, deflated or stored, no comment, no encryption. For anything else it
returns `None`, and `zipfile` has the last word on whether the file is damaged. Sizes are checked before anything is
unpacked, and CRCs after it.
"""

from __future__ import annotations

import io
import struct
import zlib
from functools import lru_cache
from math import prod

import numpy as np

_END = struct.Struct("<4s4H2LH")
_ENTRY = struct.Struct("<4s4x2H4x3L3H8xL")
_LOCAL = struct.Struct("<4s2x2H4x3L2H")
_WIDE_SIZES = struct.Struct("<2H2Q")
_NPY_1 = b"\x93NUMPY\x01\x00"
_NAME_SIZES = struct.Struct("<2H")
_WIDE = 0xFFFFFFFF
_SHORT = 2048
"""Bytes that unpack to 2 MiB at most, so that nothing need bound them."""


def read_members(data: bytes, max_bytes: int) -> dict[str, np.ndarray] | None:
    """All arrays of an archive by name; `None` if it is damaged or was written by anything else.

    **Arguments:**

    - `max_bytes`: the most that they may have, unpacked.
    """
    try:
        return _members(data, max_bytes)
    except (_UnusualError, struct.error, zlib.error, ValueError, UnicodeError):
        return None


def read_first(head: bytes, tail: bytes, name: str, max_bytes: int) -> bytes | None:
    """The bytes in the first array of an archive, from the first bytes of the file and the last.

    **Arguments:**

    - `tail`: at least the last 22 bytes; an archive that was cut off does not end in its directory.
    """
    try:
        if tail[-_END.size : -_END.size + 4] != b"PK\x05\x06":
            return None
        signature, flags, method, crc, packed, size, n_name, n_extra = _LOCAL.unpack_from(head)
        start = _LOCAL.size + n_name
        if signature != b"PK\x03\x04" or head[_LOCAL.size : start] != f"{name}.npy".encode():
            return None
        if packed == size == _WIDE and n_extra >= _WIDE_SIZES.size:
            tag, _, size, packed = _WIDE_SIZES.unpack_from(head, start)
            if tag != 1:
                return None
        chunk = head[start + n_extra : start + n_extra + packed]
        if flags & ~0x800 or len(chunk) != packed or not 0 < size <= max_bytes:
            return None
        data = _inflated(chunk, method, size, crc)
        return data[10 + int.from_bytes(data[8:10], "little") :] if data[:8] == _NPY_1 else None
    except (_UnusualError, struct.error, zlib.error):
        return None


class _UnusualError(Exception):
    """Not what we write."""


def _members(data: bytes, max_bytes: int) -> dict[str, np.ndarray]:
    signature, _, _, _, n_entries, length, start, n_comment = _END.unpack(data[-_END.size :])
    if signature != b"PK\x05\x06" or n_comment or start + length + _END.size != len(data):
        raise _UnusualError
    members = {}
    for _ in range(n_entries):
        fields = _ENTRY.unpack_from(data, start)
        signature, flags, method, crc, packed, size, n_name, n_extra, n_note, position = fields
        max_bytes -= size
        if signature != b"PK\x01\x02" or flags & ~0x800 or max_bytes < 0 or _WIDE in {packed, size, position}:
            raise _UnusualError
        start += _ENTRY.size
        name = data[start : start + n_name].decode("ascii")
        if not name.endswith(".npy"):
            raise _UnusualError
        start += n_name + n_extra + n_note
        begin = position + _LOCAL.size + sum(_NAME_SIZES.unpack_from(data, position + 26))
        if data[position : position + 4] != b"PK\x03\x04" or begin + packed > len(data):
            raise _UnusualError
        members[name[:-4]] = _array(_inflated(data[begin : begin + packed], method, size, crc))
    return members


def _inflated(chunk: bytes, method: int, size: int, crc: int) -> bytes:
    if method == 8 and len(chunk) <= _SHORT:
        chunk = zlib.decompress(chunk, -15, max(size, 1))
    elif method == 8:
        chunk = zlib.decompressobj(-15).decompress(chunk, max(size, 1))  # no more than the stated size
    elif method != 0:
        raise _UnusualError
    if len(chunk) != size or zlib.crc32(chunk) != crc:
        raise _UnusualError
    return chunk


def _array(data: bytes) -> np.ndarray:
    if data[:8] != _NPY_1:
        raise _UnusualError
    start = 10 + int.from_bytes(data[8:10], "little")
    dtype, shape, order, size = _array_header(data[8:start])
    if size != len(data) - start:
        raise _UnusualError
    flat = np.frombuffer(data, dtype, offset=start) if size else np.empty(0, dtype)
    return flat if len(shape) == 1 else flat.reshape(shape, order=order)  # type: ignore[call-overload]


@lru_cache(maxsize=1024)
def _array_header(text: bytes) -> tuple[np.dtype[np.generic], tuple[int, ...], str, int]:
    """Type, shape, order and size in bytes of an array; few different ones occur in a store."""
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(io.BytesIO(text))
    if dtype.hasobject or dtype.itemsize == 0:
        raise _UnusualError
    return dtype, shape, "F" if is_fortran else "C", prod(shape) * dtype.itemsize
