"""Writing what a report consists of, with an error that a user can act on."""

from __future__ import annotations

from pathlib import Path

from recombine.errors import StoreError


def write_file(path: Path, data: bytes) -> None:
    """Writes a file whole or not at all, and makes its folder if need be."""
    from recombine.runs.durable import write_durably

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_durably(path, data)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(f"cannot write {path}: {reason}; choose another place for the report") from error
