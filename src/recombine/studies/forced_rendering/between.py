"""The error between the grid positions: the finer maps of the authors' notebooks."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.nets import evaluate
from recombine.parts import Part
from recombine.probes import squared_error
from recombine.tasks import Task, bump_images


def error_between(net: Any, task: Task, *, encoding: Part, points: int = 50) -> dict[str, Any]:
    """Squared error at `points × points` real positions on the task's picture, for dark bumps of width 1.

    `error_between` `(points, points)`, first axis x. A net trained on whole positions has to interpolate here.
    """
    n = task.targets.shape[1]
    line = np.linspace(0, n - 1, points)
    positions = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    outputs = evaluate(net, np.asarray(encoding(positions, n), dtype=np.float32))
    error = squared_error(outputs, bump_images(positions, n))
    return {"error_between": error.reshape(points, points).astype(np.float32)}
