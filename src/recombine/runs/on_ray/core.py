"""A core for every worker of a machine, without anyone who hands them out.

Ray counts the cores of a node but does not say which of them a worker may use. A worker locks a file per core and
takes the first that is free. The system releases the lock when the process ends, however it ends.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

_LOCKS: list[int] = []
"""Open files of this process; a lock lasts as long as its file is open."""


def pin_to_a_core() -> int | None:
    """Restricts this thread, and all that it starts, to one core that no other worker on this machine has.

    If all are taken, workers share cores. `None` where the system cannot pin.
    """
    if not hasattr(os, "sched_setaffinity"):
        return None
    cores = sorted(os.sched_getaffinity(0))
    core = next((core for core in cores if _lock(core)), cores[os.getpid() % len(cores)])
    os.sched_setaffinity(0, {core})
    return core


def _lock(core: int) -> bool:
    import fcntl

    folder = Path(tempfile.gettempdir()) / f"recombine-cores-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        file = os.open(folder / f"{core}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        return False
    _LOCKS.append(file)
    return True
