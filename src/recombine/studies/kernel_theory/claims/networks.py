"""Claims 18 to 22 and 32: small networks on symbols."""

from __future__ import annotations

from recombine.studies.claims import Claim
from recombine.studies.kernel_theory.arms.networks import (
    DEPTHS,
    EXPONENTS,
    HIDDEN,
    REGIMES,
    addition_arm,
    context_arm,
    deep_arm,
    sweep_arm,
)
from recombine.studies.kernel_theory.checks import networks as checks
from recombine.tasks.symbolic import ANCHORS

LOSSES = ("squared", "cross-entropy")

CLAIMS = (
    Claim(
        "18",
        "lazy networks add like the kernel: slopes 0.76, 0.85, 0.85, 0.73 ± 0.06, additive (R² > 0.99)",
        "figure",
        "0.745, 0.85, 0.85, 0.72",
        tuple(addition_arm(anchors, "lazy") for anchors in ANCHORS),
        checks.lazy_addition,
        also=tuple(sweep_arm(f"addition {anchors}", e) for anchors in ANCHORS for e in EXPONENTS),
        finding="Slopes differ by about 0.03 between seeds at 1000 units. With seed offset 1000 one asymmetric net of "
        "three has 0.795, just outside its band (0.67 to 0.79), so the verdict is fragile.",
    ),
    Claim(
        "19",
        "rich networks interpolate better (> 0.97) and are nonlinear where extrapolation is one-sided (slope < 0.5, "
        "R² < 0.85)",
        "figure",
        "0.993, 0.91, 0.75",
        tuple(addition_arm(anchors, "rich") for anchors in ANCHORS),
        checks.rich_addition,
    ),
    Claim(
        "20",
        "rich networks solve transitive equivalence (100%, margins > 0.9), lazy ones do not (≤ 75%)",
        "figure",
        "100%, about 50%",
        tuple(f"equivalence, {regime}" for regime in REGIMES),
        checks.equivalence_networks,
        also=tuple(sweep_arm("equivalence", e, loss) for e in EXPONENTS for loss in LOSSES),
    ),
    Claim(
        "21",
        "with cross-entropy, networks fail CD-3 (≤ 10%) and pass CD-2 and CD-1; with squared loss they pass CD-3",
        "check",
        "–",
        (
            *(context_arm(h, regime, "cross-entropy") for h in HIDDEN for regime in ("lazy", "rich")),
            context_arm(3, "lazy", "squared"),
        ),
        checks.context_networks,
        also=(
            *(context_arm(h, "lazy", "squared") for h in (2, 1)),
            *(sweep_arm(f"CD-{h}", e, loss) for h in HIDDEN for e in EXPONENTS for loss in LOSSES),
        ),
    ),
    Claim(
        "22",
        "deep networks: interpolation 1.00 ± 0.03, extrapolation 0.72 to 0.63 ± 0.06 over 1 to 4 layers; "
        "equivalence solved",
        "figure",
        "0.72 to 0.63",
        tuple(deep_arm(t, d) for t in ("interpolation", "extrapolation", "equivalence") for d in DEPTHS),
        checks.deep_networks,
        also=tuple(deep_arm(task, d) for task in ("both", "asymmetric") for d in DEPTHS),
    ),
    Claim(
        "32",
        "deep networks: context alone has more weight than the right conjunctions in CD-3, less in CD-2 and CD-1",
        "figure",
        "2.7 to 2.3 against 0.7 to 0.4",
        tuple(deep_arm(f"CD-{h}", d) for h in HIDDEN for d in DEPTHS),
        checks.deep_context,
        exploratory=True,
    ),
)
