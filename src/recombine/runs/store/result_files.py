"""The folder of result files: one immutable `.npz` file per result, named by its key."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from recombine.durable import write_durably
from recombine.errors import StoreError
from recombine.runs.store.file_format import DamagedError, UnknownFormatError, check_size
from recombine.runs.store.listing import StoredTrial, StoreWarning, file_entry

_FILE_NAME = re.compile(r"[0-9a-f]{32}\.npz")


@dataclass(frozen=True)
class FileIdentity:
    """Tells whether a file is still the one that was read; a file that is put in its place differs."""

    inode: int
    modified: int
    size: int

    @staticmethod
    def of(status: os.stat_result) -> FileIdentity:
        """The identity of a file, from its status."""
        return FileIdentity(status.st_ino, status.st_mtime_ns, status.st_size)


@dataclass(frozen=True)
class ResultFiles:
    """The folder and what can be done with its files; folders and files with other names are not ours."""

    folder: Path

    def path(self, key: str) -> Path:
        """Where the result with this key is, or would be."""
        return self.folder / f"{key}.npz"

    def keys(self) -> list[str]:
        """The keys of all files, from one look at the folder."""
        return [entry.name[:32] for entry in self._entries()]

    def statuses(self) -> Iterator[tuple[str, os.stat_result]]:
        """The keys of all files with size and time."""
        for entry in self._entries():
            with suppress(FileNotFoundError):  # cleared meanwhile
                yield entry.name[:32], entry.stat()

    def entries(self) -> Iterator[StoredTrial]:
        """What a listing shows of all files."""
        for entry in self._entries():
            with suppress(FileNotFoundError):  # cleared meanwhile
                yield file_entry(entry.path, entry.name[:32])

    def read(self, key: str) -> tuple[bytes, FileIdentity] | None:
        """The bytes of one result, or `None` if there is no such file.

        **Raises:**

        `DamagedError` if the file is larger than any result.
        """
        path = self.path(key)
        try:
            status = path.stat()  # before reading: a file that is replaced in between then counts as another
            check_size(status.st_size)
            return path.read_bytes(), FileIdentity.of(status)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except OSError as error:
            reason = error.strerror or str(error)
            raise StoreError(f"store {self.folder.parent}: cannot read {path.name} ({reason})") from error

    def write(self, key: str, data: bytes) -> None:
        """Writes one result, durably and whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_durably(self.path(key), data)

    def remove_if_same(self, key: str, identity: FileIdentity) -> None:
        """Deletes a file, unless it was cleared, or another one was put in its place."""
        path = self.path(key)
        with suppress(FileNotFoundError):
            if FileIdentity.of(path.stat()) == identity:
                path.unlink()

    def set_aside(self, key: str, error: DamagedError) -> None:
        """Moves a file that cannot be used out of the way, with a warning."""
        is_unknown = isinstance(error, UnknownFormatError)
        name, path = "unknown-format" if is_unknown else "damaged", self.path(key)
        state = str(error) if is_unknown else f"is damaged ({error})"
        outcome = "it could not be moved away"
        with suppress(OSError):
            aside = self.folder.parent / name
            aside.mkdir(exist_ok=True)
            os.replace(path, aside / path.name)
            outcome = f"it is now in {name}/"
        message = (
            f"store {self.folder.parent}: {path.name} {state}; {outcome}, and its trial will be run again"
        )
        warnings.warn(message, StoreWarning, stacklevel=4)

    def _entries(self) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self.folder) as entries:
                return [entry for entry in entries if _FILE_NAME.fullmatch(entry.name) and entry.is_file()]
        except OSError:
            return []
