"""Reading the archives that `recombine.runs.file_format` writes, several times faster than `zipfile` does.

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
from typing import NamedTuple

import numpy as np

_END = struct.Struct("<4s4H2LH")
_ENTRY = struct.Struct("<4s6H3L5H2L")
_LOCAL = struct.Struct("<4s5H3L2H")
_WIDE_SIZES = struct.Struct("<2H2Q")
_WIDE = 0xFFFFFFFF
_SHORT = 2048
"""Bytes that unpack to 2 MiB at most, so that nothing need bound them."""


class _ArrayHeader(NamedTuple):
    dtype: np.dtype[np.generic]
    shape: tuple[int, ...]
    order: str


def read_members(data: bytes, max_bytes: int) -> dict[str, np.ndarray] | None:
    """All arrays of an archive by name; `None` if it is damaged or was written by anything else."""
    try:
        entries = list(_entries(data))
        if sum(entry[4] for entry in entries) > max_bytes:
            return None
        return {name: _array(_unpacked(data, *entry)) for name, *entry in entries}
    except (_UnusualError, struct.error, zlib.error, ValueError, UnicodeError):
        return None


def read_first(head: bytes, tail: bytes, name: str, max_bytes: int) -> np.ndarray | None:
    """The first array of an archive, from the first bytes of the file and the last.

    **Arguments:**

    - `tail`: at least the last 22 bytes; an archive that was cut off does not end in its directory.
    """
    try:
        if _END.unpack(tail[-_END.size :])[0] != b"PK\x05\x06":
            return None
        signature, _, flags, method, _, _, crc, packed, size, n_name, n_extra = _LOCAL.unpack_from(head)
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
        return _array(_inflated(chunk, method, size, crc))
    except (_UnusualError, struct.error, zlib.error, ValueError):
        return None


class _UnusualError(Exception):
    """Not what we write."""


def _entries(data: bytes) -> list[tuple[str, int, int, int, int, int]]:
    """Of every member its name, CRC, method, packed and unpacked size, and position."""
    signature, _, _, _, n_entries, length, start, n_comment = _END.unpack(data[-_END.size :])
    if signature != b"PK\x05\x06" or n_comment or start + length + _END.size != len(data):
        raise _UnusualError
    entries = []
    for _ in range(n_entries):
        fields = _ENTRY.unpack_from(data, start)
        signature, flags, method, crc, packed, size = (*(fields[i] for i in (0, 3, 4, 7, 8, 9)),)
        n_name, n_extra, n_note, position = (*(fields[i] for i in (10, 11, 12, 16)),)
        if signature != b"PK\x01\x02" or flags & ~0x800 or _WIDE in {packed, size, position}:
            raise _UnusualError
        start += _ENTRY.size
        name = data[start : start + n_name].decode("ascii")
        if not name.endswith(".npy"):
            raise _UnusualError
        entries.append((name.removesuffix(".npy"), crc, method, packed, size, position))
        start += n_name + n_extra + n_note
    return entries


def _unpacked(data: bytes, crc: int, method: int, packed: int, size: int, position: int) -> bytes:
    fields = _LOCAL.unpack_from(data, position)
    start = position + _LOCAL.size + fields[9] + fields[10]
    if fields[0] != b"PK\x03\x04" or start + packed > len(data) or size <= 0:
        raise _UnusualError
    return _inflated(data[start : start + packed], method, size, crc)


def _inflated(chunk: bytes, method: int, size: int, crc: int) -> bytes:
    if method == 8 and len(chunk) <= _SHORT:
        chunk = zlib.decompress(chunk, -15, size)
    elif method == 8:
        chunk = zlib.decompressobj(-15).decompress(chunk, size)  # no more than the stated size
    elif method != 0:
        raise _UnusualError
    if len(chunk) != size or zlib.crc32(chunk) != crc:
        raise _UnusualError
    return chunk


def _array(data: bytes) -> np.ndarray:
    if data[:8] != b"\x93NUMPY\x01\x00":
        raise _UnusualError
    start = 10 + int.from_bytes(data[8:10], "little")
    header = _array_header(data[8:start])
    if prod(header.shape) * header.dtype.itemsize != len(data) - start:
        raise _UnusualError
    flat = (
        np.frombuffer(data, dtype=header.dtype, offset=start)
        if len(data) > start
        else np.empty(0, header.dtype)
    )
    return flat.reshape(header.shape, order=header.order)  # type: ignore[call-overload, no-any-return]


@lru_cache(maxsize=1024)
def _array_header(text: bytes) -> _ArrayHeader:
    """The header of an array; few different ones occur in a store."""
    shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(io.BytesIO(text))
    if dtype.hasobject or dtype.itemsize == 0:
        raise _UnusualError
    return _ArrayHeader(dtype, shape, "F" if is_fortran else "C")
