"""The claims of the study. All thresholds were fixed before the runs that decide them."""

from __future__ import annotations

from recombine.studies.claims import Claim
from recombine.studies.interaction_asymmetry.claims import exact, trained

CLAIMS: tuple[Claim, ...] = (*exact.CLAIMS, *trained.CLAIMS)
SOURCES = (
    "Sources: paper: stated in the abstract or the public reviews; code: the authors' public code; derived: follows "
    "from definitions and is checked against a second implementation; rerun: statistics of such an implementation; "
    "ours: neither published nor run before. The paper's tables of numbers were not available."
)

__all__ = ["CLAIMS", "SOURCES"]
