"""The whole study as a user runs it: minutes, peak memory, and the second run from the store."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.measure import Row

MINUTES, GIBIBYTES, SECONDS_AGAIN = 15, 2, 10
"""The goals. The last one stands for "answers from the store in seconds"."""


def whole_study(study: str = "forced-rendering", *, jobs: int = 2) -> list[Row]:
    """Runs `recombine reproduce` twice, at first from an empty store."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        arguments = ["reproduce", study, "--json", "--jobs", str(jobs), "--store", str(store)]
        first, peak = _run(arguments)
        again, _ = _run(arguments)
    name = f"{study} at scale quick, {jobs} jobs"
    return [
        Row(f"{name}, empty store", "minutes", first / 60, MINUTES, False, {}),
        Row(f"{name}, empty store", "GiB at the peak", peak / 2**30, GIBIBYTES, False, {}),
        Row(f"{name}, full store", "seconds", again, SECONDS_AGAIN, False, {}),
    ]


def _run(arguments: list[str]) -> tuple[float, int]:
    """Wall seconds of the command, and the largest sum of resident memory over its processes, in bytes.

    Memory that processes share is counted in each of them, so the sum errs on the high side.
    """
    command = [sys.executable, "-c", "from recombine.cli import main; main()", *arguments]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak, done = 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.5):
            peak = max(peak, _resident_bytes(process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    status = process.wait()
    seconds = time.perf_counter() - started
    done.set()
    watcher.join()
    if status != 0:
        raise RuntimeError(f"recombine {' '.join(arguments)} ended with status {status}")
    return seconds, peak


def _resident_bytes(root: int) -> int:
    """Resident memory of a process and all its descendants, from `/proc`."""
    parents, resident = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
        except OSError:  # it has just ended
            continue
        pid = int(folder.name)
        parents[pid] = int(fields["PPid"])
        resident[pid] = int(fields.get("VmRSS", "0 kB").split()[0]) * 1024
    family, fresh = {root}, {root}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh} - family
        family |= fresh
    return sum(resident.get(pid, 0) for pid in family)
