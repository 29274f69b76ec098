"""Claims 23 to 25: networks on images; 29 to 31: further statements, with thresholds of our own."""

from __future__ import annotations

from recombine.studies.claims import Claim
from recombine.studies.kernel_theory.arms.images import (
    FAR,
    HUBS,
    MIDDLE,
    NEAR,
    READERS,
    context_task,
    equivalence_task,
    image_arm,
    similarity_arm,
)
from recombine.studies.kernel_theory.arms.networks import HIDDEN
from recombine.studies.kernel_theory.checks import images as checks
from recombine.tasks.symbolic import ANCHORS

ENDS = (NEAR, FAR)
BETWEEN = ("5 pixels", MIDDLE, "15 pixels")
"""Additional distances of scale paper."""

CLAIMS = (
    Claim(
        "23",
        "sums of digit images, fitted to 0.05: slopes grow with partners (≥ 0.03) and distance (≥ 0.05); "
        "interpolation equals both (0.06)",
        "figure",
        "0.55 to 0.78, 0.65 to 0.83",
        tuple(image_arm("ConvNet", f"addition {a}", d) for a in ANCHORS for d in ENDS),
        checks.image_addition,
        finding="Interpolation exceeds both by about 0.1, with other seeds too. Kernels do not distinguish "
        "the two, but rich networks do (claim 19: 0.997 and 0.914). To fit within a minute, the small setting uses "
        "fifteen times the published learning rate, so its networks learn more features; the published ones had "
        "0.653 and 0.657. With seed offset 1000 the asymmetric slope also gains only 0.03 instead of 0.05 with "
        "distance.",
        also=tuple(image_arm("ConvNet", f"addition {a}", d) for a in ANCHORS for d in BETWEEN),
    ),
    Claim(
        "24",
        "context dependence on images, cross-entropy: CD-3 at most 55% right on unseen cells, CD-2 more, CD-1 most",
        "figure",
        "0.50 to 0.23, 0.84, 0.89",
        tuple(image_arm("ConvNet", context_task(h), d) for h in HIDDEN for d in ENDS),
        checks.image_context,
        also=tuple(image_arm("ConvNet", context_task(h), d) for h in HIDDEN for d in BETWEEN),
    ),
    Claim(
        "25",
        "images apart: context's share in CD-3 is twice that in CD-2 and CD-1; predictions are additive (R² ≥ 0.8)",
        "figure",
        "0.38, 0.02, 0.01",
        tuple(image_arm("ConvNet", context_task(h), d) for h in HIDDEN for d in ENDS),
        checks.image_shortcut,
    ),
    Claim(
        "29",
        "single images become more salient in an untrained ConvNet as they move apart",
        "figure",
        "rises",
        (
            *(similarity_arm(d) for d in ENDS),
            *(
                image_arm("ConvNet", f"addition {a}", d)
                for a in ("extrapolation", "interpolation")
                for d in ENDS
            ),
        ),
        checks.image_salience,
        finding="The direction is right, but the size is not: the slope law, applied to the salience of the untrained "
        "network, predicts slopes that are a third to three quarters too large, and less so if images are also "
        "compared with themselves.",
        also=tuple(similarity_arm(d) for d in BETWEEN),
        exploratory=True,
    ),
    Claim(
        "30",
        "equivalence on images, 4 hubs: more unseen pairs right when the images are apart (by ≥ 0.1)",
        "figure",
        "0.53 to 0.89",
        tuple(image_arm("ConvNet", equivalence_task(4), d) for d in ENDS),
        checks.image_equivalence,
        also=tuple(
            image_arm("ConvNet", equivalence_task(hubs), d) for hubs in HUBS for d in (*ENDS, *BETWEEN)
        ),
        exploratory=True,
    ),
    Claim(
        "31",
        "ResNet and ViT, images superimposed: lower slopes than the ConvNet, two partners help, CD-3 fails",
        "figure",
        "0.55, 0.40, 0.26",
        tuple(
            image_arm(reader, task, NEAR)
            for reader in READERS
            for task in ("addition extrapolation", "addition interpolation", "CD-3", "CD-1")
        ),
        checks.other_readers,
        also=(
            *(image_arm(reader, context_task(2), NEAR) for reader in READERS),
            *(image_arm(r, f"addition {a}", NEAR) for r in READERS for a in ("both", "asymmetric")),
        ),
        on_request=True,
        exploratory=True,
        minutes=20,
    ),
)
