"""Parts that workers can import: they need no JAX, and they leave a line in a file each time they run."""

import os
import signal
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from recombine.durable import write_durably


def numbers(*, n=3, seed, **settings):
    return SimpleNamespace(values=np.random.default_rng(seed).normal(size=n), seed=seed)


def mean(task):
    return {"mean": task.values.mean(), "sorted": np.sort(task.values)}


def logged(task, *, log, label=0, seconds=0.0, gate=""):
    """Notes begin and end in `log`; a line is one write, so that processes do not mix theirs.

    It does not end before the file `gate` exists, so that a test can stop it in the middle on a machine of any speed.
    """
    _note(log, f"begin {label}")
    time.sleep(seconds)
    while gate and not Path(gate).exists():
        time.sleep(0.02)
    _note(log, f"end {label}")
    return {"label": label}


def _note(log, line):
    with Path(log).open("a") as file:
        file.write(f"{line} {os.getpid()}\n")


def killed(task, *, label=0):
    os.kill(os.getpid(), signal.SIGKILL)


def killed_while_writing(task, *, path):
    """Dies between writing a file and giving it its name."""
    os.replace = lambda source, target: os.kill(os.getpid(), signal.SIGKILL)
    write_durably(Path(path), b"half")


def failing(task, *, message="no such luck"):
    raise ValueError(message)


def modules(task):
    import sys

    return {"jax_imported": "jax" in sys.modules}


def core_count(task):
    return {"cores": len(os.sched_getaffinity(0))}


def net_values(net, task):
    return {"net": net, "big": net > 1, "single": np.float32(net), "row": np.full(2, net)}


def twice(task):
    return {"mean": 0.0}


def ragged(task):
    return {"ragged": np.zeros(task.seed)}


def changing_names(task):
    return {f"name{task.seed}": 0.0}


def not_a_dictionary(task):
    return 3.0


def unstorable(task):
    return {"thing": object()}
