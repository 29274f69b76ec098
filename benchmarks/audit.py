"""Audits at scale: many rows, many cells, many classes, and the layers of a network."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.measure import Row

GOALS = {
    "100,000 rows, 4 factors of 10 levels, quantities from a CSV file": ("quantities", 3.0),
    "100,000 rows, 4 factors of 10 levels, quantities, half of the unseen cells wrong": ("wrong", 3.0),
    "100,000 rows, 4 factors of 10 levels, 10 classes": ("labels", 3.0),
    "200,000 rows in 50,000 cells": ("cells", 10.0),
    "50,000 rows, 1000 classes": ("classes", 15.0),
    "50,000 rows in 25,000 cells, 1000 classes, 10% of the labels wrong": ("noisy", 15.0),
    "100,000 rows, 4 factors, ten layers of 512 units": ("layers", 60.0),
}
"""What is audited, and the seconds that it may take on one core."""
GIBIBYTES, GIBIBYTES_OF_LAYERS = 2.0, 4.0
"""The peak memory of the process, imports included."""
LAYERS, UNITS = 10, 512


def at_scale() -> list[Row]:
    """Time and peak memory of every audit, each in its own process; reading the file counts, imports do not."""
    rows = []
    for name, (what, goal) in GOALS.items():
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.audit", what], capture_output=True, text=True, check=True
        )
        seconds, processor, peak = map(float, done.stdout.split()[-3:])
        memory = GIBIBYTES_OF_LAYERS if what == "layers" else GIBIBYTES
        name = f"audit of {name}"
        rows.append(Row(name, "seconds", seconds, goal, False, {"CPU s": processor, "peak GiB": peak}))
        rows.append(Row(name, "peak GiB", peak, memory, False, {"seconds": seconds}))
    return rows


def world(rows: int, levels: tuple[int, ...], seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Level numbers of all rows, which rows are training rows, and additive targets."""
    rng = np.random.default_rng(seed)
    cells = np.stack([rng.integers(n, size=rows) for n in levels], axis=1)
    codes = np.ravel_multi_index(tuple(cells.T), levels)
    held_out = rng.random(int(np.prod(levels))) < 0.2
    seen = ~held_out[codes] & (rng.random(rows) < 0.9)
    effects = [rng.normal(size=n) for n in levels]
    return cells, seen, np.sum([e[cells[:, i]] for i, e in enumerate(effects)], axis=0)


def run(what: str) -> None:
    """One audit; prints seconds, CPU seconds and GiB."""
    work = (_layers if what == "layers" else _table)(what, small=True)
    work()  # imports what is imported on demand
    work = (_layers if what == "layers" else _table)(what, small=False)
    start, processor = time.perf_counter(), time.process_time()
    assert work().scores is not None
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    print(seconds, processor, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)


def _table(what: str, *, small: bool) -> Callable[[], Any]:
    """The audit of a table with targets and predictions."""
    from recombine import audit

    rng = np.random.default_rng(1)
    rows = {"cells": 200_000, "classes": 50_000, "noisy": 50_000}.get(what, 100_000)
    levels = {"cells": 15, "noisy": 13}.get(what, 10)
    cells, seen, y = world(1_000 if small else rows, (3 if small else levels,) * 4)
    target, prediction = y, y + 0.1 * rng.normal(size=len(y))
    if what in {"wrong", "cells"}:
        prediction = np.where(seen, prediction, rng.permutation(prediction))
    if what in {"labels", "classes", "noisy"}:
        n = 10 if what == "labels" else 1000
        label = cells @ np.array([1, 10, 100, 37]) % n
        other = np.where(seen | (rng.random(len(label)) < 0.5), label, rng.integers(n, size=len(label)))
        if what == "noisy":
            label = np.where(rng.random(len(label)) < 0.1, rng.integers(n, size=len(label)), label)
        target, prediction = (np.array([f"class {one}" for one in some]) for some in (label, other))
    columns = {name: cells[:, i] for i, name in enumerate("abcd")}
    if what != "quantities":
        return lambda: audit(factors=columns, seen=seen, target=target, prediction=prediction)
    import polars as pl

    folder = TemporaryDirectory()
    path = Path(folder.name, "predictions.csv")
    split = np.where(seen, "train", "test")
    pl.DataFrame(columns | {"split": split, "y": target, "p": prediction}).write_csv(path)

    def of_file() -> Any:
        with folder:
            return audit(path, factors=list("abcd"), seen="split=train", target="y", prediction="p")

    return of_file


def _layers(what: str, *, small: bool) -> Callable[[], Any]:
    """The audit of a PyTorch network and its layers."""
    import torch

    from recombine import audit

    levels, units = ((3,) * 4, 8) if small else ((10,) * 4, UNITS)
    cells, seen, y = world(1_000 if small else 100_000, levels)
    torch.manual_seed(0)
    parts: list[torch.nn.Module] = [torch.nn.Linear(sum(levels), units), torch.nn.ReLU()]
    for _ in range(LAYERS - 1):
        parts += [torch.nn.Linear(units, units), torch.nn.ReLU()]
    net = torch.nn.Sequential(*parts, torch.nn.Linear(units, 1))
    inputs = np.concatenate([np.eye(n, dtype=np.float32)[cells[:, i]] for i, n in enumerate(levels)], axis=1)
    layers = [str(2 * i + 1) for i in range(LAYERS)]
    columns = {name: cells[:, i] for i, name in enumerate("abcd")}
    return lambda: audit(factors=columns, seen=seen, target=y, model=net, inputs=inputs, layers=layers)


if __name__ == "__main__":
    run(sys.argv[1])
