"""Checks of small networks on symbols."""

from __future__ import annotations

import numpy as np

from recombine.studies.claims import Condition, Evidence, Verdict
from recombine.studies.kernel_theory.arms.networks import DEPTHS, HIDDEN, addition_arm, context_arm, deep_arm
from recombine.studies.kernel_theory.checks.kinds import kind_shares
from recombine.studies.kernel_theory.predictions import KINDS


def _within(label: str, values: np.ndarray, centre: float, width: float) -> list[Condition]:
    return [
        Condition(label, values, ">=", round(centre - width, 6)),
        Condition(label, values, "<=", round(centre + width, 6)),
    ]


def _fitted(evidence: Evidence, arms: list[str]) -> str:
    stopped = sum(word == "stopped" for arm in arms for word in evidence[arm].status)
    total = sum(len(evidence[arm].status) for arm in arms)
    return f"{stopped} of {total} nets reached the required training loss"


def lazy_addition(evidence: Evidence) -> Verdict:
    centres = {"extrapolation": 0.76, "interpolation": 0.85, "both": 0.85, "asymmetric": 0.73}
    arms = {anchors: addition_arm(anchors, "lazy") for anchors in centres}
    conditions = [
        c
        for name, centre in centres.items()
        for c in _within(f"slope, {name}", evidence[arms[name]]["slope"], centre, 0.06)
    ]
    conditions += [
        Condition(f"additive on unseen cells, {name}", evidence[arm]["additive_out"], ">", 0.99)
        for name, arm in arms.items()
    ]
    return Verdict.of_arm(
        evidence, arms["extrapolation"], conditions, note=_fitted(evidence, list(arms.values()))
    )


def rich_addition(evidence: Evidence) -> Verdict:
    arms = {
        name: addition_arm(name, "rich") for name in ("interpolation", "both", "extrapolation", "asymmetric")
    }
    slopes = {name: evidence[arm]["slope"] for name, arm in arms.items()}
    conditions = [Condition("slope, interpolation", slopes["interpolation"], ">", 0.97)]
    conditions += _within("slope, both", slopes["both"], 0.91, 0.04)
    conditions += _within("slope, extrapolation", slopes["extrapolation"], 0.75, 0.06)
    conditions += [
        Condition("slope, asymmetric", slopes["asymmetric"], "<", 0.5),
        Condition(
            "additive on unseen cells, asymmetric", evidence[arms["asymmetric"]]["additive_out"], "<", 0.85
        ),
    ]
    return Verdict.of_arm(
        evidence, arms["interpolation"], conditions, note=_fitted(evidence, list(arms.values()))
    )


def equivalence_networks(evidence: Evidence) -> Verdict:
    conditions = []
    for regime in ("rich", "richer"):
        arm = evidence[f"equivalence, {regime}"]
        conditions.append(Condition(f"right on unseen pairs, {regime}", arm["right_out"], "==", 1))
        conditions.append(Condition(f"margin, {regime}", arm["margin_out"], ">", 0.9))
    lazy = evidence["equivalence, lazy"]
    conditions.append(Condition("|mean margin|, lazy", np.abs(lazy["margin_out"]), "<", 0.4))
    conditions.append(Condition("right on unseen pairs, lazy", lazy["right_out"], "<=", 0.75))
    return Verdict.of_arm(evidence, "equivalence, rich", conditions)


def context_networks(evidence: Evidence) -> Verdict:
    conditions = []
    for regime in ("lazy", "rich"):
        right = {h: evidence[context_arm(h, regime, "cross-entropy")]["right_out"] for h in HIDDEN}
        conditions.append(Condition(f"CD-3 right, {regime}, cross-entropy", right[3], "<=", 0.1))
        conditions += [
            Condition(f"CD-{h} right, {regime}, cross-entropy", right[h], ">=", 0.9) for h in (2, 1)
        ]
    squared = evidence[context_arm(3, "lazy", "squared")]
    conditions.append(Condition("CD-3 right, lazy, squared loss", squared["right_out"], ">=", 0.9))
    conditions.append(Condition("its mean margin (theory 0.795)", squared["margin_out"]))
    return Verdict.of_arm(evidence, context_arm(3, "lazy", "cross-entropy"), conditions)


def deep_networks(evidence: Evidence) -> Verdict:
    conditions = []
    for depth in DEPTHS:
        conditions += _within(
            f"interpolation slope, {depth} layers",
            evidence[deep_arm("interpolation", depth)]["slope"],
            1.0,
            0.03,
        )
    for depth, centre in ((1, 0.72), (4, 0.63)):
        conditions += _within(
            f"extrapolation slope, {depth} layers",
            evidence[deep_arm("extrapolation", depth)]["slope"],
            centre,
            0.06,
        )
    for depth in DEPTHS:
        conditions.append(
            Condition(
                f"equivalence right, {depth} layers",
                evidence[deep_arm("equivalence", depth)]["right_out"],
                "==",
                1,
            )
        )
    arms = [
        deep_arm(task, depth)
        for task in ("interpolation", "extrapolation", "equivalence")
        for depth in DEPTHS
    ]
    return Verdict.of_arm(evidence, deep_arm("interpolation", 1), conditions, note=_fitted(evidence, arms))


def deep_context(evidence: Evidence) -> Verdict:
    conditions = []
    for hidden in HIDDEN:
        for depth in DEPTHS:
            arm = evidence[deep_arm(f"CD-{hidden}", depth)]
            shares = dict(zip(KINDS, kind_shares(arm, hidden), strict=True))
            gap = shares["context"] - shares["right"]
            relation = ">" if hidden == 3 else "<"
            conditions.append(
                Condition(f"context minus right, CD-{hidden}, {depth} layers", gap, relation, 0)
            )
    arms = [deep_arm(f"CD-{hidden}", depth) for hidden in HIDDEN for depth in DEPTHS]
    return Verdict.of_arm(evidence, deep_arm("CD-3", 1), conditions, note=_fitted(evidence, arms))
