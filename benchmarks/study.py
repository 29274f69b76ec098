"""The headlines of the studies as a user runs them: minutes, share of compilation, memory, and a second run."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.measure import Row

MINUTES, MINUTES_TOGETHER, GIBIBYTES, SECONDS_AGAIN = 10, 40, 2, 5
"""The goals: minutes of one study and of all, peak memory, and seconds of a second run, which reads the store."""

LISTENER = """
import os
from jax import monitoring

EVENTS = ("jaxpr_trace_duration", "jaxpr_to_mlir_module_duration", "backend_compile_duration")

def listen(event, seconds, **labels):
    if event.startswith("/jax/core/compile/") and event.endswith(EVENTS):
        with open(os.path.join(os.environ["COMPILE_TIMES"], str(os.getpid())), "a") as file:
            file.write(f"{seconds}\\n")

monitoring.register_event_duration_secs_listener(listen)
"""
"""Python runs a module of the name `sitecustomize` in every process; this one notes the seconds of each compilation."""


def headlines(studies: Sequence[str], *, jobs: int = 2) -> list[Row]:
    """Runs `recombine reproduce` for each study with one store, empty at first, and then all of them again."""
    rows, total = [], 0.0
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--json", "--jobs", str(jobs), "--store", str(Path(folder) / "store")]
        for study in studies:
            seconds, peak, compiling = _run(["reproduce", study, *arguments])
            total += seconds
            name = f"{study}, {jobs} jobs, empty store"
            shared = {"GiB with shared pages counted in every process": peak.resident / 2**30}
            rows += [
                Row(name, "minutes", seconds / 60, MINUTES, False, {}),
                Row(
                    name,
                    "share of compilation",
                    compiling / (jobs * seconds),
                    None,
                    False,
                    {"s compiling": compiling},
                ),
                Row(name, "peak GiB", peak.proportional / 2**30, GIBIBYTES, False, shared),
            ]
        again = sum(_run(["reproduce", study, *arguments])[0] for study in studies)
    return [
        *rows,
        Row("together, empty store", "minutes", total / 60, MINUTES_TOGETHER, False, {}),
        Row("together, full store", "seconds", again, SECONDS_AGAIN, False, {}),
    ]


class Memory(NamedTuple):
    """Memory of a process family in bytes: with shared pages counted once, and counted in every process."""

    proportional: int = 0
    resident: int = 0


def _run(arguments: list[str]) -> tuple[float, Memory, float]:
    """Wall-clock seconds of the command, peak memory of all its processes, and their seconds of compilation."""
    command = [sys.executable, "-c", "from recombine.cli import main; main()", *arguments]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "sitecustomize.py").write_text(LISTENER, encoding="utf-8")
        times = Path(folder) / "times"
        times.mkdir()
        paths = [folder, os.environ.get("PYTHONPATH", "")]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "COMPILE_TIMES": str(times),
        }
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment)
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
        compiling = sum(float(line) for file in times.iterdir() for line in file.read_text().splitlines())
    if status != 0:
        raise RuntimeError(f"recombine {' '.join(arguments)} ended with status {status}")
    return seconds, peak, compiling


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
