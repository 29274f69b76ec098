"""Addition, context dependence and associative inference on symbols (kernel theory)."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.nets import mlp
from recombine.parts import Part
from recombine.studies.evidence import Scale
from recombine.studies.remedies.failing_world import (
    LABELS_ARE_NOT_DRAWN,
    NUMBERS_ARE_NOT_DRAWN,
    FailingWorld,
)
from recombine.tasks import Task, addition, context_dependence, transitive_equivalence
from recombine.training import Recipe, adam
from recombine.training.losses import cross_entropy

PAPER = "kernel-theory"
WIDTH = {"smoke": 16, "quick": 128, "paper": 1024}
STEPS = {"smoke": 20, "quick": 1500, "paper": 20_000}
DEPTH = 2
HIDDEN = tuple(f"hidden{i}" for i in range(DEPTH))
ITEMS = 3
"""In each of the two classes of associative inference."""
LAZY = 4.0
"""Factor on the initial weights: plain nets learn in the regime of fixed features that the theory describes."""
NO_LABEL = "a factor on its own has no label"


def addition_world(scale: Scale) -> FailingWorld:
    """Sums of two of nine values, of which training shows those with a zero."""
    return FailingWorld(
        "addition",
        "add two values; training shows sums with zero only",
        PAPER,
        outputs="quantities",
        task=Part(addition),
        net=Part(mlp, inputs=18, width=WIDTH[scale], depth=DEPTH, outputs=1),
        recipe=_recipe(scale),
        loss_size=7.0,
        noisy=HIDDEN,
        blocks=(9, 9),
        alone=Part(summands),
        rendering=NUMBERS_ARE_NOT_DRAWN,
    )


def context_world(scale: Scale) -> FailingWorld:
    """Which of two features counts depends on a context (CD-3)."""
    return FailingWorld(
        "context dependence",
        "a context says which of two features decides; a quarter of the pairs of features is never shown",
        PAPER,
        outputs="labels",
        task=Part(two_classes, task=Part(context_dependence)),
        net=Part(mlp, inputs=14, width=WIDTH[scale], depth=DEPTH, outputs=2),
        recipe=_recipe(scale, loss=Part(cross_entropy)),
        loss_size=0.69,
        noisy=HIDDEN,
        blocks=(2, 6, 6),
        alone=NO_LABEL,
        rendering=LABELS_ARE_NOT_DRAWN,
    )


def associative_world(scale: Scale) -> FailingWorld:
    """Whether two items belong to one class, trained on pairs with a hub."""
    items = 2 * ITEMS
    task = Part(transitive_equivalence, classes=(ITEMS, ITEMS), hubs=(1, 1))
    return FailingWorld(
        "associative inference",
        "say whether two items belong together; training shows pairs with one of two hubs",
        PAPER,
        outputs="labels",
        task=Part(two_classes, task=task),
        net=Part(mlp, inputs=2 * items, width=WIDTH[scale], depth=DEPTH, outputs=2),
        recipe=_recipe(scale, loss=Part(cross_entropy)),
        loss_size=0.69,
        noisy=HIDDEN,
        blocks=(items, items),
        alone=NO_LABEL,
        rendering=LABELS_ARE_NOT_DRAWN,
    )


def _recipe(scale: Scale, **settings: Any) -> Recipe:
    return Recipe(steps=STEPS[scale], batch=None, optimiser=adam(1e-3), initial_scale=LAZY, **settings)


def two_classes(*, task: Part, seed: int = 0) -> Task:
    """A task with targets -1 and 1 as one with two classes."""
    made = task(seed=seed)
    return Task(made.split, made.inputs, (made.targets[:, 0] > 0).astype(int), "classification", made.cell)


def summands(task: Task) -> tuple[Any, Any]:
    """Each value of each summand alone; the code of the other is zero, and so is its part of the sum."""
    n = task.split.space.shape[0]
    values = np.tile(np.arange(n) - (n - 1) / 2, 2)[:, None]
    return np.eye(2 * n), values
