"""Tasks of scenes are tasks: they train like any other, and a net's images can be compared with recombined ones."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.nets import Linear, Net, evaluate
from recombine.parts import Part
from recombine.tasks import interaction_task, line_world
from recombine.training import Recipe, fit

pytestmark = pytest.mark.usefixtures("compile_quickly")


def flat_net(*, key: jax.Array) -> Net:
    """A linear net over 8 units between images of 1 × 16 pixels."""
    first, second = jax.random.split(key)
    layers = (
        lambda x: jnp.reshape(x, (len(x), 48)),
        Linear(48, 8, key=first),
        Linear(8, 48, key=second),
        lambda x: jnp.reshape(x, (len(x), 1, 16, 3)),
    )
    return Net(("pixels", "code", "drawn", "picture"), layers)


def test_a_net_trains_on_scenes_and_is_compared_with_recombined_ones() -> None:
    part = Part(line_world, rows=200, test=20, size=16, half_width=(1.0, 2.0), support="l-shaped")
    tasks = [part(seed=seed) for seed in (0, 1)]
    fitted = fit(flat_net, tasks, Recipe(steps=60, batch=32), seeds=(0, 1))
    assert (fitted.curves["train"][:, -1] < fitted.curves["train"][:, 0]).all()
    scenes = tasks[0].scenes
    mixed = scenes[:40].replaced(2, scenes[40:80])
    mixed = mixed[mixed.legal(mixed.latents)]
    assert len(mixed) > 5
    assert evaluate(fitted.net(0), mixed.images).shape == mixed.images.shape


def test_a_generator_s_task_trains() -> None:
    task = interaction_task(order=2, rows=100, test=10, support="l-shaped")
    net = Part("recombine.nets:mlp", inputs=20, width=16, depth=1, outputs=20)
    fitted = fit(net, task, Recipe(steps=60, batch=32), seeds=(0,))
    assert np.isfinite(fitted.curves["train"]).all()
    assert fitted.curves["train"][0, -1] < fitted.curves["train"][0, 0]
