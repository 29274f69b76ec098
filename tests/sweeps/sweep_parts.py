"""Parts that workers can import; only `sums` needs JAX, when it is trained on."""

import os
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from recombine import Space, Split, Task


def numbers(*, n: int = 3, low: float = 0.0, mode: str = "add", seed: int):
    if n < 0:
        raise ValueError("n is negative")
    return SimpleNamespace(value=n + low + seed / 10, n=n)


def value(task):
    if task.n == 13:
        raise MemoryError("no memory left")
    return {"value": task.value, "twice_out": 2 * task.value}


def flaky(task, *, log):
    """Fails the first time."""
    if not Path(log).exists():
        Path(log).touch()
        raise RuntimeError("try again")
    return {"value": 1.0}


def gated(task, *, log):
    """Notes that it has begun, and all but the first wait until the gate is open."""
    with Path(log).open("a") as file:
        file.write(f"{task.n}\n")
    while task.n > 1 and not Path(f"{log}.gate").exists():
        time.sleep(0.02)
    return {"value": float(task.n)}


def loud(task):
    print("a probe that prints")
    os.write(1, b"and one that writes\n")
    return {"value": task.value}


def sums(*, n: int = 3, seed: int) -> Task:
    if n == 13:
        raise ValueError("13 brings bad luck")
    space = Space({"a": n, "b": n})
    a, b = space.cells.T
    codes = np.concatenate([np.eye(n)[a], np.eye(n)[b]], axis=1)
    noise = np.random.default_rng(seed).normal(size=(n * n, 1))
    return Task(Split(space, (a != b) | (a == 0)), codes, (a + b)[:, None] + 0.1 * noise)
