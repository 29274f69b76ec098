"""Training of rectified networks: pretraining once, then every learner on every condition of a seed."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import numpy as np

from recombine.metrics import match_units
from recombine.nets import Net, evaluate
from recombine.studies.feature_reuse.draws import Draw
from recombine.studies.feature_reuse.relu_nets import (
    finetuning_start,
    layer_weights,
    relu_net,
    two_task_net,
)
from recombine.tasks import Task, pooled_task, teacher_task
from recombine.training import Fitted, Recipe, fit, sgd

Values = dict[str, Any]
INPUTS = 15
INITIAL = 1e-3
TEST_ROWS = 4000
RECORD_EVERY = 100
MAIN_ROWS_SEED, AUX_ROWS_SEED = 1, 2
RESTARTS = 3
RIDGES = np.logspace(-5, 10, 100)
"""Of the linear probe; the best on test rows counts, as published."""


def transfer(
    draw: Draw,
    *,
    runs: Sequence[tuple[str, str, int, float]],
    width: int,
    pretrain_steps: int,
    steps: int,
    aux_rows: int = 1024,
    rate: float = 0.3,
    goal: float = 1e-8,
) -> Values:
    """Trains learners on the conditions of a draw, all from one pretrained network.

    **Arguments:**

    - `runs`: `(learner, condition, rows, scale)` each; learners are `scratch`, `finetuned`, `multi-task` and `probe`.
    - `width`: hidden units; `pretrain_steps`, `steps`: at most so many; `goal`: the training loss at which they end.

    **Returns:**

    For every run, by `run_name`: `(2,)`, the lowest and the last test error, and `..., loss`, the training loss; for
    finetuned nets also `..., fates` `(3,)`, the shares of the main task carried by reused, rotated and fresh units.
    `pretraining loss` of the shared start.
    """
    pairs, seed = draw.pairs, draw.seed
    aux = teacher_task(
        next(iter(pairs.values())).aux, train=aux_rows, test=TEST_ROWS, seed=_rows(seed, AUX_ROWS_SEED)
    )
    train = partial(_trained, rate=rate, goal=goal, seed=seed)
    fresh, both = (partial(make, inputs=INPUTS, width=width) for make in (relu_net, two_task_net))
    begun = train(fresh, aux, pretrain_steps)
    start = begun.net()
    values: Values = {"pretraining loss": float(begun.curves["train"][0, -1])}
    for learner, condition, n, scale in runs:
        name = run_name(learner, condition, n, scale)
        main = teacher_task(pairs[condition].main, train=n, test=TEST_ROWS, seed=_rows(seed, MAIN_ROWS_SEED))
        if learner == "probe":
            values[name] = np.full(2, _probe(start, main))
            continue
        if learner == "multi-task":
            fitted = train(both, pooled_task(aux, main), steps)
        elif learner == "scratch":
            fitted = train(fresh, main, steps)
        else:
            # Larger units make the readout learn faster by the square of their scale.
            slower = rate / max(1.0, scale**2)
            fitted = train(partial(_started, start, scale), main, steps, initial=1.0, rate=slower)
            values[f"{name}, fates"] = _fates(start, fitted)
        values[name] = _errors(fitted)
        values[f"{name}, loss"] = float(fitted.curves["train"][0, -1])
    return values


def run_name(learner: str, condition: str, n: int, scale: float = 1.0) -> str:
    """How a run's values are named."""
    rescaled = "" if scale == 1 else f", scale {scale:g}"
    return f"{condition}, n {n}: {learner}{rescaled}"


def _rows(seed: int, stream: int) -> int:
    """Rows of the two tasks, and the teachers, have seeds of their own."""
    return 10 * seed + stream


def _trained(
    net: Any, task: Task, steps: int, *, rate: float, goal: float, seed: int, initial: float = INITIAL
) -> Fitted:
    """Full-batch gradient descent to the goal; again at a tenth of the rate if it diverges."""
    for attempt in range(RESTARTS + 1):
        recipe = Recipe(
            steps=steps,
            batch=None,
            optimiser=sgd(rate / 10**attempt),
            initial_scale=initial,
            record_every=RECORD_EVERY,
            stop_below=goal,
            diverge_above=100.0,
        )
        fitted = fit(net, task, recipe, seeds=(seed,))
        if fitted.status[0] != "diverged":
            break
    return fitted


def _started(pretrained: Net, scale: float, *, key: Any) -> Net:
    return finetuning_start(pretrained, scale=scale, readout=INITIAL, key=jax.random.fold_in(key, 7))


def _errors(fitted: Fitted) -> np.ndarray:
    out = fitted.curves["out"][0]
    if fitted.status[0] == "diverged":
        return np.full(2, np.nan)
    return np.array([out.min(), out[-1]])


def _fates(before: Net, fitted: Fitted) -> np.ndarray:
    if fitted.status[0] == "diverged":
        return np.full(3, np.nan)
    (old, _), (new, readout) = layer_weights(before), layer_weights(fitted.net())
    shares = match_units(np.asarray(old).T, np.asarray(new).T, np.asarray(readout)).shares
    return np.array([shares["reused"], shares["rotated"], shares["fresh"]])


def _probe(net: Net, task: Task) -> float:
    """Ridge regression on the pretrained units, at the best of many strengths."""
    hidden = evaluate(net, task.inputs, stage="hidden0").astype(np.float64)
    train, test = task.train, task.rows_out
    centre, offset = hidden[train].mean(axis=0), task.targets[train].mean()
    u, s, vt = np.linalg.svd(hidden[train] - centre, full_matrices=False)
    projected = u.T @ (task.targets[train, 0] - offset)
    features = (hidden[test] - centre) @ vt.T
    errors = [
        float(((features @ (s / (s**2 + ridge) * projected) + offset - task.targets[test, 0]) ** 2).mean())
        for ridge in RIDGES
    ]
    return min(errors)
