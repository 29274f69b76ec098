"""The claims of the study. Thresholds were fixed before anything was measured.

Sources: "paper" is said in the paper's abstract, "code" is the authors' public code and what it prints, "derived"
follows from the formulas, "rerun" was set with slack around single runs of another implementation, "ours" is neither.
"""

from __future__ import annotations

from recombine.studies.claims import Claim
from recombine.studies.poisson_modularity.claims import elsewhere, exact, regimes

CLAIMS: tuple[Claim, ...] = tuple(
    sorted(
        (claim for group in (exact, regimes, elsewhere) for claim in group.CLAIMS),
        key=lambda claim: int(claim.id),
    )
)

__all__ = ["CLAIMS"]
