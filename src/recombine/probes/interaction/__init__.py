"""How do the slots of a decoder interact? Measured on any function of latents, from anywhere.

`interaction_profile` measures the order of interaction across slots, `asymmetry_report` whether interaction within
slots is of higher order, which is what makes slots identifiable, and `discover_slots` looks for slots in flat latents.

**Reference:** Brady, von Kügelgen, Lachapelle, Buchholz, Kipf and Brendel, Interaction asymmetry: a general principle
for learning composable abstractions, ICLR 2025, arXiv 2411.07784.
"""

from recombine.probes.interaction.asymmetry import AsymmetryReport, asymmetry_report
from recombine.probes.interaction.decoder import Decoder, as_decoder
from recombine.probes.interaction.differences import mixed_difference
from recombine.probes.interaction.discovery import Discovery, discover_slots
from recombine.probes.interaction.independence import (
    Independence,
    independence_of,
    sufficient_independence,
)
from recombine.probes.interaction.measure import interaction_profile
from recombine.probes.interaction.profile import InteractionProfile
from recombine.probes.interaction.shares import Share
from recombine.probes.interaction.slots import as_slots
from recombine.probes.interaction.splitting import (
    Splitting,
    hessian_parts,
    jacobian_parts,
    third_parts,
)
from recombine.probes.interaction.tensors import derivative_tensors
from recombine.probes.interaction.within import slot_parts

__all__ = [
    "AsymmetryReport",
    "Decoder",
    "Discovery",
    "Independence",
    "InteractionProfile",
    "Share",
    "Splitting",
    "as_decoder",
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
