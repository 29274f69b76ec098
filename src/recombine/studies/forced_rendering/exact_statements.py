"""Exact numbers: constants, parameter counts, codes, and two fits with one seed."""

from __future__ import annotations

import numpy as np

from recombine.parts import Part
from recombine.runs import Trial
from recombine.spaces import centre_hole
from recombine.studies.claim import Claim
from recombine.studies.evidence import ArmPlan, Evidence, Scale
from recombine.studies.forced_rendering import identities
from recombine.studies.forced_rendering.decoder_setup import PUBLISHED_HOLE
from recombine.studies.measurement import Cases
from recombine.studies.quantity import deviation
from recombine.studies.study import StudySection
from recombine.tasks import bumps

OF_TOLERANCE = "difference as a share of its tolerance"
"""Quantities with different tolerances are compared on one scale, where 1 is the limit."""


def arms(scale: Scale) -> dict[str, ArmPlan]:
    """One trial each; nothing is random except the training that `repeatability` repeats."""
    task = Part(bumps, hole=Part(centre_hole, **PUBLISHED_HOLE))
    drawn = Part(bumps, hole=Part(centre_hole, **PUBLISHED_HOLE), train=495)
    trials = {
        "constants": Trial(task, (Part(identities.constants),), (0,)),
        "parameter counts": Trial(task, (Part(identities.parameter_counts),), (0,)),
        "encodings": Trial(task, (Part(identities.encodings),), (0,)),
        "repeatability": Trial(drawn, (Part(identities.repeatability),), (0,)),
    }
    return {name: ArmPlan(trial, seeds=1, seeded=False) for name, trial in trials.items()}


def _constants(evidence: Evidence) -> Cases:
    arm = evidence["constants"]
    return Cases(
        {
            "images (1e-6)": arm["picture_gap"][0] / 1e-6,
            "codes (1e-6)": arm["code_gap"][0] / 1e-6,
            "cell counts (exact)": 2 * arm["count_gap"][0],
            "blank errors (1e-5)": arm["blank_gap"][0] / 1e-5,
        }
    )


def _parameter_counts(evidence: Evidence) -> Cases:
    arm = evidence["parameter counts"]
    note = f"{int(arm['architectures'][0])} architectures"
    return Cases({"architectures with another count": arm["wrong_counts"][0]}, note=note)


def _encodings(evidence: Evidence) -> Cases:
    arm = evidence["encodings"]
    return Cases(
        {
            "1 - factorisation of the codes (1e-3)": (1 - arm["code_factorisation"][0].min()) / 1e-3,
            "spread of log10 volume over cells (1e-3)": arm["code_unevenness"][0] / 1e-3,
            "random data below 0.5 (1e-6)": max(0.0, 0.5 - arm["random_factorisation"][0]) / 1e-6,
            "f(x + y) from 0.5 (1e-6)": abs(arm["tangled_factorisation"][0] - 0.5) / 1e-6,
        }
    )


def _repeatable(evidence: Evidence) -> Cases:
    arm = evidence["repeatability"]
    differ = bool(np.all(arm["seed_gap"] > 0))
    return Cases(
        {"same seed": float(np.max(arm["repeat_gap"])), "different seeds agree": 0.0 if differ else 1.0}
    )


SECTION = StudySection(
    "Exact numbers",
    arms=arms,
    claims=(
        Claim(
            "1",
            "images, codes, cell counts and blank errors are as published",
            "exact arithmetic",
            deviation(OF_TOLERANCE, tolerance=1.0, published_text="495/289, 703/81, 624/400, 588/196 cells"),
            ("constants",),
            _constants,
            decided_at="smoke",
        ),
        Claim(
            "2",
            "every architecture has the published number of parameters",
            "authors' code",
            deviation("architectures with another number", published_text="0"),
            ("parameter counts",),
            _parameter_counts,
            decided_at="smoke",
        ),
        Claim(
            "3",
            "factorisation is 1 for all three codes, never less than a half, and a half for functions of x + y",
            "exact arithmetic",
            deviation(OF_TOLERANCE, tolerance=1.0, published_text="1, 0.5, 0.5"),
            ("encodings",),
            _encodings,
            decided_at="smoke",
        ),
        Claim(
            "25",
            "the same seed gives bit-identical numbers, another seed different ones",
            "engineering",
            deviation("largest difference between two fits with one seed", published_text="0"),
            ("repeatability",),
            _repeatable,
            decided_at="smoke",
        ),
    ),
)
