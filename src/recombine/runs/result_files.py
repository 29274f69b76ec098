"""The folder of result files: one immutable `.npz` file per result, named by its key."""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from recombine.durable import write_durably
from recombine.errors import StoreError
from recombine.runs.file_format import check_size

_FILE_NAME = re.compile(r"[0-9a-f]{32}\.npz")
_ASIDE_NAME = re.compile(r"([0-9a-f]{32}\.npz)\.[0-9a-f]{32}\.aside")


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

    def keys(self, prefix: str = "") -> list[str]:
        """The keys of all files, sorted, from one look at the folder."""
        try:
            with os.scandir(self.folder) as entries:
                return sorted(
                    entry.name[:32]
                    for entry in entries
                    if _FILE_NAME.fullmatch(entry.name) and entry.name.startswith(prefix) and entry.is_file()
                )
        except OSError:
            return []

    def read(self, key: str) -> tuple[bytes, FileIdentity] | None:
        """The bytes of one result, or `None` if there is no such file.

        **Raises:**

        `DamagedError` if the file is larger than any result.
        """
        try:
            path = self.path(key)
            status = os.stat(path)  # before reading: a file that is replaced in between then counts as another
            check_size(status.st_size)
            return path.read_bytes(), FileIdentity.of(status)
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except OSError as error:
            raise StoreError(
                f"store {self.folder.parent}: cannot read {key}.npz ({error.strerror or error})"
            ) from error

    def write(self, key: str, data: bytes) -> None:
        """Writes one result, durably and whole or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_durably(self.path(key), data)

    def remove_if_same(self, key: str, identity: FileIdentity) -> None:
        """Removes a file, unless another one has been put in its place.

        No system call removes a file on a condition. So it is renamed, looked at, and put back if it is a new one;
        whoever kills this in between leaves it under its other name, and `recover` puts it back.
        """
        path = self.path(key)
        aside = path.with_name(f"{path.name}.{uuid.uuid4().hex}.aside")
        try:
            if FileIdentity.of(os.stat(path)) != identity:
                return
            os.rename(path, aside)
            if FileIdentity.of(os.stat(aside)) == identity:
                os.unlink(aside)
            else:
                _put_back(aside, path)
        except FileNotFoundError:
            return  # cleared meanwhile

    def recover(self) -> None:
        """Puts back what `remove_if_same` left aside when it was killed. Never fails."""
        for aside, name in self._asides():
            with suppress(OSError):
                _put_back(aside, self.folder / name)

    def remove_asides(self) -> None:
        """Deletes what was left aside."""
        for aside, _ in self._asides():
            aside.unlink(missing_ok=True)

    def _asides(self) -> Iterator[tuple[Path, str]]:
        with suppress(OSError):
            for name in os.listdir(self.folder):
                if match := _ASIDE_NAME.fullmatch(name):
                    yield self.folder / name, match[1]


def _put_back(aside: Path, path: Path) -> None:
    """Gives a file its name again, unless there is a newer one."""
    try:
        os.link(aside, path)
    except FileExistsError:
        pass
    except FileNotFoundError:
        return  # its owner has removed it
    except OSError:  # no links on this file system
        if not path.exists():
            os.rename(aside, path)
            return
    aside.unlink(missing_ok=True)
