"""Exact statements, as trials without training."""

from __future__ import annotations

from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.kernel_theory import identities, predictions
from recombine.tasks import dispersed_addition

IDENTITIES = {
    "round trips": identities.round_trips,
    "spectra": identities.spectra,
    "additivity": identities.additivity,
    "ridge identity": identities.ridge_identity,
    "slope law": identities.slope_law,
    "context forms": predictions.context_forms,
    "finite network": predictions.finite_network,
}
"""Measured for several seeds, because they hold for random kernels, labels and training sets."""
FACTS = {
    "trajectories": identities.trajectories,
    "small tables": identities.small_tables,
    "equivalence": predictions.equivalence,
    "ordering": predictions.ordering,
    "context tables": predictions.context_tables,
    "region": predictions.region,
    "depths": predictions.depths,
    "decompositions": predictions.decompositions,
    "dispersed": predictions.dispersed,
    "verdicts": predictions.verdicts,
}
"""Measured once: nothing in them is random."""


def exact_arms(seeds: tuple[int, ...]) -> dict[str, Trial]:
    """Identities for all seeds, facts for the first."""
    carrier = Part(dispersed_addition)
    arms = {name: Trial(carrier, (Part(probe),), seeds) for name, probe in IDENTITIES.items()}
    return arms | {name: Trial(carrier, (Part(probe),), seeds[:1]) for name, probe in FACTS.items()}
