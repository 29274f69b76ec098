"""The claims of the study. Thresholds were fixed before anything was measured."""

from __future__ import annotations

from recombine.studies.claims import Claim
from recombine.studies.forced_rendering.claims import failure, further, rendering, statements, stripes

GROUPS = (statements, failure, rendering, stripes, further)
CLAIMS: tuple[Claim, ...] = tuple(
    sorted((claim for group in GROUPS for claim in group.CLAIMS), key=lambda claim: int(claim.id))
)
SOURCES = (
    "Sources: caption, a caption of the paper; log, plot and weights, the authors' saved notebooks and shipped "
    "weights; check, a small run made to set the threshold; inference, a plausible direction without a published "
    "number."
)

__all__ = ["CLAIMS", "SOURCES"]
