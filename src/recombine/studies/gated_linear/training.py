"""How the nets of this paper are trained: logistic loss, batches of 128, a lower rate in the second half."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from recombine.nets import Net, evaluate, mlp
from recombine.nets.gated import HyperplaneGates, one_layer_gated, two_layer_gated
from recombine.studies.gated_linear.labelled_rows import WEIGHT_STREAM, Array, LabelledRows
from recombine.theory import group_norm
from recombine.training import Fitted, Recipe, fit, fit_in_row_span, sgd
from recombine.training.losses import logistic
from recombine.training.recipe import Schedule

RATE, BATCH = 0.04, 128
STEPS = 3200
"""As published for every number of rows."""


def trained(
    make: Callable[..., Net],
    rows: LabelledRows,
    *,
    steps: int = STEPS,
    momentum: float = 0.0,
    run: Callable[..., Fitted] = fit,
) -> Net:
    """A net after so many steps, at the published rate, which drops to a quarter halfway."""
    recipe = Recipe(
        steps=steps,
        batch=BATCH,
        optimiser=sgd(RATE, momentum=momentum),
        schedule=Schedule("drops", factor=0.25, every=max(1, steps // 2)),
        loss=logistic,
        record_every=steps,
        record_rows=500,
    )
    return run(make, rows.task(), recipe, seeds=(rows.stream(WEIGHT_STREAM),)).net()


def gated_net(rows: LabelledRows, gates: HyperplaneGates, **how: Any) -> Net:
    """A trained net with one unit, or with several and a readout without bias."""
    make = one_layer_gated if gates.shape[0] == 1 else two_layer_gated
    run = fit_in_row_span if len(rows.train) < 2 * rows.inputs else fit
    return trained(partial(make, gates, inputs=rows.inputs), rows, run=run, **how)


def rectified_net(rows: LabelledRows, units: int, **how: Any) -> Net:
    """A trained net of rectified units, without biases; the constant input takes their part."""
    make = partial(mlp, inputs=rows.inputs, width=units, depth=1, outputs=1, bias=False, normal=True)
    return trained(make, rows, **how)


def outputs(net: Net, x: Array) -> Array:
    """`(rows,)`."""
    return np.asarray(evaluate(net, x.astype(np.float32)), dtype=np.float64)[:, 0]


def error(scores: Array, labels: Array) -> float:
    """The share of rows whose sign is wrong; rows without an answer (0) count half. NaN if a score is not finite."""
    if not np.isfinite(scores).all():
        return float("nan")
    return float(np.mean(np.where(scores == 0, 0.5, np.sign(scores) != labels)))


def size_of_parts(parts: Array) -> float:
    """The group norm of `(units, contexts, inputs)` weights: the sum over units of the size of all their weights."""
    return group_norm(parts.reshape(len(parts), -1).T)


def with_redrawn_thresholds(net: Net, rows: LabelledRows) -> Net:
    """The same weights with gates whose thresholds were not saved but drawn again, as in the published comparison."""
    drawn = rows.gates(units=net.layers[0].gates.shape[0], bits=1, median=False)  # type: ignore[attr-defined]
    return eqx.tree_at(lambda n: n.layers[0].gates.thresholds.value, net, jnp.asarray(drawn.thresholds.value))


def hidden_weights(net: Net) -> Array:
    """Incoming weights `(inputs, units)` of a rectified net."""
    return np.asarray(jax.tree.leaves(eqx.filter(net, eqx.is_inexact_array))[0], dtype=np.float64)
