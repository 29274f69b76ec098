"""A random generator that follows from a task, for probes that draw: equal seeds of a trial give equal draws."""

from __future__ import annotations

import numpy as np

from recombine.tasks import Task


def generator(task: Task) -> np.random.Generator:
    """A random generator derived from the task's inputs, and so from the trial's seed."""
    return np.random.default_rng(np.abs(np.ravel(task.inputs[0])[:4] * 1e6).astype(int))
