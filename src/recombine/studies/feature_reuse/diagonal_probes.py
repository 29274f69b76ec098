"""Diagonal linear networks: their limits by convex programmes, and the networks themselves by gradient descent.

Errors are squared distances from the main teacher's coefficients, which is the test error for inputs on the sphere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from recombine.studies.feature_reuse.draws import Draw
from recombine.tasks import Teacher, sphere_inputs
from recombine.theory import DiagonalWeights, min_diagonal_penalty, min_l2, phase_diagram
from recombine.training import descend

Values = dict[str, Any]
INITIAL = 1e-3
"""Initial weights, and the readout that finetuning starts from."""
RATE, RATE_POOLED = 0.1, 0.1
TARGET = 1e-10
AUX_ROWS = 1024


def rows_of(teacher: Teacher, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Training rows; more rows include fewer."""
    x = sphere_inputs(n, teacher.directions.shape[1], np.random.default_rng([seed, 0]))
    return x, teacher(x)


def pretrained(teacher: Teacher) -> DiagonalWeights:
    """The weights after the auxiliary task, which has more rows than features, with a new readout."""
    start = DiagonalWeights.constant(teacher.directions.shape[1], w=INITIAL, v=INITIAL)
    return start.trained_to(teacher.coefficients).with_readout(INITIAL)


def theory_errors(draw: Draw, *, n: Sequence[int], scales: Sequence[float]) -> Values:
    """Errors of the limits of training, for every condition.

    **Returns:**

    For every condition: `<condition>: scratch` and `<condition>: probe` `(n,)`, and `<condition>: finetuned`
    `(scales, n)`.
    """
    values: Values = {}
    for name, (aux, main) in draw.pairs.items():
        beta = main.coefficients
        start = DiagonalWeights.constant(len(beta), w=INITIAL, v=INITIAL)
        known = pretrained(aux)

        def error(solution: Any, beta: np.ndarray = beta) -> float:
            return float(((solution.coefficients - beta) ** 2).sum())

        rows = [rows_of(main, count, draw.seed) for count in n]
        weights = known.w_plus**2 + known.w_minus**2
        values[f"{name}: scratch"] = np.array(
            [error(min_diagonal_penalty(x, y, start.penalty())) for x, y in rows]
        )
        values[f"{name}: probe"] = np.array(
            [error(min_l2(x, y, weights=weights, start=known.coefficients)) for x, y in rows]
        )
        values[f"{name}: finetuned"] = np.array(
            [
                [error(min_diagonal_penalty(x, y, known.rescaled(s).penalty())) for x, y in rows]
                for s in scales
            ]
        )
        values[f"{name}: power"] = float((beta**2).sum())
    return values


def trained_errors(draw: Draw, *, n: int, steps: int, pooled: bool) -> Values:
    """Errors of networks trained by gradient descent on n rows, for every condition: best over training, and final.

    **Returns:**

    For each of `scratch`, `finetuned` and, with `pooled`, `multi-task`: `<condition>: <learner>` `(2,)`, the lowest and
    the last error, and `<condition>: <learner>, loss`, the last training loss.
    """
    values: Values = {}
    names = list(draw.pairs)
    rows = [rows_of(draw.pairs[name].main, n, draw.seed) for name in names]
    betas = np.stack([draw.pairs[name].main.coefficients for name in names])
    x, y = np.stack([x for x, _ in rows]), np.stack([y for _, y in rows])
    starts = {
        "scratch": [DiagonalWeights.constant(betas.shape[1], w=INITIAL, v=INITIAL)] * len(names),
        "finetuned": [pretrained(draw.pairs[name].aux) for name in names],
    }
    how: dict[str, Any] = {"target": TARGET, "steps": steps, "test": _one_task_error}
    for learner, weights in starts.items():
        theta = np.stack([np.stack([w.w_plus, w.v_plus, w.w_minus, w.v_minus]) for w in weights])
        _record(values, names, learner, descend(_one_task_loss, theta, (x, y, betas), rate=RATE, **how))
    if pooled:
        aux_rows = [rows_of(draw.pairs[name].aux, AUX_ROWS, draw.seed + 1_000_000) for name in names]
        shared = tuple(np.stack([pair[i] for pair in aux_rows]) for i in (0, 1))
        theta = np.full((len(names), 6, betas.shape[1]), INITIAL)
        how["test"] = _pooled_error
        ended = descend(_pooled_loss, theta, (*shared, x, y, betas), rate=RATE_POOLED, **how)
        _record(values, names, "multi-task", ended)
    return values


def _record(values: Values, names: Sequence[str], learner: str, ended: Any) -> None:
    for i, name in enumerate(names):
        values[f"{name}: {learner}"] = np.array([ended.best[i], ended.final[i]])
        values[f"{name}: {learner}, loss"] = float(ended.loss[i])


def _one_task_loss(theta: Any, data: Any) -> Any:
    x, y, _ = data
    return ((x @ (theta[0] * theta[1] - theta[2] * theta[3]) - y) ** 2).mean()


def _one_task_error(theta: Any, data: Any) -> Any:
    return ((theta[0] * theta[1] - theta[2] * theta[3] - data[2]) ** 2).sum()


def _pooled_loss(theta: Any, data: Any) -> Any:
    """Mean squared error over the rows of both tasks; w± are shared, each task has its own readout."""
    aux_x, aux_y, x, y, _ = data
    w, p, v_aux, q_aux, v, q = theta
    first, second = aux_x @ (w * v_aux - p * q_aux) - aux_y, x @ (w * v - p * q) - y
    return (jnp.sum(first**2) + jnp.sum(second**2)) / (len(aux_y) + len(y))


def _pooled_error(theta: Any, data: Any) -> Any:
    w, p, _, _, v, q = theta
    return ((w * v - p * q - data[4]) ** 2).sum()


def phase_errors(
    seed: int,
    *,
    scales: Sequence[float],
    active: Sequence[int],
    overlaps: Sequence[int],
    features: int,
    rows: int,
) -> Values:
    """Errors of finetuning over rescaling and sparsity, and over rescaling and overlap, for one draw of teachers."""
    how: dict[str, Any] = {"scales": scales, "features": features, "n": rows, "draws": 1, "seed": seed}
    sparsity, overlap = phase_diagram(active=active, **how), phase_diagram(overlaps=overlaps, **how)
    return {
        "sparsity": sparsity.errors,
        "overlap": overlap.errors,
        "scratch by sparsity": sparsity.scratch,
        "scratch by overlap": overlap.scratch,
    }
