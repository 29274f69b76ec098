"""Leases: two processes on one store, even on two hosts, do not run one trial twice.

A lease is a file that only one process can create. It names its holder, who touches it now and then. If the
holder is dead, or has not touched the file for long, anyone may take the lease over. In a very unlikely
interleaving of three processes, two may hold one lease; then a trial is run twice and its result, which is the
same, is written twice. A lease saves work; it does not guard data.

The file is written under a temporary name and linked into place, so that a lease is never empty, at whatever moment
its holder is killed. Ages are measured by the clock of the file system, which on a shared one is not this host's.
"""

from __future__ import annotations

import errno
import json
import os
import threading
import time
import uuid
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from recombine.durable import temporary_name
from recombine.liveness import Owner, is_alive

STALE_AFTER = 120.0
"""Seconds without a heartbeat after which a holder is taken for dead. The same holds for a heartbeat that is this far
in the future: a living holder's next one would have corrected it."""

GARBAGE_AFTER = 2.0
"""Seconds after which a file that names no holder is removed: long enough to write one where there are no links."""

_NO_LINKS = {errno.EPERM, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EMLINK, errno.EXDEV}


class Lease:
    """The right to run one trial, held until `release` or the end of a `with` block.

    The file is touched six times in `stale_after` seconds, by a thread that all leases of this process share.
    """

    def __init__(self, path: Path, content: bytes, stale_after: float) -> None:
        self._path, self._content = path, content
        self.interval = stale_after / 6
        self._held = threading.Lock()
        _HEART.add(self)

    def beat(self) -> None:
        """Touches the file."""
        with self._held, suppress(OSError):  # taken over, or a file server that is away for a while
            os.utime(self._path)

    def release(self) -> None:
        """Ends the heartbeat and removes the file, unless another process has taken it over meanwhile."""
        _HEART.remove(self)
        with self._held, suppress(OSError):
            if self._path.read_bytes() == self._content:
                self._path.unlink()

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()


class _Heart:
    """One thread that touches all leases of this process; it ends when there are none.

    A driver of a cluster holds as many leases as the cluster has cores, which would be as many threads.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._due: dict[Lease, float] = {}
        self._thread: threading.Thread | None = None

    def add(self, lease: Lease) -> None:
        with self._changed:
            self._due[lease] = time.monotonic() + lease.interval
            if self._thread is None or not self._thread.is_alive():  # not alive: in a forked process
                thread = threading.Thread(target=self._run, name="leases", daemon=True)
                thread.start()
                self._thread = thread
            self._changed.notify()

    def remove(self, lease: Lease) -> None:
        with self._changed:
            self._due.pop(lease, None)
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._due:
                    self._thread = None
                    return
                now = time.monotonic()
                due = [lease for lease, at in self._due.items() if at <= now]
                for lease in due:
                    self._due[lease] = now + lease.interval
                if not due:
                    self._changed.wait(min(self._due.values()) - now)
            for lease in due:
                lease.beat()


_HEART = _Heart()


def acquire(path: Path, *, stale_after: float = STALE_AFTER) -> Lease | None:
    """The lease at `path`, or `None` while another living process holds it. Does not wait."""
    remove_if_stale(path, stale_after=stale_after)
    content = json.dumps(asdict(Owner.current()) | {"token": uuid.uuid4().hex}).encode()
    temporary = path.with_name(temporary_name(path.name))
    try:
        temporary.write_bytes(content)
        if not _link(temporary, path, content):
            return None
    finally:
        temporary.unlink(missing_ok=True)
    try:
        return Lease(path, content, stale_after)
    except BaseException:  # Ctrl-C, or no more threads
        path.unlink(missing_ok=True)
        raise


def holder(path: Path) -> Owner | None:
    """Who holds the lease at `path`, if anybody does."""
    try:
        return _owner(path.read_bytes())
    except OSError:
        return None


def _link(temporary: Path, path: Path, content: bytes) -> bool:
    """Makes `path` another name of the temporary file; false if there is such a file already."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError as error:
        if temporary.stat().st_nlink == 2:
            return True  # a file server did it, but its answer was lost
        if error.errno not in _NO_LINKS:
            raise
        return _create(path, content)
    return True


def _create(path: Path, content: bytes) -> bool:
    """For file systems without hard links: the lease may be seen, for a moment, before it is written."""
    try:
        with open(path, "xb") as file:
            file.write(content)
    except FileExistsError:
        return False
    except BaseException:  # a full disk, or Ctrl-C
        path.unlink(missing_ok=True)
        raise
    return True


def remove_if_stale(path: Path, *, stale_after: float = STALE_AFTER) -> None:
    """Removes a lease whose holder is gone.

    The file is moved aside before it is removed. Should it turn out that somebody else has just replaced the
    stale lease by a live one, that one is put back.
    """
    try:
        if path.is_symlink():  # not ours; where it leads to nothing, nobody could ever release it
            path.unlink()
        stale = path.read_bytes()
        if not _is_stale(path, stale, stale_after):
            return
        aside = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
        os.rename(path, aside)
        if aside.read_bytes() == stale:
            aside.unlink()
        else:
            os.replace(aside, path)
    except FileNotFoundError:
        return  # released, or somebody else was faster


def sweep_leases(folder: Path, *, stale_after: float = STALE_AFTER) -> None:
    """Removes all leases in a folder whose holders are gone."""
    for path in folder.glob("*.lease"):
        with suppress(OSError):
            remove_if_stale(path, stale_after=stale_after)


def _owner(content: bytes) -> Owner | None:
    try:
        data = json.loads(content)
        owner = Owner(data["place"], data["pid"], data["started"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    is_valid = isinstance(owner.place, str) and type(owner.pid) is int and isinstance(owner.started, str)
    return owner if is_valid and owner.pid > 0 else None


def _is_stale(path: Path, content: bytes, stale_after: float) -> bool:
    owner = _owner(content)
    if owner is not None and is_alive(owner) is False:
        return True
    age = _now(path.parent) - path.stat().st_mtime
    return abs(age) > (min(GARBAGE_AFTER, stale_after) if owner is None else stale_after)


def _now(folder: Path) -> float:
    """The time by the clock of the file system."""
    probe = folder / temporary_name("clock")
    try:
        probe.touch(exist_ok=False)
        return probe.stat().st_mtime
    except OSError:
        return time.time()
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)
