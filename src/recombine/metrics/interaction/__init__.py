"""How do the slots of a decoder interact? Measured on any function of latents, in any framework.

`interaction_profile` measures the order of interaction across slots. `asymmetry_report` tests whether interaction
within slots has a higher order, which makes slots identifiable. `discover_slots` looks for slots in flat latents.

**Reference:** Brady, von Kügelgen, Lachapelle, Buchholz, Kipf and Brendel, Interaction asymmetry: a general principle
for learning composable abstractions, ICLR 2025, arXiv 2411.07784.
"""

from recombine.metrics.interaction.asymmetry import AsymmetryReport, asymmetry_report
from recombine.metrics.interaction.derivative_tensors import derivative_tensors
from recombine.metrics.interaction.differences import mixed_difference
from recombine.metrics.interaction.discovery import Discovery, discover_slots
from recombine.metrics.interaction.independence import (
    Independence,
    independence_of,
    sufficient_independence,
)
from recombine.metrics.interaction.measure import interaction_profile
from recombine.metrics.interaction.profile import InteractionProfile
from recombine.metrics.interaction.shares import Share
from recombine.metrics.interaction.slot_partition import as_slots
from recombine.metrics.interaction.splitting import Splitting, hessian_parts, jacobian_parts, third_parts
from recombine.metrics.interaction.within import slot_parts

__all__ = [
    "AsymmetryReport",
    "Discovery",
    "Independence",
    "InteractionProfile",
    "Share",
    "Splitting",
    "as_slots",
    "asymmetry_report",
    "derivative_tensors",
    "discover_slots",
    "hessian_parts",
    "independence_of",
    "interaction_profile",
    "jacobian_parts",
    "mixed_difference",
    "slot_parts",
    "sufficient_independence",
    "third_parts",
]
