"""Zip archives (`.npz` files, stored records): how large they become is checked before they are unpacked."""

from __future__ import annotations

import os
import zipfile

from recombine.data.limits import MAX_RATIO, MAX_UNPACKED
from recombine.errors import InputError


def check_unpacked_size(field: str, archive: zipfile.ZipFile, *, limit: int = MAX_UNPACKED) -> None:
    """Refuses an archive whose members take too many bytes once unpacked.

    The sizes come from the archive's directory. They can be trusted as an upper bound: `zipfile` never unpacks
    more of a member than its directory entry says.

    **Arguments:**

    - `archive`: open for reading.
    - `limit`: bytes; an archive that is large itself may unpack to ten times its own size.

    **Raises:**

    `recombine.InputError`, which names the archive, its unpacked size and the limit.

    ```python
    >>> import io, zipfile
    >>> from recombine.data.archives import check_unpacked_size
    >>> file = io.BytesIO()
    >>> with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
    ...     archive.writestr("zeros", bytes(100_000))
    >>> check_unpacked_size("data", zipfile.ZipFile(file), limit=50_000)
    Traceback (most recent call last):
    recombine.errors.InputError: data: got 'an archive that unpacks to 100,000 bytes', expected at most 50,000 bytes

    ```
    """
    unpacked = sum(member.file_size for member in archive.infolist())
    allowed = max(limit, MAX_RATIO * _packed_size(archive))
    if unpacked > allowed:
        name = os.path.basename(archive.filename) if archive.filename else "an archive"
        raise InputError(field, f"{name} that unpacks to {unpacked:,} bytes", f"at most {allowed:,} bytes")


def _packed_size(archive: zipfile.ZipFile) -> int:
    file = archive.fp
    assert file is not None, "an archive that is open for reading has a file"
    position = file.tell()
    size = file.seek(0, os.SEEK_END)
    file.seek(position)
    return size
