"""Probes of a net's outputs: run the net on its task and pass the arrays to the metrics.

Each takes a net and a task and returns named arrays, so that it can be part of a trial as `Part(errors)`. Rows are
the rows of the task that show a cell, in order. Images with blank value 1 are dark, all others bright.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Int
from scipy import ndimage

from recombine.errors import InputError
from recombine.metrics.baselines import baseline_errors
from recombine.metrics.behaviour import squared_error, summarise
from recombine.metrics.image_measures import position_accuracy, position_error
from recombine.metrics.superposition import superposition_index
from recombine.nets import evaluate
from recombine.tasks import Task
from recombine.tasks.bumps.bump_images import Polarity

Values = dict[str, Any]


def polarity_of(task: Task) -> Polarity:
    """The polarity of a task's images: dark if the background is white (1), else bright.

    ```python
    >>> from recombine.probes import polarity_of
    >>> from recombine.tasks import bumps
    >>> polarity_of(bumps(n=8, polarity="bright"))
    'bright'

    ```
    """
    return "dark" if task.blank == 1 else "bright"


def cell_rows(task: Task) -> tuple[Int[np.ndarray, " rows"], Bool[np.ndarray, " rows"]]:
    """The rows that show a cell, and whether that cell is seen."""
    rows = np.flatnonzero(task.cell >= 0)
    return rows, task.split.seen[task.cell[rows]]


def levels_of(task: Task, rows: Int[np.ndarray, " rows"]) -> Int[np.ndarray, "rows factors"]:
    """The level indices of the cells that these rows show."""
    return task.split.space.cells[task.cell[rows]]


def is_trained(task: Task, rows: Int[np.ndarray, " rows"]) -> Bool[np.ndarray, " rows"]:
    """Whether each of these rows was trained on; draws with replacement leave some seen cells out."""
    return np.isin(rows, task.train)


def rows_of_cells(task: Task, cells: Sequence[Sequence[int]]) -> Int[np.ndarray, " rows"]:
    """The first row of every cell; cells are given by their level indices."""
    numbers = task.split.space.index(np.asarray(cells))
    return np.array([np.flatnonzero(task.cell == number)[0] for number in numbers])


def _mean(values: np.ndarray) -> float:
    """The mean, or NaN if there are no values (a task without a hole has no unseen rows)."""
    return float(values.mean()) if len(values) else float("nan")


def interior_cells(task: Task, *, margin: int) -> Bool[np.ndarray, " cells"]:
    """Unseen cells more than `margin` levels away from every seen cell; the border of the space does not count.

    ```python
    >>> from recombine import Part
    >>> from recombine.probes import interior_cells
    >>> from recombine.spaces import corner_hole
    >>> from recombine.tasks import bumps
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> int(interior_cells(task, margin=1).sum())  # of 16 unseen cells
    9

    ```
    """
    unseen = task.split.space.grid(task.split.unseen)
    box = np.ones((3,) * unseen.ndim)
    # `border_value=1` treats everything beyond the space as unseen, so erosion starts from seen cells only.
    eroded = ndimage.binary_erosion(unseen, box, iterations=margin, border_value=1) if margin else unseen
    return np.asarray(eroded).ravel()


def errors(net: Any, task: Task, *, baselines: bool = True) -> Values:
    """Squared error per row, its summary over seen and unseen cells, and the baselines' errors.

    **Returns:**

    - `error` `(rows,)`;
    - `error_in`, `error_out`: means, with `error_in_std` and `error_out_std`;
    - `error_out_median`, `error_out_max`: a few broken levels can account for most of the mean;
    - `baseline_<name>_in`, `baseline_<name>_out`, if `baselines`: see [`recombine.metrics.baseline_errors`][].

    ```python
    >>> import jax
    >>> from recombine import Part, nets
    >>> from recombine.probes import errors
    >>> from recombine.spaces import corner_hole
    >>> from recombine.tasks import bumps
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> sorted(errors(net, task, baselines=False))
    ['error', 'error_in', 'error_in_std', 'error_out', 'error_out_max', 'error_out_median', 'error_out_std']

    ```
    """
    rows, seen = cell_rows(task)
    targets = task.targets[rows]
    error = squared_error(evaluate(net, task.inputs[rows]), targets)
    summary = summarise(error, seen)
    values: Values = {"error": error, "error_in": summary["in_mean"], "error_out": summary["out_mean"]}
    values |= {"error_in_std": summary["in_std"], "error_out_std": summary["out_std"]}
    values |= {"error_out_median": summary["out_median"], "error_out_max": summary["out_max"]}
    if baselines:
        for name, value in baseline_errors(targets, seen, levels_of(task, rows), task.blank).items():
            side, baseline = name.split("_", 1)
            values[f"baseline_{baseline}_{side}"] = value
    return values


def positions(net: Any, task: Task, *, margin: int | None = None, untrained: bool = False) -> Values:
    """How often the bump is drawn at the right position, exactly and within one pixel.

    - `accuracy0_in`, `accuracy0_out`, `accuracy1_in`, `accuracy1_out`: within 0 and 1 pixels;
    - `distance_in`, `distance_out`: mean distance in pixels.

    **Arguments:**

    - `margin`: also report `accuracy_inner`, within one pixel, on the unseen cells more than `margin` levels
        away from every seen one.
    - `untrained`: also report `accuracy_untrained`, within one pixel, on all rows that were not trained on.

    ```python
    >>> import jax
    >>> from recombine import Part, nets
    >>> from recombine.probes import positions
    >>> from recombine.spaces import corner_hole
    >>> from recombine.tasks import bumps
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> 0 <= positions(net, task)["accuracy1_out"] <= 1
    True

    ```
    """
    rows, seen = cell_rows(task)
    outputs, polarity = evaluate(net, task.inputs[rows]), polarity_of(task)
    if task.latents is None:
        raise InputError("task", "no latents", "a task whose latents are positions in pixels")
    centres = task.latents[rows]
    values: Values = {}
    for tolerance in (0, 1):
        correct = position_accuracy(outputs, centres, polarity, tolerance)
        values |= {
            f"accuracy{tolerance}_in": _mean(correct[seen]),
            f"accuracy{tolerance}_out": _mean(correct[~seen]),
        }
    distance = position_error(outputs, centres, polarity)
    values |= {"distance_in": _mean(distance[seen]), "distance_out": _mean(distance[~seen])}
    if margin is not None:
        values["accuracy_inner"] = correct[interior_cells(task, margin=margin)[task.cell[rows]]].mean()
    if untrained:
        values["accuracy_untrained"] = correct[~is_trained(task, rows)].mean()
    return values


def superposition(net: Any, task: Task, *, margin: int = 3) -> Values:
    """Correlation of unseen outputs with the sum of related seen images, with other cells' sums, and with the target.

    Means over unseen cells more than `margin` levels away from seen ones, where the two references differ. The sum is
    that of the seen targets, or (`own_superposition`) of the net's own outputs for the cells it was trained on.

    ```python
    >>> import jax
    >>> from recombine import Part, nets
    >>> from recombine.probes import superposition
    >>> from recombine.spaces import corner_hole
    >>> from recombine.tasks import bumps
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> sorted(superposition(net, task, margin=1))
    ['other_superpositions', 'own_superposition', 'truth_with_superposition', 'with_superposition', 'with_truth']

    ```
    """
    rows, seen = cell_rows(task)
    outputs, targets, levels = evaluate(net, task.inputs[rows]), task.targets[rows], levels_of(task, rows)
    interior = interior_cells(task, margin=margin)[task.cell[rows]]
    index = superposition_index(outputs, targets, levels, seen, polarity_of(task), interior)
    trained = is_trained(task, rows)
    own = superposition_index(
        outputs, targets, levels, trained, polarity_of(task), interior, source="outputs"
    )
    return {
        "with_superposition": index["mean_with_superposition"],
        "other_superpositions": index["mean_with_other_superpositions"],
        "with_truth": index["mean_with_truth"],
        "truth_with_superposition": index["mean_truth_with_superposition"],
        "own_superposition": own["mean_with_superposition"],
    }


def output_images(net: Any, task: Task, *, cells: Sequence[Sequence[int]]) -> Values:
    """Outputs (`pictures`) and targets (`picture_targets`) for some cells, given by their level indices.

    ```python
    >>> import jax
    >>> from recombine import Part, nets
    >>> from recombine.probes import output_images
    >>> from recombine.spaces import corner_hole
    >>> from recombine.tasks import bumps
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> output_images(net, task, cells=[(5, 5), (6, 7)])["pictures"].shape
    (2, 8, 8)

    ```
    """
    rows = rows_of_cells(task, cells)
    outputs = evaluate(net, task.inputs[rows])
    return {"pictures": outputs.astype(np.float32), "picture_targets": task.targets[rows]}
