"""Seeds decide everything, and seeds in one call do not feel each other."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from recombine.errors import InputError
from recombine.nets import mlp, parameter_count
from recombine.parts import Part
from recombine.tasks import Task
from recombine.training import Fitted, Noise, Recipe, adam, fit
from recombine.training.spread import SMALL, choose

TINY = Part(mlp, inputs=3, width=8, depth=1, outputs=2)
LARGER = Part(mlp, inputs=3, width=64, depth=2, outputs=2)
RANDOM = Recipe(
    steps=6,
    batch=4,
    record_every=3,
    optimiser=adam(0.01),
    noise=(Noise(("hidden0",), level=0.1),),
    validation=0.2,
)
"""Everything that a seed decides: initial weights, held-back rows, order of rows, noise."""


def weights(fitted: Fitted, position: int = 0) -> list[np.ndarray]:
    return [np.asarray(leaf) for leaf in jax.tree.leaves(fitted.net(position)) if hasattr(leaf, "shape")]


def assert_equal(first: list[np.ndarray], second: list[np.ndarray], **tolerance: Any) -> None:
    for one, other in zip(first, second, strict=True):
        if tolerance:
            np.testing.assert_allclose(one, other, **tolerance)
        else:
            np.testing.assert_array_equal(one, other)


def test_both_spreads_are_met_here() -> None:
    for part, how in ((TINY, "side by side"), (LARGER, "in turn")):
        count = parameter_count(part(key=jax.random.key(0)))
        assert choose(count, convolutional=False, backend="cpu") == how
    assert choose(1, convolutional=True, backend="cpu") == "in turn"
    assert choose(SMALL + 1, convolutional=True, backend="gpu") == "side by side"


@pytest.mark.parametrize("net", [LARGER, TINY], ids=["in turn", "side by side"])
def test_many_seeds_are_one_seed_at_a_time(net: Part, gaussian_task: Task) -> None:
    seeds = (5, 2)
    together = fit(net, gaussian_task, RANDOM, seeds)
    alone = [fit(net, gaussian_task, RANDOM, (seed,)) for seed in seeds]
    for position, one in enumerate(alone):
        assert_equal(weights(together, position), weights(one), rtol=1e-5, atol=1e-6)
        for name in ("train", "in", "validation"):
            np.testing.assert_allclose(together.curves[name][position], one.curves[name][0], rtol=1e-5)
    assert not np.array_equal(weights(together, 0)[0], weights(together, 1)[0])
    assert not np.array_equal(together.curves["train"][0], together.curves["train"][1])

    again = fit(net, gaussian_task, RANDOM, seeds)
    assert_equal(weights(together, 1), weights(again, 1))
    np.testing.assert_array_equal(together.curves["train"], again.curves["train"])


def test_training_does_not_depend_on_when_it_is_looked_at(gaussian_task: Task) -> None:
    fitted = [
        fit(TINY, gaussian_task, Recipe(steps=12, batch=4, optimiser=adam(0.01), record_every=every))
        for every in (3, 4)
    ]
    assert_equal(weights(fitted[0]), weights(fitted[1]), rtol=1e-6, atol=1e-7)


def test_one_task_per_seed(gaussian_task: Task) -> None:
    other = Task(gaussian_task.split, gaussian_task.inputs, -2 * gaussian_task.targets)
    recipe = Recipe(steps=6, batch=4, record_every=3, optimiser=adam(0.01))
    together = fit(TINY, [gaussian_task, other], recipe, (1, 1))
    for position, task in enumerate((gaussian_task, other)):
        alone = fit(TINY, task, recipe, (1,))
        assert_equal(weights(together, position), weights(alone), rtol=1e-5, atol=1e-6)
    with pytest.raises(InputError, match="seeds: got '3 seeds and 2 tasks', expected a task for every seed"):
        fit(TINY, [gaussian_task, other], recipe, (0, 1, 2))


def test_tasks_of_different_shapes_are_refused(gaussian_task: Task) -> None:
    shorter = gaussian_task.trained_on(gaussian_task.train[:5])
    with pytest.raises(InputError, match="train of one shape for all seeds"):
        fit(TINY, [gaussian_task, shorter], RANDOM, (0, 1))


@pytest.mark.parametrize("seeds", [(), (-1,), (2**32,)])
def test_bad_seeds(seeds: tuple[int, ...], gaussian_task: Task) -> None:
    with pytest.raises(InputError, match="seeds: got"):
        fit(TINY, gaussian_task, RANDOM, seeds)
