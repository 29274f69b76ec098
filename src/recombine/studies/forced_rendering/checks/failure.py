"""Checks on exact numbers, ordinary decoders and their layers (Figures 1 and 2)."""

from __future__ import annotations

import numpy as np

from recombine.studies.claims import Condition, Evidence, Verdict
from recombine.studies.forced_rendering.arms import DEPTHS

BLANK_OUT = 0.00401
"""Error of the blank picture on unseen cells, 28 pixels, sigma 1."""


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


def cnn_fails(evidence: Evidence) -> Verdict:
    found = evidence["cnn bump"]
    ratio = found["error_out"] / found["error_in"]
    return Verdict.of_arm(
        evidence,
        "cnn bump",
        [
            Condition("unseen / seen error", ratio, ">=", 15),
            Condition("seen error", found["error_in"], "<=", 2e-4),
            Condition("unseen error", found["error_out"], ">=", 2e-3),
        ],
    )


def ramp_fails(evidence: Evidence) -> Verdict:
    found = evidence["cnn ramp"]
    return Verdict.of_arm(
        evidence,
        "cnn ramp",
        [
            Condition("unseen / seen error", found["error_out"] / found["error_in"], ">=", 4),
            Condition("unseen error", found["error_out"], ">=", 2.5e-3),
        ],
    )


def cnn_position(evidence: Evidence) -> Verdict:
    found = evidence["cnn bump"]
    return Verdict.of_arm(
        evidence,
        "cnn bump",
        [
            Condition("at the right place, 5 × 5 centre", found["accuracy_inner"], "<=", 0.1),
            Condition("seen", found["accuracy1_in"], ">=", 0.95),
        ],
    )


def depth_arm(depth: int) -> str:
    return "cnn bump" if depth == 4 else f"cnn bump depth {depth}"


def every_depth_fails(evidence: Evidence) -> Verdict:
    conditions = []
    for depth in DEPTHS:
        error = evidence[depth_arm(depth)]["error_out"]
        conditions.append(Condition(f"unseen error at depth {depth}", error, ">=", 2e-3))
        conditions.append(Condition("as a share of blank", error / BLANK_OUT, ">=", 0.25))
    return Verdict.of_arm(evidence, "cnn bump", conditions)


def superposition(evidence: Evidence) -> Verdict:
    found, cnn = evidence["render none"], evidence["cnn bump"]
    lead = found["with_superposition"] - found["with_truth"]
    cnn_lead = cnn["with_superposition"] - cnn["with_truth"]
    note = (
        f"Render net: {np.median(found['with_superposition']):.2f} with the sum, "
        f"{np.median(found['with_truth']):.2f} with the truth. CNN (provisional, not counted): "
        f"{np.median(cnn['with_superposition']):.2f} and {np.median(cnn['with_truth']):.2f}, lead "
        f"{np.median(cnn_lead):.2f}"
    )
    return Verdict.of_arm(
        evidence, "render none", [Condition("lead of the sum over the truth", lead, ">=", 0.2)], note=note
    )


def binary_kernel(evidence: Evidence) -> Verdict:
    free, forced, cnn = evidence["render none"], evidence["render both"], evidence["cnn bump"]
    note = (
        f"CNN (provisional, not counted): overlap {np.median(cnn['overlap_binary']):.2f}, "
        f"cosine {np.median(cnn['cosine_binary']):.2f}"
    )
    return Verdict.of_arm(
        evidence,
        "render none",
        [
            Condition("overlap without penalties", free["overlap_binary"], ">=", 0.3),
            Condition("cosine without penalties", free["cosine_binary"], ">=", 0.3),
            Condition("overlap with penalties", forced["overlap_binary"], "<=", 0.15),
            Condition("cosine with penalties", forced["cosine_binary"], "<=", 0.15),
        ],
        note=note,
    )


def layers_tangle(evidence: Evidence) -> Verdict:
    """Hidden layers only: layer 0 of the values is the input, the last is the picture."""
    conditions, drops = [], []
    for code in ("bump", "ramp"):
        found = evidence[f"mlp {code} 20 epochs"]
        score, r2 = found["factorisation"][:, 1:-1], found["r2"][:, 1:-1]
        drops.append(score[:, 0] - score[:, -1])
        conditions += [
            Condition(f"{code}: drop of F, first to last layer", drops[-1], ">=", 0.05),
            Condition("F of the first", score[:, 0], ">=", 0.94),
            Condition("lowest R²", r2.min(axis=(1, 2)), ">=", 0.95),
        ]
    longer = [
        f"{code} {np.median(f[:, 1] - f[:, -2]):.2f}"
        for code in ("bump", "ramp")
        for f in (evidence[f"mlp {code} 200 epochs"]["factorisation"],)
    ]
    note = f"After 200 epochs the drop is {', '.join(longer)}"
    return Verdict.of_arm(
        evidence, "mlp bump 20 epochs", conditions, headline=np.concatenate(drops), note=note
    )


def mlp_needs_epochs(evidence: Evidence) -> Verdict:
    """A net that 200 epochs do not bring below 20 % may be widened to 512 units."""
    conditions = []
    for code in ("bump", "ramp"):
        for arm, relation, bound in (
            (f"mlp {code} 20 epochs", ">", 0.7),
            (f"mlp {code} 200 epochs", "<", 0.2),
        ):
            share = _share_of_blank(evidence, arm)
            wide = f"mlp {code} wide"
            if relation == "<" and not (share < bound).all() and wide in evidence:
                label = f"{code}, 200 epochs, width 512 (as published: {np.median(share):.2f})"
                conditions.append(Condition(label, _share_of_blank(evidence, wide), relation, bound))
            else:
                conditions.append(Condition(arm.removeprefix("mlp "), share, relation, bound))
    note = "Seen error as a share of the blank picture's"
    return Verdict.of_arm(evidence, "mlp bump 20 epochs", conditions, note=note)


def _share_of_blank(evidence: Evidence, arm: str) -> np.ndarray:
    return evidence[arm]["error_in"] / evidence[arm]["baseline_blank_in"]


def kernel_report(evidence: Evidence) -> Verdict:
    found = evidence["cnn bump"]
    families = sorted(
        name[7:-4] for name in found.values if name.startswith("kernel_") and name.endswith("_out")
    )
    note = "Unseen error of kernel fits to the net's own pictures: " + ", ".join(
        f"{family} {np.median(found[f'kernel_{family}_out']):.1e}" for family in families
    )
    ratio = found["kernel_binary_out"] / found["kernel_radial_out"]
    return Verdict.of_arm(
        evidence, "cnn bump", [Condition("binary / radial, unseen", ratio, ">=", 0)], decides=False, note=note
    )
