"""Training in the span of the rows takes the same steps as `fit`, up to rounding."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.errors import InputError
from recombine.nets import evaluate, mlp
from recombine.nets.gated import (
    frozen_gates,
    k_means_gates,
    one_layer_gated,
    random_gates,
    two_layer_gated,
)
from recombine.tasks import Task
from recombine.tasks.modular import train_and_test
from recombine.training import Noise, Recipe, Schedule, adam, fit, fit_in_row_span, sgd
from recombine.training.losses import logistic

X = np.random.default_rng(0).normal(size=(40, 12)).astype(np.float32)
Y = np.sign(X[:, :1] + X[:, 1:2])
SPLIT, CELL = train_and_test(30, 10)
TASK = Task(SPLIT, X, Y, cell=CELL)
KEY = jax.random.key(3)
PLAIN = Recipe(steps=60, batch=7, optimiser=sgd(0.05), loss=logistic)
NETS = {
    "two layers": partial(two_layer_gated, random_gates(units=4, inputs=12, key=KEY), inputs=12),
    "two layers, bias, four contexts": partial(
        two_layer_gated, random_gates(units=4, inputs=12, bits=2, key=KEY), inputs=12, bias=True
    ),
    "one layer": partial(one_layer_gated, random_gates(units=1, inputs=12, bits=2, key=KEY), inputs=12),
    "on or off": partial(two_layer_gated, frozen_gates(X[:5].T), inputs=12),
    "centroids": partial(two_layer_gated, k_means_gates(X, units=3, contexts=3), inputs=12),
}


def same(one, other):
    leaves = [jax.tree.leaves(eqx.filter(net, eqx.is_array)) for net in (one, other)]
    for a, b in zip(*leaves, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=2e-5)


@pytest.mark.parametrize("name", NETS)
def test_it_takes_the_steps_of_fit(name):
    one, other = (run(NETS[name], TASK, PLAIN, seeds=(0, 5)) for run in (fit, fit_in_row_span))
    for position in range(2):
        same(one.net(position), other.net(position))
    np.testing.assert_allclose(one.curves["train"], other.curves["train"], rtol=1e-4)
    np.testing.assert_allclose(evaluate(one.net(1), X), evaluate(other.net(1), X), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(steps=60, batch=7, optimiser=sgd(0.02, momentum=0.9), loss=logistic),
        Recipe(steps=60, batch=None, optimiser=sgd(0.05), schedule=Schedule("drops", factor=0.25, every=30)),
        Recipe(steps=60, batch=7, optimiser=sgd(0.05), initial_scale=0.3, sampling="replacement"),
    ],
    ids=["momentum", "all rows, rate drops", "small weights, rows drawn twice"],
)
def test_whatever_the_recipe(recipe):
    one, other = (run(NETS["two layers"], TASK, recipe).net() for run in (fit, fit_in_row_span))
    same(one, other)
    start = (
        recipe.initial_scale
        * NETS["two layers"](key=jax.random.fold_in(jax.random.key(0), 0)).layers[0].weight
    )
    assert float(jnp.abs(other.layers[0].weight - start).max()) > 0.01  # it has moved


@pytest.mark.parametrize(
    "recipe",
    [
        Recipe(steps=5, optimiser=adam()),
        Recipe(steps=5, optimiser=sgd(0.1), clip_norm=1.0),
        Recipe(steps=5, optimiser=sgd(0.1), noise=(Noise(("hidden",), 0.1, 0.0),)),
        Recipe(steps=5, optimiser=sgd(0.1), validation=0.2),
    ],
)
def test_other_recipes_are_refused(recipe):
    with pytest.raises(InputError, match="gradient descent without penalties"):
        fit_in_row_span(NETS["two layers"], TASK, recipe)


def test_other_nets_are_refused():
    make = partial(mlp, inputs=12, width=3, depth=1, outputs=1)
    with pytest.raises(InputError, match="gated units"):
        fit_in_row_span(make, TASK, PLAIN)
