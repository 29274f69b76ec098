"""Checks of trained autoencoders: identifiable slots, the two penalties, interaction, and recombination.

A run either separates the objects or does not, so single runs differ widely; like the paper, claims about penalties
compare means over seeds, and report the range over seeds as well.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from recombine.studies.claims import Condition, Evidence, Verdict
from recombine.studies.interaction_asymmetry.arms.identifiability import RESTRICTED, generator_arm, vector_arm
from recombine.studies.interaction_asymmetry.arms.lines import (
    ALPHA_ONLY,
    BETA_ONLY,
    BOTH,
    FOUR,
    PLAIN,
    SCAN,
    corner_name,
)
from recombine.studies.interaction_asymmetry.arms.sprites import (
    BASELINE,
    SMALL_MODELS,
    SWEEP,
    large_arm,
    small_arm,
    sweep_arm,
)
from recombine.studies.interaction_asymmetry.checks.readings import collapsed, fits, mean, of_fitting


def identifiable(evidence: Evidence, order: int) -> Verdict:
    name = vector_arm(order, RESTRICTED[order])
    arm, free = evidence[name], evidence[vector_arm(order, "dense")]
    matched, gap = of_fitting(arm, "matched"), of_fitting(arm, "gap")
    conditions = [
        Condition(f"nets of {len(arm.seeds)} that fit", fits(arm).sum()),
        Condition("their R² of matched slots", matched, ">", 0.95),
        Condition("of crossed slots", of_fitting(arm, "crossed"), "<", 0.2),
        Condition("their mean gap minus that of dense decoders", gap.mean() - mean(free, "gap"), ">=", 0.4),
        Condition("nets that do not fit: matched", arm["matched"][~fits(arm)]),
        Condition("dense: matched", free["matched"]),
        Condition("dense: crossed", free["crossed"]),
        Condition("R² of reconstruction", arm["fit_r2"]),
        Condition("dense: reconstruction", free["fit_r2"]),
        Condition("generators with sufficient independence", evidence[generator_arm(order)]["independent"]),
    ]
    verdict = Verdict.of_arm(evidence, name, conditions, headline=matched)
    return verdict if fits(arm).any() else _nothing_fits(verdict)


def _nothing_fits(verdict: Verdict) -> Verdict:
    return replace(verdict, holds=None, reason="no net fits, so the theorem does not apply")


def additive(evidence: Evidence) -> Verdict:
    return identifiable(evidence, 1)


def bilinear(evidence: Evidence) -> Verdict:
    return identifiable(evidence, 2)


def penalties_separate_objects(evidence: Evidence) -> Verdict:
    arm = evidence[BOTH]
    conditions = [
        Condition("mean J-ARI", mean(arm, "j_ari"), ">=", 0.8),
        Condition("mean JIS", mean(arm, "jis"), ">=", 0.7),
        Condition("J-ARI", arm["j_ari"]),
        Condition("JIS", arm["jis"]),
        Condition("active slots", arm["active"]),
        Condition(f"nets of {len(arm.seeds)} with everything in one slot", collapsed(arm).sum()),
    ]
    return Verdict.of_arm(evidence, BOTH, conditions, headline=arm["j_ari"])


def plain_is_worse(evidence: Evidence) -> Verdict:
    best, plain = evidence[BOTH], evidence[PLAIN]
    gaps = [mean(best, name) - mean(plain, name) for name in ("j_ari", "jis")]
    conditions = [
        Condition("larger of the gaps in mean J-ARI and JIS", max(gaps), ">=", 0.3),
        Condition("gap in J-ARI", gaps[0]),
        Condition("gap in JIS", gaps[1]),
        *(Condition(f"J-ARI, {name}", evidence[name]["j_ari"]) for name in FOUR),
        *(Condition(f"JIS, {name}", evidence[name]["jis"]) for name in FOUR),
        *(Condition(f"active slots, {name}", evidence[name]["active"]) for name in FOUR),
    ]
    return Verdict.of_arm(evidence, BOTH, conditions)


def capacity_matters_more(evidence: Evidence) -> Verdict:
    plain = evidence[PLAIN]
    effect = {
        (label, name): mean(evidence[arm], name) - mean(plain, name)
        for label, arm in (("alpha", ALPHA_ONLY), ("beta", BETA_ONLY))
        for name in ("j_ari", "jis")
    }
    conditions = [
        Condition(
            "J-ARI, effect of beta minus that of alpha",
            effect["beta", "j_ari"] - effect["alpha", "j_ari"],
            ">",
            0,
        ),
        Condition(
            "JIS, effect of beta minus that of alpha", effect["beta", "jis"] - effect["alpha", "jis"], ">", 0
        ),
        *(
            Condition(f"{title}, effect of {label} alone", effect[label, name])
            for name, title in (("j_ari", "J-ARI"), ("jis", "JIS"))
            for label in ("beta", "alpha")
        ),
    ]
    return Verdict.of_arm(evidence, BETA_ONLY, conditions)


def stronger_alpha(evidence: Evidence) -> Verdict:
    arms = [evidence[name] for name in (BETA_ONLY, *SCAN)]
    attention = np.array([mean(arm, "attention_interaction") for arm in arms])
    share = np.array([mean(arm, "jis") for arm in arms])
    error = np.array([mean(arm, "sse") for arm in arms])
    conditions = [
        Condition("attention shared between slots, largest increase", np.diff(attention).max(), "<", 0),
        Condition("JIS, smallest step", np.diff(share).min(), ">", 0),
        Condition("squared error, strongest minus none", error[-1] - error[0], ">=", 0),
        *(Condition(f"J-ARI, {name}", evidence[name]["j_ari"]) for name in (BETA_ONLY, *SCAN)),
        *(
            Condition(f"nets with everything in one slot, {name}", collapsed(evidence[name]).sum())
            for name in (BETA_ONLY, *SCAN)
        ),
    ]
    return Verdict.of_arm(evidence, BETA_ONLY, conditions)


def less_interaction(evidence: Evidence) -> Verdict:
    best, plain = evidence[BOTH], evidence[PLAIN]
    conditions = [
        Condition(f"mean {name}, plain / both", mean(plain, name) / mean(best, name), ">=", 2)
        for name in ("q1", "r2")
    ]
    conditions += [
        Condition(f"{name}, {label}", evidence[label][name]) for label in FOUR for name in ("q1", "r2")
    ]
    return Verdict.of_arm(evidence, BOTH, conditions)


def recombines(evidence: Evidence) -> Verdict:
    best, plain = evidence[BOTH], evidence[PLAIN]
    name = "recombined_r2_in"
    conditions = [
        Condition("mean R² of both minus plain", mean(best, name) - mean(plain, name), ">=", 0.2),
        *(Condition(f"R², {label}", evidence[label][name]) for label in FOUR),
        Condition("R² without the exchange", best["kept_r2_in"]),
        Condition("R² of the encoded and decoded target", best["again_r2_in"]),
    ]
    return Verdict.of_arm(evidence, BOTH, conditions)


def corner(evidence: Evidence) -> Verdict:
    name = "recombined_r2_out"
    labels = ("attention, plain", "attention, both", "additive, beta", "dense, beta")
    arms = {label: evidence[corner_name(label)] for label in labels}
    penalties = mean(arms[labels[1]], name) - mean(arms[labels[0]], name)
    structure = mean(arms[labels[2]], name) - mean(arms[labels[3]], name)
    conditions = [
        Condition("unseen: both penalties minus plain", penalties, ">=", 0.2),
        Condition("unseen: additive minus dense decoder", structure, ">=", 0.2),
        *(Condition(f"unseen R², {label}", arm[name]) for label, arm in arms.items()),
        *(Condition(f"seen R², {label}", arm["recombined_r2_in"]) for label, arm in arms.items()),
        *(
            Condition(f"unseen, encoded and decoded, {label}", arm["again_r2_out"])
            for label, arm in arms.items()
        ),
    ]
    return Verdict.of_arm(evidence, corner_name(labels[1]), conditions)


def vectors_recombine(evidence: Evidence) -> Verdict:
    name, conditions = "recombined_r2_out", []
    arms = {order: evidence[vector_arm(order, kind, corner=True)] for order, kind in RESTRICTED.items()}
    for order, arm in arms.items():
        free = evidence[vector_arm(order, "dense", corner=True)]
        unseen = of_fitting(arm, name)
        conditions += [
            Condition(f"order {order}: nets of {len(arm.seeds)} that fit", fits(arm).sum()),
            Condition("their unseen R²", unseen, ">=", 0.95),
            Condition("minus dense, means", unseen.mean() - mean(free, name), ">=", 0.3),
            Condition("nets that do not fit: unseen R²", arm[name][~fits(arm)]),
            Condition("dense: unseen R²", free[name]),
        ]
    verdict = Verdict.of(conditions, n_seeds=len(arms[1].seeds), headline=of_fitting(arms[1], name))
    return verdict if all(fits(arm).any() for arm in arms.values()) else _nothing_fits(verdict)


def small_sprites(evidence: Evidence) -> Verdict:
    models = SMALL_MODELS
    arms = {name: evidence[small_arm(name)] for name in models}
    gap = mean(arms["both"], "j_ari") - mean(arms["plain"], "j_ari")
    conditions = [
        Condition("mean J-ARI, both minus plain", gap, ">=", 0.3),
        *(Condition(f"J-ARI, {name}", arm["j_ari"]) for name, arm in arms.items()),
        *(Condition(f"JIS, {name}", arm["jis"]) for name, arm in arms.items()),
        *(Condition(f"active slots, {name}", arm["active"]) for name, arm in arms.items()),
        *(Condition(f"recombined R², {name}", arm["recombined_r2_in"]) for name, arm in arms.items()),
    ]
    return Verdict.of_arm(evidence, small_arm("both"), conditions)


def borders_of_masks(evidence: Evidence) -> Verdict:
    arm = evidence[small_arm(BASELINE)]
    conditions = [
        Condition("q1 at borders / q1 inside objects", arm["q1_border"] / arm["q1_inside"], ">", 1),
        Condition("q1 inside", arm["q1_inside"]),
        Condition("q1 at borders", arm["q1_border"]),
        Condition("q1 in the background", arm["q1_background"]),
    ]
    return Verdict.of_arm(evidence, small_arm(BASELINE), conditions)


def alpha_sweep(evidence: Evidence) -> Verdict:
    arms = [evidence[small_arm("beta only")], *(evidence[sweep_arm(times)] for times in SWEEP)]
    share, error = (np.array([mean(arm, name) for arm in arms]) for name in ("jis", "sse"))
    conditions = [
        Condition("JIS, smallest step", np.diff(share).min(), ">", 0),
        Condition("squared error, largest decrease", np.diff(error).min(), ">=", -0.05 * error[0]),
        Condition("J-ARI, none to strongest", [mean(arm, "j_ari") for arm in arms]),
    ]
    return Verdict.of_arm(evidence, sweep_arm(1.0), conditions)


def large_sprites(evidence: Evidence) -> Verdict:
    scores = {
        name: mean(evidence[large_arm(name)], "j_ari")
        for name in ("plain", "alpha only", "beta only", "both", BASELINE)
    }
    conditions = [
        Condition("J-ARI, both minus beta only", scores["both"] - scores["beta only"], ">=", 0),
        Condition("beta only minus alpha only", scores["beta only"] - scores["alpha only"], ">", 0),
        Condition("alpha only minus plain", scores["alpha only"] - scores["plain"], ">=", 0),
        Condition(f"{BASELINE} minus both", scores[BASELINE] - scores["both"], "<=", 0.15),
    ]
    return Verdict.of_arm(evidence, large_arm("both"), conditions)
