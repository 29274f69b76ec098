"""How small slot autoencoders of images are trained: the two penalties of the paper, and the recipe."""

from __future__ import annotations

from typing import Any

from recombine.parts import Part
from recombine.remedies import attention_interaction, capacity
from recombine.training import Penalty, Recipe, adam
from recombine.training.losses import summed_squared_error
from recombine.training.recipe import Schedule

BETA = 0.05
"""Weight of the capacity penalty, as published."""
PEAK = 1e-3


def penalties(alpha: float, beta: float, steps: int) -> tuple[Penalty, ...]:
    """The capacity term with weight beta and the interaction term with weight alpha (head-mean units).

    Alpha grows over the first tenth of training.
    """
    chosen = [Penalty(Part(capacity), beta)] if beta else []
    if alpha:
        chosen.append(Penalty(Part(attention_interaction), alpha, warmup=max(1, steps // 10)))
    return tuple(chosen)


def slot_recipe(
    steps: int,
    *,
    alpha: float = 0.0,
    beta: float = 0.0,
    error_weight: float = 1.0,
    batch: int = 64,
    peak: float = PEAK,
) -> Recipe:
    """Adam with a short warm-up and cosine decay, and the squared error summed over the image.

    **Arguments:**

    - `error_weight`: of the squared error if there is a penalty; without penalties it is 1, as in the authors' code.
    """
    chosen = penalties(alpha, beta, steps)
    weight: dict[str, Any] = {"weight": error_weight if chosen else 1.0}
    return Recipe(
        steps=steps,
        batch=batch,
        optimiser=adam(peak),
        schedule=Schedule("cosine", warmup=max(1, min(300, steps // 10))),
        loss=Part(summed_squared_error, **weight),
        penalties=chosen,
        record_rows=500,
    )
