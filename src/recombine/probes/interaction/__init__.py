"""How do the slots of a decoder interact? Measured on any function of latents, from anywhere.

`interaction_profile` measures the order of interaction across slots, `asymmetry_report` whether interaction within
slots is of higher order, which is what makes slots identifiable, and `discover_slots` looks for slots in flat latents.

**Reference:** Brady, von Kügelgen, Lachapelle, Buchholz, Kipf and Brendel, Interaction asymmetry: a general principle
for learning composable abstractions, ICLR 2025, arXiv 2411.07784.
"""

from recombine.probes.interaction.decoder import Decoder, as_decoder
from recombine.probes.interaction.differences import mixed_difference
from recombine.probes.interaction.measure import interaction_profile
from recombine.probes.interaction.profile import InteractionProfile
from recombine.probes.interaction.shares import Share
from recombine.probes.interaction.slots import as_slots

__all__ = [
    "Decoder",
    "InteractionProfile",
    "Share",
    "as_decoder",
    "as_slots",
    "interaction_profile",
    "mixed_difference",
]
