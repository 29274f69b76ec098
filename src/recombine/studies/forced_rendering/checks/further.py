"""Checks of encoders, rotation, code widths, and the sizes of canvas, image and hole."""

from __future__ import annotations

import numpy as np

from recombine.studies.claims import Condition, Evidence, Verdict
from recombine.studies.forced_rendering.arms.failure import WIDTH_MULTIPLIERS
from recombine.studies.forced_rendering.arms.further import SIZES, size_arm
from recombine.studies.forced_rendering.glyphs import glyph_source


def rotation_gap(evidence: Evidence) -> Verdict:
    arm = evidence["rotation gap"]
    return Verdict.of_arm(
        evidence,
        "rotation gap",
        [
            Condition("error inside the gap / seen", arm["error_middle"] / arm["error_in"], ">=", 5),
            Condition(
                "correlation with the blend minus with the target",
                arm["with_blend"] - arm["with_truth"],
                ">=",
                0,
            ),
        ],
        note=f"Digit from {glyph_source()}",
    )


def scalar_angle(evidence: Evidence) -> Verdict:
    scalar, pair = evidence["rotation circle scalar"], evidence["rotation circle"]
    ratio = scalar.curves["validation"][:, -1] / pair.curves["validation"][:, -1]
    condition = Condition("validation loss, scalar / (cos, sin)", ratio, ">=", 5)
    return Verdict.of_arm(evidence, "rotation circle", [condition])


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


def digits_in_the_gap(evidence: Evidence) -> Verdict:
    arm = evidence["rotation digits"]
    note = f"Seen error {np.median(arm['error_in']):.1e}, unseen {np.median(arm['error_out']):.1e}"
    ratio = Condition("unseen / seen error", arm["error_out"] / arm["error_in"])
    return Verdict.of_arm(evidence, "rotation digits", [ratio], note=note)


def larger_canvas(evidence: Evidence) -> Verdict:
    conditions = []
    for code in ("bump", "ramp"):
        arm = evidence[f"canvas {code}"]
        conditions.append(Condition(f"{code}: unseen error / blank", arm.share_of_blank("out")))
        conditions.append(Condition("seen", arm.share_of_blank("in")))
    return Verdict.of_arm(evidence, "canvas bump", conditions)


def sizes(evidence: Evidence, *, code: str) -> Verdict:
    arms = [evidence[size_arm(code, n, p)] for n, p in SIZES]
    unseen = np.stack([arm.share_of_blank("out") for arm in arms])
    note = f"Seen error / blank, median: {np.median([arm.share_of_blank('in') for arm in arms]):.2g}"
    condition = Condition("unseen error / blank, all N and p", unseen)
    return Verdict.of([condition], n_seeds=len(arms[0].seeds), note=note)
