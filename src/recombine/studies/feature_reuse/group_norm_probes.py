"""Two tasks in one diagonal network by gradient descent, next to proximal steps on the group norm and its programme."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from recombine.remedies import shrink_groups
from recombine.studies.feature_reuse.diagonal_probes import INITIAL, RATE_POOLED, TARGET, rows_of
from recombine.studies.feature_reuse.draws import Draw
from recombine.theory import group_norm, min_group_norm
from recombine.training import descend, descend_proximal

Values = dict[str, Any]


def group_norm_errors(
    draw: Draw, *, n: int, aux_rows: int, steps: int, strengths: tuple[float, ...]
) -> Values:
    """Trains both tasks on `n` and `aux_rows` rows, for the only condition of a draw.

    **Returns:**

    For `plain` gradient descent in a diagonal network, `proximal` steps on the coefficients, and the `programme` of
    smallest group norm with the auxiliary task given: `<learner>: error`, the squared distance from the main teacher,
    and `<learner>: norm`, the group norm of both tasks. `<learner>: loss`, the last training loss of the first two.
    """
    (pair,) = draw.pairs.values()
    x, y = rows_of(pair.main, n, draw.seed)
    aux_x, aux_y = rows_of(pair.aux, aux_rows, draw.seed + 1_000_000)
    data, beta = (aux_x, aux_y, x, y), pair.main.coefficients
    theta = np.full((1, 6, len(beta)), INITIAL)
    stacked = tuple(array[None] for array in data)
    plain = descend(_network_loss, theta, stacked, rate=RATE_POOLED, target=TARGET, steps=steps)
    proximal = descend_proximal(
        _pooled_loss,
        np.zeros((2, len(beta))),
        data,
        shrink_groups,
        strengths=strengths,
        rate=RATE_POOLED,
        tolerance=1e-8,
        steps=steps,
    )
    given = min_group_norm([x], [y], known=pair.aux.coefficients[None])
    found = {
        "plain": np.asarray(_coefficients(plain.parameters[0])),
        "proximal": proximal.parameters,
        "programme": np.concatenate([pair.aux.coefficients[None], given.coefficients]),
    }
    values: Values = {"plain: loss": float(plain.loss[0]), "proximal: loss": proximal.loss[-1]}
    for learner, coefficients in found.items():
        values[f"{learner}: error"] = float(((coefficients[1] - beta) ** 2).sum())
        values[f"{learner}: norm"] = float(group_norm(coefficients))
    return values


def _coefficients(theta: Any) -> Any:
    """Of the auxiliary and of the main task: w± are shared, each task has its own readout."""
    w, p, v_aux, q_aux, v, q = theta
    return jnp.stack([w * v_aux - p * q_aux, w * v - p * q])


def _pooled_loss(beta: Any, data: Any) -> Any:
    """Mean squared error over the rows of both tasks."""
    aux_x, aux_y, x, y = data
    squares = ((aux_x @ beta[0] - aux_y) ** 2).sum() + ((x @ beta[1] - y) ** 2).sum()
    return squares / (len(aux_y) + len(y))


def _network_loss(theta: Any, data: Any) -> Any:
    return _pooled_loss(_coefficients(theta), data)
