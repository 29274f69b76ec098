"""Probes that only this study records: image similarity, kernel fits, encoders, ranks and tuning of bump nets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recombine.metrics.baselines import baseline_images
from recombine.metrics.behaviour import code_accuracy, within_tolerance
from recombine.metrics.image_measures import structural_dissimilarity
from recombine.metrics.kernel_regression import compare_kernels
from recombine.metrics.output_similarity import (
    cosine_similarity,
    euclidean_distance,
    kernel_agreement,
    pixel_overlap,
)
from recombine.metrics.ranks import activation_ranks
from recombine.nets import evaluate
from recombine.probes.decoders import cell_rows, is_trained, levels_of, polarity_of, rows_of_cells
from recombine.probes.layers import stage_activations
from recombine.tasks import Task, super_inputs

Values = dict[str, Any]


def dissimilarity(net: Any, task: Task) -> Values:
    """Mean structural dissimilarity (1 - SSIM) of outputs and targets, over seen and over unseen cells.

    ```python
    >>> import jax
    >>> from recombine import Part, nets
    >>> from recombine.spaces import corner_hole
    >>> from recombine.tasks import bumps
    >>> from recombine.studies.forced_rendering import bump_probes
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> sorted(bump_probes.dissimilarity(net, task))
    ['dissimilarity_in', 'dissimilarity_out']

    ```
    """
    rows, seen = cell_rows(task)
    per_row = structural_dissimilarity(evaluate(net, task.inputs[rows]), task.targets[rows])
    return {"dissimilarity_in": per_row[seen].mean(), "dissimilarity_out": per_row[~seen].mean()}


def similarity(net: Any, task: Task, *, threshold: float = 0.5, every: int = 0) -> Values:
    """Agreement of the outputs' similarity, unseen × seen cells, with the binary and the additive kernel.

    Similarity is measured by pixel overlap, by cosine, and by nearness (minus the L2 distance).

    **Arguments:**

    - `threshold`: for the pixel overlap.
    - `every`: also keep the overlap matrix of every `every`-th cell (seen first), for a figure.

    ```python
    >>> import jax
    >>> from recombine import Part, nets
    >>> from recombine.spaces import corner_hole
    >>> from recombine.tasks import bumps
    >>> from recombine.studies.forced_rendering import bump_probes
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> -1 <= bump_probes.similarity(net, task)["cosine_binary"] <= 1
    True

    ```
    """
    rows, seen = cell_rows(task)
    levels, outputs = levels_of(task, rows), evaluate(net, task.inputs[rows])
    overlap = pixel_overlap(outputs, polarity_of(task), threshold)
    cosine = cosine_similarity(outputs - task.blank)
    nearness = -euclidean_distance(outputs)
    values: Values = {}
    for name, matrix in (("overlap", overlap), ("cosine", cosine), ("nearness", nearness)):
        agreement = kernel_agreement(matrix, levels, seen)
        values |= {f"{name}_{kernel}": agreement[kernel] for kernel in ("binary", "additive")}
        values |= {f"{name}_{pairs}": agreement[f"mean_{pairs}"] for pairs in ("shared", "not_shared")}
    if every:
        kept = np.concatenate([np.flatnonzero(seen)[::every], np.flatnonzero(~seen)[::every]])
        values["overlap_matrix"] = overlap[np.ix_(kept, kept)].astype(np.float32)
        values["overlap_seen"] = seen[kept]
    return values


def kernel_fits(net: Any, task: Task) -> Values:
    """Kernel regression of the net's outputs from its training cells, for every family of kernels.

    Widths are chosen by cross-validation on seen cells, and errors are relative to the net's own outputs. The
    background is subtracted first, because none of the kernels has a constant term to fit it.

    ```python
    >>> import jax
    >>> from recombine import Part, nets
    >>> from recombine.spaces import corner_hole
    >>> from recombine.tasks import bumps
    >>> from recombine.studies.forced_rendering import bump_probes
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> bump_probes.kernel_fits(net, task)["kernel_radial_out"] >= 0
    True

    ```
    """
    rows, seen = cell_rows(task)
    outputs = evaluate(net, task.inputs[rows]) - task.blank
    values: Values = {}
    trained = np.flatnonzero(is_trained(task, rows))
    for family, fit in compare_kernels(outputs, levels_of(task, rows), seen, train=trained).items():
        values |= {f"kernel_{family}_in": fit["in_mse"], f"kernel_{family}_out": fit["out_mse"]}
    return values


def superposed_images(net: Any, task: Task, *, cells: Sequence[Sequence[int]]) -> Values:
    """Outputs where the codes of all factors but one are replaced by their average over training (Fig. 1d).

    `super_pictures` `(cells, factors + 1, height, width)`: for every cell, the output for each factor with the
    others averaged, and last the output for the cell itself.

    ```python
    >>> import jax
    >>> from recombine import Part, nets
    >>> from recombine.spaces import corner_hole
    >>> from recombine.tasks import bumps
    >>> from recombine.studies.forced_rendering import bump_probes
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> bump_probes.superposed_images(net, task, cells=[(5, 5)])["super_pictures"].shape  # x alone, y alone, both
    (1, 3, 8, 8)

    ```
    """
    inputs, factors = task.inputs[rows_of_cells(task, cells)], len(task.split.space.shape)
    codes = [super_inputs(inputs, task.inputs[task.train], keep=k, factors=factors) for k in range(factors)]
    outputs = [evaluate(net, code.astype(np.float32)) for code in (*codes, inputs)]
    return {"super_pictures": np.stack(outputs, axis=1).astype(np.float32)}


def sum_images(net: Any, task: Task, *, cells: Sequence[Sequence[int]]) -> Values:
    """For some cells, the sum of the net's own outputs for all training cells that share a level with the cell.

    `sum_pictures` `(cells, height, width)`: the sum divided by its largest value, on the task's background;
    comparable with `recombine.probes.output_images` of the same cells.

    ```python
    >>> import jax
    >>> from recombine import Part, nets
    >>> from recombine.spaces import corner_hole
    >>> from recombine.tasks import bumps
    >>> from recombine.studies.forced_rendering import bump_probes
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> bump_probes.sum_images(net, task, cells=[(5, 5), (6, 7)])["sum_pictures"].shape
    (2, 8, 8)

    ```
    """
    rows, _ = cell_rows(task)
    outputs = evaluate(net, task.inputs[rows])
    sums = baseline_images(outputs, is_trained(task, rows), levels_of(task, rows), task.blank)[
        "superposition"
    ]
    return {"sum_pictures": sums[np.searchsorted(rows, rows_of_cells(task, cells))].astype(np.float32)}


def encoder_accuracy(net: Any, task: Task) -> Values:
    """How often an encoder outputs the right position: within half a pixel, or the right peaks of a bump code.

    ```python
    >>> import jax
    >>> from recombine import Part
    >>> from recombine.spaces import corner_hole
    >>> from recombine.nets import cnn_encoder
    >>> from recombine.studies.forced_rendering import bump_probes
    >>> from recombine.tasks import reverse_bumps
    >>> net = cnn_encoder(outputs=56, key=jax.random.key(0))
    >>> bump_probes.encoder_accuracy(net, reverse_bumps(hole=Part(corner_hole, low=14)))["right"].shape
    (784,)

    ```
    """
    rows, seen = cell_rows(task)
    outputs, levels = evaluate(net, task.inputs[rows]), levels_of(task, rows)
    is_code = outputs.shape[1] != levels.shape[1]
    correct = code_accuracy(outputs, levels) if is_code else within_tolerance(outputs, levels, 0.5)
    return {"right": correct, "accuracy_in": correct[seen].mean(), "accuracy_out": correct[~seen].mean()}


def ranks(net: Any, task: Task, *, units: int = 1500, seed: int = 0) -> Values:
    """Numerical rank and the number of components for 99% of the variance, of the inputs and every stage.

    Of stages with more than `units` units, a random choice of `units` is used.

    ```python
    >>> import jax
    >>> from recombine import Part, nets
    >>> from recombine.spaces import corner_hole
    >>> from recombine.tasks import bumps
    >>> from recombine.studies.forced_rendering import bump_probes
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> bump_probes.ranks(net, task)["numerical_rank"].shape
    (3,)

    ```
    """
    per_layer = []
    for activations in stage_activations(net, task):
        flat = activations.reshape(len(activations), -1)
        if flat.shape[1] > units:
            chosen = np.random.default_rng(seed).choice(flat.shape[1], units, replace=False)
            flat = flat[:, np.sort(chosen)]
        per_layer.append(activation_ranks(flat))
    return {name: np.array([layer[name] for layer in per_layer]) for name in per_layer[0]}


def tuning(net: Any, task: Task, *, stages: tuple[int, ...] = (0, 3), units: int = 8) -> Values:
    """Tuning maps over all cells of the units with the largest variance in some stages, `(stages, units, *space)`.

    ```python
    >>> import jax
    >>> from recombine import Part, nets
    >>> from recombine.spaces import corner_hole
    >>> from recombine.tasks import bumps
    >>> from recombine.studies.forced_rendering import bump_probes
    >>> task = bumps(n=8, hole=Part(corner_hole, low=4))
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> bump_probes.tuning(net, task, stages=(0,), units=2)["tuning"].shape
    (1, 2, 8, 8)

    ```
    """
    maps = []
    for stage, activations in enumerate(stage_activations(net, task), start=-1):  # -1 is the input
        if stage in stages:
            flat = activations.reshape(len(activations), -1)
            strongest = np.argsort(flat.var(axis=0))[::-1][:units]
            maps.append(task.split.space.grid(flat[:, strongest]))
    return {"tuning": np.stack([np.moveaxis(grid, -1, 0) for grid in maps]).astype(np.float32)}
