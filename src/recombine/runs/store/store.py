"""A folder of results: files, one per finished trial, and segments with the results that were compacted.

Safe with many writers on one disk or a shared file system: a file appears whole or not at all. Nothing in it
is ever unpickled.
"""

from __future__ import annotations

import errno
import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import TypeVar

from recombine.durable import sweep_temporaries, temporary_name, write_durably
from recombine.errors import InputError, StoreError
from recombine.home import home
from recombine.runs.lease import Lease, acquire, holder, sweep_leases
from recombine.runs.store.compaction import Compaction, compact
from recombine.runs.store.file_format import DamagedError, decode, encode
from recombine.runs.store.listing import StoredTrial, StoreWarning
from recombine.runs.store.result_files import ResultFiles
from recombine.runs.store.result_rows import ResultRows, rows_of_data, rows_of_text
from recombine.runs.store.segment import SegmentRow
from recombine.runs.store.segments import Segments
from recombine.runs.trial import Trial
from recombine.runs.trial_result import Result

_SECONDS_PER_DAY = 24 * 3600
_FULL = {errno.ENOSPC, errno.EDQUOT}
_FOLDERS = ("results", "compacted", "leases")

T = TypeVar("T")


class Store:
    """A folder of results, looked up by trial.

    **Arguments:**

    - `path`: the folder, made when first written to. Default: `$RECOMBINE_HOME`, else the user's cache
        folder.

    It holds `results/` (a file per result), `compacted/` (files with many results, see `Store.compact`), `leases/`
    (trials being run) and `programs/` (compiled programs). Results that cannot be read are moved to `damaged/`, or to
    `unknown-format/` if another version of this package wrote them. Anything else in these folders is ignored.

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
        self._files = ResultFiles(self.path / "results")
        self._segments = Segments(self.path / "compacted")

    def get(self, trial: Trial) -> Result | None:
        """The result of a trial, or `None` if there is none yet.

        A result that is damaged, or whose format this version does not know, is set aside with a `StoreWarning` and
        counts as none.
        """
        return self._read(trial.key, lambda data: decode(data, key=trial.key, trial=trial))

    def put(self, result: Result) -> None:
        """Keeps a result; it is on the disk when this returns."""
        data = encode(result)
        with self._writing():
            self._files.write(result.key, data)

    def __contains__(self, trial: object) -> bool:
        # A compaction adds a segment before it deletes files. So whoever looks at the files first misses nothing.
        if not isinstance(trial, Trial):
            return False
        return self._files.path(trial.key).exists() or trial.key in self._segments

    def results(self) -> Iterator[Result]:
        """All results, also those of earlier code (`result.key` then differs from `result.trial.key`).

        Results that cannot be read are set aside with a `StoreWarning` each. Results whose trials this version can no
        longer read are left out, with one warning at the end.
        """
        return self._each(lambda key, data: decode(data, key=key))

    def rows(self) -> Iterator[ResultRows | Result]:
        """What `recombine.runs.table` shows of all results, in a fraction of the time that `results` takes.

        ```python
        >>> from recombine.parts import Part
        >>> from recombine.runs import Store, Trial, run_trial, table
        >>> store = Store(getfixture("tmp_path"))
        >>> trial = Trial(Part("types:SimpleNamespace", n=3), probes=(Part("builtins:vars"),), seeds=(5, 6))
        >>> store.put(run_trial(trial))
        >>> table(store.rows()).equals(table(store.results()))
        True

        ```
        """
        return self._each(rows_of_data, _rows_of_row)

    def keys(self) -> set[str]:
        """The keys of all results, without reading them."""
        keys = set(self._files.keys())  # the files first, as in `__contains__`
        return keys | self._segments.keys()

    def count(self) -> int:
        """How many results there are."""
        return len(self.keys())

    def entries(self) -> Iterator[StoredTrial]:
        """A cheap listing, sorted by key."""
        files = {entry.key: entry for entry in self._files.entries()}  # the files first, as in `__contains__`
        entries = {entry.key: entry for entry in self._segments.entries()} | files
        return (entries[key] for key in sorted(entries))

    def find(self, prefix: str) -> Result:
        """The one result whose key starts with `prefix`."""
        keys = [key for key in self.keys() if key.startswith(prefix)]
        if len(keys) != 1 or not prefix:
            matching = f"{len(keys) or 'none'} begin with it"
            expected = f"the beginning of exactly one key (see `recombine runs list`); {matching}"
            raise InputError("key", prefix, expected)
        result = self._read(keys[0], lambda data: decode(data, key=keys[0]))
        if result is None:
            raise StoreError(f"result {keys[0]} cannot be read; run its study again")
        return result

    def clear(self, prefix: str = "") -> int:
        """Deletes the results whose keys start with `prefix`; by default all, including files that were set aside.

        Compacted results with a prefix count as deleted at once; the next compaction frees their space.

        **Returns:**

        How many results were deleted.
        """
        if prefix.strip("0123456789abcdef"):
            raise InputError("key", prefix, "the first digits of a key, in hexadecimal (0-9, a-f)")
        with self._writing(), self._no_compaction(on_full_disk=True):
            keys = {key for key in self.keys() if key.startswith(prefix)}
            for key in keys:
                self._files.path(key).unlink(missing_ok=True)
            if prefix:
                self._segments.drop(keys)
            else:
                self._segments.clear()
                for name in ("damaged", "unknown-format"):
                    for file in (self.path / name).glob("*"):
                        file.unlink(missing_ok=True)
        return len(keys)

    def compact(self, *, older_than: float = 0) -> Compaction:
        """Moves results from their files into one Parquet file, which is much faster to list and to export.

        Nothing else changes: results are found, listed, exported and cleared as before, and nothing is lost
        whenever this is killed. Other processes may read and write meanwhile. A second compaction adds to the same
        file; above 256 MiB another one is begun. Results of more than 16 MiB stay files.

        **Arguments:**

        - `older_than`: only results that were written this many days ago.

        **Raises:**

        `recombine.StoreError` if another process is compacting this store.

        ```python
        >>> from recombine.parts import Part
        >>> from recombine.runs import Store, Trial, run_trial
        >>> store = Store(getfixture("tmp_path"))
        >>> trial = Trial(Part("types:SimpleNamespace", n=3), probes=(Part("builtins:vars"),), seeds=(0,))
        >>> store.put(run_trial(trial))
        >>> store.compact()
        Compaction(moved=1, files=0, segments=1)
        >>> trial in store, store.get(trial).values["n"].tolist()
        (True, [3])

        ```
        """
        is_number = isinstance(older_than, int | float) and not isinstance(older_than, bool)
        if not is_number or not 0 <= older_than < math.inf:
            raise InputError("older_than", older_than, "a number of days, 0 or more")
        with self._writing(), self._no_compaction():
            self.sweep()
            return compact(self._files, self._segments, older_than=older_than * _SECONDS_PER_DAY)

    def lease(self, trial: Trial) -> Lease | None:
        """The right to run a trial, or `None` while another living process has it."""
        with self._writing():
            return self._acquire(trial.key)

    def holder(self, trial: Trial) -> tuple[int | None, str | None]:
        """Process number and host of whoever has the lease of a trial; `None` twice if nobody has it."""
        owner = holder(self.path / "leases" / f"{trial.key}.lease")
        return (None, None) if owner is None else (owner.pid, owner.place.partition(" ")[0])

    def sweep(self) -> None:
        """Removes temporary files and leases of processes that are dead. Never fails."""
        for name in _FOLDERS:
            sweep_temporaries(self.path / name)
        sweep_leases(self.path / "leases")

    def check_writable(self) -> None:
        """Raises `recombine.StoreError` unless a result could be written now.

        To be called before time is spent on training. Also removes what killed processes left behind.
        """
        with self._writing():
            for name in ("results", "leases"):
                (self.path / name).mkdir(parents=True, exist_ok=True)
            self.sweep()
            probe = self._files.folder / temporary_name("writable")
            try:
                write_durably(probe, bytes(4096))
            finally:
                probe.unlink(missing_ok=True)

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}: {self.count()} results)"

    def _read(self, key: str, use: Callable[[bytes], T]) -> T | None:
        """What `use` makes of the bytes of a result; `None` if there is none.

        What `use` finds to be damaged is set aside.
        """
        try:
            read = self._files.read(key)
            if read is not None:
                return use(read[0])
        except DamagedError as error:
            self._files.set_aside(key, error)
        row = self._segments.row(key)
        try:
            return None if row is None else use(row.data)
        except DamagedError as error:
            self._segments.drop_damaged(key, error, None if row is None else row.data)
            return None

    def _each(
        self,
        use: Callable[[str, bytes], T],
        use_row: Callable[[SegmentRow], T | None] = lambda row: None,
    ) -> Iterator[T]:
        """What `use` makes of the key and bytes of every result, in the order of keys, or `use_row` of its row."""
        unknown = 0
        files = set(self._files.keys())  # the files first, as in `__contains__`
        for key in sorted(files | self._segments.keys()):
            try:
                row = None if key in files else self._segments.row(key, refresh=False)
                value = None if row is None else use_row(row)
                if value is None:
                    value = self._read(key, partial(use, key))
            except InputError:
                unknown += 1
            else:
                if value is not None:
                    yield value
        if unknown:
            message = (
                f"store {self.path}: left out {unknown} results with settings that this version does not have"
            )
            warnings.warn(message, StoreWarning, stacklevel=2)

    def _acquire(self, name: str) -> Lease | None:
        folder = self.path / "leases"
        folder.mkdir(parents=True, exist_ok=True)
        return acquire(folder / f"{name}.lease")

    @contextmanager
    def _no_compaction(self, *, on_full_disk: bool = False) -> Iterator[None]:
        """Keeps other processes from compacting this store.

        **Arguments:**

        - `on_full_disk`: go on where no lease can be written; deleting must be possible there.
        """
        lease: Lease | nullcontext[None] | None
        try:
            lease = self._acquire("compaction")
        except OSError as error:
            if not (on_full_disk and error.errno in _FULL):
                raise
            lease = nullcontext()
        if lease is None:
            raise StoreError(
                f"store {self.path}: another process is compacting it; try again when it is done"
            )
        with lease:
            yield

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except StoreError:
            raise
        except OSError as error:
            advice = "choose another folder with --store or RECOMBINE_HOME"
            if error.errno in _FULL:
                advice = f"free some space, or {advice}"
            reason = error.strerror or str(error)
            raise StoreError(f"store {self.path}: cannot write ({reason}); {advice}") from error


def _rows_of_row(row: SegmentRow) -> ResultRows | None:
    return rows_of_text(row.key, row.rows) if row.rows is not None and row.is_intact() else None
