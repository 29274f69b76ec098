"""What the store says about results without reading them: listings and warnings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from recombine.runs.store.file_format import HEAD_BYTES, DamagedError, peek, peek_bytes

_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0)


class StoreWarning(UserWarning):
    """Something in the store could not be used; the message names the file."""


@dataclass(frozen=True, slots=True)
class StoredTrial:
    """What a listing says about one stored result, without reading its arrays.

    **Arguments:**

    - `size`: in bytes.
    - `created`: ISO 8601, in UTC.
    - `summary`: task, net and number of seeds; `None` if the file cannot be read.
    """

    key: str
    size: int
    created: str
    summary: str | None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {"key": self.key, "size": self.size, "created": self.created, "summary": self.summary}


def file_entry(file: str, key: str) -> StoredTrial:
    """The entry of one result file; only its first and last bytes are read.

    **Raises:**

    `FileNotFoundError` if it is gone.
    """
    # System calls, because opening a hundred thousand files in Python's way takes seconds.
    try:
        descriptor = os.open(file, _FLAGS)
    except FileNotFoundError:
        raise
    except OSError:  # not ours to read
        return _unreadable(key, os.stat(file))
    try:
        status = os.fstat(descriptor)
        head = tail = os.read(descriptor, HEAD_BYTES)
        if status.st_size > len(head):
            os.lseek(descriptor, -22, os.SEEK_END)
            tail = os.read(descriptor, 22)
    finally:
        os.close(descriptor)
    record: Mapping[str, Any] | None
    try:
        record = peek_bytes(head, tail)
        record = peek(file) if record is None else record
        return StoredTrial(key, status.st_size, record["created"], record["summary"])
    except DamagedError:
        return _unreadable(key, status)


def _unreadable(key: str, status: os.stat_result) -> StoredTrial:
    created = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds")
    return StoredTrial(key, status.st_size, created, None)
