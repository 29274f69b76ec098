"""Audits at scale: 100,000 rows of four factors, with predictions only and with ten layers of 512 units."""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.measure import Row

ROWS, LEVELS, LAYERS, UNITS = 100_000, (10, 10, 10, 10), 10, 512


def at_scale() -> list[Row]:
    """Time and peak memory of both audits, each in its own process; reading the file counts, imports do not."""
    rows = []
    for what, goal in (("predictions", 5.0), ("layers", 60.0)):
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.audit", what], capture_output=True, text=True, check=True
        )
        seconds, peak = map(float, done.stdout.split()[-2:])
        name = f"audit of {ROWS:,} rows, 4 factors, {what}"
        rows.append(Row(name, "seconds", seconds, goal, False, {"peak GiB": peak}))
        rows.append(Row(name, "peak GiB", peak, 4.0, False, {"seconds": seconds}))
    return rows


def world(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Level numbers of all rows, which rows are training rows, and additive targets."""
    rng = np.random.default_rng(seed)
    cells = np.stack([rng.integers(n, size=ROWS) for n in LEVELS], axis=1)
    codes = np.ravel_multi_index(tuple(cells.T), LEVELS)
    held_out = rng.random(int(np.prod(LEVELS))) < 0.2
    seen = ~held_out[codes] & (rng.random(ROWS) < 0.9)
    effects = [rng.normal(size=n) for n in LEVELS]
    return cells, seen, np.sum([e[cells[:, i]] for i, e in enumerate(effects)], axis=0)


def run(what: str) -> None:
    """One audit; prints seconds and GiB."""
    from recombine import audit

    cells, seen, y = world()
    names = ["a", "b", "c", "d"]
    if what == "predictions":
        import polars as pl

        with TemporaryDirectory() as folder:
            path = Path(folder, "predictions.csv")
            predictions = y + np.random.default_rng(1).normal(size=ROWS) * 0.1
            columns = {name: cells[:, i] for i, name in enumerate(names)}
            pl.DataFrame(
                columns | {"split": np.where(seen, "train", "test"), "y": y, "p": predictions}
            ).write_csv(path)
            start = time.perf_counter()
            report = audit(path, factors=names, seen="split=train", target="y", prediction="p")
    else:
        import torch

        torch.manual_seed(0)
        parts: list[torch.nn.Module] = [torch.nn.Linear(sum(LEVELS), UNITS), torch.nn.ReLU()]
        for _ in range(LAYERS - 1):
            parts += [torch.nn.Linear(UNITS, UNITS), torch.nn.ReLU()]
        net = torch.nn.Sequential(*parts, torch.nn.Linear(UNITS, 1))
        inputs = np.concatenate(
            [np.eye(n, dtype=np.float32)[cells[:, i]] for i, n in enumerate(LEVELS)], axis=1
        )
        layers = [str(2 * i + 1) for i in range(LAYERS)]
        columns = {name: cells[:, i] for i, name in enumerate(names)}
        start = time.perf_counter()
        report = audit(factors=columns, seen=seen, target=y, model=net, inputs=inputs, layers=layers)
    assert report.scores is not None
    seconds = time.perf_counter() - start
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)


if __name__ == "__main__":
    run(sys.argv[1])
