"""How training ends: finished, stopped, diverged; and what is recorded on the way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import jax
import numpy as np
import pytest

from recombine.errors import InputError
from recombine.nets import evaluate, mlp
from recombine.parts import Part
from recombine.tasks import Task
from recombine.training import Recipe, adam, fit, sgd

NET = Part(mlp, inputs=3, width=8, depth=1, outputs=2)
DESCENT = Recipe(steps=9, batch=None, record_every=3, optimiser=sgd(0.1))


def test_a_diverged_seed_is_a_result_and_leaves_the_others_alone(gaussian_task: Task) -> None:
    wild = Task(gaussian_task.split, 1e4 * gaussian_task.inputs, gaussian_task.targets)
    both = fit(NET, [wild, gaussian_task], DESCENT, (0, 0))
    assert both.status == ("diverged", "finished")
    alone = fit(NET, gaussian_task, DESCENT)
    np.testing.assert_allclose(both.curves["train"][1], alone.curves["train"][0], rtol=1e-5)
    assert both.curves["train"].shape == (2, 3)
    assert "diverged/finished" in repr(both)


def test_training_ends_early_when_every_seed_has_diverged(gaussian_task: Task) -> None:
    wild = Task(gaussian_task.split, 1e4 * gaussian_task.inputs, gaussian_task.targets)
    seen: list[tuple[int, int]] = []
    fitted = fit(NET, wild, DESCENT, progress=lambda done, total: seen.append((done, total)))
    assert fitted.status == ("diverged",)
    assert fitted.curves["step"].tolist() == [3]
    assert seen == [(3, 9)]


def test_divergence_in_the_last_step(gaussian_task: Task) -> None:
    """The training loss was still fine, the weights no longer are."""
    recipe = Recipe(steps=1, batch=None, optimiser=sgd(1e38))
    fitted = fit(NET, gaussian_task, recipe)
    assert np.isfinite(fitted.curves["train"]).all()
    assert fitted.status == ("diverged",)


def test_diverge_above(gaussian_task: Task) -> None:
    fitted = fit(NET, gaussian_task, replace(DESCENT, diverge_above=1e-6))
    assert fitted.status == ("diverged",)
    assert fitted.curves["step"].tolist() == [3]


def test_stop_below(gaussian_task: Task) -> None:
    recipe = Recipe(steps=3000, batch=None, record_every=100, optimiser=adam(0.01), stop_below=0.05)
    fitted = fit(NET, gaussian_task, recipe)
    train = fitted.curves["train"][0]
    assert fitted.status == ("stopped",)
    assert train[-1] < 0.05
    assert (train[:-1] >= 0.05).all()
    assert fitted.curves["step"][-1] < 3000


def test_losses_on_seen_and_unseen_rows(make_task: Callable[..., Task]) -> None:
    """With a linear net and one-hot inputs, weights of unseen rows stay where they were."""
    seen = [0, 1, 2, 4, 5]
    task = make_task(np.eye(7), np.arange(7.0)[:, None], seen=seen)
    net = Part(mlp, inputs=7, width=1, depth=0, outputs=1)
    start = fit(net, task, Recipe(steps=4, batch=None, optimiser=sgd(0.0)))
    fitted = fit(net, task, Recipe(steps=4, batch=None, optimiser=sgd(0.5)))
    before, after = (np.asarray(jax.tree.leaves(f.net())[0])[:, 0] for f in (start, fitted))
    assert np.flatnonzero(before != after).tolist() == seen
    errors = ((evaluate(fitted.net(), task.inputs) - task.targets) ** 2)[:, 0]
    np.testing.assert_allclose(fitted.curves["in"][0, -1], errors[seen].mean(), rtol=1e-5)
    np.testing.assert_allclose(fitted.curves["out"][0, -1], errors[[3, 6]].mean(), rtol=1e-5)
    assert np.isnan(fitted.curves["validation"]).all()


def test_validation_rows_are_drawn_by_the_seed_and_not_trained_on(make_task: Callable[..., Task]) -> None:
    task = make_task(np.eye(10), np.arange(10.0)[:, None])
    net = Part(mlp, inputs=10, width=1, depth=0, outputs=1)
    start = fit(net, task, Recipe(epochs=3, batch=4, validation=0.3, optimiser=sgd(0.0)), (0, 1))
    fitted = fit(net, task, Recipe(epochs=3, batch=4, validation=0.3, optimiser=sgd(0.5)), (0, 1))
    assert fitted.curves["step"][-1] == 6  # three epochs of seven rows
    held = []
    for position in range(2):
        before, after = (np.asarray(jax.tree.leaves(f.net(position))[0])[:, 0] for f in (start, fitted))
        held.append(np.flatnonzero(before == after))
        errors = ((evaluate(fitted.net(position), task.inputs) - task.targets) ** 2)[:, 0]
        validation = fitted.curves["validation"][position, -1]
        np.testing.assert_allclose(validation, errors[held[-1]].mean(), rtol=1e-5)
    assert [len(rows) for rows in held] == [3, 3]
    assert set(held[0]) != set(held[1])


def test_initial_scale(gaussian_task: Task) -> None:
    recipes = [Recipe(steps=1, batch=None, optimiser=sgd(0.0), initial_scale=scale) for scale in (1.0, 0.1)]
    plain, small = (jax.tree.leaves(fit(NET, gaussian_task, recipe).arrays) for recipe in recipes)
    for one, other in zip(plain, small, strict=True):
        np.testing.assert_allclose(0.1 * one, other, rtol=1e-6)


def test_an_output_of_the_wrong_shape_is_one_line(gaussian_task: Task) -> None:
    with pytest.raises(InputError) as caught:
        fit(Part(mlp, inputs=3, width=8, depth=1, outputs=1), gaussian_task, DESCENT)
    assert str(caught.value) == "net: got 'output (1,)', expected the targets' shape (2,)"


def test_no_steps_leave_the_net_as_it_was_drawn(gaussian_task: Task) -> None:
    fitted = fit(NET, gaussian_task, replace(DESCENT, steps=0), (3,))
    assert fitted.status == ("finished",)
    assert {name: curve.shape for name, curve in fitted.curves.items()} == {"step": (0,)}
    drawn = NET(key=jax.random.fold_in(jax.random.key(3), 0))
    np.testing.assert_allclose(
        evaluate(fitted.net(), gaussian_task.inputs),
        evaluate(drawn, gaussian_task.inputs),
        rtol=1e-5,
        atol=1e-6,
    )
