"""Checks on stripes (Figure 4), encoders, rotation and variants."""

from __future__ import annotations

import numpy as np

from recombine.studies.claims import Condition, Evidence, Verdict
from recombine.studies.forced_rendering.arms.failure import WIDTH_MULTIPLIERS
from recombine.studies.forced_rendering.arms.further import SIZES, size_arm
from recombine.studies.forced_rendering.arms.stripes import BUMP_COUNTS, RAMP_COUNTS
from recombine.tasks import glyph_source


def stripes_alone(evidence: Evidence) -> Verdict:
    stripes, control = evidence["mlp stripes only"], evidence["mlp bumps only"]
    return Verdict.of_arm(
        evidence,
        "mlp stripes only",
        [
            Condition("unseen at the exact place, stripes only", stripes["accuracy0_out"], ">=", 0.75),
            Condition("252 bumps, no stripes", control["accuracy0_out"], "<=", 0.10),
        ],
    )


def stripes_and_bumps(evidence: Evidence) -> Verdict:
    mixed, alone = evidence["cnn stripes + 196 bumps"], evidence["cnn stripes + 0 bumps"]
    return Verdict.of_arm(
        evidence,
        "cnn stripes + 196 bumps",
        [
            Condition("unseen at the right place ± 1", mixed["accuracy1_out"], ">=", 0.9),
            Condition("unseen error / stripes only", mixed["error_out"] / alone["error_out"], "<", 0.5),
        ],
    )


def ramp_stripes(evidence: Evidence) -> Verdict:
    conditions = []
    for count in RAMP_COUNTS[::-1]:
        found = evidence[f"cnn stripes + {count} bumps, ramp"]
        conditions.append(Condition(f"stripes + {count} bumps: unseen in place ± 1", found["accuracy1_out"]))
        conditions.append(Condition("seen", found["accuracy1_in"]))
    return Verdict.of_arm(evidence, "cnn stripes + 196 bumps, ramp", conditions)


def rotation_gap(evidence: Evidence) -> Verdict:
    found = evidence["rotation gap"]
    return Verdict.of_arm(
        evidence,
        "rotation gap",
        [
            Condition("error inside the gap / seen", found["error_middle"] / found["error_in"], ">=", 5),
            Condition("blend - truth, correlation", found["with_blend"] - found["with_truth"], ">=", 0),
        ],
        note=f"Digit from {glyph_source()}",
    )


def scalar_angle(evidence: Evidence) -> Verdict:
    scalar, pair = evidence["rotation circle scalar"], evidence["rotation circle"]
    ratio = scalar.curves["validation"][:, -1] / pair.curves["validation"][:, -1]
    condition = Condition("validation loss, scalar / (cos, sin)", ratio, ">=", 5)
    return Verdict.of_arm(evidence, "rotation circle", [condition])


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


def wider_codes(evidence: Evidence) -> Verdict:
    errors = {m: evidence[f"code width {m}"]["error_out"] for m in WIDTH_MULTIPLIERS}
    accuracy = np.max([evidence[f"code width {m}"]["accuracy1_out"] for m in WIDTH_MULTIPLIERS], axis=0)
    return Verdict.of_arm(
        evidence,
        "code width 1",
        [
            Condition("error at m = 9 / at m = 1", errors[9].mean() / errors[1].mean(), "<=", 0.9),
            Condition("best accuracy ± 1", accuracy, "<", 0.2),
        ],
    )


def encoders_fail(evidence: Evidence) -> Verdict:
    bump, ramp = evidence["encoder bump"], evidence["encoder ramp"]
    return Verdict.of_arm(
        evidence,
        "encoder bump",
        [
            Condition("bump code: unseen / seen error", bump["error_out"] / bump["error_in"], ">=", 10),
            Condition("coordinates: unseen / seen error", ramp["error_out"] / ramp["error_in"], ">=", 10),
            Condition("coordinates: right, seen", ramp["accuracy_in"], ">=", 0.8),
            Condition("coordinates: right, unseen", ramp["accuracy_out"], "<=", 0.3),
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


def digits_in_the_gap(evidence: Evidence) -> Verdict:
    found = evidence["rotation digits"]
    note = f"Seen error {np.median(found['error_in']):.1e}, unseen {np.median(found['error_out']):.1e}"
    ratio = Condition("unseen / seen error", found["error_out"] / found["error_in"])
    return Verdict.of_arm(evidence, "rotation digits", [ratio], note=note)


def larger_canvas(evidence: Evidence) -> Verdict:
    conditions = []
    for code in ("bump", "ramp"):
        found = evidence[f"canvas {code}"]
        conditions.append(Condition(f"{code}: unseen error / blank", found.share_of_blank("out")))
        conditions.append(Condition("seen", found.share_of_blank("in")))
    return Verdict.of_arm(evidence, "canvas bump", conditions)


def sizes_bump(evidence: Evidence) -> Verdict:
    return _sizes(evidence, "bump")


def sizes_ramp(evidence: Evidence) -> Verdict:
    return _sizes(evidence, "ramp")


def _sizes(evidence: Evidence, code: str) -> Verdict:
    arms = [evidence[size_arm(code, n, p)] for n, p in SIZES]
    unseen = np.stack([arm.share_of_blank("out") for arm in arms])
    note = f"Seen error / blank, median: {np.median([arm.share_of_blank('in') for arm in arms]):.2g}"
    condition = Condition("unseen error / blank, all N and p", unseen)
    return Verdict.of([condition], n_seeds=len(arms[0].seeds), note=note)
