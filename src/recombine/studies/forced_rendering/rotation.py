"""What the rotation decoder draws inside the gap of angles that it never saw."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.nets import evaluate
from recombine.probes import squared_error
from recombine.tasks import Task, cross_fade

Values = dict[str, Any]


def blend(net: Any, task: Task) -> Values:
    """Compares unseen poses with the true rotation and with a cross-fade of the gap's two end poses.

    - `error_middle`: mean squared error over the unseen angles at least 5 degrees inside the gap;
    - `with_truth`, `with_blend`: correlation over pixels at the middle angle with the rotation and with the blend
        of the two ends;
    - `poses`, `pose_targets`, `pose_blends`: pictures at five angles across the gap, and these angles,
        `pose_degrees`.
    """
    assert task.latents is not None
    angles, unseen = task.latents[:, 0], task.split.unseen[task.cell]
    rows = np.flatnonzero(unseen)
    after = np.flatnonzero(~unseen & (angles > angles[rows].min()))[0]
    low, high = angles[rows].min(), angles[after]
    outputs, targets = evaluate(net, task.inputs[rows]), task.targets[rows]
    blends = cross_fade(targets[0], task.targets[after], (angles[rows] - low) / (high - low))
    error = squared_error(outputs, targets)
    inside = (angles[rows] >= low + 5) & (angles[rows] <= high - 5)
    middle = int(np.argmin(np.abs(angles[rows] - (low + high) / 2)))
    shown = np.linspace(0, len(rows) - 1, 5).astype(int)
    return {
        "error_middle": error[inside].mean(),
        "with_truth": np.corrcoef(outputs[middle].ravel(), targets[middle].ravel())[0, 1],
        "with_blend": np.corrcoef(outputs[middle].ravel(), blends[middle].ravel())[0, 1],
        "poses": outputs[shown].astype(np.float32),
        "pose_targets": targets[shown],
        "pose_blends": blends[shown],
        "pose_degrees": angles[rows[shown]],
    }


def digit_poses(net: Any, task: Task, *, shown: int = 5) -> Values:
    """Pictures of the digit with a gap, at `shown` of the angles that it was never seen at.

    `poses`, `pose_targets` `(shown, height, width)`, and `pose_degrees` `(shown,)`.
    """
    assert task.latents is not None
    rows = np.flatnonzero(task.split.unseen[task.cell])
    rows = rows[np.linspace(0, len(rows) - 1, shown).astype(int)]
    return {
        "poses": evaluate(net, task.inputs[rows]).astype(np.float32),
        "pose_targets": task.targets[rows],
        "pose_degrees": task.latents[rows, 1],
    }


def rings(net: Any, task: Task, *, angles: int = 120) -> Values:
    """The path that every stage's activity takes while the angle goes once round, in its two main directions.

    - `ring` `(stages, angles, 2)`: scores on the first two principal components, the first of unit spread;
    - `ring_share` `(stages,)`: the share of variance that the two components hold;
    - `ring_degrees` `(angles,)`.

    The task's angles are taken in order, so a gap shows as a part of the path that training never saw.
    """
    assert task.latents is not None
    order = np.argsort(task.latents[:, 0], kind="stable")
    chosen = order[np.linspace(0, len(order) - 1, min(angles, len(order))).astype(int)]
    paths, shares = [], []
    for name, _ in net.stages:
        activity = evaluate(net, task.inputs[chosen], stage=name).reshape(len(chosen), -1).astype(np.float64)
        centred = activity - activity.mean(axis=0)
        left, singular, _ = np.linalg.svd(centred, full_matrices=False)
        paths.append(left[:, :2] * singular[:2] / max(singular[0], 1e-30) * np.sqrt(len(chosen)))
        shares.append((singular[:2] ** 2).sum() / max((singular**2).sum(), 1e-30))
    return {
        "ring": np.stack(paths).astype(np.float32),
        "ring_share": np.array(shares),
        "ring_degrees": task.latents[chosen, 0],
    }
