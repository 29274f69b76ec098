"""Checks of networks that read pictures. As in the published figures, numbers are means over seeds."""

from __future__ import annotations

import numpy as np

from recombine.studies.claims import Condition, Evidence, Verdict
from recombine.studies.kernel_theory.arms.images import (
    FAR,
    NEAR,
    READERS,
    context_task,
    equivalence_task,
    image_arm,
    similarity_arm,
)
from recombine.studies.kernel_theory.arms.networks import HIDDEN
from recombine.studies.kernel_theory.checks.kinds import kind_shares
from recombine.tasks.symbolic import ANCHORS
from recombine.theory import addition_slope

PARTNERS = {"extrapolation": 1, "asymmetric": 1, "interpolation": 2, "both": 2}
"""Training partners of every number."""


def slope(evidence: Evidence, anchors: str, distance: str, reader: str = "ConvNet") -> float:
    """The mean slope of answers on unseen sums."""
    return float(evidence[image_arm(reader, f"addition {anchors}", distance)]["slope"].mean())


def _range(values: np.ndarray) -> str:
    return f"{values.min():.3g} to {values.max():.3g}"


def image_addition(evidence: Evidence) -> Verdict:
    slopes = {(a, d): slope(evidence, a, d) for a in ANCHORS for d in (NEAR, FAR)}
    conditions = []
    for distance in (NEAR, FAR):
        more = min(slopes[a, distance] for a, p in PARTNERS.items() if p == 2)
        fewer = max(slopes[a, distance] for a, p in PARTNERS.items() if p == 1)
        gap = abs(slopes["interpolation", distance] - slopes["both", distance])
        conditions.append(Condition(f"two partners minus one, {distance}", more - fewer, ">=", 0.03))
        conditions.append(Condition(f"interpolation against both, {distance}", gap, "<=", 0.06))
    conditions += [
        Condition(f"far minus near, {a}", slopes[a, FAR] - slopes[a, NEAR], ">=", 0.05) for a in ANCHORS
    ]
    conditions.append(Condition("smallest slope", min(slopes.values()), ">", 0.2))
    conditions.append(Condition("largest slope", max(slopes.values()), "<", 0.95))
    conditions += [
        Condition(
            f"training error, {a}, {d}",
            evidence[image_arm("ConvNet", f"addition {a}", d)]["mse_train"].mean(),
        )
        for a in ANCHORS
        for d in (NEAR, FAR)
    ]
    spread = np.concatenate([evidence[image_arm("ConvNet", f"addition {a}", NEAR)]["slope"] for a in ANCHORS])
    return Verdict.of_arm(
        evidence,
        image_arm("ConvNet", "addition extrapolation", NEAR),
        conditions,
        note=f"single nets, near: {_range(spread)}",
    )


def image_context(evidence: Evidence) -> Verdict:
    conditions = []
    for distance in (NEAR, FAR):
        arms = {h: evidence[image_arm("ConvNet", context_task(h), distance)] for h in HIDDEN}
        right = {h: float(arm["right_out"].mean()) for h, arm in arms.items()}
        conditions += [
            Condition(f"CD-3 right, {distance}", right[3], "<=", 0.55),
            Condition(f"CD-2 minus CD-3, {distance}", right[2] - right[3], ">", 0),
            Condition(f"CD-1 minus CD-2, {distance}", right[1] - right[2], ">=", 0),
            Condition(
                f"CD-1, new pictures of seen cells minus unseen cells, {distance}",
                arms[1]["right_fresh"].mean() - right[1],
                ">=",
                0,
            ),
        ]
        conditions += [Condition(f"CD-{h} right, {distance}", right[h]) for h in (2, 1)]
    return Verdict.of_arm(evidence, image_arm("ConvNet", context_task(3), NEAR), conditions)


