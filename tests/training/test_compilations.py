"""Numbers are arguments of one compiled program: a sweep over them compiles nothing."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from recombine.nets import mlp
from recombine.parts import Part
from recombine.tasks import Task
from recombine.training import Noise, Penalty, Recipe, adamw, fit

NET = Part(mlp, inputs=3, width=8, depth=1, outputs=2)


def activity(net: Any, outputs: Any, batch: Any) -> jax.Array:
    return jnp.mean(outputs["hidden0"] ** 2)


def test_a_sweep_compiles_once(gaussian_task: Task, compiled: list[str]) -> None:
    def run(seed: int = 0, rate: float = 1e-3, decay: float = 0.1, penalty: float = 0.1, **more: Any) -> None:
        recipe = Recipe(
            steps=more.pop("steps", 4),
            batch=4,
            record_every=2,
            optimiser=adamw(rate, weight_decay=decay),
            penalties=(Penalty(activity, penalty),),
            noise=(Noise(("hidden0",), **{"level": 0.1, "exponent": 1.0, **more}),),
            clip_norm=1.0,
        )
        fit(NET, gaussian_task, recipe, (seed,))

    run()
    assert sum("_advance" in name for name in compiled) == 1
    compiled.clear()
    run(seed=7)
    run(rate=1e-2)
    run(decay=0.5)
    run(penalty=3.0)
    run(level=0.5)
    run(steps=8)
    assert compiled == []
