"""Reports on what finetuning kept at scale: 5000 inputs and 20 layers of 2048 units."""

from __future__ import annotations

import resource
import subprocess
import sys
import time

import numpy as np

from benchmarks.measure import Row

ROWS, LAYERS, UNITS = 5000, 20, 2048
SECONDS, GIB = 60.0, 4.0
"""The goals."""


def at_scale() -> list[Row]:
    """CPU time and peak memory with activations and with a PyTorch model, each in its own process."""
    rows = []
    for what in ("activations", "model"):
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.reuse_speed", what], capture_output=True, text=True, check=True
        )
        seconds, peak, forward = map(float, done.stdout.split()[-3:])
        name = f"reuse of {LAYERS} layers of {UNITS} units, {ROWS:,} inputs, {what}"
        detail = {"of it running both models": forward} if forward else {}
        rows.append(Row(name, "s of CPU time", seconds, SECONDS, False, detail))
        rows.append(Row(name, "peak GiB", peak, GIB, False, {}))
    return rows


def run(what: str) -> None:
    """One report; prints CPU seconds, GiB, and CPU seconds of plain forward passes of both models."""
    from recombine import reuse_report

    rng = np.random.default_rng(0)
    forward = 0.0
    if what == "activations":
        # Views of one array: the user's activations are not part of what is measured.
        hidden = np.maximum(rng.standard_normal((ROWS, UNITS), dtype=np.float32), 0)
        changed = hidden * (rng.random(UNITS) < 0.3).astype(np.float32)
        before = {f"layer{i}": hidden for i in range(LAYERS)}
        after = {f"layer{i}": changed for i in range(LAYERS)}
        start = time.process_time()
        report = reuse_report(before, after)
        seconds = time.process_time() - start
    else:
        import torch

        torch.manual_seed(0)
        inputs = rng.standard_normal((ROWS, 64), dtype=np.float32)
        nets = [_net(torch) for _ in range(2)]
        start = time.process_time()
        with torch.no_grad():
            for net in nets:
                net(torch.as_tensor(inputs))
        forward = time.process_time() - start
        layers = [str(2 * i + 1) for i in range(LAYERS)]
        start = time.process_time()
        report = reuse_report(*nets, inputs, layers=layers)
        seconds = time.process_time() - start
    assert len(report.layers) == LAYERS
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, forward)


def _net(torch):  # type: ignore[no-untyped-def]
    parts = [torch.nn.Linear(64, UNITS), torch.nn.ReLU()]
    for _ in range(LAYERS - 1):
        parts += [torch.nn.Linear(UNITS, UNITS), torch.nn.ReLU()]
    return torch.nn.Sequential(*parts, torch.nn.Linear(UNITS, 10))


if __name__ == "__main__":
    run(sys.argv[1])
