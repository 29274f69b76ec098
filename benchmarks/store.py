"""A store of 100,000 small results: listing, resuming, exporting and compacting it, as files and compacted.

Every measurement is a process of its own, as a user would start it, with its start-up; its memory is the highest that
it had. CPU time is user and system time. The results are those of a sweep: two tasks, five widths, a hundred learning
rates and a hundred seeds, with a few scalar values, an array and a curve each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.measure import Row
from recombine.parts import Part
from recombine.runs import Result, Store, Trial, complete
from recombine.training import Recipe, adam

N_RESULTS = 100_000
MAX_SECONDS, MAX_GIBIBYTES = 5, 1.0
"""The goals of listing, resuming and exporting."""


class Usage(NamedTuple):
    """What a process took."""

    seconds: float
    cpu: float
    gibibytes: float


def trials(n: int) -> Iterator[Trial]:
    """The trials of a sweep, the first `n`."""
    probes = (Part("recombine.probes:errors"),)
    for first in range(0, n, 100):
        i, rate = divmod(first // 100, 100)
        i, width = divmod(i, 5)
        trial = Trial(
            Part("recombine.tasks:bumps", n=16 + i),
            probes=probes,
            seeds=(0,),
            net=Part("recombine.nets:mlp", inputs=32, width=64 + width, depth=3, outputs=(16, 16)),
            recipe=Recipe(steps=5000, batch=64, optimiser=adam(1e-3 / (1 + rate))),
        )
        yield from (replace(trial, seeds=(seed,)) for seed in range(min(100, n - first)))


def fill(store: Store, n: int) -> None:
    """Writes a result file for every trial, without running it and without waiting for the disk."""
    from recombine.runs.store import file_format

    rng = np.random.default_rng(0)
    folder = store.path / "results"
    folder.mkdir(parents=True, exist_ok=True)
    for trial in trials(n):
        result = Result(
            trial,
            status=("finished",),
            values={f"error_{name}": rng.random(1) for name in ("seen", "unseen", "corner", "edge")}
            | {"map": rng.random((1, 8))},
            curves={"loss": rng.random((1, 20))},
            seconds=float(rng.random()),
            version="0.2.0",
            machine="x86_64, 2 cores, jax 0.10.0",
            created="2026-01-01T00:00:00+00:00",
        )
        (folder / f"{result.key}.npz").write_bytes(file_format.encode(result))


def at_scale(n: int = N_RESULTS) -> list[Row]:
    """All measurements, of plain files first and then of the same results compacted."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        fill(Store(folder), n)
        rows = _measured(folder, n, "files")
        usage = _run("-m", "recombine", "runs", "compact", "--store", str(folder), "--json")
        rows.append(_row(f"compact {n:,} files", usage, goal=None))
        return rows + _measured(folder, n, "compacted")


def _measured(folder: Path, n: int, state: str) -> list[Row]:
    store = ("--store", str(folder))
    table = str(folder / "table")
    works = {
        "list": ("-m", "recombine", "runs", "list", *store),
        "list --json": ("-m", "recombine", "runs", "list", "--json", *store),
        "resume": ("-m", "benchmarks.store", str(folder), str(n)),
        "export .parquet": ("-m", "recombine", "runs", "export", f"{table}.parquet", *store),
        "export .csv": ("-m", "recombine", "runs", "export", f"{table}.csv", *store),
    }
    return [_row(f"{name}, {n:,} {state}", _run(*work), goal=MAX_SECONDS) for name, work in works.items()]


def _row(name: str, usage: Usage, goal: float | None) -> Row:
    detail = {"CPU s": usage.cpu, "GiB (at most 1)": usage.gibibytes}
    return Row(name, "s", usage.seconds, goal, False, detail)


def _run(*arguments: str) -> Usage:
    """Runs Python; fails if that fails."""
    started = time.perf_counter()
    process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(arguments)} ended with status {process.returncode}")
    return Usage(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 2**20)


def _resume(folder: str, n: int) -> None:
    """What a sweep does that finds all its trials stored."""
    left: list[Trial] = []
    complete(trials(n), Store(folder), on_plan=left.extend)
    print(json.dumps({"left": len(left)}))
    if left:
        sys.exit(1)


if __name__ == "__main__":
    _resume(sys.argv[1], int(sys.argv[2]))
