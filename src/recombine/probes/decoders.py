"""Probes of a trained net on its task: run the net, hand the arrays to the pure measures.

Each takes a net and a task and returns named arrays, so that it can stand in a trial as `Part(errors)`. Rows are
the task's rows that show a cell, in order. Pictures whose blank value is 1 are dark, otherwise bright.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jaxtyping import Bool, Int
from scipy import ndimage

from recombine.errors import InputError
from recombine.nets import evaluate
from recombine.probes.baselines import baseline_errors, baseline_images
from recombine.probes.behaviour import (
    code_accuracy,
    position_accuracy,
    position_error,
    squared_error,
    structural_dissimilarity,
    summarise,
    within,
)
from recombine.probes.kernel_machine import compare_kernels
from recombine.probes.similarity import (
    cosine_similarity,
    euclidean_distance,
    kernel_agreement,
    pixel_overlap,
)
from recombine.probes.superposition import superposition_index
from recombine.tasks import Task, super_inputs
from recombine.tasks.bump_images import Polarity

Values = dict[str, Any]


def polarity_of(task: Task) -> Polarity:
    """Dark pictures have a white background, 1."""
    return "dark" if task.blank == 1 else "bright"


def _shown(task: Task) -> tuple[Int[np.ndarray, " rows"], Bool[np.ndarray, " rows"]]:
    """The rows that show a cell, and whether that cell is seen."""
    rows = np.flatnonzero(task.cell >= 0)
    return rows, task.split.seen[task.cell[rows]]


def _levels(task: Task, rows: Int[np.ndarray, " rows"]) -> Int[np.ndarray, "rows factors"]:
    return task.split.space.cells[task.cell[rows]]


def _trained(task: Task, rows: Int[np.ndarray, " rows"]) -> Bool[np.ndarray, " rows"]:
    """Which of these rows were trained on; draws with replacement leave some seen cells out."""
    return np.isin(rows, task.train)


def _mean(values: np.ndarray) -> float:
    """The mean, NaN if there is nothing to average (a task without a hole has no unseen rows)."""
    return float(values.mean()) if len(values) else float("nan")


def inner(task: Task, *, margin: int) -> Bool[np.ndarray, " cells"]:
    """Unseen cells more than `margin` levels away from every seen cell; the space's border is no obstacle.

    ```python
    >>> import jax
    >>> from recombine import Part, bumps, corner_hole, nets
    >>> from recombine.probes import decoders
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> int(decoders.inner(task, margin=1).sum())  # of 16 unseen cells
    9

    ```
    """
    unseen = task.split.space.grid(task.split.unseen)
    box = np.ones((3,) * unseen.ndim)
    eroded = ndimage.binary_erosion(unseen, box, iterations=margin, border_value=1) if margin else unseen
    return np.asarray(eroded).ravel()


def errors(net: Any, task: Task, *, baselines: bool = True) -> Values:
    """Squared error per row, its summary over seen and unseen cells, and the baselines' errors.

    `error` holds the rows; `error_in`, `error_out` the means; `error_out_median` and `error_out_max` go with
    them because few broken levels can carry most of the error.

    ```python
    >>> import jax
    >>> from recombine import Part, bumps, corner_hole, nets
    >>> from recombine.probes import decoders
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> sorted(decoders.errors(net, task, baselines=False))
    ['error', 'error_in', 'error_in_std', 'error_out', 'error_out_max', 'error_out_median', 'error_out_std']

    ```
    """
    rows, seen = _shown(task)
    targets = task.targets[rows]
    error = squared_error(evaluate(net, task.inputs[rows]), targets)
    summary = summarise(error, seen)
    values: Values = {"error": error, "error_in": summary["in_mean"], "error_out": summary["out_mean"]}
    values |= {"error_in_std": summary["in_std"], "error_out_std": summary["out_std"]}
    values |= {"error_out_median": summary["out_median"], "error_out_max": summary["out_max"]}
    if baselines:
        found = baseline_errors(targets, seen, _levels(task, rows), task.blank)
        for name, value in found.items():
            side, baseline = name.split("_", 1)
            values[f"baseline_{baseline}_{side}"] = value
    return values


def positions(net: Any, task: Task, *, margin: int | None = None, untrained: bool = False) -> Values:
    """How often the bump is drawn at the right place, exactly and within one pixel.

    **Arguments:**

    - `margin`: also report `accuracy_inner`, within one pixel, on the unseen cells more than `margin` levels
        away from every seen one.
    - `untrained`: also report `accuracy_untrained`, within one pixel, on all rows that were not trained on.

    ```python
    >>> import jax
    >>> from recombine import Part, bumps, corner_hole, nets
    >>> from recombine.probes import decoders
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> 0 <= decoders.positions(net, task)["accuracy1_out"] <= 1
    True

    ```
    """
    rows, seen = _shown(task)
    outputs, polarity = evaluate(net, task.inputs[rows]), polarity_of(task)
    if task.latents is None:
        raise InputError("task", "no latents", "a task whose latents are positions in pixels")
    centres = task.latents[rows]
    values: Values = {}
    for tolerance in (0, 1):
        right = position_accuracy(outputs, centres, polarity, tolerance)
        values |= {
            f"accuracy{tolerance}_in": _mean(right[seen]),
            f"accuracy{tolerance}_out": _mean(right[~seen]),
        }
    distance = position_error(outputs, centres, polarity)
    values |= {"distance_in": _mean(distance[seen]), "distance_out": _mean(distance[~seen])}
    if margin is not None:
        values["accuracy_inner"] = right[inner(task, margin=margin)[task.cell[rows]]].mean()
    if untrained:
        values["accuracy_untrained"] = right[~_trained(task, rows)].mean()
    return values


def dissimilarity(net: Any, task: Task) -> Values:
    """1 - SSIM, the mean over seen and unseen cells.

    ```python
    >>> import jax
    >>> from recombine import Part, bumps, corner_hole, nets
    >>> from recombine.probes import decoders
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> sorted(decoders.dissimilarity(net, task))
    ['dissimilarity_in', 'dissimilarity_out']

    ```
    """
    rows, seen = _shown(task)
    found = structural_dissimilarity(evaluate(net, task.inputs[rows]), task.targets[rows])
    return {"dissimilarity_in": found[seen].mean(), "dissimilarity_out": found[~seen].mean()}


def superposition(net: Any, task: Task, *, margin: int = 3) -> Values:
    """Correlation of unseen pictures with the sum of related seen ones, and with the truth.

    Means over unseen cells more than `margin` levels away from seen ones, where the two are told apart; from
    the seen targets, and (`own_superposition`) from the net's own pictures of the cells it was trained on.

    ```python
    >>> import jax
    >>> from recombine import Part, bumps, corner_hole, nets
    >>> from recombine.probes import decoders
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> sorted(decoders.superposition(net, task, margin=1))
    ['own_superposition', 'truth_with_superposition', 'with_superposition', 'with_truth']

    ```
    """
    rows, seen = _shown(task)
    outputs, targets, levels = evaluate(net, task.inputs[rows]), task.targets[rows], _levels(task, rows)
    chosen = inner(task, margin=margin)[task.cell[rows]]
    found = superposition_index(outputs, targets, levels, seen, polarity_of(task), chosen)
    drawn = _trained(task, rows)
    own = superposition_index(outputs, targets, levels, drawn, polarity_of(task), chosen, source="outputs")
    return {
        "with_superposition": found["mean_with_superposition"],
        "with_truth": found["mean_with_truth"],
        "truth_with_superposition": found["mean_truth_with_superposition"],
        "own_superposition": own["mean_with_superposition"],
    }


def similarity(net: Any, task: Task, *, threshold: float = 0.5, every: int = 0) -> Values:
    """Agreement of the unseen × seen block of the outputs' similarity with the binary factorised kernel.

    Similarity is measured by pixel overlap, by cosine, and by nearness (minus the L2 distance).

    **Arguments:**

    - `threshold`: for the pixel overlap.
    - `every`: also keep the overlap matrix of every so many-th cell (seen first), for a picture.

    ```python
    >>> import jax
    >>> from recombine import Part, bumps, corner_hole, nets
    >>> from recombine.probes import decoders
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> -1 <= decoders.similarity(net, task)["cosine_binary"] <= 1
    True

    ```
    """
    rows, seen = _shown(task)
    levels, outputs = _levels(task, rows), evaluate(net, task.inputs[rows])
    overlap = pixel_overlap(outputs, polarity_of(task), threshold)
    background = task.blank
    cosine = cosine_similarity(outputs - background)
    values: Values = {}
    nearness = -euclidean_distance(outputs)
    for name, matrix in (("overlap", overlap), ("cosine", cosine), ("nearness", nearness)):
        found = kernel_agreement(matrix, levels, seen)
        values |= {f"{name}_binary": found["binary"], f"{name}_additive": found["additive"]}
        values |= {f"{name}_shared": found["mean_shared"], f"{name}_not_shared": found["mean_not_shared"]}
    if every:
        kept = np.concatenate([np.flatnonzero(seen)[::every], np.flatnonzero(~seen)[::every]])
        values["overlap_matrix"] = overlap[np.ix_(kept, kept)].astype(np.float32)
        values["overlap_seen"] = seen[kept]
    return values


def kernel_fits(net: Any, task: Task) -> Values:
    """Kernel regression of the net's pictures from its training cells, for every kernel family.

    Hyper-parameters are chosen on folds of seen cells; errors are against the net's own pictures. The
    background is taken off first, because no kernel here has a constant term to fit it with.

    ```python
    >>> import jax
    >>> from recombine import Part, bumps, corner_hole, nets
    >>> from recombine.probes import decoders
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> decoders.kernel_fits(net, task)["kernel_radial_out"] >= 0
    True

    ```
    """
    rows, seen = _shown(task)
    outputs = evaluate(net, task.inputs[rows]) - task.blank
    values: Values = {}
    drawn = np.flatnonzero(_trained(task, rows))
    for family, found in compare_kernels(outputs, _levels(task, rows), seen, train=drawn).items():
        values |= {f"kernel_{family}_in": found["in_mse"], f"kernel_{family}_out": found["out_mse"]}
    return values


def _rows_of(task: Task, cells: Sequence[Sequence[int]]) -> Int[np.ndarray, " rows"]:
    """The first row of every cell, the cells given by their level indices."""
    numbers = task.split.space.index(np.asarray(cells))
    return np.array([np.flatnonzero(task.cell == number)[0] for number in numbers])


def pictures(net: Any, task: Task, *, cells: Sequence[Sequence[int]]) -> Values:
    """Outputs and targets for some cells, given by their level indices.

    ```python
    >>> import jax
    >>> from recombine import Part, bumps, corner_hole, nets
    >>> from recombine.probes import decoders
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> decoders.pictures(net, task, cells=[(5, 5), (6, 7)])["pictures"].shape
    (2, 8, 8)

    ```
    """
    rows = _rows_of(task, cells)
    outputs = evaluate(net, task.inputs[rows])
    return {"pictures": outputs.astype(np.float32), "picture_targets": task.targets[rows]}


def super_pictures(net: Any, task: Task, *, cells: Sequence[Sequence[int]]) -> Values:
    """What the net draws when all but one factor's code is the average over training (Fig. 1d of the paper).

    `super_pictures` `(cells, factors + 1, height, width)`: for every cell, the picture of each factor with the
    others averaged, and last the picture of the cell itself.

    ```python
    >>> import jax
    >>> from recombine import Part, bumps, corner_hole, nets
    >>> from recombine.probes import decoders
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> decoders.super_pictures(net, task, cells=[(5, 5)])["super_pictures"].shape  # x alone, y alone, both
    (1, 3, 8, 8)

    ```
    """
    inputs, factors = task.inputs[_rows_of(task, cells)], len(task.split.space.shape)
    codes = [super_inputs(inputs, task.inputs[task.train], keep=k, factors=factors) for k in range(factors)]
    drawn = [evaluate(net, code.astype(np.float32)) for code in (*codes, inputs)]
    return {"super_pictures": np.stack(drawn, axis=1).astype(np.float32)}


def sum_pictures(net: Any, task: Task, *, cells: Sequence[Sequence[int]]) -> Values:
    """The sum of the net's own pictures of all training cells that share a level with a cell, for some cells.

    `sum_pictures` `(cells, height, width)`: the sum divided by its largest value, on the task's background;
    comparable with `pictures` of the same cells.

    ```python
    >>> import jax
    >>> from recombine import Part, bumps, corner_hole, nets
    >>> from recombine.probes import decoders
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> decoders.sum_pictures(net, task, cells=[(5, 5), (6, 7)])["sum_pictures"].shape
    (2, 8, 8)

    ```
    """
    rows, _ = _shown(task)
    outputs = evaluate(net, task.inputs[rows])
    sums = baseline_images(outputs, _trained(task, rows), _levels(task, rows), task.blank)["superposition"]
    return {"sum_pictures": sums[np.searchsorted(rows, _rows_of(task, cells))].astype(np.float32)}


def encoder_accuracy(net: Any, task: Task) -> Values:
    """How often an encoder gives the right position: within half a pixel, or the right peaks of a bump code.

    ```python
    >>> import jax
    >>> from recombine import Part, corner_hole
    >>> from recombine.nets import cnn_encoder
    >>> from recombine.probes import decoders
    >>> from recombine.tasks import reverse_bumps
    >>> net = cnn_encoder(outputs=56, key=jax.random.key(0))
    >>> decoders.encoder_accuracy(net, reverse_bumps(hole=Part(corner_hole, low=14)))["right"].shape
    (784,)

    ```
    """
    rows, seen = _shown(task)
    answers, levels = evaluate(net, task.inputs[rows]), _levels(task, rows)
    right = (
        within(answers, levels, 0.5)
        if answers.shape[1] == levels.shape[1]
        else code_accuracy(answers, levels)
    )
    return {"right": right, "accuracy_in": right[seen].mean(), "accuracy_out": right[~seen].mean()}
