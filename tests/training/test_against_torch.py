"""`fit` takes the same steps as an ordinary PyTorch loop that starts from the same weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
import torch
from benchmarks import peers
from torch import nn

from recombine.nets import evaluate, mlp
from recombine.tasks import Task
from recombine.training import Fitted, Recipe, Schedule, adam, adamw, fit, sgd

STEPS = 12
MakeOptimiser = Callable[[Any], torch.optim.Optimizer]

OPTIMISERS: dict[str, tuple[dict[str, Any], MakeOptimiser]] = {
    "sgd": (
        {"optimiser": sgd(0.1)},
        lambda p: torch.optim.SGD(p, 0.1),
    ),
    "momentum and decay": (
        {"optimiser": sgd(0.05, momentum=0.9, weight_decay=0.1)},
        lambda p: torch.optim.SGD(p, 0.05, momentum=0.9, weight_decay=0.1),
    ),
    "adam with coupled decay": (
        {"optimiser": adam(0.01, weight_decay=0.1)},
        lambda p: torch.optim.Adam(p, 0.01, weight_decay=0.1),
    ),
    "adamw": (
        {"optimiser": adamw(0.01, weight_decay=0.1)},
        lambda p: torch.optim.AdamW(p, 0.01, weight_decay=0.1),
    ),
    "clipped adamw": (
        {"optimiser": adamw(0.01), "clip_norm": 0.5},
        lambda p: torch.optim.AdamW(p, 0.01),
    ),
}


def the_net() -> Any:
    return mlp(inputs=3, width=8, depth=1, outputs=2, key=jax.random.key(0))


def assert_same_weights(module: nn.Module, twin: nn.Module, net: Any) -> None:
    """Holds the weights of `module` against those of `net`, which are copied into the untrained `twin`."""
    peers.load_weights(twin, net)
    for (name, got), expected in zip(twin.named_parameters(), module.parameters(), strict=True):
        np.testing.assert_allclose(got.detach(), expected.detach(), rtol=1e-4, atol=1e-6, err_msg=name)


def run_both(
    task: Task, recipe: Recipe, make: MakeOptimiser, **loop: Any
) -> tuple[Fitted, list[float], nn.Module]:
    """Trains the same net with `fit` and with PyTorch, on the same batches in the same order."""
    net = the_net()
    module = peers.dense(3, 8, 2)
    peers.load_weights(module, net)
    fitted = fit(lambda key: net, task, recipe)
    rows = peers.ordered(len(task.train), recipe.batch_for(len(task.train)), STEPS)
    inputs, targets = torch.tensor(task.inputs), torch.tensor(task.targets)
    losses = peers.train(module, inputs, targets, rows, make(module.parameters()), **loop)
    return fitted, losses, module


@pytest.mark.parametrize("name", OPTIMISERS)
def test_minibatches_with_a_short_last_one(name: str, gaussian_task: Task) -> None:
    settings, make = OPTIMISERS[name]
    recipe = Recipe(steps=STEPS, batch=4, sampling="ordered", record_every=1, **settings)
    fitted, losses, module = run_both(gaussian_task, recipe, make, clip_norm=recipe.clip_norm)
    np.testing.assert_allclose(fitted.curves["train"][0], losses, rtol=1e-4)
    assert_same_weights(module, peers.dense(3, 8, 2), fitted.net())


def test_full_batch(gaussian_task: Task) -> None:
    settings, make = OPTIMISERS["adamw"]
    recipe = Recipe(steps=STEPS, batch=None, record_every=1, **settings)
    fitted, losses, module = run_both(gaussian_task, recipe, make)
    np.testing.assert_allclose(fitted.curves["train"][0], losses, rtol=1e-4)
    assert_same_weights(module, peers.dense(3, 8, 2), fitted.net())


def test_records_average_the_round(gaussian_task: Task) -> None:
    settings, make = OPTIMISERS["sgd"]
    recipe = Recipe(steps=STEPS, batch=4, sampling="ordered", record_every=5, **settings)
    fitted, losses, module = run_both(gaussian_task, recipe, make)
    expected = [np.mean(losses[0:5]), np.mean(losses[5:10]), np.mean(losses[10:12])]
    assert fitted.curves["step"].tolist() == [5, 10, 12]
    np.testing.assert_allclose(fitted.curves["train"][0], expected, rtol=1e-4)
    assert_same_weights(module, peers.dense(3, 8, 2), fitted.net())


def test_warm_up_and_cosine(gaussian_task: Task) -> None:
    made: list[torch.optim.lr_scheduler.LRScheduler] = []

    def make(parameters: Any) -> torch.optim.Optimizer:
        optimiser = torch.optim.SGD(parameters, 0.1)
        made.append(
            torch.optim.lr_scheduler.LambdaLR(
                optimiser, lambda t: min(1, (t + 1) / 4) * (1 + np.cos(np.pi * t / STEPS)) / 2
            )
        )
        return optimiser

    schedule = Schedule("cosine", warmup=4)
    recipe = Recipe(
        steps=STEPS, batch=4, sampling="ordered", record_every=1, optimiser=sgd(0.1), schedule=schedule
    )
    fitted, losses, module = run_both(gaussian_task, recipe, make, after=lambda: made[0].step())
    np.testing.assert_allclose(fitted.curves["train"][0], losses, rtol=1e-4)
    assert_same_weights(module, peers.dense(3, 8, 2), fitted.net())


def test_plateaus_lower_the_rate_where_torch_does(gaussian_task: Task) -> None:
    """With this momentum the loss swings, so that several plateaus are met; the floor is reached as well."""
    rate, rates = 0.2, []
    module = peers.dense(3, 8, 2)
    peers.load_weights(module, the_net())
    optimiser = torch.optim.SGD(module.parameters(), rate, momentum=0.95)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimiser, factor=0.3, patience=1, min_lr=0.01)
    inputs, targets = torch.tensor(gaussian_task.inputs), torch.tensor(gaussian_task.targets)
    losses = []
    for _ in range(40):
        losses += peers.train(module, inputs, targets, peers.ordered(10, 10, 1), optimiser)
        plateau.step(losses[-1])
        rates.append(optimiser.param_groups[0]["lr"])
    assert len(set(rates)) >= 3
    assert rates[-1] == 0.01

    schedule = Schedule("plateau", factor=0.3, every=1, minimum=0.01)
    recipe = Recipe(
        steps=40, batch=None, record_every=1, optimiser=sgd(rate, momentum=0.95), schedule=schedule
    )
    fitted = fit(lambda key: the_net(), gaussian_task, recipe)
    np.testing.assert_allclose(fitted.curves["train"][0], losses, rtol=1e-3)


def test_batch_normalisation_in_training_and_afterwards(gaussian_task: Task) -> None:
    """The last batch of an epoch is short: its filling rows must not count."""
    net = mlp(inputs=3, width=8, depth=1, outputs=2, normalise=True, key=jax.random.key(1))
    module = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
    peers.load_weights(module, net)
    recipe = Recipe(steps=STEPS, batch=4, sampling="ordered", record_every=STEPS, optimiser=sgd(0.1))
    fitted = fit(lambda key: net, gaussian_task, recipe)
    inputs, targets = torch.tensor(gaussian_task.inputs), torch.tensor(gaussian_task.targets)
    optimiser = torch.optim.SGD(module.parameters(), 0.1)
    losses = peers.train(module, inputs, targets, peers.ordered(10, 4, STEPS), optimiser)
    np.testing.assert_allclose(fitted.curves["train"][0, -1], np.mean(losses), rtol=1e-4)

    norm, peer = fitted.net().layers[1], module[1]
    np.testing.assert_allclose(norm.mean.value, peer.running_mean, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(norm.variance.value, peer.running_var, rtol=1e-4)
    with torch.no_grad():
        expected = module.eval()(inputs)
    np.testing.assert_allclose(evaluate(fitted.net(), gaussian_task.inputs), expected, rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(fitted.curves["in"][0, -1], ((expected - targets) ** 2).mean(), rtol=1e-4)
