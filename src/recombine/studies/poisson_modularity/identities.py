"""Exact statements, measured by their largest violation."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from scipy.linalg import block_diag

from recombine.metrics import connectivity as wires
from recombine.nets import leaky_relu, mlp, noisy, trace, weight_matrices
from recombine.parts import Part
from recombine.remedies import jacobian_activity, penalty_weight, weighted_activity, weighted_activity_of
from recombine.studies.poisson_modularity import published
from recombine.studies.poisson_modularity.compositions import (
    composition,
    gaussian_wedge,
    random_composition,
)
from recombine.tasks import Task, modular_task, sine_functions

Values = dict[str, Any]
ALPHAS = (0.0, 1.0, 2.0)
LEVELS = (0.02, 0.05, 0.1)


def _generator(task: Task) -> np.random.Generator:
    """A random generator derived from the task's inputs, and so from the trial's seed."""
    return np.random.default_rng(np.abs(task.inputs[0] * 1e6).astype(int))


def constants(task: Task) -> Values:
    """How the tasks differ from the published ones: in their constants, and in how many cells and rows."""
    drawn = (sine_functions(), sine_functions(draw=4), composition().sines)
    gaps = [
        np.abs(getattr(values, name) - np.array(expected[name])).max()
        for values, expected in zip(drawn, published.SINES, strict=True)
        for name in ("amplitude", "frequency", "phase")
    ]
    row = modular_task().inputs[0]
    wedge, cells = gaussian_wedge(), random_composition()
    side = 8
    held = {int(c % side) + side * int(c // side) for c in published.HELD_OUT_CELLS}
    columns, rows = np.divmod(np.flatnonzero(~cells.split.seen), side)
    counts = [len(t.rows_in) for t in (wedge, cells)] + [len(t.rows_out) for t in (wedge, cells)]
    return {
        "constant_gap": max(gaps),
        "row_gap": float(np.abs(row - np.array(published.FIRST_ROW)).max()),
        "cells_that_differ": len(held ^ {int(c + side * r) for c, r in zip(columns, rows, strict=True)}),
        "counts_that_differ": int(np.sum(np.array(counts) != np.array(published.COUNTS))),
    }


def excess_loss(net: Any, task: Task, *, rows: int = 200, draws: int = 400) -> Values:
    """The loss that sampled noise adds, divided by what the second-order penalty predicts.

    `excess_ratio` and `local_ratio` `(alphas, levels)`: of the Jacobian form, and of weighted activity with the same
    coefficient σ²/K.
    """
    x, y = (jnp.asarray(values[:rows]) for values in (task.inputs, task.targets))
    hidden = [name for name, _ in net.stages][:-1]
    output, activities = trace(net, x)
    clean = (output - y) ** 2
    exact, local = [], []
    for alpha in ALPHAS:
        faithful = float(jacobian_activity(net, activities, (x, y), alpha=alpha))
        nearby = float(weighted_activity(net, activities, (x, y), alpha=alpha))
        for level in LEVELS:
            keys = jax.random.split(jax.random.key(0), draws)
            measured = float(_excess(net, x, y, clean, keys, jnp.float32(level), alpha, tuple(hidden)))
            weight = penalty_weight(level, outputs=y.shape[1])
            exact.append(measured / (weight * faithful))
            local.append(weight * nearby / measured)
    shape = (len(ALPHAS), len(LEVELS))
    return {"excess_ratio": np.reshape(exact, shape), "local_ratio": np.reshape(local, shape)}


@eqx.filter_jit
def _excess(
    net: Any, x: Any, y: Any, clean: Any, keys: Any, level: Any, alpha: float, hidden: tuple[str, ...]
) -> Any:
    """The mean loss that noise adds; one program for all levels."""

    def drawn(key: Any) -> Any:
        output, _ = trace(net, x, perturb=noisy(hidden, level=level, exponent=alpha), noise_key=key)
        return ((output - y) ** 2 - clean).mean()

    return jax.lax.map(drawn, keys).mean()


def _small_net(rng: np.random.Generator) -> Any:
    return mlp(
        inputs=3,
        width=6,
        depth=2,
        outputs=2,
        activation=Part(leaky_relu),
        key=jax.random.key(int(rng.integers(2**31))),
    )


def gradients(task: Task) -> Values:
    """The penalty's gradient compared with central differences of a second implementation in float64.

    Also the last hidden layer's term of weighted activity compared with that of the Jacobian form.
    """
    rng = _generator(task)
    net, x = _small_net(rng), rng.uniform(-2, 2, size=(20, 3))
    rows = jnp.asarray(x, jnp.float32)
    worst, last = 0.0, 0.0
    for alpha in (1.0, 2.0):

        def penalty(net: Any, alpha: float = alpha) -> Any:
            return weighted_activity(net, trace(net, rows)[1], (rows, None), alpha=alpha)

        slopes: Any = eqx.filter_grad(penalty)(net)  # type: ignore[no-untyped-call]
        got = np.concatenate([np.ravel(matrix) for matrix in weight_matrices(slopes)])
        expected = _differences(net, x, alpha)
        worst = max(worst, float(np.abs(got - expected).max() / np.abs(expected).max()))
        activities = trace(net, rows)[1]
        terms = [
            f(net, activities, (rows, None), alpha=alpha, stages=("hidden1",))
            for f in (weighted_activity, jacobian_activity)
        ]
        last = max(last, abs(float(terms[0] / terms[1]) - 1))
    return {"gradient_gap": worst, "last_layer_gap": last}


def _differences(net: Any, x: np.ndarray, alpha: float, step: float = 1e-6) -> np.ndarray:
    weights = list(weight_matrices(net))
    biases = [np.asarray(stage.layers[0].bias, dtype=np.float64) for _, stage in net.stages]

    def penalty(matrices: list[np.ndarray]) -> float:
        values = wires.Perceptron(tuple(matrices), tuple(biases)).activities(x)
        pairs = zip(values, matrices[1:], strict=True)
        return float(sum(weighted_activity_of(a, w, alpha=alpha) for a, w in pairs))

    slopes = []
    for layer, matrix in enumerate(weights):
        for index in np.ndindex(matrix.shape):
            ends = []
            for sign in (1, -1):
                moved = [w.copy() for w in weights]
                moved[layer][index] += sign * step
                ends.append(penalty(moved))
            slopes.append((ends[0] - ends[1]) / (2 * step))
    return np.array(slopes)


def rescaling(task: Task) -> Values:
    """Activity times c and the next weights divided by c: alpha 2 does not change, alpha 1 falls as 1/c."""
    rng = _generator(task)
    gaps = {1.0: 0.0, 2.0: 0.0}
    for _ in range(50):
        activity, weight, c = rng.normal(size=(30, 5)), rng.normal(size=(5, 4)), 10 ** rng.uniform(-2, 2)
        for alpha in gaps:
            before = weighted_activity_of(activity, weight, alpha=alpha)
            after = weighted_activity_of(c * activity, weight / c, alpha=alpha)
            gaps[alpha] = max(gaps[alpha], abs(after / (before * c ** (alpha - 2)) - 1))
    return {"gap_alpha_2": gaps[2.0], "gap_alpha_1": gaps[1.0]}


def metrics(task: Task, *, nets: int = 60) -> Values:
    """The measures of modularity on nets whose modules are known: block-diagonal, dense, and with dead units.

    Two to eight modules of unequal sizes, three layers. Dense layers are compared after the first one: with few inputs
    the spectrum of the first layer is lower for any weights.
    """
    rng = _generator(task)
    block: dict[str, list[float]] = {"lambda": [], "newman": [], "mass": []}
    dense_lambda, z, moved = [], [], []
    for _ in range(nets):
        modules = int(rng.integers(2, 9))
        sizes = [rng.integers(4, 9, size=modules) for _ in range(2)]
        shapes = [np.ones(modules, dtype=int), *sizes, np.ones(modules, dtype=int)]
        pairs = list(pairwise(shapes))
        weights = tuple(
            block_diag(*(rng.uniform(0.2, 1, (i, j)) for i, j in zip(a, b, strict=True))) for a, b in pairs
        )
        labels = wires.assign_known(weights)
        degree = np.zeros(modules)
        for matrix, ids in zip(weights, labels[1:], strict=True):
            degree += np.bincount(ids, matrix.sum(axis=0), modules)
        share = degree / degree.sum()
        block["newman"].append(abs(wires.newman_modularity(weights, labels) - (1 - (share**2).sum())))
        block["mass"].append(1 - float(wires.in_block_mass(weights, labels)["mass"].min()))
        block["lambda"].append(float(wires.layer_spectra(weights, modules)[:, modules - 1].max()))
        full = tuple(rng.uniform(-1, 1, matrix.shape) for matrix in weights)
        dense_lambda.append(
            float(wires.layer_spectra(full, modules, communities=labels)[1:-1, modules - 1].min())
        )
        z.append(wires.newman_null(full, labels, seed=int(rng.integers(2**31)))["z"])
        moved.append(_dead_units_move(weights, labels, modules, rng))
    return {
        "block_lambda": max(block["lambda"]),
        "block_newman_gap": max(block["newman"]),
        "block_mass_gap": max(block["mass"]),
        "dense_lambda": min(dense_lambda),
        "z_inside": float(np.mean(np.abs(z) < 3)),
        "dead_unit_gap": max(moved),
    }


def _dead_units_move(weights: Any, labels: Any, modules: int, rng: np.random.Generator) -> float:
    """The largest change of any measure when half as many dead units are added to the hidden layers."""
    padded, positions = list(weights), []
    for layer in range(1, len(weights)):
        units = weights[layer].shape[0]
        extra = (units + 1) // 2
        position = np.sort(rng.permutation(units + extra)[:units])
        into, out = (1e-5 * rng.uniform(-1, 1, (units + extra, m)) for m in (len(padded[layer - 1]), 1))
        before = into.T.copy()
        before[:, position] = padded[layer - 1]
        behind = np.repeat(out, padded[layer].shape[1], axis=1)
        behind[position] = padded[layer]
        padded[layer - 1], padded[layer] = before, behind
        positions.append(position)
    chain = wires.layer_weights(padded)
    live = wires.live_units(chain)
    assigned = wires.assign_known(chain, live=live)
    same = all(
        np.array_equal(ids[position], known)
        for ids, position, known in zip(assigned[1:-1], positions, labels[1:-1], strict=True)
    )
    gaps = [
        np.abs(
            wires.in_block_mass(chain, assigned)["mass"] - wires.in_block_mass(weights, labels)["mass"]
        ).max(),
        abs(wires.newman_modularity(chain, assigned) - wires.newman_modularity(weights, labels)),
        np.abs(
            wires.layer_spectra(chain, modules, live=live)[:, :modules]
            - wires.layer_spectra(weights, modules)[:, :modules]
        ).max(),
    ]
    return float(max(gaps)) if same else 1.0
