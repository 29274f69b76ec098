"""Checks of networks on images. As in the published figures, numbers are means over seeds."""

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
    readers,
    similarity_arm,
)
from recombine.studies.kernel_theory.arms.networks import HIDDEN
from recombine.studies.kernel_theory.checks.kinds import kind_shares
from recombine.studies.kernel_theory.predictions import KINDS
from recombine.tasks.symbolic import ANCHORS
from recombine.theory import addition_slope

PARTNERS = {"extrapolation": 1, "asymmetric": 1, "interpolation": 2, "both": 2}
"""Training partners of every number."""


def slope(evidence: Evidence, anchors: str, distance: str, reader: str = "ConvNet") -> float:
    """The mean slope of predictions on unseen sums."""
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
        conditions.append(Condition(f"|interpolation minus both|, {distance}", gap, "<=", 0.06))
    conditions += [
        Condition(f"far minus near, {a}", slopes[a, FAR] - slopes[a, NEAR], ">=", 0.05) for a in ANCHORS
    ]
    conditions.append(Condition("smallest slope", min(slopes.values()), ">", 0.2))
    conditions.append(Condition("largest slope", max(slopes.values()), "<", 0.95))
    fitted = [
        evidence[image_arm("ConvNet", f"addition {a}", d)]["mse_train"].mean()
        for a in ANCHORS
        for d in (NEAR, FAR)
    ]
    conditions.append(Condition("largest training error", max(fitted), "<=", 0.05))
    spread = np.concatenate([evidence[image_arm("ConvNet", f"addition {a}", NEAR)]["slope"] for a in ANCHORS])
    return Verdict.of_arm(
        evidence,
        image_arm("ConvNet", "addition extrapolation", NEAR),
        conditions,
        note=f"Single nets, near: {_range(spread)}. {_image_sources(evidence)}",
    )


def _image_sources(evidence: Evidence) -> str:
    """Which images were used, since those of scale paper may not be on this machine."""
    used = dict.fromkeys(reader.source for reader in readers(evidence.scale).values())
    return f"Images: {', '.join(used)}"


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
                f"CD-1, new images of seen cells minus unseen cells, {distance}",
                arms[1]["right_fresh"].mean() - right[1],
                ">=",
                0,
            ),
        ]
        conditions += [Condition(f"CD-{h} right, {distance}", right[h]) for h in (2, 1)]
        fitted = min(arm["right_train"].mean() for arm in arms.values())
        conditions.append(Condition(f"training images right, {distance}", fitted, ">=", 0.99))
    first = image_arm("ConvNet", context_task(3), NEAR)
    return Verdict.of_arm(evidence, first, conditions, note=_image_sources(evidence))


def image_shortcut(evidence: Evidence) -> Verdict:
    context, conditions = {}, []
    for distance in (FAR, NEAR):
        arms = {h: evidence[image_arm("ConvNet", context_task(h), distance)] for h in HIDDEN}
        context_kind = KINDS.index("context")
        context[distance] = {h: kind_shares(arm, h)[context_kind] for h, arm in arms.items()}
    shares = context[FAR]
    conditions.append(
        Condition(
            "context's share in CD-3 / the larger of the other two, far",
            shares[3] / max(shares[2], shares[1]),
            ">=",
            2,
        )
    )
    for distance in (FAR, NEAR):
        for h in HIDDEN:
            additive = evidence[image_arm("ConvNet", context_task(h), distance)]["additive_out"].mean()
            conditions.append(Condition(f"additive on unseen cells, CD-{h}, {distance}", additive, ">=", 0.8))
    conditions += [Condition(f"share, CD-{h}, {d}", context[d][h]) for d in (FAR, NEAR) for h in HIDDEN]
    last = image_arm("ConvNet", context_task(3), FAR)
    return Verdict.of_arm(evidence, last, conditions, note=_image_sources(evidence))


def predicted_slopes(evidence: Evidence, distance: str, value: str = "salience") -> dict[str, float]:
    """The slopes that the slope law predicts from the salience of the untrained network, for one and two partners."""
    salience = float(evidence[similarity_arm(distance)][value][:, 0].mean())
    return {anchors: float(addition_slope(salience, p)) for anchors, p in PARTNERS.items()}


def image_salience(evidence: Evidence) -> Verdict:
    saliences = {d: evidence[similarity_arm(d)]["salience"][:, 0] for d in (NEAR, FAR)}
    conditions = [Condition("S(1;2), far minus near", saliences[FAR] - saliences[NEAR], ">", 0)]
    conditions += [Condition(f"S(1;2), {d}", values) for d, values in saliences.items()]
    conditions += [
        Condition(f"S(1;2) with self pairs, {d}", evidence[similarity_arm(d)]["salience_self"][:, 0])
        for d in saliences
    ]
    for distance in (NEAR, FAR):
        for anchors in ("extrapolation", "interpolation"):
            where = f"{anchors}, {distance}"
            plain, with_self = (
                predicted_slopes(evidence, distance, value)[anchors]
                for value in ("salience", "salience_self")
            )
            conditions.append(Condition(f"slope predicted, {where}", plain))
            conditions.append(Condition("with self pairs", with_self))
            conditions.append(Condition("measured", slope(evidence, anchors, distance)))
    return Verdict.of_arm(evidence, similarity_arm(NEAR), conditions)


def image_equivalence(evidence: Evidence) -> Verdict:
    right = {d: evidence[image_arm("ConvNet", equivalence_task(4), d)] for d in (NEAR, FAR)}
    gain = right[FAR]["right_out"].mean() - right[NEAR]["right_out"].mean()
    conditions = [Condition("right on unseen pairs, far minus near", gain, ">=", 0.1)]
    conditions += [Condition(f"unseen pairs, {d}", arm["right_out"]) for d, arm in right.items()]
    conditions += [Condition(f"new images, {d}", arm["right_fresh"]) for d, arm in right.items()]
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
        sums = evidence[image_arm(reader, "addition extrapolation", NEAR)]
        conditions.append(Condition(f"training error, {reader}", sums["mse_train"].mean()))
        conditions.append(Condition(f"error on new images, {reader}", sums["mse_fresh"].mean()))
    first = image_arm("ViT", "addition extrapolation", NEAR)
    return Verdict.of_arm(evidence, first, conditions, note=_image_sources(evidence))
