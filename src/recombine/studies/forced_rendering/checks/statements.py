"""Checks of exact numbers: constants, counts, codes, and two fits with one seed."""

from __future__ import annotations

import numpy as np

from recombine.studies.claims import Condition, Evidence, Verdict


def constants(evidence: Evidence) -> Verdict:
    arm = evidence["constants"]
    return Verdict.of_arm(
        evidence,
        "constants",
        [
            Condition("largest difference of images", arm["picture_gap"], "<=", 1e-6),
            Condition("of codes", arm["code_gap"], "<=", 1e-6),
            Condition("of cell counts", arm["count_gap"], "==", 0),
            Condition("of blank errors", arm["blank_gap"], "<=", 1e-5),
        ],
    )


def parameter_counts(evidence: Evidence) -> Verdict:
    arm = evidence["parameter counts"]
    wrong = Condition(f"of {int(arm['architectures'][0])} architectures wrong", arm["wrong_counts"], "==", 0)
    return Verdict.of_arm(evidence, "parameter counts", [wrong])


def encodings(evidence: Evidence) -> Verdict:
    arm = evidence["encodings"]
    return Verdict.of_arm(
        evidence,
        "encodings",
        [
            Condition("lowest factorisation of a code", arm["code_factorisation"].min(axis=1), ">=", 0.999),
            Condition("spread of log10 dv", arm["code_unevenness"], "<=", 1e-3),
            Condition("lowest on random data", arm["random_factorisation"], ">=", 0.5),
            Condition("gap to 0.5 for f(x+y)", np.abs(arm["tangled_factorisation"] - 0.5), "<=", 1e-6),
        ],
    )


def repeatable(evidence: Evidence) -> Verdict:
    arm = evidence["repeatability"]
    return Verdict.of_arm(
        evidence,
        "repeatability",
        [
            Condition("same seed, largest difference", arm["repeat_gap"], "==", 0),
            Condition("different seeds", arm["seed_gap"], ">", 0),
        ],
    )
