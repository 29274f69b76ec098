"""What all arms share: seeds, the published net and the published recipe."""

from __future__ import annotations

from typing import Any

from recombine.nets import leaky_relu, mlp
from recombine.parts import Part
from recombine.remedies import l2, weighted_activity
from recombine.studies.claims import Scale
from recombine.studies.poisson_modularity import module_probes
from recombine.tasks import modular_task
from recombine.training import Noise, Penalty, Recipe, adam

SEEDS = {"smoke": (0,), "quick": (0, 1, 2), "paper": tuple(range(6))}
MODULES = 4
WIDTH = 8
"""Hidden units per module and layer: 32 for four modules, as published."""
DEPTH = 3
HIDDEN = tuple(f"hidden{layer}" for layer in range(DEPTH))
EPOCHS = 10_000
BATCH = 200
ROWS = 1000
STEPS = EPOCHS * ROWS // BATCH
"""50,000 in every arm, so that no regime is trained longer than another."""
L2_WEIGHT = 1e-4
WA_WEIGHT = 1e-3
LEAKY = Part(leaky_relu, slope=0.1)

L2 = Penalty(Part(l2), L2_WEIGHT)
"""Part of every published run."""


def weighted(weight: float = WA_WEIGHT, alpha: float = 2.0) -> Penalty:
    """Weighted activity on all hidden layers."""
    return Penalty(Part(weighted_activity, alpha=alpha), weight)


def noise(exponent: float, level: float = 0.1) -> tuple[Noise, ...]:
    """Noise after every hidden layer, also when losses are recorded, as published."""
    return (Noise(HIDDEN, level, exponent, evaluation=True),)


def net(modules: int = MODULES, activation: Part = LEAKY, **settings: Any) -> Part:
    """K-32-32-32-K, eight hidden units per module and layer."""
    return Part(
        mlp,
        inputs=modules,
        width=WIDTH * modules,
        depth=DEPTH,
        outputs=modules,
        activation=activation,
        **settings,
    )


def recipe(scale: Scale, *extra: Penalty, base: tuple[Penalty, ...] = (L2,), **settings: Any) -> Recipe:
    """Adam at 1e-3, batches of 200 in a fixed order, 50,000 steps."""
    steps = 40 if scale == "smoke" else STEPS
    return Recipe(
        steps=steps,
        batch=BATCH,
        sampling="ordered",
        optimiser=adam(1e-3),
        penalties=(*base, *extra),
        **settings,
    )


SINES = Part(modular_task)
PROBES = (Part(module_probes.task_errors), Part(module_probes.modularity))
ROBUSTNESS = (Part(module_probes.noise_robustness), Part(module_probes.shift_errors))
