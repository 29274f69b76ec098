from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.errors import InputError
from recombine.nets import Linear, Net
from recombine.studies.kernel_theory import symbol_probes
from recombine.tasks import Task, addition


def adding_net(slope: float) -> Net:
    """Predicts `slope` times the sum of what the one-hot codes stand for, whatever the last input is."""
    worth = slope * jnp.tile(jnp.arange(-4.0, 5.0), 2)
    layer = Linear(19, 1, key=jax.random.key(0))
    weight = jnp.concatenate([worth, jnp.zeros(1)])[:, None]
    return Net(("output",), (eqx.tree_at(lambda new: (new.weight, new.bias), layer, (weight, jnp.zeros(1))),))


def noisy_addition(rows: int = 3) -> Task:
    """Addition with several rows per cell, which differ in a last input; the first row of seen cells is trained."""
    table = addition()
    cell = np.repeat(np.arange(81), rows)
    noise = np.random.default_rng(0).normal(size=(len(cell), 1))
    train = np.flatnonzero(table.split.seen[cell] & (np.arange(len(cell)) % rows == 0))
    inputs = np.concatenate([table.inputs[cell], noise], axis=1)
    return Task(table.split, inputs, table.targets[cell], cell=cell, train=train)


def test_sides_and_slope() -> None:
    task, net = noisy_addition(), adding_net(0.5)
    values = symbol_probes.predictions(net, task)
    targets = task.targets[:, 0]
    for side, rows in (("out", task.rows_out), ("train", task.train)):
        np.testing.assert_allclose(values[f"mse_{side}"], (0.25 * targets[rows] ** 2).mean(), rtol=1e-5)
    fresh = np.setdiff1d(task.rows_in, task.train)
    np.testing.assert_allclose(values["mse_fresh"], (0.25 * targets[fresh] ** 2).mean(), rtol=1e-5)
    assert values["right_out"] == (targets[task.rows_out] != 0).mean()  # a prediction of 0 is wrong
    np.testing.assert_allclose(symbol_probes.slopes(net, task)["slope"], 0.5, rtol=1e-4)
    np.testing.assert_allclose(symbol_probes.additivity(net, task)["additive_out"], 1, atol=1e-6)
    assert symbol_probes.conjunctions(net, task)["coefficients"].shape == (18 + 17,)


def test_one_row_per_cell_has_no_fresh_side() -> None:
    net = eqx.tree_at(lambda n: n.layers[0].weight, adding_net(1.0), adding_net(1.0).layers[0].weight[:18])
    assert not any("fresh" in name for name in symbol_probes.predictions(net, addition()))
    with pytest.raises(InputError, match="pairs of rows"):
        symbol_probes.salience(net, addition(), stage="output")


class Codes(eqx.Module):
    def __call__(self, x: jax.Array, *, key: jax.Array | None = None) -> jax.Array:
        return x


def test_pairs_of_a_row_with_itself_lower_the_salience() -> None:
    """One-hot codes share all similarity among single factors, S(1;2) = 1/2, but for the noise in the last input."""
    values = symbol_probes.salience(
        Net(("codes",), (Codes(),)), noisy_addition(8), stage="codes", exemplars=7
    )
    np.testing.assert_allclose(values["salience"], [0.5, 0], atol=0.03)
    assert values["salience_low"][0] <= values["salience"][0] <= values["salience_high"][0]
    np.testing.assert_allclose(values["salience_self"][0], 1 / (2 + 1 / 7), atol=0.03)