def image_shortcut(evidence: Evidence) -> Verdict:
    context, conditions = {}, []
    for distance in (FAR, NEAR):
        arms = {h: evidence[image_arm("ConvNet", context_task(h), distance)] for h in HIDDEN}
        context[distance] = {h: kind_shares(arm, h)[3] for h, arm in arms.items()}
    shares = context[FAR]
    conditions.append(
        Condition(
            "context's share in CD-3 over the larger other, far",
            shares[3] / max(shares[2], shares[1]),
            ">=",
            2,
        )
    )
    for h in HIDDEN:
        additive = evidence[image_arm("ConvNet", context_task(h), FAR)]["additive_out"].mean()
        conditions.append(Condition(f"additive on unseen cells, CD-{h}, far", additive, ">=", 0.8))
    conditions += [Condition(f"share, CD-{h}, {d}", context[d][h]) for d in (FAR, NEAR) for h in HIDDEN]
    conditions += [
        Condition(
            f"additive, CD-{h}, near",
            evidence[image_arm("ConvNet", context_task(h), NEAR)]["additive_out"].mean(),
        )
        for h in HIDDEN
    ]
    return Verdict.of_arm(evidence, image_arm("ConvNet", context_task(3), FAR), conditions)


def foretold_slopes(evidence: Evidence, distance: str, value: str = "salience") -> dict[str, float]:
    """What the slope law says for the salience of the untrained network, for one and two partners."""
    salience = float(evidence[similarity_arm(distance)][value][:, 0].mean())
    return {anchors: float(addition_slope(salience, p)) for anchors, p in PARTNERS.items()}


def image_salience(evidence: Evidence) -> Verdict:
    found = {d: evidence[similarity_arm(d)]["salience"][:, 0] for d in (NEAR, FAR)}
    conditions = [Condition("S(1;2), far minus near", found[FAR] - found[NEAR], ">", 0)]
    conditions += [Condition(f"S(1;2), {d}", values) for d, values in found.items()]
    conditions += [
        Condition(f"S(1;2) with self pairs, {d}", evidence[similarity_arm(d)]["salience_self"][:, 0])
        for d in found
    ]
    for distance in (NEAR, FAR):
        for anchors in ("extrapolation", "interpolation"):
            where = f"{anchors}, {distance}"
            plain, with_self = (
                foretold_slopes(evidence, distance, value)[anchors] for value in ("salience", "salience_self")
            )
            conditions.append(Condition(f"slope foretold, {where}", plain))
            conditions.append(Condition("with self pairs", with_self))
            conditions.append(Condition("measured", slope(evidence, anchors, distance)))
    return Verdict.of_arm(evidence, similarity_arm(NEAR), conditions)


def image_equivalence(evidence: Evidence) -> Verdict:
    right = {d: evidence[image_arm("ConvNet", equivalence_task(4), d)] for d in (NEAR, FAR)}
    gain = right[FAR]["right_out"].mean() - right[NEAR]["right_out"].mean()
    conditions = [Condition("right on unseen pairs, far minus near", gain, ">=", 0.1)]
    conditions += [Condition(f"unseen pairs, {d}", arm["right_out"]) for d, arm in right.items()]
    conditions += [Condition(f"new pictures, {d}", arm["right_fresh"]) for d, arm in right.items()]
    return Verdict.of_arm(evidence, image_arm("ConvNet", equivalence_task(4), NEAR), conditions)


def other_readers(evidence: Evidence) -> Verdict:
    slopes = [slope(evidence, "extrapolation", NEAR, reader) for reader in READERS]
    pairs = zip(READERS, READERS[1:], slopes, slopes[1:], strict=False)
    conditions = [Condition(f"slope, {one} minus {two}", a - b, ">", 0) for one, two, a, b in pairs]
    for reader in READERS:
        more = slope(evidence, "interpolation", NEAR, reader) - slope(evidence, "extrapolation", NEAR, reader)
        conditions.append(Condition(f"two partners minus one, {reader}", more, ">", 0))
        hard = evidence[image_arm(reader, context_task(3), NEAR)]["right_out"].mean()
        easy = evidence[image_arm(reader, context_task(1), NEAR)]["right_out"].mean()
        conditions.append(Condition(f"CD-3 right, {reader}", hard, "<=", 0.55))
        conditions.append(Condition(f"CD-1 minus CD-3, {reader}", easy - hard, ">", 0))
    return Verdict.of_arm(evidence, image_arm("ViT", "addition extrapolation", NEAR), conditions)
