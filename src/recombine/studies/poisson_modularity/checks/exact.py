"""Checks of constants, derivations and measures."""

from __future__ import annotations

from recombine.studies.claims import Condition, Evidence, Verdict


def constants(evidence: Evidence) -> Verdict:
    arm = evidence["constants"]
    conditions = [
        Condition("largest difference from a constant", arm["constant_gap"], "<", 1e-6),
        Condition("from the first training row", arm["row_gap"], "<", 1e-6),
        Condition("held-out cells that differ", arm["cells_that_differ"], "==", 0),
        Condition("counts of rows that differ", arm["counts_that_differ"], "==", 0),
    ]
    return Verdict.of_arm(evidence, "constants", conditions)


def excess_loss(evidence: Evidence) -> Verdict:
    arm = evidence["excess loss"]
    ratio, local = arm["excess_ratio"], arm["local_ratio"]
    conditions = [
        Condition("smallest measured / predicted", ratio.min(axis=(1, 2)), ">=", 0.97),
        Condition("largest measured / predicted", ratio.max(axis=(1, 2)), "<=", 1.03),
        Condition("weighted activity / measured, mean", local.mean(axis=(1, 2))),
    ]
    return Verdict.of_arm(evidence, "excess loss", conditions, headline=ratio.mean(axis=(1, 2)))


def gradients(evidence: Evidence) -> Verdict:
    arm = evidence["gradients"]
    conditions = [
        Condition("gradient, relative difference from finite differences", arm["gradient_gap"], "<=", 1e-4),
        Condition(
            "last layer, relative difference from the Jacobian form", arm["last_layer_gap"], "<=", 1e-6
        ),
    ]
    return Verdict.of_arm(evidence, "gradients", conditions)


def rescaling(evidence: Evidence) -> Verdict:
    arm = evidence["rescaling"]
    conditions = [
        Condition("alpha 2, relative change", arm["gap_alpha_2"], "<=", 1e-6),
        Condition("alpha 1, difference from 1/c", arm["gap_alpha_1"], "<=", 1e-6),
    ]
    return Verdict.of_arm(evidence, "rescaling", conditions)


def metrics(evidence: Evidence) -> Verdict:
    arm = evidence["metrics"]
    conditions = [
        Condition("blocks: largest eigenvalue K", arm["block_lambda"], "<", 1e-3),
        Condition(
            "blocks: Newman modularity, difference from 1 - Σ share²", arm["block_newman_gap"], "<=", 1e-9
        ),
        Condition("blocks: weight outside", arm["block_mass_gap"], "<=", 1e-9),
        Condition("dense: smallest eigenvalue K after the first layer", arm["dense_lambda"], ">", 0.8),
        Condition("dense: share of nets with |z| < 3", arm["z_inside"], ">=", 0.97),
        Condition("half as many dead units added: largest change", arm["dead_unit_gap"], "<=", 1e-6),
    ]
    return Verdict.of_arm(evidence, "metrics", conditions)
