"""Checks of standard decoders and their layers (Figures 1 and 2)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from recombine.studies.claims import Condition, Evidence, Verdict
from recombine.studies.forced_rendering.arms.failure import ALL_DEPTHS, MLP_DEPTHS, cnn_arm, mlp_arm


def cnn_fails(evidence: Evidence) -> Verdict:
    arm = evidence["cnn bump"]
    ratio = arm["error_out"] / arm["error_in"]
    return Verdict.of_arm(
        evidence,
        "cnn bump",
        [
            Condition("unseen / seen error", ratio, ">=", 15),
            Condition("seen error", arm["error_in"], "<=", 2e-4),
            Condition("unseen error", arm["error_out"], ">=", 2e-3),
        ],
    )


def ramp_fails(evidence: Evidence) -> Verdict:
    arm = evidence["cnn ramp"]
    return Verdict.of_arm(
        evidence,
        "cnn ramp",
        [
            Condition("unseen / seen error", arm["error_out"] / arm["error_in"], ">=", 4),
            Condition("unseen error", arm["error_out"], ">=", 2.5e-3),
        ],
    )


def cnn_position(evidence: Evidence) -> Verdict:
    arm = evidence["cnn bump"]
    return Verdict.of_arm(
        evidence,
        "cnn bump",
        [
            Condition("in the right place, 5 × 5 centre", arm["accuracy_inner"], "<=", 0.1),
            Condition("seen", arm["accuracy1_in"], ">=", 0.95),
        ],
    )


def every_depth_fails(evidence: Evidence) -> Verdict:
    conditions = []
    for depth in _run_depths(evidence, "bump"):
        arm = evidence[cnn_arm("bump", depth)]
        conditions.append(Condition(f"unseen error at depth {depth}", arm["error_out"], ">=", 2e-3))
        conditions.append(Condition("relative to blank", arm.share_of_blank("out"), ">=", 0.25))
    return Verdict.of_arm(evidence, "cnn bump", conditions)


def _run_depths(evidence: Evidence, code: str) -> list[int]:
    return [depth for depth in ALL_DEPTHS if cnn_arm(code, depth) in evidence]


def every_ramp_depth_fails(evidence: Evidence) -> Verdict:
    depths = _run_depths(evidence, "ramp")
    return _never_composes(evidence, {f"depth {depth}": cnn_arm("ramp", depth) for depth in depths})


def every_mlp_depth_fails(evidence: Evidence) -> Verdict:
    arms = {f"{code}, depth {d}": mlp_arm(code, d) for code in ("bump", "ramp") for d in MLP_DEPTHS}
    return _never_composes(evidence, arms)


def _never_composes(evidence: Evidence, arms: Mapping[str, str]) -> Verdict:
    """No arm has an unseen error below a quarter of the blank image's."""
    conditions = [
        Condition(f"{label}: unseen error / blank", evidence[arm].share_of_blank("out"), ">=", 0.25)
        for label, arm in arms.items()
    ]
    seen = ", ".join(f"{np.median(evidence[arm].share_of_blank('in')):.2f}" for arm in arms.values())
    note = f"Seen error / blank, in the same order: {seen}"
    headline = np.min([condition.numbers for condition in conditions], axis=0)
    return Verdict.of_arm(evidence, next(iter(arms.values())), conditions, headline=headline, note=note)


def published_sampling(evidence: Evidence) -> Verdict:
    """The superposition runs, trained on many more draws than the nets of Figure 1."""
    conditions = []
    for code in ("bump", "ramp"):
        arm = evidence[f"superposition {code}"]
        lead = arm["with_superposition"] - arm["with_truth"]
        conditions.append(Condition(f"{code}: correlation with the sum minus with the target", lead))
        conditions.append(Condition("correlation with the sum of its own images", arm["own_superposition"]))
    return Verdict.of_arm(evidence, "superposition bump", conditions)


