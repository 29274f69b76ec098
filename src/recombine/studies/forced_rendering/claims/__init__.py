"""The claims of the study. All thresholds were fixed before the first measurement."""

from __future__ import annotations

from recombine.studies.claims import Claim
from recombine.studies.forced_rendering.claims import failure, further, rendering, statements, stripes

GROUPS = (statements, failure, rendering, stripes, further)
CLAIMS: tuple[Claim, ...] = tuple(
    sorted((claim for group in GROUPS for claim in group.CLAIMS), key=lambda claim: int(claim.id))
)
SOURCES = (
    "Sources: caption: a figure caption in the paper; log, plot, weights: the authors' saved notebooks and released "
    "weights; check: a small run of ours that set the threshold; inference: a plausible direction without a published "
    "number."
)

__all__ = ["CLAIMS", "SOURCES"]
