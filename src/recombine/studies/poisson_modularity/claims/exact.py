"""Claims 1 to 4 and 20: constants, derivations and measures."""

from __future__ import annotations

from recombine.studies.claims import Claim
from recombine.studies.poisson_modularity.checks import exact as checks

CLAIMS = (
    Claim(
        "1",
        "the tasks' constants, first rows, held-out cells and counts equal the published ones to 6 digits",
        "code",
        "0.784913, ...",
        ("constants",),
        checks.constants,
        decided_at="smoke",
    ),
    Claim(
        "2",
        "noise adds the loss that the Jacobian form predicts: ratio 1 ± 0.03 for three exponents and levels",
        "derived",
        "–",
        ("excess loss",),
        checks.excess_loss,
    ),
    Claim(
        "3",
        "the penalty's gradient is correct to 1e-4, and its last layer equals that of the Jacobian form",
        "derived",
        "–",
        ("gradients",),
        checks.gradients,
        decided_at="smoke",
    ),
    Claim(
        "4",
        "activity × c and next weights / c: the penalty is unchanged (alpha 2) or falls as 1/c (alpha 1), to 1e-6",
        "derived",
        "–",
        ("rescaling",),
        checks.rescaling,
        decided_at="smoke",
    ),
    Claim(
        "20",
        "measures of modularity distinguish blocks from dense nets, 2 to 8 unequal modules, and ignore dead units",
        "derived",
        "–",
        ("metrics",),
        checks.metrics,
        decided_at="smoke",
    ),
)
