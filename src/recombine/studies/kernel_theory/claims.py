"""The claims of the study. Thresholds were fixed before anything was measured.

Sources: "theorem" is a statement of the paper or a corollary of it, "figure" is read off a published figure, "code" is
the authors' code, "check" a small run made to set the threshold.
"""

from __future__ import annotations

from functools import partial

from recombine.studies.claims import Claim
from recombine.studies.kernel_theory import checks
from recombine.studies.kernel_theory.arms import (
    DEPTHS,
    HIDDEN,
    HOLES,
    REGIMES,
    addition_arm,
    context_arm,
    deep_arm,
    forecast_arm,
)
from recombine.tasks.symbolic import ANCHORS

CLAIMS = (
    Claim(
        "1",
        "similarity to salience and back, count and set form, up to five factors (1e-12)",
        "theorem",
        "identity",
        ("round trips",),
        partial(checks.at_most, arm="round trips", round_trip_gap=1e-12),
        decided_at="smoke",
    ),
    Claim(
        "2",
        "saliences of random networks add up to 1 (1e-12); ReLU of three layers as tabulated (1e-6)",
        "theorem",
        "0.2035, 0.0942, 0.1068",
        ("trajectories",),
        partial(checks.at_most, arm="trajectories", sum_gap=1e-12, relu_gap=1e-6),
        decided_at="smoke",
    ),
    Claim(
        "3",
        "the closed spectrum is that of the whole grid (1e-10)",
        "theorem",
        "identity",
        ("spectra",),
        partial(checks.at_most, arm="spectra", spectrum_gap=1e-10),
        decided_at="smoke",
    ),
    Claim(
        "4",
        "every kernel machine is a sum over seen conjunctions (1e-10)",
        "theorem 4.2",
        "identity",
        ("additivity",),
        partial(checks.at_most, arm="additivity", additivity_gap=1e-10),
        decided_at="smoke",
    ),
    Claim(
        "5",
        "minimum norm is ridge regression on lower orders, exemplars included (1e-10)",
        "corollary",
        "identity",
        ("ridge identity",),
        partial(checks.at_most, arm="ridge identity", ridge_gap=1e-10, exemplar_gap=1e-10),
        decided_at="smoke",
    ),
    Claim(
        "6",
        "addition shrinks by m = pS / (1 + (p - 2) S), 1 to 5 anchors anywhere (slope and offset 1e-6, line 1e-10)",
        "proposition 5.1",
        "m",
        ("slope law",),
        partial(checks.at_most, arm="slope law", slope_gap=1e-6, offset_gap=1e-6, line_residual=1e-10),
        decided_at="smoke",
    ),
    Claim(
        "7",
        "2 × 2 tables have their closed forms (1e-9): OR comes out right, AND and XOR wrong",
        "figure",
        "exact curves",
        ("small tables",),
        checks.small_tables,
        decided_at="smoke",
    ),
    Claim(
        "8",
        "transitive equivalence is out of reach: outputs 0 (1e-8), no signs possible, in three sizes",
        "theorem",
        "0",
        ("equivalence",),
        checks.equivalence,
        decided_at="smoke",
    ),
    Claim(
        "9",
        "transitive ordering is solved at every salience tried, more surely at larger distances",
        "check",
        "100 %",
        ("ordering",),
        checks.ordering,
        decided_at="smoke",
    ),
    Claim(
        "10",
        "context dependence: 54/18, 64/8 and 70/2 cells; context alone gets 67, 56 and 51 % in training, 0 % unseen",
        "code",
        "0.667, 0.563, 0.514",
        ("context tables",),
        checks.context_tables,
        decided_at="smoke",
    ),
    Claim(
        "11",
        "closed forms of CD-3 for largest margin (1e-4) and squared loss (1e-8), at least 100 random saliences",
        "check",
        "identity",
        ("context forms",),
        checks.context_forms,
        decided_at="smoke",
    ),
    Claim(
        "12",
        "the map of which context tasks generalise is the published one, tile by tile (625)",
        "figure",
        "0 differ",
        ("region",),
        checks.region,
        decided_at="smoke",
    ),
    Claim(
        "13",
        "random networks: ReLU passes CD-3 from 8 to 24 layers only, Gaussian always, step never",
        "figure",
        "8, 25",
        ("depths",),
        checks.depths,
        decided_at="smoke",
    ),
    Claim(
        "14",
        "coefficients of perfect and of inverted answers are the published ones (5e-4)",
        "figure",
        "0.617, 0.331, …",
        ("decompositions",),
        checks.decompositions,
        decided_at="smoke",
    ),
    Claim(
        "15",
        "dispersed addition: the published error over salience (0.01); exact interpolation ends at 0",
        "figure",
        "13.2 to 0.12",
        ("dispersed",),
        checks.dispersed,
        decided_at="smoke",
    ),
    Claim(
        "16",
        "expressible, fit, determined or completed by the norm: as derived, for 17 tasks",
        "theorem",
        "0 wrong",
        ("verdicts",),
        checks.verdicts,
        decided_at="smoke",
    ),
    Claim(
        "17",
        "20,000 random ReLU features have S(1;2) = 0.4264 ± 0.005 and depend on the overlap alone (3 %)",
        "proposition 4.1",
        "0.4264",
        ("finite network",),
        checks.finite_network,
        decided_at="smoke",
    ),
    Claim(
        "18",
        "lazy networks add like the kernel: slopes 0.76, 0.85, 0.85, 0.73 ± 0.06, additive (R² > 0.99)",
        "figure",
        "0.745, 0.85, 0.85, 0.72",
        tuple(addition_arm(anchors, "lazy") for anchors in ANCHORS),
        checks.lazy_addition,
        finding="Slopes differ by about 0.03 between seeds at 1000 units. With seed offset 1000 one asymmetric net of "
        "three has 0.795, just beyond its band (0.67 to 0.79), so the verdict is fragile there.",
    ),
    Claim(
        "19",
        "rich networks interpolate better (> 0.97) and bend where extrapolation is one-sided (slope < 0.5, "
        "R² < 0.85)",
        "figure",
        "0.993, 0.91, 0.75",
        tuple(addition_arm(anchors, "rich") for anchors in ANCHORS),
        checks.rich_addition,
    ),
    Claim(
        "20",
        "rich networks solve transitive equivalence (100 %, margins > 0.9), lazy ones do not (≤ 75 %)",
        "figure",
        "100 %, about 50 %",
        tuple(f"equivalence, {regime}" for regime in REGIMES),
        checks.equivalence_networks,
    ),
    Claim(
        "21",
        "with cross-entropy networks fail CD-3 (≤ 10 %) and pass CD-2 and CD-1; squared loss passes CD-3",
        "check",
        "–",
        (
            *(context_arm(h, regime, "cross-entropy") for h in HIDDEN for regime in ("lazy", "rich")),
            context_arm(3, "lazy", "squared"),
        ),
        checks.context_networks,
        also=tuple(context_arm(h, "lazy", "squared") for h in (2, 1)),
    ),
    Claim(
        "22",
        "deep networks: interpolation 1.00 ± 0.03, extrapolation 0.72 to 0.63 ± 0.06 over 1 to 4 layers; "
        "equivalence solved",
        "figure",
        "0.72 to 0.63",
        tuple(deep_arm(t, d) for t in ("interpolation", "extrapolation", "equivalence") for d in DEPTHS),
        checks.deep_networks,
        also=tuple(deep_arm("both", d) for d in DEPTHS),
    ),
    *(
        Claim(
            id,
            f"{world}, random splits: unseen error goes up and down with the forecast (rank correlation ≥ 0.5)",
            "our own",
            "–",
            tuple(forecast_arm(world, held_out) for held_out in held),
            partial(checks.forecast_holds, world=world),
            exploratory=True,
            finding="Much of the correlation is carried by how many cells are unseen. With that number held fixed the "
            "kernel's forecast, which knows the training labels, still says something about most worlds; retention, "
            "from the split alone, says little beyond the number (the details give both).",
        )
        for id, (world, held) in zip(("26", "27", "28"), HOLES.items(), strict=True)
    ),
)
