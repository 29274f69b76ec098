"""Section 4: models with compositionally structured kernels add up seen conjunctions, which rules some tasks out.

Nothing here is trained. Every arm measures how far an exact statement is off.
"""

from __future__ import annotations

import numpy as np

from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.claim import Amendment, Claim
from recombine.studies.evidence import ArmPlan, ArmPlans, Evidence, Scale
from recombine.studies.kernel_theory import identities, predictions, published
from recombine.studies.measurement import Cases
from recombine.studies.quantity import deviation
from recombine.studies.study import StudySection
from recombine.tasks import dispersed_addition

DRAWS = {"smoke": 1, "quick": 3, "paper": 6}
"""Seeds of statements about random kernels, labels or training sets; each seed draws dozens."""
LIMIT_SALIENCE = 0.4264
"""S(1;2) of an infinitely wide random ReLU layer."""


def exact_plan(probe: Part, scale: Scale, *, seeded: bool) -> ArmPlan:
    """A statement without training. The task only carries the seed."""
    return ArmPlan(Trial(Part(dispersed_addition), (probe,), (0,)), seeds=DRAWS[scale], seeded=seeded)


def arms(scale: Scale) -> ArmPlans:
    """The arms of this section at a scale."""
    return {
        "finite network": exact_plan(Part(predictions.finite_network), scale, seeded=True),
        "additivity": exact_plan(Part(identities.additivity), scale, seeded=True),
        "ridge identity": exact_plan(Part(identities.ridge_identity), scale, seeded=True),
        "equivalence": exact_plan(Part(predictions.equivalence), scale, seeded=False),
        "ordering": exact_plan(Part(predictions.ordering), scale, seeded=False),
        "verdicts": exact_plan(Part(predictions.verdicts), scale, seeded=False),
    }


# Proposition 4.1: random networks are compositionally structured.


def _finite_network(evidence: Evidence) -> Cases:
    arm = evidence["finite network"]
    return Cases(
        {"S(1;2), worst draw": np.abs(arm["salience"] - LIMIT_SALIENCE).max()},
        supports={"relative spread of similarities with one overlap": arm["within_kind"]},
    )


RANDOM_NETWORKS = Claim(
    "17",
    "random networks are compositionally structured: similarities in a wide random layer depend on the overlap alone",
    "Proposition 4.1",
    deviation(
        "difference of S(1;2) from its limit, 20,000 ReLU units", tolerance=0.005, published_text="0.4264"
    ),
    ("finite network",),
    _finite_network,
    decided_at="smoke",
    amendments=(
        Amendment(
            "S(1;2), and the spread of similarities within one overlap below 3%",
            "S(1;2); the spread is shown next to it",
            "one quantity per claim; the spread shrinks with the number of units, so its bound was arbitrary",
        ),
    ),
)


# Theorem 4.2: outputs are sums over conjunctions that occurred in training.


def _additivity(evidence: Evidence) -> Cases:
    return Cases(
        {
            "output minus its conjunctions, and whole cells where unseen": evidence["additivity"][
                "additivity_gap"
            ].max()
        },
        note="Random kernels of two to four factors, random training sets, any dual weights",
    )


ADDITIVITY = Claim(
    "4",
    "a model with a compositionally structured representation can only add up values of conjunctions that it has seen "
    "(conjunction-wise additivity)",
    "Theorem 4.2",
    deviation("largest deviation from the sum", tolerance=1e-10, published_text="identity"),
    ("additivity",),
    _additivity,
    headline=True,
    decided_at="smoke",
)


def _ridge_identity(evidence: Evidence) -> Cases:
    arm = evidence["ridge identity"]
    return Cases({"one row per cell": arm["ridge_gap"].max(), "several exemplars": arm["exemplar_gap"].max()})


RIDGE = Claim(
    "5",
    "memorising whole cells acts on unseen cells like ridge regression on the lower conjunctions",
    "corollary of Theorem 4.2",
    deviation("minimum norm minus ridge regression", tolerance=1e-10, published_text="identity"),
    ("ridge identity",),
    _ridge_identity,
    decided_at="smoke",
)


# Section 4.3: what that rules out, and what it leaves possible.


def _equivalence(evidence: Evidence) -> Cases:
    arm = evidence["equivalence"]
    return Cases(
        {
            "largest output on unseen pairs": arm["largest_output"].max(),
            "sizes at which a sum of conjunctions could have the right signs": arm["signs_possible"].sum(),
        },
        note="Three sizes, three saliences, with and without an offset",
    )


EQUIVALENCE = Claim(
    "8",
    "transitive equivalence (associative inference) is out of reach of every such model: its output on unseen "
    "pairs is 0",
    "Section 4.3",
    deviation("output on unseen pairs", tolerance=1e-8, published_text="0"),
    ("equivalence",),
    _equivalence,
    headline=True,
    decided_at="smoke",
)


def _ordering(evidence: Evidence) -> Cases:
    arm = evidence["ordering"]
    right, margins = arm["ordering_right"][0, :3], arm["ordering_margins"][0, :3]
    return Cases(
        {
            "wrong signs, worst salience": 1 - right.min(),
            "margins by distance against the table": np.abs(margins[1] - published.ORDERING).max(),
            "saliences without a larger margin at larger distance": (margins[:, 5] <= margins[:, 1]).sum(),
        }
    )


ORDERING = Claim(
    "9",
    "transitive ordering, in contrast, is solved at every salience, with larger margins at larger distances",
    "Section 4.3; margins ours",
    deviation(
        "wrong signs, and difference from tabulated margins", tolerance=1e-3, published_text="100% right"
    ),
    ("ordering",),
    _ordering,
    decided_at="smoke",
)


def _verdicts(evidence: Evidence) -> Cases:
    arm = evidence["verdicts"]
    return Cases({"wrong verdicts": (arm["verdicts"] - arm["verdicts_right"]).max()}, note="17 tasks")


VERDICTS = Claim(
    "16",
    "which tasks can be expressed, fitted and determined follows from which conjunctions were seen",
    "Section 4.3, Figure 2d",
    deviation("tasks with another verdict than derived", published_text="0 of 17"),
    ("verdicts",),
    _verdicts,
    decided_at="smoke",
)

SECTION = StudySection(
    "Section 4: conjunction-wise additivity, and what it rules out",
    arms=arms,
    claims=(RANDOM_NETWORKS, ADDITIVITY, RIDGE, EQUIVALENCE, ORDERING, VERDICTS),
)
