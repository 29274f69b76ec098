"""The claims of the study. All thresholds were fixed before the first measurement."""

from __future__ import annotations

from recombine.studies.claims import Claim
from recombine.studies.poisson_modularity.claims import elsewhere, exact, regimes

CLAIMS: tuple[Claim, ...] = tuple(
    sorted(
        (claim for group in (exact, regimes, elsewhere) for claim in group.CLAIMS),
        key=lambda claim: int(claim.id),
    )
)
SOURCES = (
    "Sources: paper: stated in the abstract or on the first page; code: the authors' public code and its output; "
    "derived: follows from formulas, whether or not the paper contains them; rerun: a threshold with slack around "
    "single runs of an independent implementation; ours: neither published nor run before."
)

__all__ = ["CLAIMS", "SOURCES"]
