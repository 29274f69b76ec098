"""Nets that are modular by construction, dense nets and bottleneck nets, on regions that were not in training."""

from __future__ import annotations

from recombine.nets import mlp, modules_then_dense
from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.claims import Scale
from recombine.studies.poisson_modularity import region_probes
from recombine.studies.poisson_modularity.arms.shared import LEAKY, SEEDS
from recombine.studies.poisson_modularity.compositions import gaussian_wedge, random_composition
from recombine.training import Recipe, adamw

TASKS = {"wedge": Part(gaussian_wedge), "composition": Part(random_composition)}
DECAY = {"wedge": 0.0, "composition": 1e-4}
NETS = {
    "modular": Part(
        modules_then_dense,
        modules=2,
        module_width=64,
        module_depth=1,
        width=128,
        depth=1,
        outputs=1,
        activation=LEAKY,
    ),
    "full": Part(mlp, inputs=2, width=128, depth=3, outputs=1, activation=LEAKY),
    "bottleneck": Part(mlp, inputs=2, width=(128, 2, 128), outputs=1, activation=LEAKY),
    "full, small": Part(mlp, inputs=2, width=20, depth=3, outputs=1, activation=LEAKY),
}
"""The last one is ours: dense, with about as many parameters as the modular net (921 and 899)."""
EPOCHS = 2000


def region_arm(task: str, net: str) -> str:
    """One net on one of the two tasks."""
    return f"{task}, {net}"


def composition_arms(scale: Scale) -> dict[str, Trial]:
    """Four nets on two tasks, at the published length."""
    arms = {}
    for task, part in TASKS.items():
        how = Recipe(
            epochs=1 if scale == "smoke" else EPOCHS,
            batch=64,
            sampling="ordered",
            optimiser=adamw(1e-3, weight_decay=DECAY[task]),
        )
        for name, net in NETS.items():
            probes = (Part(region_probes.region_errors), Part(region_probes.map_of))
            arms[region_arm(task, name)] = Trial(part, probes, SEEDS[scale], net, how)
    return {name: arms[name] for name in ("composition, modular",)} if scale == "smoke" else arms
