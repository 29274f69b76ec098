"""A whole study as a user runs it: minutes, peak memory, and a second run from the store."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import Row

MINUTES, GIBIBYTES, SECONDS_AGAIN = 15, 2, 10
"""The goals: minutes and peak memory of the first run, and seconds of the second run, which reads the store."""


def whole_study(study: str = "forced-rendering", *, jobs: int = 2) -> list[Row]:
    """Runs `recombine reproduce` twice, the first time with an empty store."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store"
        arguments = ["reproduce", study, "--json", "--jobs", str(jobs), "--store", str(store)]
        first, peak = _run(arguments)
        again, _ = _run(arguments)
    name = f"{study} at scale quick, {jobs} jobs"
    return [
        Row(f"{name}, empty store", "minutes", first / 60, MINUTES, False, {}),
        Row(
            f"{name}, empty store",
            "peak GiB",
            peak.proportional / 2**30,
            GIBIBYTES,
            False,
            {"GiB with shared pages counted in every process": peak.resident / 2**30},
        ),
        Row(f"{name}, full store", "seconds", again, SECONDS_AGAIN, False, {}),
    ]


class Memory(NamedTuple):
    """Memory of a process family in bytes: with shared pages counted once, and counted in every process."""

    proportional: int = 0
    resident: int = 0


def _run(arguments: list[str]) -> tuple[float, Memory]:
    """Wall-clock seconds of the command, and the peak memory of all its processes together."""
    command = [sys.executable, "-c", "from recombine.cli import main; main()", *arguments]
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak, done = Memory(), threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.5):
            peak = Memory(*map(max, peak, _memory(process.pid)))

    watcher = threading.Thread(target=watch)
    watcher.start()
    status = process.wait()
    seconds = time.perf_counter() - started
    done.set()
    watcher.join()
    if status != 0:
        raise RuntimeError(f"recombine {' '.join(arguments)} ended with status {status}")
    return seconds, peak


def _memory(root: int) -> Memory:
    """Memory of a process and all its descendants, from `/proc`."""
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        fields = _fields(folder / "status")
        if "PPid" in fields:
            parents[int(folder.name)] = int(fields["PPid"])
    family, fresh = {root}, {root}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh} - family
        family |= fresh
    sizes = [_fields(Path(f"/proc/{pid}/smaps_rollup")) for pid in family]
    return Memory(*(sum(_bytes(size.get(name, "0 kB")) for size in sizes) for name in ("Pss", "Rss")))


def _fields(file: Path) -> dict[str, str]:
    """The `name: value` lines of a file; empty if its process has just ended."""
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return {}
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _bytes(size: str) -> int:
    return int(size.split()[0]) * 1024
