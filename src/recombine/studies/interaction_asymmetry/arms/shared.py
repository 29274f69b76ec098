"""What all arms share: seeds, the penalties, and the recipe for a small slot autoencoder."""

from __future__ import annotations

from typing import Any

from recombine.parts import Part
from recombine.remedies import attention_interaction, capacity
from recombine.studies.claims import Scale
from recombine.training import Penalty, Recipe, adam
from recombine.training.losses import summed_squared_error
from recombine.training.recipe import Schedule

SEEDS = {"smoke": (0,), "quick": (0, 1, 2), "paper": (0, 1, 2)}
EXACT_SEEDS = {"smoke": (0,), "quick": (0, 1, 2), "paper": tuple(range(10))}
MORE_SEEDS = {"smoke": (0,), "quick": (0, 1, 2, 3, 4), "paper": tuple(range(10))}
"""For the line world, which decides the claims."""
ERROR_WEIGHT = 5.0
"""Weight of the squared error if there is a penalty, as for the published sprites; otherwise 1."""
BETA = 0.05
PEAK = 1e-3


def penalties(alpha: float, beta: float, steps: int) -> tuple[Penalty, ...]:
    """The capacity term with weight beta and the interaction term with weight alpha (head-mean units).

    Alpha grows over the first tenth of training.
    """
    chosen = [Penalty(Part(capacity), beta)] if beta else []
    if alpha:
        chosen.append(Penalty(Part(attention_interaction), alpha, warmup=max(1, steps // 10)))
    return tuple(chosen)


def recipe(scale: Scale, steps: int, *, alpha: float = 0.0, beta: float = 0.0, **settings: Any) -> Recipe:
    """Adam with a short warm-up and cosine decay; the weight of the error keeps the published balance."""
    steps = 20 if scale == "smoke" else steps
    chosen = penalties(alpha, beta, steps)
    defaults: dict[str, Any] = {
        "batch": 64,
        "optimiser": adam(PEAK),
        "schedule": Schedule("cosine", warmup=max(1, min(300, steps // 10))),
        "loss": Part(summed_squared_error, weight=ERROR_WEIGHT if chosen else 1.0),
        "penalties": chosen,
        "record_rows": 500,
    }
    return Recipe(steps=steps, **defaults | settings)
