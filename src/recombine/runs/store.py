"""The store: one immutable file per finished trial.

Safe with many writers on one disk or a shared file system: a file appears whole or not at all. Nothing in it
is ever unpickled.
"""

from __future__ import annotations

import errno
import os
import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from recombine.durable import sweep_temporaries, temporary_name, write_durably
from recombine.errors import InputError, StoreError
from recombine.home import home
from recombine.runs.file_format import DamagedError, UnknownFormatError, check_size, decode, encode, peek
from recombine.runs.lease import Lease, acquire, holder, sweep_leases
from recombine.runs.trial import Trial
from recombine.runs.trial_result import Result

_FILE_NAME = re.compile(r"[0-9a-f]{32}\.npz")


class StoreWarning(UserWarning):
    """Something in the store could not be used; the message names the file."""


@dataclass(frozen=True)
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
        return asdict(self)


class Store:
    """A folder of results, looked up by trial.

    **Arguments:**

    - `path`: the folder, made when first written to. Default: `$RECOMBINE_HOME`, else the user's cache
        folder.

    It holds `results/`, `leases/` (trials being run) and `programs/` (compiled programs). Results that cannot be
    read are moved to `damaged/`, or to `unknown-format/` if another version of this package wrote them. Anything else
    in `results/` is ignored.

    ```python
    >>> import tempfile
    >>> from recombine.parts import Part
    >>> from recombine.runs import Store, Trial, run_trial
    >>> store = Store(tempfile.mkdtemp())
    >>> trial = Trial(Part("types:SimpleNamespace", n=3), probes=(Part("builtins:vars"),), seeds=(0,))
    >>> store.put(run_trial(trial))
    >>> trial in store, store.get(trial).values["n"].tolist(), store.clear()
    (True, [3], 1)

    ```
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = (home() if path is None else Path(path)).expanduser().absolute()
        if self.path.exists() and not self.path.is_dir():
            raise InputError("store", str(self.path), "a folder")

    def get(self, trial: Trial) -> Result | None:
        """The result of a trial, or `None` if there is none yet.

        A file that is damaged, or whose format this version does not know, is set aside with a `StoreWarning` and
        counts as none.
        """
        data = self._read(self._file(trial.key))
        if data is None:
            return None
        try:
            return decode(data, key=trial.key, trial=trial)
        except DamagedError as error:
            self._set_aside(self._file(trial.key), error)
            return None

    def put(self, result: Result) -> None:
        """Keeps a result; it is on the disk when this returns."""
        data = encode(result)
        with self._writing():
            self._folder("results").mkdir(parents=True, exist_ok=True)
            write_durably(self._file(result.key), data)

    def __contains__(self, trial: object) -> bool:
        return isinstance(trial, Trial) and self._file(trial.key).exists()

    def results(self) -> Iterator[Result]:
        """All results, also those of earlier code (`result.key` then differs from `result.trial.key`).

        Files that cannot be read are set aside with a `StoreWarning` each. Results whose trials this version can no
        longer read are left out, with one warning at the end.
        """
        unknown = 0
        for file in self._files():
            data = self._read(file)
            if data is None:
                continue
            try:
                result = decode(data, key=file.stem)
            except DamagedError as error:
                self._set_aside(file, error)
            except InputError:
                unknown += 1
            else:
                yield result
        if unknown:
            message = (
                f"store {self.path}: left out {unknown} results with settings that this version does not have"
            )
            warnings.warn(message, StoreWarning, stacklevel=2)

    def keys(self) -> set[str]:
        """The keys of all results, from one look at the folder."""
        return {file.stem for file in self._files()}

    def count(self) -> int:
        """How many results there are."""
        return len(self._files())

    def entries(self) -> Iterator[StoredTrial]:
        """A cheap listing, sorted by key."""
        for file in self._files():
            try:
                status = file.stat()
                created = datetime.fromtimestamp(status.st_mtime, UTC).isoformat(timespec="seconds")
                record = peek(file)
                yield StoredTrial(file.stem, status.st_size, record["created"], record["summary"])
            except DamagedError:
                yield StoredTrial(file.stem, status.st_size, created, None)
            except FileNotFoundError:
                continue  # cleared meanwhile

    def find(self, prefix: str) -> Result:
        """The one result whose key starts with `prefix`."""
        keys = [file.stem for file in self._files() if file.stem.startswith(prefix)]
        if len(keys) != 1 or not prefix:
            matching = f"{len(keys) or 'none'} begin with it"
            expected = f"the beginning of exactly one key (see `recombine runs list`); {matching}"
            raise InputError("key", prefix, expected)
        data = self._read(self._file(keys[0]))
        if data is None:
            raise InputError("key", prefix, "a result that is still there")
        try:
            return decode(data, key=keys[0])
        except DamagedError as error:
            self._set_aside(self._file(keys[0]), error)
            raise StoreError(
                f"result {keys[0]} cannot be read and was set aside; run its study again"
            ) from error

    def clear(self, prefix: str = "") -> int:
        """Deletes the results whose keys start with `prefix`; by default all, including files that were set aside.

        **Returns:**

        How many results were deleted.
        """
        if prefix.strip("0123456789abcdef"):
            raise InputError("key", prefix, "the first digits of a key, in hexadecimal (0-9, a-f)")
        count = 0
        with self._writing():
            for file in self._files(prefix):
                file.unlink(missing_ok=True)
                count += 1
            if not prefix:
                for file in (*self._folder("damaged").glob("*"), *self._folder("unknown-format").glob("*")):
                    file.unlink(missing_ok=True)
        return count

    def lease(self, trial: Trial) -> Lease | None:
        """The right to run a trial, or `None` while another living process has it."""
        with self._writing():
            self._folder("leases").mkdir(parents=True, exist_ok=True)
            return acquire(self._lease_file(trial))

    def holder(self, trial: Trial) -> tuple[int | None, str | None]:
        """Process number and host of whoever has the lease of a trial; `None` twice if nobody has it."""
        owner = holder(self._lease_file(trial))
        return (None, None) if owner is None else (owner.pid, owner.place.partition(" ")[0])

    def sweep(self) -> None:
        """Removes temporary files and leases of processes that are dead. Never fails."""
        for name in ("results", "leases"):
            sweep_temporaries(self._folder(name))
        sweep_leases(self._folder("leases"))

    def check_writable(self) -> None:
        """Raises `recombine.StoreError` unless a result could be written now.

        To be called before time is spent on training. Also removes what killed processes left behind.
        """
        with self._writing():
            for name in ("results", "leases"):
                self._folder(name).mkdir(parents=True, exist_ok=True)
            self.sweep()
            probe = self._folder("results") / temporary_name("writable")
            try:
                write_durably(probe, bytes(4096))
            finally:
                probe.unlink(missing_ok=True)

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}: {self.count()} results)"

    def _folder(self, name: str) -> Path:
        return self.path / name

    def _file(self, key: str) -> Path:
        return self._folder("results") / f"{key}.npz"

    def _lease_file(self, trial: Trial) -> Path:
        return self._folder("leases") / f"{trial.key}.lease"

    def _files(self, prefix: str = "") -> list[Path]:
        """The files of results; folders and files with other names are not ours."""
        try:
            entries = list(os.scandir(self._folder("results")))
        except OSError:
            return []
        names = sorted(e.name for e in entries if _FILE_NAME.fullmatch(e.name) and e.is_file())
        return [self._folder("results") / name for name in names if name.startswith(prefix)]

    def _read(self, file: Path) -> bytes | None:
        try:
            check_size(file.stat().st_size)
            return file.read_bytes()
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return None
        except DamagedError as error:
            self._set_aside(file, error)
            return None
        except OSError as error:
            raise StoreError(f"store {self.path}: cannot read {file.name} ({_reason(error)})") from error

    def _set_aside(self, file: Path, error: DamagedError) -> None:
        is_unknown = isinstance(error, UnknownFormatError)
        folder = "unknown-format" if is_unknown else "damaged"
        state = str(error) if is_unknown else f"is damaged ({error})"
        outcome = "it could not be moved away"
        with suppress(OSError):
            self._folder(folder).mkdir(exist_ok=True)
            os.replace(file, self._folder(folder) / file.name)
            outcome = f"it is now in {folder}/"
        message = f"store {self.path}: {file.name} {state}; {outcome}, and its trial will be run again"
        warnings.warn(message, StoreWarning, stacklevel=3)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except StoreError:
            raise
        except OSError as error:
            advice = "choose another folder with --store or RECOMBINE_HOME"
            if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                advice = f"free some space, or {advice}"
            raise StoreError(f"store {self.path}: cannot write ({_reason(error)}); {advice}") from error


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
