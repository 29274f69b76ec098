"""Networks with one-hot symbols as inputs: how all sections set them up, and which of their seeds count."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool

from recombine.nets import mlp
from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.evidence import Arm, ArmPlan, Scale
from recombine.studies.kernel_theory import symbol_probes
from recombine.tasks import addition, context_dependence, transitive_equivalence
from recombine.training import Recipe, adam
from recombine.training.losses import logistic
from recombine.training.recipe import Optimiser

SEEDS = {"smoke": 1, "quick": 10, "paper": 20}
"""Published: 6. A seed takes less than a second, ten of them in one program."""
TOGETHER = 10
STEPS = 40_000
"""At most; training stops when the loss is below 1e-4."""
PAPER_STEPS = 100_000
LOGISTIC = Part(logistic)
HIDDEN = (3, 2, 1)
"""CD-3, CD-2 and CD-1: how many of the three levels of each class are held out."""
PARTNERS = {"extrapolation": 1, "interpolation": 2, "both": 2, "asymmetric": 1}
"""Training partners of every number in addition."""
DEPTHS = (1, 2, 3, 4)
"""Hidden layers of the deep nets."""
EXPONENTS = tuple(range(-6, 1))
"""Published initial scales, as powers of ten."""
INPUTS = {
    Part(addition).name: 18,
    Part(context_dependence).name: 14,
    Part(transitive_equivalence).name: 8,
}


def addition_arm(anchors: str, regime: str) -> str:
    """Addition with one hidden layer."""
    return f"addition {anchors}, {regime}"


def context_arm(hidden: int, regime: str, loss: str) -> str:
    """Context dependence with one hidden layer."""
    return f"CD-{hidden}, {regime}, {loss}"


def deep_arm(task: str, depth: int) -> str:
    """Networks with 100 units in each of `depth` layers."""
    return f"{task}, {depth} layers"


def sweep_arm(task: str, exponent: int, loss: str = "squared") -> str:
    """One hidden layer whose initial weights are 10^exponent times the standard ones (scale paper only)."""
    return f"{task}, 1e{exponent}, {loss}"


def symbol_plan(
    scale: Scale,
    task: Part,
    optimiser: Optimiser,
    initial_scale: float,
    steps: int,
    *,
    width: int = 1000,
    depth: int = 1,
    probes: tuple[Part, ...] = (),
    **recipe: Any,
) -> ArmPlan:
    """Full-batch training of a ReLU net whose initial weights are `initial_scale` times the standard ones."""
    measured = [Part(symbol_probes.predictions), Part(symbol_probes.additivity)]
    if task.name == Part(addition).name:
        measured.append(Part(symbol_probes.slopes))
    net = Part(mlp, inputs=INPUTS[task.name], width=width, depth=depth, outputs=1, normal=True)
    steps = 20 if scale == "smoke" else steps
    how = Recipe(steps=steps, batch=None, optimiser=optimiser, initial_scale=initial_scale, **recipe)
    trial = Trial(task, (*measured, *probes), (0,), net, how)
    return ArmPlan(trial, seeds=SEEDS[scale], together=TOGETHER)


def deep_plan(scale: Scale, task: Part, depth: int, **settings: Any) -> ArmPlan:
    """`depth` layers of 100 units with small initial weights, as published."""
    steps = PAPER_STEPS if scale == "paper" else STEPS
    stop: dict[str, Any] = {"stop_below": 1e-4, "record_every": 500}
    return symbol_plan(scale, task, adam(1e-4), 0.1, steps, width=100, depth=depth, **stop, **settings)


FITTED = "fitted (training stopped at its loss)"


def stopped(*arms: Arm) -> Bool[np.ndarray, " seeds"]:
    """Seeds whose nets all reached the loss at which training stops."""
    return np.asarray(np.all([[word == "stopped" for word in arm.status] for arm in arms], axis=0))


LEARNED = "learned (all seen cells right)"


def all_right(*arms: Arm) -> Bool[np.ndarray, " seeds"]:
    """Seeds whose nets all give every seen cell the right sign."""
    return np.asarray(np.all([arm["right_in"] == 1 for arm in arms], axis=0))
