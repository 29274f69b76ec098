"""The identity of a process, and whether it is still alive, as far as this machine can tell."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True)
class Owner:
    """A process, described well enough for another process to check whether it still runs.

    **Arguments:**

    - `place`: host and process namespace; process numbers mean something only within one place.
    - `pid`: the process number.
    - `started`: the kernel's start time of the process, which distinguishes it from a later one with the same
        number; empty where the system does not say.
    """

    place: str
    pid: int
    started: str

    @staticmethod
    def current() -> Owner:
        """This process."""
        state = _state_and_start(os.getpid())
        return Owner(place(), os.getpid(), state[1] if state else "")


@cache
def place() -> str:
    """The host's name and, on Linux, the process namespace (two containers may share a host's name)."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return f"{socket.gethostname()} {namespace}".strip()


def is_alive(owner: Owner) -> bool | None:
    """Whether the process still runs; `None` if that cannot be seen from here."""
    if owner.pid <= 0:
        return False  # to the kernel, these mean whole groups of processes
    if owner.place != place() or os.name != "posix":
        return None
    try:
        os.kill(owner.pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # it exists and belongs to someone else
    state = _state_and_start(owner.pid)
    if state is None:
        return True
    status, started = state
    return status not in "ZX" and (not owner.started or started == owner.started)


def _state_and_start(pid: int) -> tuple[str, str] | None:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()  # the name before it may itself hold brackets and blanks
    return fields[0], fields[19]