def published_similarity(evidence: Evidence) -> Verdict:
    """The kernel and similarity runs: how well each similarity measure follows the binary kernel."""
    conditions = [
        Condition(f"{code}: {measure}", evidence[f"kernel {code}"][f"{measure}_binary"])
        for code in ("bump", "ramp")
        for measure in ("cosine", "overlap", "nearness")
    ]
    seen = [np.median(evidence[f"kernel {code}"].share_of_blank("in")) for code in ("bump", "ramp")]
    note = f"Correlations with the binary kernel. Seen error / blank: bump {seen[0]:.2g}, ramp {seen[1]:.2g}"
    return Verdict.of_arm(evidence, "kernel bump", conditions, note=note)


def superposition(evidence: Evidence) -> Verdict:
    arm, cnn = evidence["render none"], evidence["cnn bump"]
    lead = arm["with_superposition"] - arm["with_truth"]
    cnn_lead = cnn["with_superposition"] - cnn["with_truth"]
    note = (
        f"Render net: {np.median(arm['with_superposition']):.2f} with the sum, "
        f"{np.median(arm['with_truth']):.2f} with the target. CNN (provisional, not counted): "
        f"{np.median(cnn['with_superposition']):.2f} and {np.median(cnn['with_truth']):.2f}, lead "
        f"{np.median(cnn_lead):.2f}"
    )
    return Verdict.of_arm(
        evidence,
        "render none",
        [Condition("correlation with the sum minus with the target", lead, ">=", 0.2)],
        note=note,
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
    """Hidden layers only: layer 0 of the values is the input, the last is the image."""
    conditions, drops = [], []
    for code in ("bump", "ramp"):
        arm = evidence[f"mlp {code} 20 epochs"]
        score, r2 = arm["factorisation"][:, 1:-1], arm["r2"][:, 1:-1]
        drops.append(score[:, 0] - score[:, -1])
        conditions += [
            Condition(f"{code}: drop of F, first to last layer", drops[-1], ">=", 0.05),
            Condition("F of the first layer", score[:, 0], ">=", 0.94),
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
    """A net that stays above 20% after 200 epochs may be widened to 512 units."""
    conditions = []
    for code in ("bump", "ramp"):
        for arm, relation, bound in (
            (f"mlp {code} 20 epochs", ">", 0.7),
            (f"mlp {code} 200 epochs", "<", 0.2),
        ):
            share = evidence[arm].share_of_blank("in")
            wide = f"mlp {code} wide"
            if relation == "<" and not (share < bound).all() and wide in evidence:
                label = f"{code}, 200 epochs, width 512 (as published: {np.median(share):.2f})"
                conditions.append(Condition(label, evidence[wide].share_of_blank("in"), relation, bound))
            else:
                conditions.append(Condition(arm.removeprefix("mlp "), share, relation, bound))
    note = "Seen error relative to the blank image's"
    return Verdict.of_arm(evidence, "mlp bump 20 epochs", conditions, note=note)


def dissimilarity_report(evidence: Evidence) -> Verdict:
    conditions = []
    for label, arm in (("bump", "code width 1"), ("ramp", "cnn ramp")):
        values = evidence[arm]
        conditions.append(Condition(f"{label}: unseen", values["dissimilarity_out"]))
        conditions.append(Condition("seen", values["dissimilarity_in"]))
    return Verdict.of_arm(evidence, "code width 1", conditions)


def kernel_report(evidence: Evidence) -> Verdict:
    arm = evidence["cnn bump"]
    families = sorted(
        name[7:-4] for name in arm.values if name.startswith("kernel_") and name.endswith("_out")
    )
    note = "Unseen error of kernel fits to the net's own images: " + ", ".join(
        f"{family} {np.median(arm[f'kernel_{family}_out']):.1e}" for family in families
    )
    ratio = arm["kernel_binary_out"] / arm["kernel_radial_out"]
    return Verdict.of_arm(evidence, "cnn bump", [Condition("binary / radial, unseen", ratio)], note=note)
