"""Section 3 and Figure 1: norms of gated architectures and their programmes, which need no data."""

from __future__ import annotations

import numpy as np

from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.claim import Claim
from recombine.studies.evidence import ArmPlan, Evidence, Scale
from recombine.studies.gated_linear import exact_checks as checks
from recombine.studies.measurement import Cases, PerSeed
from recombine.studies.quantity import deviation, ratio
from recombine.studies.study import StudySection

DRAWS = {"smoke": 1, "quick": 6, "paper": 20}
STEPS = {"smoke": (50, 100), "quick": (3000, 30_000), "paper": (3000, 30_000)}
SEEDS = {"smoke": 1, "quick": 10, "paper": 20}
DRAWN = {
    "programmes": checks.programmes,
    "special cases": checks.special_cases,
    "restored net": checks.restored_net,
}
FIXED = {"toy problem": checks.toy_problem, "published groups": checks.published_groups_of_weights}
DESCENT = "normalised descent"


def arms(scale: Scale) -> dict[str, ArmPlan]:
    """One trial per check."""

    def plan(check: Part, seeds: int, *, seeded: bool = True) -> ArmPlan:
        return ArmPlan(Trial(Part(checks.nothing), (check,), (0,)), seeds, seeded=seeded)

    return {
        **{name: plan(Part(check), DRAWS[scale]) for name, check in DRAWN.items()},
        **{name: plan(Part(check), 1, seeded=False) for name, check in FIXED.items()},
        DESCENT: plan(Part(checks.descended, steps=STEPS[scale]), SEEDS[scale]),
    }


def _largest(evidence: Evidence, arm: str, tolerances: dict[str, float]) -> Cases:
    """Deviations of an arm as shares of their tolerances."""
    found = evidence[arm]
    return Cases({f"{name} ({t:g})": float(np.max(found[name])) / t for name, t in tolerances.items()})


def _exact(
    id: str, statement: str, source: str, arm: str, tolerances: dict[str, float], **how: object
) -> Claim:
    return Claim(
        id,
        statement,
        source,
        deviation(
            "difference as a share of its tolerance",
            tolerance=1.0,
            published_text=str(how.pop("published", "")),
        ),
        (arm,),
        lambda evidence: _largest(evidence, arm, tolerances),
        decided_at="smoke",
        **how,  # type: ignore[arg-type]
    )


CLAIMS = (
    _exact(
        "1",
        "the limit of a two-layer gated network is a convex programme: primal and dual agree, and l2 norms are kernels",
        "derived",
        "programmes",
        {"primal and dual": 1e-5, "l2 identity": 1e-10, "kernel and weights": 1e-6},
    ),
    _exact(
        "2",
        "units that share a gate are one unit: two layers then have the norm of one",
        "derived",
        "special cases",
        {"shared gates": 1e-5},
    ),
    _exact(
        "6",
        "one gated layer is a separate machine in each context",
        "derived",
        "special cases",
        {"contexts apart": 1e-6},
    ),
    _exact(
        "7",
        "without gates the norm is that of a linear network",
        "derived",
        "special cases",
        {"no gates": 1e-5},
    ),
    _exact(
        "3",
        "the published programme groups weight vectors of different units",
        "authors' code",
        "published groups",
        {"by units": 1e-7, "as published": 1e-7},
        published="168.40711693, 168.40239530",
        finding="The array is reshaped in column-major order. Claim 22 measures what it does to errors.",
    ),
    _exact(
        "5",
        "unseen conjunctions are answered by adding parts: in Figure 1 two units of two contexts form four "
        "half-planes, and a quadrant without training points gets the sum of parts; one layer outputs 0 there",
        "Figure 1",
        "toy problem",
        {
            "diamond": 1e-9,
            "points wrong": 0.5,
            "margin missed": 1e-5,
            "sum of parts": 1e-6,
            "one layer": 1e-9,
        },
        headline=True,
        finding="The sum of parts is an answer, not always the right one: left out in turn, the quadrants of the toy "
        "problem are partly wrong.",
    ),
    _exact(
        "12",
        "a net that is saved and restored predicts the same, thresholds included",
        "derived",
        "restored net",
        {"outputs": 1e-12, "parts": 1e-12},
        finding="The published comparison lost the thresholds; claim 23 measures the effect.",
    ),
)


def _descent(evidence: Evidence) -> PerSeed:
    arm = evidence[DESCENT]
    excess = arm["excess"]
    return PerSeed(
        excess[:, -1] / excess[:, 0],
        supports={
            "excess of the norm, 3,000 steps": excess[:, 0],
            "excess of the norm, 30,000 steps": excess[:, -1],
            "imbalance of incoming and outgoing weights": arm["imbalance"],
        },
    )


APPROACH = Claim(
    "4",
    "normalised gradient descent on a small problem comes closer and closer to the smallest norm",
    "derived",
    ratio("excess of the norm over its optimum, 30,000 / 3,000 steps", "below", magnitude=0.5),
    (DESCENT,),
    _descent,
    reversal="the norm had stopped shrinking before its optimum",
)

SECTION = StudySection("Section 3 and Figure 1: norms and programmes", arms=arms, claims=(*CLAIMS, APPROACH))
