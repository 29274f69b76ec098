"""Noise in evaluation, penalties that draw, and losses of several parts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from recombine.errors import InputError
from recombine.nets import Linear, Net, mlp
from recombine.parts import Part
from recombine.studies.poisson_modularity.film_roll import film_roll
from recombine.tasks import Task
from recombine.training import Noise, Penalty, Recipe, fit, losses, sgd

pytestmark = pytest.mark.usefixtures("compile_quickly")
NET = Part(mlp, inputs=3, width=8, depth=1, outputs=2)


def constant(key: Any = None) -> Net:
    """A net that says 3, whatever the input."""
    layer = Linear(1, 1, key=jax.random.key(0))
    values = (jnp.zeros((1, 1)), jnp.full((1,), 3.0))
    return Net(("output",), (eqx.tree_at(lambda new: (new.weight, new.bias), layer, values),))


def still(**settings: Any) -> Recipe:
    return Recipe(batch=None, optimiser=sgd(0.0), **settings)


def test_noise_in_evaluation(make_task: Callable[..., Task]) -> None:
    """Every recorded loss is then the variance, each from draws of its own; one noise of two may have it."""
    rows = 9000
    task = make_task(np.zeros((rows, 1)), np.full((rows, 1), 3.0), seen=range(6000))
    noise = (Noise(("output",), 0.5, 1, evaluation=True), Noise(("output",), 0.3, 0))
    recipe = still(steps=2, record_every=1, validation=1 / 3, noise=noise)
    curves = fit(constant, task, recipe, seeds=(0, 1)).curves
    expected = 0.25 * 3
    recorded = np.stack([curves[name] for name in ("in", "out", "validation")])
    np.testing.assert_allclose(recorded, expected, rtol=0.15)
    assert len(np.unique(recorded)) == recorded.size
    np.testing.assert_allclose(curves["train"], expected + 0.09, rtol=0.15)


def test_switches_that_draw_do_not_change_training(gaussian_task: Task) -> None:
    """Noise in evaluation, and a key that a penalty does not use."""
    results = []
    for on in (False, True):
        noise = (Noise(("hidden0",), 0.3, 1, evaluation=on),)
        penalties = (Penalty(fixed, 0.1, random=on),)
        recipe = Recipe(steps=4, batch=5, record_every=2, noise=noise, penalties=penalties)
        results.append(fit(NET, gaussian_task, recipe, seeds=(3,)))
    for one, other in zip(*(jax.tree.leaves(fitted.arrays) for fitted in results), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    np.testing.assert_allclose(results[0].curves["train"], results[1].curves["train"], rtol=1e-6)
    assert (results[0].curves["in"] != results[1].curves["in"]).all()


def drawn(net: Any, outputs: Any, batch: Any, *, key: jax.Array) -> jax.Array:
    """Its gradient in the bias is a number drawn from the key."""
    return jax.random.normal(key) * net.layers[0].bias.sum()


def fixed(net: Any, outputs: Any, batch: Any, *, key: jax.Array | None = None) -> jax.Array:
    return (net.layers[0].layers[0].weight ** 2).sum()


def test_random_penalties_get_fresh_keys(make_task: Callable[..., Task]) -> None:
    """Where nothing else moves the bias, its steps show what was drawn: another number at every step, for every seed
    and every penalty, and the same again if all is run again.
    """
    task = make_task(np.zeros((4, 1)), np.full((4, 1), 3.0))

    def biases(steps: int, *weights: float) -> np.ndarray:
        penalties = tuple(Penalty(drawn, weight, random=True) for weight in weights)
        recipe = Recipe(steps=steps, batch=None, record_every=1, optimiser=sgd(1e-6), penalties=penalties)
        fitted = fit(constant, task, recipe, seeds=(0, 1))
        return np.array([float(fitted.net(i).layers[0].bias[0]) for i in range(2)]) - 3

    path = np.stack([biases(steps, 1e5, 0.0) for steps in (1, 2, 3)])
    steps = np.diff(path, axis=0, prepend=0)
    other = biases(1, 0.0, 1e5)
    assert len(np.unique(np.concatenate([steps.ravel(), other]).round(6))) == 8
    np.testing.assert_array_equal(biases(3, 1e5, 0.0), path[-1])


def test_exponents_and_switches_are_structure_and_levels_are_numbers() -> None:
    def recipe(**noise: Any) -> Recipe:
        return Recipe(steps=1, noise=(Noise(("hidden0",), **{"level": 0.1, **noise}),))

    same = {recipe(level=level).structure() for level in (0.0, 0.1, 2.0)}
    assert len(same) == 1
    others = {recipe(**more).structure() for more in ({"exponent": 2}, {"evaluation": True})}
    assert len(same | others) == 3
    plain, random = (
        Recipe(steps=1, penalties=(Penalty(fixed, 1.0, random=r),)).structure() for r in (False, True)
    )
    assert plain != random


def test_cross_entropy_of_several_parts() -> None:
    rng = np.random.default_rng(0)
    logits, classes = rng.normal(size=(6, 3, 4)).astype(np.float32), rng.integers(4, size=(6, 3))
    each = torch.nn.functional.cross_entropy(
        torch.tensor(logits).flatten(0, 1), torch.tensor(classes).ravel(), reduction="none"
    )
    np.testing.assert_allclose(losses.cross_entropy(logits, classes), each.reshape(6, 3).mean(1), rtol=1e-5)
    single = losses.cross_entropy(logits[:, 0], classes[:, 0])
    np.testing.assert_allclose(single, each.reshape(6, 3)[:, 0], rtol=1e-5)
    np.testing.assert_allclose(losses.cross_entropy(logits[:, 0], classes[:, :1]), single, rtol=1e-6)


def test_a_net_with_too_few_parts() -> None:
    task = film_roll(frames=2)
    net = Part(flat, features=8 * 16, classes=10)
    recipe = Recipe(steps=1, loss=Part(losses.cross_entropy))
    with pytest.raises(
        InputError, match=r"targets: got 'shape \(32, 2\)', expected a class for each part of outputs"
    ):
        fit(net, task, recipe)


def flat(*, features: int, classes: int, key: jax.Array) -> Net:
    return Net(("pixels", "output"), (lambda x: x.reshape(len(x), -1), Linear(features, classes, key=key)))
