"""What the rotation decoder draws inside the gap of angles that it never saw."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.nets import evaluate
from recombine.tasks import Task

Values = dict[str, Any]


def blend(net: Any, task: Task) -> Values:
    """Compares unseen poses with the true rotation and with a cross-fade of the gap's two end poses.

    - `error_middle`: mean squared error over the unseen angles at least 5 degrees inside the gap;
    - `with_truth`, `with_blend`: correlation over pixels at the middle angle with the rotation and with the blend
        of the two ends;
    - `poses`, `pose_targets`: pictures at five angles across the gap.
    """
    assert task.latents is not None
    angles, unseen = task.latents[:, 0], task.split.unseen[task.cell]
    rows = np.flatnonzero(unseen)
    low = angles[rows].min()
    after = np.flatnonzero(~unseen & (angles > low))[0]
    high = angles[after]
    outputs, targets = evaluate(net, task.inputs[rows]), task.targets[rows]
    error = ((outputs - targets) ** 2).mean(axis=(1, 2))
    inside = (angles[rows] >= low + 5) & (angles[rows] <= high - 5)
    middle = int(np.argmin(np.abs(angles[rows] - (low + high) / 2)))
    crossfade = (targets[0] + task.targets[after]) / 2
    shown = np.linspace(0, len(rows) - 1, 5).astype(int)
    return {
        "error_middle": error[inside].mean(),
        "with_truth": np.corrcoef(outputs[middle].ravel(), targets[middle].ravel())[0, 1],
        "with_blend": np.corrcoef(outputs[middle].ravel(), crossfade.ravel())[0, 1],
        "poses": outputs[shown].astype(np.float32),
        "pose_targets": targets[shown],
    }
