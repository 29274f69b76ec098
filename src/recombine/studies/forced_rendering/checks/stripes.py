"""Checks of the stripes curriculum (Figure 4)."""

from __future__ import annotations

import numpy as np

from recombine.studies.claims import Condition, Evidence, Verdict
from recombine.studies.forced_rendering.arms.stripes import BUMP_COUNTS, RAMP_COUNTS


def stripes_alone(evidence: Evidence) -> Verdict:
    stripes, control = evidence["mlp stripes only"], evidence["mlp bumps only"]
    return Verdict.of_arm(
        evidence,
        "mlp stripes only",
        [
            Condition("unseen in the exact place, stripes only", stripes["accuracy0_out"], ">=", 0.75),
            Condition("252 bumps, no stripes", control["accuracy0_out"], "<=", 0.10),
        ],
    )


def stripes_and_bumps(evidence: Evidence) -> Verdict:
    mixed, alone = evidence["cnn stripes + 196 bumps"], evidence["cnn stripes + 0 bumps"]
    return Verdict.of_arm(
        evidence,
        "cnn stripes + 196 bumps",
        [
            Condition("unseen in the right place ± 1", mixed["accuracy1_out"], ">=", 0.9),
            Condition("unseen error / stripes only", mixed["error_out"] / alone["error_out"], "<", 0.5),
        ],
    )


def bump_counts(evidence: Evidence) -> Verdict:
    arms = {count: evidence[f"cnn stripes + {count} bumps"] for count in BUMP_COUNTS}
    listed = ", ".join(
        f"{count}: {np.median(arm['accuracy1_out']):.0%}, error {np.median(arm['error_out']):.1e}"
        for count, arm in arms.items()
    )
    control = np.median(evidence["cnn 252 bumps, no stripes"]["accuracy1_out"])
    note = f"Unseen bumps in place ± 1 by number of bumps: {listed}. 252 bumps without stripes: {control:.0%}"
    worst = np.min([arm["accuracy1_out"] for arm in arms.values()], axis=0)
    condition = Condition("lowest accuracy over all counts", worst)
    return Verdict.of_arm(evidence, "cnn stripes + 50 bumps", [condition], note=note)


def ramp_stripes(evidence: Evidence) -> Verdict:
    conditions = []
    for count in RAMP_COUNTS[::-1]:
        arm = evidence[f"cnn stripes + {count} bumps, ramp"]
        conditions.append(Condition(f"stripes + {count} bumps: unseen in place ± 1", arm["accuracy1_out"]))
        conditions.append(Condition("seen", arm["accuracy1_in"]))
    return Verdict.of_arm(evidence, "cnn stripes + 196 bumps, ramp", conditions)
