"""Checks of render nets with and without penalties (Figure 3), and of decoders that work pixel by pixel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from recombine.studies.claims import Condition, Evidence, Verdict
from recombine.studies.forced_rendering.arms.rendering import HEADS, spatial_arm, transformer_arm


def free_render_fails(evidence: Evidence) -> Verdict:
    arm, paper = evidence["render none"], evidence.scale == "paper"
    first = evidence["render none, 1 epoch"]["error_out"]
    growth = arm["error_out"] / first
    lowest = arm.curves["out"].min(axis=1)
    note = (
        f"Unseen error after epoch 1: {', '.join(f'{e:.1e}' for e in first)}; lowest during training: "
        f"{', '.join(f'{e:.1e}' for e in lowest)}"
    )
    return Verdict.of_arm(
        evidence,
        "render none",
        [
            Condition("unseen error", arm["error_out"], ">=", 1e-2 if paper else 8e-3),
            Condition("seen error", arm["error_in"], "<=", 1e-5 if paper else 1e-4),
            Condition("growth since epoch 1", growth, ">=", 2),
            Condition("in the right place ± 1", arm["accuracy1_out"], "<=", 0.1),
        ],
        note=note,
    )


def forced_render_works(evidence: Evidence) -> Verdict:
    arm, free, paper = evidence["render both"], evidence["render none"], evidence.scale == "paper"
    late = arm.curves["out"][:, -10:].mean(axis=1)  # one record every 5 epochs
    conditions = [
        Condition("unseen error, last 50 epochs", late, "<=", 6e-4 if paper else 1.5e-3),
        Condition("in the right place ± 1", arm["accuracy1_out"], ">=", 0.97),
        Condition("unregularised / regularised", free["error_out"] / arm["error_out"], ">=", 30),
        Condition("seen error", arm["error_in"], "<=", 2e-4),
    ]
    note = f"Median unseen error over cells {np.median(arm['error_out_median']):.1e}"
    return Verdict.of_arm(evidence, "render both", conditions, note=note)


def stripes_appear(evidence: Evidence) -> Verdict:
    forced, free = evidence["render both"], evidence["render none"]
    energy = forced["stripe_energy"].reshape(len(forced.seeds), -1)
    return Verdict.of_arm(
        evidence,
        "render both",
        [
            Condition("largest exp(H)", forced["canvas_participation"].max(axis=(1, 2)), "<=", 1.05),
            Condition("mean exp(H), no penalty", free["canvas_participation"].mean(axis=(1, 2)), ">=", 8),
            Condition("stripe energy, median token", np.median(energy, axis=1), ">=", 0.95),
            Condition("share of tokens ≥ 0.85", (energy >= 0.85).mean(axis=1), ">=", 0.75),
        ],
    )


def volume_even(evidence: Evidence) -> Verdict:
    forced, free = (evidence[f"render {arm}"]["volume_gap"][:, -1] for arm in ("both", "none"))
    return Verdict.of_arm(
        evidence,
        "render both",
        [
            Condition("|gap| with penalties", np.abs(forced), "<=", 0.05),
            Condition("|gap| without", np.abs(free), ">=", 0.2),
        ],
    )


def ablation(evidence: Evidence) -> Verdict:
    names = ("both", "entropy", "flatness", "none")
    median = {arm: float(np.median(evidence[f"render {arm}"]["error_out"])) for arm in names}
    conditions = [
        Condition(f"both / {arm}", median["both"] / median[arm], "<=", 1) for arm in ("entropy", "flatness")
    ]
    conditions += [Condition(f"{arm} / none", median[arm] / median["none"], "<=", 1) for arm in names[1:3]]
    listed = ", ".join(f"{arm} {value:.1e}" for arm, value in median.items())
    return Verdict.of_arm(
        evidence, "render both", conditions, note=f"Median unseen error over seeds: {listed}"
    )


def heads(evidence: Evidence) -> Verdict:
    conditions, notes = [], []
    for hidden in HEADS:
        free, forced = (evidence[f"render {arm}, head {hidden}"] for arm in ("none", "both"))
        ratio = free["error_out"] / forced["error_out"]
        conditions.append(Condition(f"{hidden} hidden: without / with penalties", ratio))
        notes.append(
            f"{hidden} hidden: unseen error {np.median(forced['error_out']):.1e} with penalties, "
            f"{np.median(forced['accuracy1_out']):.0%} in place"
        )
    return Verdict.of_arm(evidence, f"render both, head {HEADS[0]}", conditions, note="; ".join(notes))


def per_pixel(evidence: Evidence, *, depth: int) -> Verdict:
    arm, paper = spatial_arm(depth), evidence.scale == "paper"
    values = evidence[arm]
    conditions = [Condition("unseen error", values["error_out"], "<=", 1e-4 if paper else 6e-4)]
    if paper:
        conditions.append(Condition("seen error", values["error_in"], "<=", 1e-5))
    return Verdict.of_arm(evidence, arm, conditions)


def transformers(evidence: Evidence, *, depths: Sequence[int], baselines: Sequence[str] = ()) -> Verdict:
    """The unseen error of transformers, and that of the arms in `baselines`."""
    conditions, notes = [], []
    for depth in depths:
        arm = evidence[transformer_arm(depth)]
        share = arm.share_of_blank("out")
        conditions.append(Condition(f"{depth} layers: unseen error / blank", share))
        notes.append(
            f"{depth} layers: seen error {np.median(arm.share_of_blank('in')):.2g} of "
            f"blank; in place ± 1: seen {np.median(arm['accuracy1_in']):.0%}, unseen "
            f"{np.median(arm['accuracy1_out']):.0%}"
        )
    for name in baselines:
        notes.append(f"{name}: unseen error / blank {np.median(evidence[name].share_of_blank('out')):.2g}")
    return Verdict.of_arm(evidence, transformer_arm(depths[0]), conditions, note="; ".join(notes))
