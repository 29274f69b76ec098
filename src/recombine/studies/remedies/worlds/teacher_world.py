"""Finetuning on a subset of the features that were learned before (feature reuse)."""

from __future__ import annotations

from typing import Any

import jax
from jaxtyping import PRNGKeyArray

from recombine.nets import Net, mlp
from recombine.parts import Part
from recombine.remedies import rescale
from recombine.studies.evidence import Scale
from recombine.studies.remedies.failing_world import NUMBERS_ARE_NOT_DRAWN, FailingWorld
from recombine.tasks import Task, relu_teachers, teacher_task
from recombine.training import Recipe, adam, fit

INPUTS = 15
KNOWN_ROWS = {"smoke": 64, "quick": 1024, "paper": 1024}
ROWS = {"smoke": 16, "quick": 48, "paper": 64}
WIDTH = {"smoke": 20, "quick": 200, "paper": 1000}
STEPS = {"smoke": 20, "quick": 3000, "paper": 30_000}
RATE = 1e-3
SUBSET = 1
"""Of the six units of the auxiliary task, the main task has this many."""


def teacher_world(scale: Scale) -> FailingWorld:
    """A net that knows six rectified units is finetuned on a task with one of them."""
    net = Part(
        pretrained,
        width=WIDTH[scale],
        rows=KNOWN_ROWS[scale],
        steps=STEPS[scale],
        initial_scale=1.0,
        factor=1.0,
    )
    return FailingWorld(
        "teachers",
        "a net that knows six features learns a task with one of them from a few rows",
        "feature-reuse",
        outputs="quantities",
        task=Part(subset_rows, rows=ROWS[scale]),
        net=net,
        recipe=Recipe(steps=STEPS[scale], batch=None, optimiser=adam(RATE), record_rows=100),
        loss_size=0.4,
        noisy=("hidden0",),
        blocks="inputs do not come by factor",
        alone="every input takes part in every feature",
        rendering=NUMBERS_ARE_NOT_DRAWN,
        pretrained=True,
    )


def subset_rows(*, rows: int, seed: int = 0) -> Task:
    """Rows of the main task. The teachers are the same for all seeds, because nets are pretrained on one of them."""
    return teacher_task(_teachers().main, train=rows, test=1000, seed=seed)


def pretrained(
    *, width: int, rows: int, steps: int, initial_scale: float, factor: float, key: PRNGKeyArray
) -> Net:
    """A net trained on the auxiliary task, with all weights then multiplied by `factor`.

    `initial_scale` multiplies the weights before pretraining.
    """
    seed = int(jax.random.randint(key, (), 0, 2**31 - 1))
    task = teacher_task(_teachers().aux, train=rows, test=10, seed=seed)
    recipe = Recipe(steps=steps, batch=128, optimiser=adam(RATE), initial_scale=initial_scale, record_rows=10)
    net = fit(Part(mlp, inputs=INPUTS, width=width, depth=1, outputs=1), task, recipe, seeds=(seed,)).net()
    changed: Net = net if factor == 1 else rescale(net, factor)
    return changed


def _teachers() -> Any:
    return relu_teachers((1.0,) * SUBSET, amplitude="1/k", seed=0)
