"""Checks on stripes (Figure 4), data scaling, encoders, rotation and variants."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.studies.claims import Condition, Evidence, Verdict
from recombine.studies.forced_rendering.arms import (
    BUMP_COUNTS,
    CONTOUR,
    SCALING_PER_N,
    SCALING_SIZES,
    WIDTH_MULTIPLIERS,
    bumps_only_per_n,
)
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


def _needed(sizes: np.ndarray, accuracy: np.ndarray) -> float:
    """The smallest size that reaches 90 %, by linear interpolation; infinite if none does."""
    reached = np.flatnonzero(accuracy >= 0.9)
    if not reached.size:
        return float("inf")
    i = int(reached[0])
    if i == 0:
        return float(sizes[0])
    share = (0.9 - accuracy[i - 1]) / (accuracy[i] - accuracy[i - 1])
    return float(sizes[i - 1] + share * (sizes[i] - sizes[i - 1]))


def scaling_points(evidence: Evidence, n: int, *, stripes: bool) -> tuple[np.ndarray, np.ndarray]:
    """Training pictures and accuracy (± 1, median over seeds) of the arms of one picture size."""
    kind = "stripes +" if stripes else "bumps"
    multiples = [
        per_n
        for per_n in (SCALING_PER_N if stripes else bumps_only_per_n(n))
        if f"scaling {n} {kind} {per_n} N" in evidence
    ]
    sizes = np.array([per_n * n + (2 * n if stripes else 0) for per_n in multiples], dtype=float)
    accuracy = [np.median(evidence[f"scaling {n} {kind} {m} N"]["accuracy1_out"]) for m in multiples]
    order = np.argsort(sizes)
    return sizes[order], np.array(accuracy)[order]


def data_needed(evidence: Evidence, *, stripes: bool) -> tuple[np.ndarray, np.ndarray]:
    """Picture sizes and the number of training pictures that 90 % accuracy takes."""
    sizes = [n for n in SCALING_SIZES if f"scaling {n} stripes + 7 N" in evidence]
    return np.array(sizes), np.array([_needed(*scaling_points(evidence, n, stripes=stripes)) for n in sizes])


def data_scaling(evidence: Evidence) -> Verdict:
    n_seeds = len(evidence["scaling 12 stripes + 7 N"].seeds)
    conditions, headline, notes = [], np.array([np.nan]), []
    for stripes, relation, bound in ((True, "<=", 1.5), (False, ">=", 2.0)):
        sizes, needed = data_needed(evidence, stripes=stripes)
        label = "stripes + bumps" if stripes else "bumps only"
        slope = np.nan
        if np.isfinite(needed).all() and len(sizes) > 1:
            slope = np.polyfit(np.log(sizes), np.log(needed), 1)[0]
        elif not np.isfinite(needed).all():
            notes.append(
                f"{label}: 90 % is not reached within the tried sizes at N = {sizes[~np.isfinite(needed)]}"
            )
        if stripes:
            headline = np.array([slope])
        conditions.append(Condition(f"exponent, {label}", slope, relation, bound))
    decides = all(np.isfinite(condition.numbers).all() for condition in conditions)
    return Verdict.of(conditions, headline=headline, n_seeds=n_seeds, decides=decides, note=". ".join(notes))


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
    ratio = scalar["error_in"] / pair["error_in"]
    return Verdict.of_arm(
        evidence, "rotation circle", [Condition("error, scalar / (cos, sin)", ratio, ">=", 5)]
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
    condition = Condition("lowest accuracy over all counts", worst, ">=", 0)
    return Verdict.of_arm(evidence, "cnn stripes + 50 bumps", [condition], decides=False, note=note)


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


def transformer_report(evidence: Evidence) -> Verdict:
    found = evidence["transformer"]
    share = found["error_out"] / found["baseline_blank_out"]
    note = (
        f"Seen error {np.median(found['error_in']):.1e} of blank {np.median(found['baseline_blank_in']):.1e}; "
        f"at the right place ± 1: seen {np.median(found['accuracy1_in']):.0%}, "
        f"unseen {np.median(found['accuracy1_out']):.0%}"
    )
    for other in ("spatial mlp", "cnn bump"):
        if other in evidence:
            beside = evidence[other]["error_out"] / evidence[other]["baseline_blank_out"]
            note += f". {other}: unseen error / blank {np.median(beside):.2g}"
    return Verdict.of_arm(
        evidence, "transformer", [Condition("unseen error / blank", share, ">=", 0)], decides=False, note=note
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


def report_ratio(arm: str, label: str, numerator: str, denominator: str) -> Any:
    def check(evidence: Evidence) -> Verdict:
        found = evidence[arm]
        ratio = found[numerator] / found[denominator]
        note = f"Seen error {np.median(found['error_in']):.1e}, unseen {np.median(found['error_out']):.1e}"
        return Verdict.of_arm(evidence, arm, [Condition(label, ratio, ">=", 0)], decides=False, note=note)

    return check


def contour_report(evidence: Evidence) -> Verdict:
    cells = [f"contour {n} {p}" for n, p in CONTOUR]
    share = [evidence[c]["error_out"] / evidence[c]["baseline_blank_out"] for c in cells]
    return Verdict.of_arm(
        evidence, cells[0], [Condition("unseen error / blank, all N and p", share, ">=", 0)], decides=False
    )
