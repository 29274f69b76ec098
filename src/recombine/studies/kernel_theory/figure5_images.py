"""Section 6, Figure 5: networks that receive the symbols as images.

A ConvNet, a ResNet and a ViT learn sums, context dependence and associative inference from pictures of digits. Near:
the pictures of a tuple are superimposed, each on its own channel. Far: they are a digit's width apart.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool

from recombine.parts import Part
from recombine.studies.claim import Amendment, Claim
from recombine.studies.evidence import Arm, ArmPlan, ArmPlans, Evidence, Scale
from recombine.studies.kernel_theory.conjunction_shares import share_of
from recombine.studies.kernel_theory.figure5_drawings import DRAWINGS, predicted_slopes, slopes_of
from recombine.studies.kernel_theory.image_readers import (
    FAR,
    MIDDLE,
    NEAR,
    SLOWER,
    SPARE_SEEDS,
    context_task,
    equivalence_task,
    image_arm,
    image_plan,
    readers,
    similarity_arm,
    similarity_plan,
    slow_arm,
)
from recombine.studies.kernel_theory.main_figure import MAIN
from recombine.studies.kernel_theory.symbol_networks import HIDDEN, PARTNERS
from recombine.studies.measurement import PerSeed
from recombine.studies.quantity import difference, ratio
from recombine.studies.study import StudySection
from recombine.tasks import addition, context_dependence, transitive_equivalence
from recombine.tasks.symbolic import ANCHORS

ENDS = (NEAR, FAR)
BETWEEN = ("5 pixels", MIDDLE, "15 pixels")
"""Further distances of scale paper."""
HUBS = (4, 1)
OTHERS = ("ResNet", "ViT")
TWO_OF_EACH = ("extrapolation", "interpolation")
"""One training set with one partner and one with two, for the ResNet and the ViT."""
REDUCED = (
    "8 × 8 digits with doubled pixels instead of MNIST, a quarter of the filters, a tenth of the examples, 15 to 30 "
    "times the learning rate"
)
REDUCED_OTHERS = (
    "8 × 8 digits with doubled pixels instead of CIFAR-10, half the widths or less, a tenth of the examples"
)


def arms(scale: Scale) -> ArmPlans:
    """The arms of this section at a scale."""
    plans: dict[str, ArmPlan] = {}
    for name, reader in readers(scale).items():
        distances = [d for d in reader.distances if scale == "paper" or d in ENDS]
        for task, (kind, part) in _tasks(name, scale).items():
            for distance in distances[-1:] if scale == "smoke" else distances:
                plans[image_arm(name, task, distance)] = image_plan(
                    scale, reader, kind, part, distance, spare=SPARE_SEEDS.get(name, 0)
                )
    reader = readers(scale)["ConvNet"]
    for distance in reader.distances if scale != "smoke" else ():
        plans[similarity_arm(distance)] = similarity_plan(scale, reader, Part(addition), distance)
    for anchors in ("interpolation", "both") if scale != "smoke" else ():
        part = Part(addition, anchors=anchors)
        plans[slow_arm(anchors)] = image_plan(scale, reader, "addition", part, NEAR, slower=SLOWER)
    return plans


def _tasks(reader: str, scale: Scale) -> dict[str, tuple[str, Part]]:
    """Names, kinds and symbolic forms of the tasks of one network."""
    context = {context_task(h): ("context", Part(context_dependence, hidden=h)) for h in HIDDEN}
    if scale == "smoke":
        return {name: context[name] for name in (("CD-3", "CD-2") if reader == "ConvNet" else ("CD-3",))}
    if reader != "ConvNet" and scale == "quick":
        del context[context_task(1)]
    anchors = ANCHORS if reader == "ConvNet" else TWO_OF_EACH
    tasks = {f"addition {name}": ("addition", Part(addition, anchors=name)) for name in anchors} | context
    for hubs in (HUBS if scale == "paper" else HUBS[:1]) if reader == "ConvNet" else ():
        task = Part(transitive_equivalence, classes=(5, 5), hubs=(hubs, hubs))
        tasks[equivalence_task(hubs)] = ("equivalence", task)
    return tasks


SUMS_FITTED = "fitted (training error of sums at most 0.05)"
SIGNS_FITTED = "fitted (99% of training images right)"


def _sums_fitted(arms: list[Arm]) -> Bool[np.ndarray, " seeds"]:
    return np.asarray(np.all([arm["mse_train"] <= 0.05 for arm in arms], axis=0))


def _signs_fitted(arms: list[Arm]) -> Bool[np.ndarray, " seeds"]:
    return np.asarray(np.all([arm["right_train"] >= 0.99 for arm in arms], axis=0))


# Memorisation leak: sums of digits.


def _salience_by_distance(evidence: Evidence) -> PerSeed:
    near, far = (evidence[similarity_arm(d)]["salience"][:, 0] for d in ENDS)
    supports = {"S(1;2), near": near, "S(1;2), far": far}
    supports |= {
        f"S(1;2) with self pairs, {d}": evidence[similarity_arm(d)]["salience_self"][:, 0] for d in ENDS
    }
    for distance in ENDS:
        for anchors in TWO_OF_EACH:
            gap = predicted_slopes(evidence, anchors, distance) - slopes_of(evidence, anchors, distance)
            supports[f"predicted minus measured slope, {anchors}, {distance}"] = gap
    return PerSeed(far - near, supports=supports)


SALIENCE = Claim(
    "29",
    "single images become more salient in an untrained ConvNet as they move apart",
    "Figure 5a",
    difference("S(1;2), far minus near", "above", published_text="rises"),
    (
        *(similarity_arm(d) for d in ENDS),
        *(image_arm("ConvNet", f"addition {a}", d) for a in TWO_OF_EACH for d in ENDS),
    ),
    _salience_by_distance,
    reduced=REDUCED,
    also=tuple(similarity_arm(d) for d in BETWEEN),
    reversal="channels had kept superimposed images as separate as images that are apart",
    finding="The direction is right, but the size is not: the slope law, applied to the salience of the untrained "
    "network, predicts slopes that are much too large, and less so if images are also compared with themselves.",
)


def _partners(evidence: Evidence) -> PerSeed:
    slopes = {anchors: slopes_of(evidence, anchors, NEAR) for anchors in ANCHORS}
    one, two = (np.mean([slopes[a] for a, p in PARTNERS.items() if p == count], axis=0) for count in (1, 2))
    nets = [evidence[image_arm("ConvNet", f"addition {a}", NEAR)] for a in ANCHORS]
    return PerSeed(
        two - one,
        requires={SUMS_FITTED: _sums_fitted(nets)},
        supports={f"slope, {anchors}": values for anchors, values in slopes.items()}
        | {
            "interpolation minus both (theory: 0)": slopes["interpolation"] - slopes["both"],
            "largest training error": np.max([net["mse_train"] for net in nets], axis=0),
        },
    )


PARTNERS_HELP = Claim(
    "23",
    "a ConvNet's sums of digit images shrink, and less so for numbers that were seen with two partners",
    "Figure 5d (addition-mnist)",
    difference(
        "slope with two partners minus slope with one, near",
        "above",
        published=(0.653 + 0.657) / 2 - (0.554 + 0.516) / 2,
        magnitude=0.03,
    ),
    tuple(image_arm("ConvNet", f"addition {a}", NEAR) for a in ANCHORS),
    _partners,
    reduced=REDUCED,
    reversal="the number of partners had not mattered, or had hurt",
    also=tuple(image_arm("ConvNet", f"addition {a}", d) for a in ANCHORS for d in BETWEEN),
    finding="Theory says that interpolation and both, with two partners each, shrink alike; claim 44 asks whether they "
    "do, at two learning rates.",
    amendments=(
        Amendment(
            "slopes grow with partners (0.03) and with distance (0.05), interpolation equals both (0.06), all slopes "
            "between 0.2 and 0.95, means over three seeds",
            "slope with two partners minus one, near; distance in claim 42; interpolation minus both next to it",
            "one quantity per claim; the old claim failed on interpolation against both, for which the learning rate "
            "was blamed without a test (now claim 44)",
        ),
    ),
)


def _distance_gain(evidence: Evidence) -> PerSeed:
    gains = {a: slopes_of(evidence, a, FAR) - slopes_of(evidence, a, NEAR) for a in ANCHORS}
    nets = [evidence[image_arm("ConvNet", f"addition {a}", d)] for a in ANCHORS for d in ENDS]
    return PerSeed(
        np.mean(list(gains.values()), axis=0),
        requires={SUMS_FITTED: _sums_fitted(nets)},
        supports={f"far minus near, {anchors}": values for anchors, values in gains.items()},
    )


DISTANCE_HELPS = Claim(
    "42",
    "sums of digit images shrink less when the images are apart",
    "Figure 5c (addition-mnist)",
    difference(
        "slope, far minus near, mean of four training sets",
        "above",
        published=(0.776 + 0.674 + 0.834 + 0.833 - 0.554 - 0.516 - 0.653 - 0.657) / 4,
        magnitude=0.05,
    ),
    tuple(image_arm("ConvNet", f"addition {a}", d) for a in ANCHORS for d in ENDS),
    _distance_gain,
    reduced=REDUCED,
    reversal="more separate images had been harder to add",
    amendments=(Amendment("part of claim 23", "a claim of its own", "one quantity per claim"),),
)


def _slow_gap(evidence: Evidence) -> PerSeed:
    usual = {a: evidence[image_arm("ConvNet", f"addition {a}", NEAR)] for a in ("interpolation", "both")}
    slow = {a: evidence[slow_arm(a)] for a in ("interpolation", "both")}
    gaps = [nets["interpolation"]["slope"] - nets["both"]["slope"] for nets in (usual, slow)]
    return PerSeed(
        gaps[0] - gaps[1],
        requires={SUMS_FITTED: _sums_fitted([*usual.values(), *slow.values()])},
        supports={
            "interpolation minus both, usual rate": gaps[0],
            "interpolation minus both, a fifth of the rate": gaps[1],
            "slope, interpolation, a fifth of the rate": slow["interpolation"]["slope"],
            "slope, both, a fifth of the rate": slow["both"]["slope"],
        },
    )


SLOW = Claim(
    "44",
    "with a smaller learning rate, interpolation and both shrink by more similar amounts, as they do in kernels",
    "ours",
    difference(
        "interpolation minus both, usual rate minus a fifth of it", "above", published_text="(-0.004 at 1e-4)"
    ),
    (
        *(image_arm("ConvNet", f"addition {a}", NEAR) for a in ("interpolation", "both")),
        *(slow_arm(a) for a in ("interpolation", "both")),
    ),
    _slow_gap,
    reduced=REDUCED,
    reversal="the gap did not depend on the learning rate, so that something else causes it",
    finding="There is no gap to explain: with six seeds interpolation and both shrink alike at either rate, within the "
    "spread of seeds. The gap that the learning rate was blamed for came from three seeds.",
    on_request=True,
    minutes=20,
    amendments=(
        Amendment(
            "claim 23 blamed a learning rate of 15 times the published one for interpolation minus both",
            "the same nets at 3e-4 for 225 epochs instead of 1.5e-3 for 45",
            "an explanation that had not been tested",
        ),
    ),
)


# Shortcut bias: context dependence with digits.


def _context_gap(evidence: Evidence, reader: str, distance: str) -> np.ndarray:
    two, three = (evidence[image_arm(reader, context_task(h), distance)]["right_out"] for h in (2, 3))
    return two - three


def _far_context(evidence: Evidence) -> PerSeed:
    nets = {h: evidence[image_arm("ConvNet", context_task(h), FAR)] for h in (3, 2)}
    return PerSeed(
        _context_gap(evidence, "ConvNet", FAR),
        requires={SIGNS_FITTED: _signs_fitted(list(nets.values()))},
        supports={f"CD-{h} right on unseen cells": net["right_out"] for h, net in nets.items()}
        | {f"CD-{h} right on new images of seen cells": net["right_fresh"] for h, net in nets.items()},
    )


CONVNET_SHORTCUT = Claim(
    "24",
    "a ConvNet on images follows the theory: it gets unseen cells of CD-2 right and falls for the shortcut in CD-3",
    "Figure 5e (cdm-mnist)",
    difference("right on unseen cells, CD-2 minus CD-3, far", "above", published=0.944 - 0.229),
    tuple(image_arm("ConvNet", context_task(h), FAR) for h in (3, 2)),
    _far_context,
    headline=True,
    reduced=REDUCED,
    reversal="the ConvNet had generalised to both tasks, or to neither",
    amendments=(
        Amendment(
            "means over three seeds, near and far: CD-3 at most 55%, CD-2 more, CD-1 most, seen cells even more",
            "CD-2 minus CD-3, far, with the published size; near in claim 43",
            "one quantity per claim; the old order had no size",
        ),
    ),
)


def _near_context(evidence: Evidence) -> PerSeed:
    nets = {h: evidence[image_arm("ConvNet", context_task(h), NEAR)] for h in HIDDEN}
    return PerSeed(
        _context_gap(evidence, "ConvNet", NEAR),
        requires={SIGNS_FITTED: _signs_fitted(list(nets.values()))},
        supports={f"CD-{h} right on unseen cells": net["right_out"] for h, net in nets.items()}
        | {f"CD-{h} additive (R² on unseen cells)": net["additive_out"] for h, net in nets.items()},
    )


NEAR_SHORTCUT = Claim(
    "43",
    "superimposed images: the ConvNet is at chance on unseen cells of CD-3 and above chance on those of CD-2",
    "Figure 5e (cdm-mnist)",
    difference("right on unseen cells, CD-2 minus CD-3, near", "above", published=0.839 - 0.503),
    tuple(image_arm("ConvNet", context_task(h), NEAR) for h in HIDDEN),
    _near_context,
    reduced=REDUCED,
    also=tuple(image_arm("ConvNet", context_task(h), d) for h in HIDDEN for d in BETWEEN),
    reversal="superimposed images had been as easy, or as hard, in both tasks",
    amendments=(Amendment("part of claim 24", "a claim of its own", "one quantity per claim"),),
)


def _context_share(evidence: Evidence) -> PerSeed:
    nets = {h: evidence[image_arm("ConvNet", context_task(h), FAR)] for h in HIDDEN}
    shares = {h: share_of("context", net, h) for h, net in nets.items()}
    return PerSeed(
        shares[3] / np.maximum(shares[2], shares[1]),
        requires={SIGNS_FITTED: _signs_fitted(list(nets.values()))},
        supports={f"context's share, CD-{h}": values for h, values in shares.items()}
        | {f"CD-{h} additive (R² on unseen cells)": net["additive_out"] for h, net in nets.items()},
    )


CONTEXT_SHARE = Claim(
    "25",
    "in CD-3 the ConvNet predicts from the context alone, in CD-2 and CD-1 it does not",
    "Figure 5d (v2)",
    ratio(
        "context's share of the predictions, CD-3 / the larger of CD-2 and CD-1, far",
        "above",
        published=0.381 / 0.021,
        magnitude=2,
    ),
    tuple(image_arm("ConvNet", context_task(h), FAR) for h in HIDDEN),
    _context_share,
    reduced=REDUCED,
    reversal="context had mattered as much where it is no shortcut",
    amendments=(
        Amendment(
            "coefficients averaged over seeds; also R² of additivity at least 0.8, near and far",
            "coefficients of every seed; R² is shown next to claims 25 and 43",
            "one number per seed and one quantity per claim",
        ),
    ),
)


# Associative inference with digits.


def _image_equivalence(evidence: Evidence) -> PerSeed:
    near, far = (evidence[image_arm("ConvNet", equivalence_task(4), d)] for d in ENDS)
    return PerSeed(
        far["right_out"] - near["right_out"],
        requires={SIGNS_FITTED: _signs_fitted([near, far])},
        supports={
            "right on unseen pairs, near": near["right_out"],
            "right on unseen pairs, far": far["right_out"],
            "right on new images of seen pairs, near": near["right_fresh"],
            "right on new images of seen pairs, far": far["right_fresh"],
        },
    )


IMAGE_EQUIVALENCE = Claim(
    "30",
    "a ConvNet solves associative inference on images better when the images are apart",
    "figure TE MNIST, 4 hubs",
    difference("right on unseen pairs, far minus near", "above", published=0.891 - 0.529),
    tuple(image_arm("ConvNet", equivalence_task(4), d) for d in ENDS),
    _image_equivalence,
    reduced=REDUCED,
    also=tuple(image_arm("ConvNet", equivalence_task(hubs), d) for hubs in HUBS for d in (*ENDS, *BETWEEN)),
    reversal="separate images had made pairs harder to compare",
    amendments=(
        Amendment(
            "gain of at least 0.1",
            "half of the published gain",
            "the bound was ours, and lower than the rule's",
        ),
    ),
)


# ResNet and ViT.


def _other_readers(evidence: Evidence) -> PerSeed:
    gaps = {reader: _context_gap(evidence, reader, NEAR) for reader in OTHERS}
    nets = [evidence[image_arm(reader, context_task(h), NEAR)] for reader in OTHERS for h in (3, 2)]
    supports = {f"CD-2 minus CD-3, {reader}": values for reader, values in gaps.items()}
    for reader in OTHERS:
        supports[f"CD-3 right, {reader}"] = evidence[image_arm(reader, context_task(3), NEAR)]["right_out"]
        one, two = (slopes_of(evidence, anchors, NEAR, reader) for anchors in TWO_OF_EACH)
        supports |= {
            f"slope, one partner, {reader}": one,
            f"slope, two partners minus one, {reader}": two - one,
        }
        sums = evidence[image_arm(reader, f"addition {TWO_OF_EACH[0]}", NEAR)]
        supports[f"training error of sums, {reader}"] = sums["mse_train"]
    return PerSeed(
        np.min(list(gaps.values()), axis=0),
        requires={SIGNS_FITTED: _signs_fitted(nets)},
        supports=supports,
    )


OTHER_READERS = Claim(
    "31",
    "a ResNet and a ViT on images follow the theory as well: both do better on unseen cells of CD-2 than of CD-3",
    "Figure 5e (cdm-cifar)",
    difference(
        "right on unseen cells, CD-2 minus CD-3, the smaller of the two nets",
        "above",
        published=0.577 - 0.461,
    ),
    tuple(
        image_arm(reader, task, NEAR)
        for reader in OTHERS
        for task in (*(f"addition {a}" for a in TWO_OF_EACH), context_task(3), context_task(2))
    ),
    _other_readers,
    headline=True,
    reduced=REDUCED_OTHERS,
    also=tuple(image_arm(reader, context_task(1), NEAR) for reader in OTHERS),
    on_request=True,
    minutes=30,
    reversal="one of the two nets had generalised to CD-3 as well, or to neither task",
    finding="The order of the tasks is that of the theory, the failure is not: the published nets are at or below "
    "chance on unseen cells of CD-3 (0.47 and 0.46), ours are above it, the ViT in every seed. Setting: smaller images "
    "and nets, and fewer classes.",
    amendments=(
        Amendment(
            "slopes in the order ConvNet, ResNet, ViT; two partners help; CD-3 at most 55% and less than CD-1",
            "CD-2 minus CD-3, the smaller of both nets; slopes next to it",
            "one quantity per claim, the same as the ConvNet's; the order of slopes compared MNIST with CIFAR-10",
            seen=False,
        ),
        Amendment(
            "6 seeds",
            "8 seeds",
            "one ResNet of six did not fit, and five seeds cannot reach 95% whatever they say; all five agreed",
        ),
    ),
)

SECTION = StudySection(
    "Section 6, Figure 5: convolutional networks, ResNets and ViTs on images",
    arms=arms,
    claims=(
        SALIENCE,
        PARTNERS_HELP,
        DISTANCE_HELPS,
        SLOW,
        CONVNET_SHORTCUT,
        NEAR_SHORTCUT,
        CONTEXT_SHARE,
        IMAGE_EQUIVALENCE,
        OTHER_READERS,
    ),
    drawings=(MAIN, *DRAWINGS),
)
