"""What is minimised: losses, penalties, and activity noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from recombine.errors import InputError
from recombine.nets import Linear, Net, PixelSample, mlp
from recombine.parts import Part
from recombine.spaces import Space, Split
from recombine.tasks import Task
from recombine.training import Fitted, Noise, Penalty, Recipe, fit, losses, sgd

NET = Part(mlp, inputs=3, width=8, depth=1, outputs=2)


def test_losses_against_torch() -> None:
    rng = np.random.default_rng(0)
    outputs, targets = rng.normal(size=(2, 6, 4, 4)).astype(np.float32)
    classes = rng.integers(4, size=6)
    signs = np.sign(targets)
    f = torch.nn.functional
    o, t = torch.tensor(outputs), torch.tensor(targets)
    logits = o[:, 0]
    expected = {
        "squared_error": f.mse_loss(o, t, reduction="none").mean((1, 2)),
        "squared_and_absolute_error": ((o - t) ** 2 + 0.1 * (o - t).abs()).mean((1, 2)),
        "cross_entropy": f.cross_entropy(logits, torch.tensor(classes), reduction="none"),
        "logistic": f.soft_margin_loss(o, t.sign(), reduction="none").mean((1, 2)),
        "summed_squared_error": 3 * f.mse_loss(o, t, reduction="none").sum((1, 2)),
    }
    got = {
        "squared_error": losses.squared_error(outputs, targets),
        "squared_and_absolute_error": losses.squared_and_absolute_error(outputs, targets),
        "cross_entropy": losses.cross_entropy(outputs[:, 0], jnp.asarray(classes)),
        "logistic": losses.logistic(outputs, signs),
        "summed_squared_error": losses.summed_squared_error(outputs, targets, weight=3.0),
    }
    for name, value in expected.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-5, err_msg=name)


def test_the_loss_of_some_pixels_is_unbiased() -> None:
    """Its mean over all samples of two of six pixels is the loss of the whole image."""
    rng = np.random.default_rng(0)
    outputs, targets = rng.normal(size=(2, 4, 2, 3, 3)).astype(np.float32)
    results = []
    for which in combinations(range(6), 2):
        values = outputs.reshape(4, 6, 3)[:, list(which)]
        sample = PixelSample(jnp.asarray(values), jnp.array(which))
        results.append(losses.summed_squared_error(sample, jnp.asarray(targets), weight=5.0))
    expected = losses.summed_squared_error(outputs, targets, weight=5.0)
    np.testing.assert_allclose(np.mean(results, axis=0), expected, rtol=1e-5)


def half_squares(net: Any, outputs: Any, batch: Any) -> jax.Array:
    return sum(jnp.sum(leaf**2) / 2 for leaf in jax.tree.leaves(eqx.filter(net, eqx.is_array)))


def squared_error_again(net: Any, outputs: Any, batch: Any) -> jax.Array:
    _, targets = batch
    return jnp.mean((outputs["output"] - targets) ** 2)


@pytest.mark.parametrize(
    ("penalty", "same_as"),
    [
        (Penalty(half_squares, 0.3), sgd(0.1, weight_decay=0.3)),
        (Penalty(squared_error_again, 1.0), sgd(0.2)),
    ],
    ids=["of the weights", "of stage outputs"],
)
def test_a_penalty_that_is_something_else_in_disguise(
    penalty: Penalty, same_as: Any, gaussian_task: Task
) -> None:
    recipe = Recipe(steps=6, batch=5, record_every=3, optimiser=sgd(0.1))
    penalised = fit(NET, gaussian_task, replace(recipe, penalties=(penalty,)))
    plain = fit(NET, gaussian_task, replace(recipe, optimiser=same_as))
    np.testing.assert_allclose(penalised.curves["train"], plain.curves["train"], rtol=1e-5)
    for one, other in zip(jax.tree.leaves(penalised.arrays), jax.tree.leaves(plain.arrays), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-6)


def nothing(outputs: Any, targets: Any) -> jax.Array:
    return jnp.zeros(len(outputs))


def offset(net: Any, outputs: Any, batch: Any) -> jax.Array:
    return net.layers[0].bias.sum()


def test_a_penalty_warms_up_from_nothing(
    make_task: Callable[..., Task], constant_net: Callable[[float], Net]
) -> None:
    """Its gradient is 1, so that the bias falls by rate · weight · Σ_t min(1, t / warmup)."""
    task = make_task(np.zeros((2, 1)), np.zeros((2, 1)))
    for warmup, expected in ((0, 6), (4, 0 + 1 / 4 + 2 / 4 + 3 / 4 + 1 + 1), (100, 15 / 100)):
        recipe = Recipe(
            steps=6,
            batch=None,
            record_every=3,  # the second round goes on where the first has stopped
            optimiser=sgd(0.1),
            loss=nothing,
            penalties=(Penalty(offset, 2.0, warmup=warmup),),
        )
        bias = fit(lambda key: constant_net(0.0), task, recipe).net().layers[0].bias
        np.testing.assert_allclose(bias, [-0.2 * expected], rtol=1e-5)


def test_losses_are_recorded_on_some_rows(
    make_task: Callable[..., Task], constant_net: Callable[[float], Net]
) -> None:
    targets = np.arange(10.0)[:, None] ** 2
    task = make_task(np.zeros((10, 1)), targets, seen=range(7))
    results = {
        rows: fit(
            lambda key: constant_net(0.0), task, Recipe(steps=1, optimiser=sgd(0.0), record_rows=rows)
        ).curves
        for rows in (None, 3)
    }
    for side, rows in (("in", [0, 3, 6]), ("out", [7, 8, 9])):
        np.testing.assert_allclose(results[3][side], [[(targets[rows] ** 2).mean()]], rtol=1e-6)
    np.testing.assert_allclose(results[None]["in"], [[(targets[:7] ** 2).mean()]], rtol=1e-6)
    np.testing.assert_allclose(results[3]["train"], results[None]["train"], rtol=1e-6)


ROWS = 20_000


@pytest.fixture(scope="module")
def constant_net() -> Callable[[float], Net]:
    """A net whose output is a given number, whatever the input."""

    def make(value: float) -> Net:
        layer = Linear(1, 1, key=jax.random.key(0))
        layer = eqx.tree_at(
            lambda new: (new.weight, new.bias), layer, (jnp.zeros((1, 1)), jnp.full((1,), value))
        )
        return Net(("output",), (layer,))

    return make


def spread_of(
    make_task: Callable[..., Task], net: Net, target: float, noise: tuple[Noise, ...], seed: int
) -> Fitted:
    """A step without learning, whose loss is the mean squared distance of perturbed outputs from `target`."""
    task = make_task(np.zeros((ROWS, 1)), np.full((ROWS, 1), target), seen=range(ROWS))
    return fit(lambda key: net, task, Recipe(steps=1, batch=None, optimiser=sgd(0.0), noise=noise), (seed,))


@pytest.mark.parametrize(
    ("value", "exponent"), [(3.0, 0), (3.0, 1), (-3.0, 1), (-3.0, 2), (0.0, 0), (0.0, 1)]
)
def test_activity_noise_has_its_mean_and_variance(
    value: float, exponent: float, make_task: Callable[..., Task], constant_net: Callable[[float], Net]
) -> None:
    level = 0.5
    expected = level**2 * abs(value) ** exponent
    noise = (Noise(("output",), level, exponent),)
    net = constant_net(value)
    fitted = spread_of(make_task, net, value, noise, seed=1)
    variance = float(fitted.curves["train"][0, 0])
    five_deviations = 5 * (2 / ROWS) ** 0.5
    np.testing.assert_allclose(variance, expected, rtol=five_deviations)
    # E (a + noise - (a - 5))² = 25 + 10 E noise + variance, with the same draw
    shifted = float(spread_of(make_task, net, value - 5, noise, seed=1).curves["train"][0, 0])
    mean = (shifted - 25 - variance) / 10
    assert abs(mean) < 5 * (expected / ROWS) ** 0.5 + 1e-5
    np.testing.assert_allclose(fitted.curves["in"][0, 0], 0, atol=1e-10)  # none in evaluation


def test_two_noises_on_one_stage_are_independent(
    make_task: Callable[..., Task], constant_net: Callable[[float], Net]
) -> None:
    noise = (Noise(("output",), 0.5, 0), Noise(("output",), 0.5, 0))
    variance = spread_of(make_task, constant_net(1.0), 1.0, noise, seed=0).curves["train"][0, 0]
    np.testing.assert_allclose(variance, 0.5, rtol=0.05)


@pytest.mark.parametrize("exponent", [0, 1, 2])
def test_noise_on_silent_units_has_finite_gradients(exponent: float, gaussian_task: Task) -> None:
    recipe = Recipe(
        steps=6, batch=5, record_every=3, optimiser=sgd(0.1), noise=(Noise(("hidden0",), 0.3, exponent),)
    )
    fitted = fit(NET, gaussian_task, recipe)
    assert fitted.status == ("finished",)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(fitted.arrays))


def test_noise_on_a_stage_that_does_not_exist_is_refused():
    split = Split(Space({"a": 2, "b": 2}), [0, 1, 2])
    task = Task(split, np.eye(4), np.arange(4.0)[:, None])
    net = Part(mlp, inputs=4, width=3, depth=1, outputs=1)
    recipe = Recipe(steps=1, noise=(Noise(("hiden0",), 0.1),))
    with pytest.raises(InputError, match="noise: got 'hiden0', expected a stage of the net: hidden0, output"):
        fit(net, task, recipe)
