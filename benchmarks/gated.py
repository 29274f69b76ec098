"""Gated linear networks: a training step against eager PyTorch, the programmes at size, and the report.

Steps are those of `fit_in_row_span`. The share of the peak counts the operations of PyTorch, of which it needs a
fraction, so it may exceed 1.
"""

from __future__ import annotations

import resource
import time
from functools import partial

import numpy as np

from benchmarks.measure import Row, cpu_seconds

TIMES_PYTORCH, REPORT_SECONDS = 5, 120
PROGRAMMES = ((500, 50, 1e-4, 60.0), (2000, 100, 1e-3, 300.0))
"""Rows, units, relative duality gap, and seconds that it may take."""


def rows(*, repeats: int) -> list[Row]:
    """All of it on one core; MNIST if it is on this machine, else random images of its size."""
    return [*steps(repeats=repeats), *programmes(), report()]


def steps(*, repeats: int) -> list[Row]:
    """One training step of two-layer nets with 20 and 50 units of two contexts, batch 128."""
    import jax

    from benchmarks import peers
    from benchmarks.training import Case, against_pytorch
    from recombine.nets.gated import random_gates, two_layer_gated
    from recombine.tasks import Task
    from recombine.tasks.modular import train_and_test
    from recombine.training import Recipe, fit_in_row_span, sgd

    x, labels = digits(700)
    split, cell = train_and_test(500, 200)
    task = Task(split, x, labels[:, None], cell=cell)
    found = []
    for units in (20, 50):
        gates = random_gates(units=units, inputs=x.shape[1], key=jax.random.key(0))
        directions, thresholds = (np.array(part.value) for part in (gates.directions, gates.thresholds))
        case = Case(
            f"gated {x.shape[1]}-{units}-1, two contexts, batch 128",
            partial(two_layer_gated, gates, inputs=x.shape[1]),  # type: ignore[arg-type]
            partial(peers.GatedNet, directions[:, 0], thresholds[:, 0]),
            task,
            Recipe(steps=2000, batch=128, optimiser=sgd(0.01)),
            goal=TIMES_PYTORCH,
            run=fit_in_row_span,
        )
        found.append(against_pytorch(case, repeats=repeats))
    return found


def digits(n: int) -> tuple[np.ndarray, np.ndarray]:
    """`(n, 785)` pixels from -1 to 1 with a constant, and labels -1 and 1."""
    from recombine.tasks import datasets

    if datasets.find("mnist") is not None:
        images, labels = datasets.load("mnist")
        x, y = images[:n].reshape(n, -1) / 127.5 - 1, np.where(labels[:n] < 5, 1.0, -1.0)
    else:
        rng = np.random.default_rng(0)
        x = np.tanh(rng.normal(size=(n, 60)) @ rng.normal(size=(60, 784)) / 8)
        y = np.sign(x @ rng.normal(size=784))
    return np.concatenate([x, np.ones((n, 1))], axis=1).astype(np.float32), y


def programmes() -> list[Row]:
    """The programme of minimum group norm, from scratch to its gap."""
    from recombine.theory.gated import GatedRows, min_group_norm_machine

    found = []
    for n, units, gap, seconds in PROGRAMMES:
        x, labels = digits(n)
        sides = x @ np.random.default_rng(1).normal(size=(x.shape[1], units))
        gated = GatedRows.of(x, (sides > np.median(sides, axis=0)).astype(int))
        started = time.process_time()
        machine = min_group_norm_machine(gated, labels, tolerance=gap)
        took = time.process_time() - started
        detail = {
            "gap": machine.gap,
            "rounds": float(machine.rounds),
            "peak GiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
        }
        found.append(
            Row(f"group norm, {n} rows, {units} units", "s of CPU time", took, seconds, False, detail)
        )
    return found


def report() -> Row:
    """A report on 2000 training rows and 100 units."""
    import torch

    from recombine import implicit_bias_report

    torch.manual_seed(0)
    x, labels = digits(4000)
    net = torch.nn.Sequential(torch.nn.Linear(785, 100), torch.nn.ReLU(), torch.nn.Linear(100, 1))
    optimiser, y = torch.optim.Adam(net.parameters()), torch.as_tensor(labels[:2000], dtype=torch.float32)
    for _ in range(300):
        optimiser.zero_grad()
        torch.nn.functional.softplus(-y * net(torch.as_tensor(x[:2000]))[:, 0]).mean().backward()
        optimiser.step()
    took = cpu_seconds(lambda: implicit_bias_report(net, x[:2000], labels[:2000], others=x[2000:]))
    return Row("bias report, 2000 rows, 100 units", "s of CPU time", took, REPORT_SECONDS, False, {})
