"""Exact statements, as trials without training."""

from __future__ import annotations

from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.claims import Scale
from recombine.studies.interaction_asymmetry import identities, model_identities
from recombine.studies.interaction_asymmetry.arms.shared import EXACT_SEEDS
from recombine.tasks import interaction_task

IDENTITIES = {
    "profiles": identities.profiles,
    "orders": identities.orders,
    "finite differences": identities.finite_differences,
    "probe estimates": identities.probe_estimates,
    "rotations": identities.rotation_scan,
    "independence": identities.independence_ranks,
    "bent slots": identities.reparametrisation,
    "L-shape": identities.l_shape,
    "indecomposability": identities.indecomposability,
    "attention values": model_identities.attention_values,
    "attention identity": model_identities.attention_identity,
    "parameter counts": model_identities.parameter_counts,
    "metric values": model_identities.metric_values,
    "sprite statistics": model_identities.sprite_statistics,
    "schedules": model_identities.schedules,
}
FIXED = ("profiles", "orders", "rotations", "bent slots", "parameter counts", "schedules")
"""Not random: one seed is enough."""


def _seeds(name: str, scale: Scale) -> tuple[int, ...]:
    return EXACT_SEEDS[scale][:1] if name in FIXED else EXACT_SEEDS[scale]


def exact_arms(scale: Scale) -> dict[str, Trial]:
    """Each is measured for every seed; the task is only the source of the seed."""
    carrier = Part(interaction_task, rows=10, test=0)
    return {name: Trial(carrier, (Part(probe),), _seeds(name, scale)) for name, probe in IDENTITIES.items()}
