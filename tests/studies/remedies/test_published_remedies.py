"""Every remedy changes what it says, keeps the training budget, or says why it cannot be applied."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.nets import cnn_decoder
from recombine.parts import Part
from recombine.studies.remedies.arrangement import Arrangement
from recombine.studies.remedies.changed_nets import additive_net, input_contrast, one_hot_squared_error
from recombine.studies.remedies.failing_world import FailingWorld
from recombine.studies.remedies.published_remedies import NONE, REMEDIES, PublishedRemedy
from recombine.studies.remedies.sum_of_nets import sum_of_nets
from recombine.studies.remedies.worlds import worlds

WORLDS = worlds("quick")
PAIRS = [(world, remedy) for world in WORLDS for remedy in REMEDIES]


@pytest.mark.parametrize(("world", "remedy"), PAIRS, ids=[f"{w.name}/{r.name}" for w, r in PAIRS])
def test_a_remedy_changes_its_part_and_keeps_the_budget(world: FailingWorld, remedy: PublishedRemedy) -> None:
    plain, made = Arrangement.plain(world), remedy.apply(world, remedy.strengths[0])
    if isinstance(made, str):
        assert 10 < len(made) < 100
        return
    assert (made.recipe.steps, made.recipe.batch) == (plain.recipe.steps, plain.recipe.batch)
    assert made.recipe.optimiser == plain.recipe.optimiser
    if remedy is NONE:
        assert made == plain
        return
    changed = {
        "data": made.task != plain.task,
        "net": made.net != plain.net,
        "training": made.recipe != plain.recipe or made.net != plain.net,
    }
    assert changed[remedy.changes]
    if remedy.changes == "data":
        assert (made.net, made.recipe) == (plain.net, plain.recipe)
    if len(remedy.strengths) > 1:
        assert made != remedy.apply(world, remedy.strengths[1])


def test_there_are_enough_worlds_and_remedies() -> None:
    applied = {r.name: sum(not isinstance(r.apply(w, r.strengths[0]), str) for w in WORLDS) for r in REMEDIES}
    assert len(WORLDS) >= 8
    assert len(REMEDIES) >= 8
    assert all(applied.values())
    assert {world.paper for world in WORLDS} == {
        "forced-rendering",
        "kernel-theory",
        "poisson-modularity",
        "interaction-asymmetry",
        "feature-reuse",
        "gated-linear",
    }


def test_penalties_are_relative_to_a_loss_of_the_right_size() -> None:
    for world in WORLDS:
        task = world.task(seed=0)
        targets = task.targets[task.train]
        if task.kind == "regression":
            size = float(np.mean((targets - targets.mean(axis=0)) ** 2))
        else:
            counts = np.bincount(targets.reshape(-1))
            shares = counts[counts > 0] / counts.sum()
            size = float(-(shares * np.log(shares)).sum())
        assert 0.4 < world.loss_size / size < 2.5, (world.name, world.loss_size, size)


def test_an_additive_net_is_a_sum_over_factors() -> None:
    net = additive_net(blocks=(2, 3), width=8, depth=1, outputs=4, key=jax.random.key(0))
    x = jax.random.normal(jax.random.key(1), (4, 5))
    mixed = jnp.concatenate([x[:2, :2], x[2:, :2]]), jnp.concatenate([x[2:, 2:], x[:2, 2:]])
    crossed = net(jnp.concatenate(mixed, axis=1))
    np.testing.assert_allclose(net(x)[:2] + net(x)[2:], crossed[:2] + crossed[2:], rtol=1e-5, atol=1e-5)


def test_a_sum_of_other_nets_is_a_sum_over_factors_too() -> None:
    decoder = Part(cnn_decoder, inputs=6, width=2, depth=1, size=4, start=2)
    net = sum_of_nets(net=decoder, blocks=(3, 3), key=jax.random.key(0))
    x = jax.random.normal(jax.random.key(1), (2, 6))
    mixed = jnp.concatenate([x[:1, :3], x[1:, 3:]], axis=1), jnp.concatenate([x[1:, :3], x[:1, 3:]], axis=1)
    crossed = net(jnp.concatenate(mixed))
    np.testing.assert_allclose(net(x).sum(axis=0), crossed.sum(axis=0), rtol=1e-4, atol=1e-5)


def test_contrast_is_0_if_every_output_reads_one_factor() -> None:
    x = jax.random.normal(jax.random.key(0), (6, 4))
    separate = input_contrast(lambda z: z**2, {}, (x, None), blocks=(2, 2))
    together = input_contrast(lambda z: z.sum(axis=1, keepdims=True), {}, (x, None), blocks=(2, 2))
    assert float(separate) == pytest.approx(0, abs=1e-4)
    assert float(together) == pytest.approx(2, abs=1e-4)  # |(1, 1)| |(1, 1)|


def test_squared_error_of_labels_by_hand() -> None:
    outputs = jnp.array([[1.0, 0.0], [0.5, 0.5]])
    np.testing.assert_allclose(one_hot_squared_error(outputs, jnp.array([0, 1])), [0.0, 0.5])
