"""What all arms share: seeds, the penalties, and how a small slot autoencoder is trained."""

from __future__ import annotations

from typing import Any

from recombine.fit import Penalty, Recipe, adam
from recombine.fit.losses import summed_squared_error
from recombine.fit.recipe import Schedule
from recombine.parts import Part
from recombine.remedies import attention_interaction, capacity
from recombine.studies.claims import Scale

SEEDS = {"smoke": (0,), "quick": (0, 1, 2), "paper": (0, 1, 2)}
EXACT_SEEDS = {"smoke": (0,), "quick": (0, 1, 2), "paper": tuple(range(10))}
MORE_SEEDS = {"smoke": (0,), "quick": (0, 1, 2, 3, 4), "paper": tuple(range(10))}
"""For the line world, where the question is settled."""
ERROR_WEIGHT = 5.0
"""Of the squared error where a penalty is on, as for the published sprites; otherwise 1."""
BETA = 0.05
PEAK = 1e-3


def penalties(alpha: float, beta: float, steps: int) -> tuple[Penalty, ...]:
    """The capacity term with weight beta and the interaction term with weight alpha (head-mean units).

    Alpha grows over the first tenth of training.
    """
    found = [Penalty(Part(capacity), beta)] if beta else []
    if alpha:
        found.append(Penalty(Part(attention_interaction), alpha, warmup=max(1, steps // 10)))
    return tuple(found)


def recipe(scale: Scale, steps: int, *, alpha: float = 0.0, beta: float = 0.0, **settings: Any) -> Recipe:
    """Adam with a short warm-up and cosine decay; the weight of the error keeps the published balance."""
    steps = 20 if scale == "smoke" else steps
    chosen = penalties(alpha, beta, steps)
    usual: dict[str, Any] = {
        "batch": 64,
        "optimiser": adam(PEAK),
        "schedule": Schedule("cosine", warmup=max(1, min(300, steps // 10))),
        "loss": Part(summed_squared_error, weight=ERROR_WEIGHT if chosen else 1.0),
        "penalties": chosen,
        "record_rows": 500,
    }
    return Recipe(steps=steps, **usual | settings)
