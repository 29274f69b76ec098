"""Nets on independent sines: the published sizes and recipe, and how modular a trained net is.

All sections of the study start from these settings.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.nets import leaky_relu, mlp
from recombine.parts import Part
from recombine.remedies import l2, weighted_activity
from recombine.runs import Trial
from recombine.studies.evidence import Arm, ArmPlan, Scale
from recombine.studies.poisson_modularity import module_probes
from recombine.tasks import modular_task
from recombine.training import Noise, Penalty, Recipe, adam

SEEDS = {"smoke": 1, "quick": 10, "paper": 20}
"""The published runs have one seed each, which is not set."""
TOGETHER = 5
"""Seeds per program: ten seeds keep two cores busy, and later seeds reuse the program."""
MODULES = 4
WIDTH = 8
"""Hidden units per module and layer: 32 for four modules, as published."""
DEPTH = 3
HIDDEN = tuple(f"hidden{layer}" for layer in range(DEPTH))
BATCH = 200
ROWS = 1000
EPOCHS = 10_000
"""As published, in every arm, so that no regime is trained longer than another."""
LEAKY = Part(leaky_relu, slope=0.1)
SINES = Part(modular_task)
L2 = Penalty(Part(l2), 1e-4)
"""Part of every published run."""

PROBES = (Part(module_probes.task_errors), Part(module_probes.modularity))
ROBUSTNESS = (Part(module_probes.noise_robustness), Part(module_probes.shift_errors))

MODULAR = 0.98
"""A net counts as modular if at least this share of squared weight is inside modules, in its least modular layer."""
FITTED = 4e-4
"""Training error, without noise, of a net that has learned four sines; the published ones reach 1e-4."""
FITTED_WITH_NOISE = 1e-2
"""The same for nets trained with noise or a strong penalty; published errors, with noise, are up to 4e-3."""
FLOOR = 1e-6
"""The smallest share of weight outside modules that ratios distinguish from none."""


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


def weighted(weight: float = 1e-3, alpha: float = 2.0) -> Penalty:
    """Weighted activity on all hidden layers, by default with the published weight and exponent."""
    return Penalty(Part(weighted_activity, alpha=alpha), weight)


def noise(exponent: float, level: float = 0.1) -> tuple[Noise, ...]:
    """Noise after every hidden layer, also when losses are recorded, as published."""
    return (Noise(HIDDEN, level, exponent, evaluation=True),)


def recipe(
    scale: Scale, *extra: Penalty, base: tuple[Penalty, ...] = (L2,), epochs: int = EPOCHS, **settings: Any
) -> Recipe:
    """Adam at 1e-3, batches of 200 in a fixed order; `epochs` of 1000 rows, whatever the number of rows."""
    return Recipe(
        steps=40 if scale == "smoke" else epochs * ROWS // BATCH,
        batch=BATCH,
        sampling="ordered",
        optimiser=adam(1e-3),
        penalties=(*base, *extra),
        **settings,
    )


def sine_plan(
    scale: Scale, how: Recipe, network: Part | None = None, *, task: Part = SINES, robustness: bool = True
) -> ArmPlan:
    """An arm on the published four sines; at scale smoke without the probes that take long to compile."""
    probes = (*PROBES, *ROBUSTNESS) if robustness else PROBES
    trial = Trial(task, probes, (0,), network or net(), how)
    return ArmPlan(trial, seeds=SEEDS[scale], together=TOGETHER)


def inside(arm: Arm) -> np.ndarray:
    """The share of squared weight inside modules in the least modular layer, for every seed."""
    return arm["in_block"].min(axis=1)


def outside(arm: Arm, *, layer: str = "least modular") -> np.ndarray:
    """The share of squared weight outside modules in the least (or most) modular layer, for every seed."""
    per_layer = 1 - arm["in_block"]
    shares = per_layer.max(axis=1) if layer == "least modular" else per_layer.min(axis=1)
    return np.maximum(shares, FLOOR)


def other_outputs(arm: Arm, name: str) -> np.ndarray:
    """The mean error over all outputs but the first."""
    return arm[name][..., 1:].mean(axis=-1)


OUTSIDE = "squared weight outside modules in the least modular layer"
"""What most claims compare. A ratio of 10 means ten times as much weight between modules."""
