"""The tangent kernel of a pretrained network: what finetuning would learn if no unit moved from where it starts.

Ridge regression on the gradients of the output with respect to all weights, next to ridge regression on the hidden
units alone (a linear probe). Finetuning starts from a readout near zero, so nearly all of the kernel is the probe's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import equinox as eqx
import jax
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from recombine.nets import Net, evaluate, trainable
from recombine.studies.feature_reuse.draws import Draw
from recombine.studies.feature_reuse.relu_nets import finetuning_start, relu_net
from recombine.studies.feature_reuse.relu_probes import (
    AUX_ROWS_SEED,
    INITIAL,
    INPUTS,
    MAIN_ROWS_SEED,
    RECORD_EVERY,
    RIDGES,
    TEST_ROWS,
    run_name,
)
from recombine.tasks import Task, teacher_task
from recombine.training import Recipe, fit, sgd

Values = dict[str, Any]
CHUNK = 256


def kernel_errors(
    draw: Draw,
    *,
    runs: Sequence[tuple[str, int]],
    width: int,
    pretrain_steps: int,
    aux_rows: int = 1024,
    rate: float = 0.3,
    goal: float = 1e-8,
) -> Values:
    """Errors of the tangent kernel and of a linear probe at the start of finetuning, without training.

    **Arguments:**

    - `runs`: `(condition, rows)` each.

    **Returns:**

    For every run, `run_name("kernel", ...)` and `run_name("probe", ...)`: test errors at the best ridge, as published.
    """
    aux = teacher_task(
        next(iter(draw.pairs.values())).aux,
        train=aux_rows,
        test=TEST_ROWS,
        seed=10 * draw.seed + AUX_ROWS_SEED,
    )
    recipe = Recipe(
        steps=pretrain_steps,
        batch=None,
        optimiser=sgd(rate),
        initial_scale=INITIAL,
        record_every=RECORD_EVERY,
        stop_below=goal,
    )
    begun = fit(partial(relu_net, inputs=INPUTS, width=width), aux, recipe, seeds=(draw.seed,))
    key = jax.random.fold_in(jax.random.key(draw.seed), 7)
    start = finetuning_start(begun.net(), scale=1.0, readout=INITIAL, key=key)
    values: Values = {"pretraining loss": float(begun.curves["train"][0, -1])}
    for condition, n in runs:
        seed = 10 * draw.seed + MAIN_ROWS_SEED
        main = teacher_task(draw.pairs[condition].main, train=n, test=TEST_ROWS, seed=seed)
        hidden = evaluate(start, main.inputs, stage="hidden0")
        values[run_name("probe", condition, n)] = best_ridge_error(hidden, main)
        values[run_name("kernel", condition, n)] = best_ridge_error(
            tangent_features(start, main.inputs), main
        )
    return values


def tangent_features(net: Net, inputs: Float[np.ndarray, "rows inputs"]) -> Float[np.ndarray, "rows weights"]:
    """The gradient of a net's only output with respect to all of its weights, for every row."""
    trained, rest = eqx.partition(net, trainable(net))
    weights, unravel = ravel_pytree(trained)

    def output(weights: Array, row: Array) -> Array:
        return eqx.combine(unravel(weights), rest)(row[None])[0, 0]

    gradients = jax.jit(lambda rows: jax.lax.map(partial(jax.grad(output), weights), rows, batch_size=CHUNK))
    return np.asarray(gradients(jax.numpy.asarray(inputs, jax.numpy.float32)))


def best_ridge_error(features: Float[np.ndarray, "rows features"], task: Task) -> float:
    """The test error of ridge regression with an intercept, at the best of many strengths."""
    train, test = task.train, task.rows_out
    wide = features.astype(np.float64)
    centre, offset = wide[train].mean(axis=0), task.targets[train].mean()
    u, s, vt = np.linalg.svd(wide[train] - centre, full_matrices=False)
    aims = u.T @ (task.targets[train, 0] - offset)
    projected = (wide[test] - centre) @ vt.T
    predictions = projected @ (s[:, None] / (s[:, None] ** 2 + RIDGES) * aims[:, None]) + offset
    return float(((predictions - task.targets[test]) ** 2).mean(axis=0).min())
