"""Learning rates at every step, against PyTorch's schedulers and the formulas."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch.optim import lr_scheduler

from recombine.errors import InputError
from recombine.training import Recipe, Schedule, sgd
from recombine.training.optimisers import learning_rate

STEPS, RATE = 40, 0.2


def rates_of(schedule: Schedule) -> np.ndarray:
    recipe = Recipe(steps=STEPS, optimiser=sgd(RATE), schedule=schedule)
    numbers = jax.tree.map(jnp.float32, recipe.numbers())
    at = jax.vmap(lambda step: learning_rate(recipe.structure(), numbers, step, jnp.float32(STEPS)))
    return np.broadcast_to(np.asarray(at(jnp.arange(STEPS))), STEPS)


def torch_rates(make: Any) -> list[float]:
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], RATE)
    scheduler, rates = make(optimiser), []
    for _ in range(STEPS):
        rates.append(optimiser.param_groups[0]["lr"])
        optimiser.step()
        scheduler.step()
    return rates


@pytest.mark.parametrize(
    ("schedule", "peer"),
    [
        (Schedule(), lambda o: lr_scheduler.LambdaLR(o, lambda t: 1.0)),
        (Schedule("cosine"), lambda o: lr_scheduler.CosineAnnealingLR(o, STEPS)),
        (Schedule("drops", factor=0.5, every=7), lambda o: lr_scheduler.StepLR(o, 7, 0.5)),
        (Schedule("exponential", factor=0.9), lambda o: lr_scheduler.ExponentialLR(o, 0.9)),
        (
            Schedule("exponential", factor=0.5, every=10),
            lambda o: lr_scheduler.ExponentialLR(o, 0.5 ** (1 / 10)),
        ),
        (
            Schedule("drops", factor=0.5, every=20, warmup=8),
            lambda o: lr_scheduler.LambdaLR(o, lambda t: min(1, (t + 1) / 8) * 0.5 ** (t // 20)),
        ),
    ],
)
def test_schedules(schedule: Schedule, peer: Any) -> None:
    np.testing.assert_allclose(rates_of(schedule), torch_rates(peer), rtol=1e-5, atol=1e-8)


def test_a_decay_that_starts_late_and_drops_first() -> None:
    schedule = Schedule("exponential", factor=0.5, every=10, start=12, drop=0.2, warmup=4)
    expected = [
        RATE * min(1, (t + 1) / 4) * (1 if t < 12 else 0.2 * 0.5 ** ((t - 12) / 10)) for t in range(STEPS)
    ]
    np.testing.assert_allclose(rates_of(schedule), expected, rtol=1e-5)


@pytest.mark.parametrize("settings", [{"start": 3}, {"drop": 0.5}])
def test_only_the_exponential_starts_late(settings: dict[str, Any]) -> None:
    with pytest.raises(
        InputError, match="schedule: got 'cosine', expected 'exponential' where start or drop"
    ):
        Schedule("cosine", **settings)
    with pytest.raises(InputError, match="start >= 0"):
        Schedule("exponential", start=-1)
