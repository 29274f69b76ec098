"""Checks on exact numbers: constants, counts, codes, and two fits of one seed."""

from __future__ import annotations

import numpy as np

from recombine.studies.claims import Condition, Evidence, Verdict


def constants(evidence: Evidence) -> Verdict:
    found = evidence["constants"]
    return Verdict.of_arm(
        evidence,
        "constants",
        [
            Condition("largest gap of pictures", found["picture_gap"], "<=", 1e-6),
            Condition("of codes", found["code_gap"], "<=", 1e-6),
            Condition("of cell counts", found["count_gap"], "==", 0),
            Condition("of blank errors", found["blank_gap"], "<=", 1e-5),
        ],
    )


def parameter_counts(evidence: Evidence) -> Verdict:
    found = evidence["parameter counts"]
    wrong = Condition(
        f"of {int(found['architectures'][0])} architectures wrong", found["wrong_counts"], "==", 0
    )
    return Verdict.of_arm(evidence, "parameter counts", [wrong])


def encodings(evidence: Evidence) -> Verdict:
    found = evidence["encodings"]
    return Verdict.of_arm(
        evidence,
        "encodings",
        [
            Condition("lowest factorisation of a code", found["code_factorisation"].min(axis=1), ">=", 0.999),
            Condition("spread of log10 dv", found["code_unevenness"], "<=", 1e-3),
            Condition("lowest on random data", found["random_factorisation"], ">=", 0.5),
            Condition("gap to 0.5 for f(x+y)", np.abs(found["tangled_factorisation"] - 0.5), "<=", 1e-6),
        ],
    )


def repeatable(evidence: Evidence) -> Verdict:
    found = evidence["repeatability"]
    return Verdict.of_arm(
        evidence,
        "repeatability",
        [
            Condition("same seed, largest difference", found["repeat_gap"], "==", 0),
            Condition("different seeds", found["seed_gap"], ">", 0),
        ],
    )
