"""Leases: two processes on one store, even on two hosts, do not run one trial twice.

A lease is a file that only one process can create. It names its holder and is touched now and then. If the
holder is seen to be dead, or has not touched the file for long, anyone may take the lease over. In a very
unlikely interleaving of three processes two may hold one lease; then a trial is run twice and its result,
which is the same, is written twice. A lease saves work; it does not guard data.
"""

from __future__ import annotations

import json
import os
import threading
import time
import uuid
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from recombine.runs.liveness import Owner, is_alive

STALE_AFTER = 120.0
"""Seconds without a heartbeat after which a holder is taken for dead."""


class Lease:
    """The right to run one trial, held until `release` or the end of a `with` block.

    A thread touches the file six times in `stale_after` seconds.
    """

    def __init__(self, path: Path, content: bytes, stale_after: float) -> None:
        self._path, self._content = path, content
        self._released = threading.Event()
        interval = stale_after / 6
        self._thread = threading.Thread(target=self._beat, args=(interval,), name="lease", daemon=True)
        self._thread.start()

    def _beat(self, interval: float) -> None:
        while not self._released.wait(interval):
            with suppress(OSError):  # taken over, or a file server that is away for a while
                os.utime(self._path)

    def release(self) -> None:
        """Ends the heartbeat and removes the file, unless another process has taken it over meanwhile."""
        self._released.set()
        self._thread.join()
        with suppress(OSError):
            if self._path.read_bytes() == self._content:
                self._path.unlink()

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, *exception: object) -> None:
        self.release()


def acquire(path: Path, *, stale_after: float = STALE_AFTER) -> Lease | None:
    """The lease at `path`, or `None` while another living process holds it. Does not wait."""
    remove_if_stale(path, stale_after=stale_after)
    content = json.dumps(asdict(Owner.current()) | {"token": uuid.uuid4().hex}).encode()
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666)
    except FileExistsError:
        return None
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
    except OSError:  # a full disk
        with suppress(OSError):
            path.unlink()
        raise
    return Lease(path, content, stale_after)


def remove_if_stale(path: Path, *, stale_after: float = STALE_AFTER) -> None:
    """Removes a lease whose holder is gone.

    The file is moved aside before it is removed. Should it turn out that somebody else has just replaced the
    stale lease by a live one, that one is put back.
    """
    try:
        judged = path.read_bytes()
        if not _is_stale(path, judged, stale_after):
            return
        aside = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
        os.rename(path, aside)
        if aside.read_bytes() == judged:
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


def _is_stale(path: Path, content: bytes, stale_after: float) -> bool:
    try:
        data = json.loads(content)
        owner = Owner(str(data["place"]), int(data["pid"]), str(data["started"]))
    except (ValueError, KeyError, TypeError):
        alive = None  # not fully written yet, or damaged
    else:
        alive = is_alive(owner)
    if alive is False:
        return True
    return _now(path.parent) - path.stat().st_mtime > stale_after


def _now(folder: Path) -> float:
    """The time by the clock of the file system, which on a shared one is not the clock of this host."""
    probe = folder / f".{uuid.uuid4().hex}.tmp"
    try:
        probe.touch(exist_ok=False)
        return probe.stat().st_mtime
    except OSError:
        return time.time()
    finally:
        probe.unlink(missing_ok=True)
