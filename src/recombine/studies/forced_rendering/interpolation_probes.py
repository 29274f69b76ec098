"""Probes of interpolation: between grid positions, and inside a gap of angles that was not in training."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.metrics import squared_error
from recombine.nets import evaluate
from recombine.parts import Part
from recombine.studies.forced_rendering.rotation_tasks import cross_fade
from recombine.tasks import Task, bump_images

Values = dict[str, Any]


def error_between(net: Any, task: Task, *, encoding: Part, points: int = 50) -> dict[str, Any]:
    """Squared error at `points × points` real positions on the task's image, for dark bumps of width 1.

    `error_between` `(points, points)`, first axis x. A net trained on integer positions has to interpolate here.

    ```python
    >>> import jax
    >>> from recombine import Part, nets
    >>> from recombine.studies.forced_rendering.interpolation_probes import error_between
    >>> from recombine.tasks import bump_code, bumps
    >>> net = nets.mlp(inputs=16, width=4, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> error_between(net, bumps(n=8), encoding=Part(bump_code), points=5)["error_between"].shape
    (5, 5)

    ```
    """
    n = task.targets.shape[1]
    line = np.linspace(0, n - 1, points)
    positions = np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)
    outputs = evaluate(net, np.asarray(encoding(positions, n), dtype=np.float32))
    error = squared_error(outputs, bump_images(positions, n))
    return {"error_between": error.reshape(points, points).astype(np.float32)}


def blend(net: Any, task: Task) -> Values:
    """Compares the images drawn in the gap with the true rotation and with a cross-fade of the gap's two ends.

    **Returns:**

    - `error_middle`: mean squared error over the unseen angles at least 5 degrees inside the gap;
    - `with_truth`, `with_blend`: correlation over pixels, at the middle angle, with the rotation and with the blend
        of the two ends;
    - `poses`, `pose_targets`, `pose_blends`: images at five angles across the gap; the angles are in
        `pose_degrees`.

    ```python
    >>> import jax
    >>> from recombine import nets
    >>> from recombine.studies.forced_rendering.interpolation_probes import blend
    >>> from recombine.studies.forced_rendering.rotation_tasks import rotation_gap
    >>> net = nets.mlp(inputs=2, width=4, depth=1, outputs=(28, 28), key=jax.random.key(0))
    >>> blend(net, rotation_gap(40, gap_angles=20, source="digits"))["poses"].shape
    (5, 28, 28)

    ```
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
    """Images of the digit with a gap, at `shown` of its unseen angles.

    `poses`, `pose_targets` `(shown, height, width)`, and `pose_degrees` `(shown,)`.

    ```python
    >>> import jax
    >>> from recombine import nets
    >>> from recombine.studies.forced_rendering.interpolation_probes import digit_poses
    >>> from recombine.studies.forced_rendering.rotation_tasks import rotation_digits
    >>> net = nets.mlp(inputs=5, width=4, depth=1, outputs=(28, 28), key=jax.random.key(0))
    >>> digit_poses(net, rotation_digits((1, 4, 7), 36, source="digits"))["poses"].shape
    (5, 28, 28)

    ```
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
    """The path of every stage's activity as the angle makes a full turn, in the first two principal components.

    **Returns:**

    - `ring` `(stages, angles, 2)`: scores on the first two principal components; the first has unit variance;
    - `ring_share` `(stages,)`: the share of variance that the two components explain;
    - `ring_degrees` `(angles,)`.

    The task's angles are taken in order, so a gap is a contiguous part of the path.

    ```python
    >>> import jax
    >>> from recombine import nets
    >>> from recombine.studies.forced_rendering.interpolation_probes import rings
    >>> from recombine.studies.forced_rendering.rotation_tasks import rotation_gap
    >>> net = nets.mlp(inputs=2, width=4, depth=1, outputs=(28, 28), key=jax.random.key(0))
    >>> rings(net, rotation_gap(20, gap_angles=4, source="digits"), angles=10)["ring"].shape
    (2, 10, 2)

    ```
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
