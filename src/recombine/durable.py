"""Writing a file so that it is there whole or not at all, even if the power fails."""

from __future__ import annotations

import hashlib
import os
import time
import uuid
from contextlib import suppress
from pathlib import Path

from recombine.errors import StoreError
from recombine.liveness import Owner, is_alive, place

ORPHANED_AFTER = 24 * 3600.0
"""Seconds after which a temporary file is taken for a left-over, if its writer cannot be looked up."""


def write_durably(path: Path, data: bytes) -> None:
    """Writes next to `path`, flushes to the disk, renames, and flushes the folder.

    Any failure, a full disk say, removes the temporary file and leaves `path` as it was.
    """
    temporary = path.with_name(temporary_name(path.name))
    try:
        with open(temporary, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise
    sync_folder(path.parent)


def write_file(path: Path, data: bytes) -> None:
    """Writes a user's file completely or not at all, and creates its folder if needed.

    A link stays a link: the file that it leads to is written. What exists and is not a file, such as `/dev/stdout`, is
    refused, because it would be replaced.

    **Raises:** [`recombine.errors.StoreError`][] that says which file and why.
    """
    try:
        if path.is_symlink():
            path = path.resolve(strict=True)
        if path.exists() and not path.is_file():
            raise OSError("it is not a file")
        path.parent.mkdir(parents=True, exist_ok=True)
        write_durably(path, data)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StoreError(f"cannot write {path}: {reason}; choose another place for the report") from error


def why_not_writable(path: Path) -> str | None:
    """Why `write_file` could not write this file, in a few words; `None` if it could.

    A temporary file is created and removed again in its folder, or in the nearest folder that exists. Nothing is left
    behind, and `path` is not touched.

    ```python
    >>> from recombine.durable import why_not_writable
    >>> folder = getfixture("tmp_path")
    >>> why_not_writable(folder / "page.html"), why_not_writable(folder), list(folder.iterdir())
    (None, 'it is not a file', [])

    ```
    """
    try:
        if path.is_symlink():
            path = path.resolve(strict=True)
        if path.exists() and not path.is_file():
            return "it is not a file"
        path = path.absolute()
        folder = next(one for one in path.parents if one.exists())
        if not folder.is_dir():
            return f"{folder} is not a folder"
        probe = folder / temporary_name(path.name)
        open(probe, "xb").close()
        probe.unlink()
        return None
    except OSError as error:
        return error.strerror or str(error)


def sweep_temporaries(folder: Path) -> None:
    """Removes what killed writers left behind; files that may still be written to are not touched."""
    for path in folder.glob(".*.tmp"):
        with suppress(OSError):
            if _is_orphan(path):
                path.unlink()


def temporary_name(name: str) -> str:
    """A name for a temporary file in the folder of `name`; `sweep_temporaries` removes it once this process is dead."""
    return f".{name}.{_place_digest()}.{os.getpid()}.{uuid.uuid4().hex[:8]}.tmp"


def _place_digest() -> str:
    return hashlib.sha256(place().encode()).hexdigest()[:12]


def _is_orphan(path: Path) -> bool:
    fields = path.name.split(".")
    if len(fields) >= 5 and fields[-4] == _place_digest() and fields[-3].isdigit():
        alive = is_alive(Owner(place(), int(fields[-3]), started=""))
        if alive is False:
            return True
    return time.time() - path.stat().st_mtime > ORPHANED_AFTER


def sync_folder(folder: Path) -> None:
    """Flushes the names of the files in a folder to the disk."""
    if os.name != "posix":
        return  # Windows has no such call
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
