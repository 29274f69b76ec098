"""Exact statements, as trials without training."""

from __future__ import annotations

from dataclasses import replace

from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.claims import Scale
from recombine.studies.poisson_modularity import identities
from recombine.studies.poisson_modularity.arms.shared import BATCH, ROWS, SEEDS, SINES, net, recipe
from recombine.tasks import modular_task

IDENTITIES = {
    "constants": identities.constants,
    "gradients": identities.gradients,
    "rescaling": identities.rescaling,
    "metrics": identities.metrics,
}


def exact_arms(scale: Scale) -> dict[str, Trial]:
    """Each is measured for every seed; most use the task only as a source of the seed."""
    carrier = Part(modular_task, train=200, test=200, draw=None)
    arms = {name: Trial(carrier, (Part(probe),), SEEDS[scale]) for name, probe in IDENTITIES.items()}
    if scale == "smoke":
        fewer = Trial(carrier, (Part(identities.metrics, nets=10),), SEEDS[scale])
        return arms | {"metrics": fewer}
    how = replace(recipe(scale), steps=300 * ROWS // BATCH)
    return arms | {"excess loss": Trial(SINES, (Part(identities.excess_loss),), SEEDS[scale], net(), how)}
