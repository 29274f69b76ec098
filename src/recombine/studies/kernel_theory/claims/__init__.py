"""The claims of the study. All thresholds were fixed before the first measurement."""

from __future__ import annotations

from recombine.studies.claims import Claim
from recombine.studies.kernel_theory.claims import forecasts, images, networks, theory

GROUPS = (theory, networks, images, forecasts)
CLAIMS: tuple[Claim, ...] = tuple(
    sorted((claim for group in GROUPS for claim in group.CLAIMS), key=lambda claim: int(claim.id))
)
SOURCES = (
    "Sources: theorem: a statement of the paper or a corollary of it; figure: read off a published figure; code: the "
    "authors' code; check: a small run of ours that set the threshold."
)

__all__ = ["CLAIMS", "SOURCES"]
