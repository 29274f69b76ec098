"""Checks of the theory on known functions, and of models, metrics, data and schedules."""

from __future__ import annotations

import numpy as np

from recombine.studies.claims import Condition, Evidence, Verdict


def profiles(evidence: Evidence) -> Verdict:
    arm = evidence["profiles"]
    return Verdict.of_arm(
        evidence,
        "profiles",
        [Condition("largest difference from the reference", arm["profile_gap"], "<=", 1e-5)],
    )


def orders(evidence: Evidence) -> Verdict:
    arm = evidence["orders"]
    return Verdict.of_arm(
        evidence, "orders", [Condition("orders that differ", arm["orders_that_differ"], "==", 0)]
    )


def finite_differences(evidence: Evidence) -> Verdict:
    arm = evidence["finite differences"]
    conditions = [
        Condition("of g_n, largest", arm["vanishing"].max(axis=1), "<", 1e-12),
        Condition("of g_(n+1), smallest", arm["present"].min(axis=1), ">", 0.1),
        Condition("of the softmax, smallest", arm["softmax"][:, 0], ">", 1e-6),
    ]
    return Verdict.of_arm(evidence, "finite differences", conditions)


def probe_estimates(evidence: Evidence) -> Verdict:
    arm = evidence["probe estimates"]
    conditions = [
        Condition(
            "largest difference from the exact value, in standard errors",
            arm["estimate_z"].max(axis=1),
            "<=",
            4,
        ),
        Condition("exponent of the standard error", arm["error_slope"], ">=", -0.7),
        Condition("exponent of the standard error", arm["error_slope"], "<=", -0.3),
    ]
    return Verdict.of_arm(evidence, "probe estimates", conditions)


def rotations(evidence: Evidence) -> Verdict:
    arm = evidence["rotations"]
    conditions = [
        Condition("largest difference from the reference", arm["rotation_gap"], "<=", 1e-5),
        Condition("at 0° and 90°", arm["at_the_ends"], "<=", 1e-12),
        Condition("smallest in between", arm["between"], ">=", 0.12),
    ]
    return Verdict.of_arm(evidence, "rotations", conditions)


def counter_example(evidence: Evidence) -> Verdict:
    conditions = [
        Condition(
            "second derivative of the linear map, any angle",
            evidence["rotations"]["linear_second"],
            "<=",
            1e-12,
        ),
        Condition("ranks that differ", evidence["independence"]["ranks_that_differ"], "==", 0),
    ]
    return Verdict.of_arm(evidence, "independence", conditions)


def bent_slots(evidence: Evidence) -> Verdict:
    arm = evidence["bent slots"]
    conditions = [
        Condition("r2 of g1", arm["r2_g1"], "<=", 1e-10),
        Condition("r3 of g2, difference from 0.0552", np.abs(arm["r3_g2"] - 0.0552), "<=", 1e-4),
    ]
    return Verdict.of_arm(evidence, "bent slots", conditions)


def l_shape(evidence: Evidence) -> Verdict:
    arm = evidence["L-shape"]
    table = arm["table"]  # (seeds, g1 g2 g3 gs, model orders 1 2 3 7, in out and both with noise)
    enough = [table[:, g, k, 1] for g in range(3) for k in range(4) if k >= g]
    conditions = [
        Condition("outside R², model order at least the generator's", np.min(enough, axis=0), ">=", 0.9999),
        Condition("difference from the reference without noise", arm["clean_gap"], "<=", 1e-3),
        Condition("g2 by an additive model, outside", table[:, 1, 0, 1], "<", 0),
        Condition("noise: g2 by order 2", table[:, 1, 1, 3], ">=", 0.99),
        Condition("noise: order 2 minus order 7", table[:, 1, 1, 3] - table[:, 1, 3, 3], ">=", 0.3),
        Condition("softmax, best of all models", table[:, 3, :, 1].max(axis=1), "<=", 0.4),
    ]
    return Verdict.of_arm(evidence, "L-shape", conditions)


def indecomposability(evidence: Evidence) -> Verdict:
    arm = evidence["indecomposability"]
    return Verdict.of_arm(
        evidence, "indecomposability", [Condition("parts that differ", arm["parts_that_differ"], "==", 0)]
    )


def attention_values(evidence: Evidence) -> Verdict:
    arm = evidence["attention values"]
    conditions = [
        Condition("even, single, pair: difference from 57.6, 0, 36", arm["value_gap"], "<=", 1e-3),
        Condition("untrained preset, relative difference from 57.6", arm["untrained_gap"], "<=", 0.01),
    ]
    return Verdict.of_arm(evidence, "attention values", conditions)


def attention_identity(evidence: Evidence) -> Verdict:
    arm = evidence["attention identity"]
    conditions = [
        Condition("pixels and slots without attention", arm["masked_places"], ">=", 10),
        Condition("largest sensitivity there", arm["masked_share"], "<=", 1e-7),
        Condition("median sensitivity elsewhere", arm["usual_share"], ">=", 1e-3),
    ]
    return Verdict.of_arm(evidence, "attention identity", conditions, headline=arm["masked_share"])


def parameter_counts(evidence: Evidence) -> Verdict:
    arm = evidence["parameter counts"]
    return Verdict.of_arm(
        evidence, "parameter counts", [Condition("counts that differ", arm["counts_that_differ"], "==", 0)]
    )


def metric_values(evidence: Evidence) -> Verdict:
    arm = evidence["metric values"]
    conditions = [
        Condition("difference from known values", arm["metric_gap"], "<=", 1e-4),
        Condition("J-ARI, change after permuting slots", arm["permutation_gap"], "<=", 1e-9),
        Condition("JIS, change after rescaling", arm["scale_gap"], "<=", 1e-9),
    ]
    return Verdict.of_arm(evidence, "metric values", conditions)


def sprite_statistics(evidence: Evidence) -> Verdict:
    arm = evidence["sprite statistics"]
    exact = {"objects": 2.99, "foreground": 196.0, "energy": 242.0}
    rough = {"images_with_occlusion": 0.16, "objects_half_hidden": 0.02}
    conditions = [
        Condition(f"{name} / {x:g} - 1", np.abs(arm[name] / x - 1), "<=", 0.05) for name, x in exact.items()
    ]
    for name, x in rough.items():
        label = f"{name.replace('_', ' ')} / {x:g}"
        conditions.append(Condition(label, np.maximum(arm[name] / x, x / arm[name]), "<=", 1.5))
    return Verdict.of_arm(evidence, "sprite statistics", conditions)


def schedules(evidence: Evidence) -> Verdict:
    arm = evidence["schedules"]
    conditions = [
        Condition("learning rates, relative difference", arm["rate_gap"], "<=", 5e-6),
        Condition("penalty weights, difference", arm["alpha_gap"], "<=", 1e-12),
        Condition("this package's recipes, relative difference", arm["recipe_gap"], "<=", 1e-5),
    ]
    return Verdict.of_arm(evidence, "schedules", conditions)
