"""Checks of exact statements."""

from __future__ import annotations

import numpy as np

from recombine.studies.claims import Condition, Evidence, Verdict
from recombine.studies.kernel_theory import published


def at_most(evidence: Evidence, arm: str, **bounds: float) -> Verdict:
    values = evidence[arm]
    return Verdict.of_arm(
        evidence,
        arm,
        [Condition(name.replace("_", " "), values[name], "<=", bound) for name, bound in bounds.items()],
    )


def small_tables(evidence: Evidence) -> Verdict:
    arm = evidence["small tables"]
    conditions = [Condition("largest difference from the closed form", arm["corner_gap"], "<=", 1e-9)]
    right = arm["logic_right"]
    for position, (name, expected) in enumerate((("AND", 0), ("OR", 1), ("XOR", 0))):
        conditions.append(Condition(f"{name} right", right[:, position], "==", expected))
    return Verdict.of_arm(evidence, "small tables", conditions)


def equivalence(evidence: Evidence) -> Verdict:
    arm = evidence["equivalence"]
    return Verdict.of_arm(
        evidence,
        "equivalence",
        [
            Condition("largest output on unseen pairs", arm["largest_output"], "<=", 1e-8),
            Condition("settings whose signs are possible", arm["signs_possible"].sum(axis=1), "==", 0),
        ],
    )


def ordering(evidence: Evidence) -> Verdict:
    arm = evidence["ordering"]
    margins = arm["ordering_margins"][:, :3]
    return Verdict.of_arm(
        evidence,
        "ordering",
        [
            Condition(
                "right on unseen pairs, worst salience", arm["ordering_right"][:, :3].min(axis=1), "==", 1
            ),
            Condition(
                "margin at distance 6 minus distance 2",
                (margins[..., 5] - margins[..., 1]).min(axis=1),
                ">",
                0,
            ),
            Condition(
                "difference from tabulated margins",
                np.abs(margins[:, 1] - published.ORDERING).max(axis=1),
                "<=",
                1e-3,
            ),
        ],
    )


def context_tables(evidence: Evidence) -> Verdict:
    arm = evidence["context tables"]
    sizes = np.abs(arm["context_sizes"] - [[54, 18], [64, 8], [70, 2]]).max(axis=(1, 2))
    alone = np.abs(arm["context_alone"] - [0.6667, 0.5625, 0.5143]).max(axis=1)
    conditions = [
        Condition("wrong counts", sizes, "==", 0),
        Condition("difference in the accuracy of context alone", alone, "<=", 5.1e-5),
    ]
    conditions.append(Condition("context right on unseen cells", arm["context_unseen"].max(axis=1), "==", 0))
    return Verdict.of_arm(evidence, "context tables", conditions)


def context_forms(evidence: Evidence) -> Verdict:
    arm = evidence["context forms"]
    return Verdict.of_arm(
        evidence,
        "context forms",
        [
            Condition("difference, maximum margin", arm["margin_gap"], "<=", 1e-4),
            Condition("difference, squared loss", arm["squared_gap"], "<=", 1e-8),
            Condition("criteria with the wrong sign", arm["criterion_wrong"], "==", 0),
            Condition("saliences tried", arm["compared"], ">=", 100),
        ],
    )


def published_region() -> np.ndarray:
    """The published labels on our grid, -1 outside."""
    labels = np.full((50, 25), -1)
    for i, counts in enumerate(published.REGION):
        run = [0] + [kind for kind, count in zip((1, 2, 3), counts, strict=True) for _ in range(count)]
        labels[i, : len(run)] = run
    return labels


def region(evidence: Evidence) -> Verdict:
    labels, expected = evidence["region"]["region"], published_region()
    compared = (labels >= 0) & (expected >= 0)
    wrong = ((labels != expected) & compared).sum(axis=(1, 2))
    return Verdict.of_arm(
        evidence,
        "region",
        [
            Condition("tiles that differ", wrong, "==", 0),
            Condition("tiles compared", compared.sum(axis=(1, 2)), ">=", 625),
        ],
    )


def depths(evidence: Evidence) -> Verdict:
    arm = evidence["depths"]
    marked, relu = arm["marked_margins"] > 0, arm["passes_relu"]
    first = np.argmax(relu, axis=1) + 1
    again = relu.shape[1] - np.argmax(relu[:, ::-1], axis=1) + 1
    return Verdict.of_arm(
        evidence,
        "depths",
        [
            Condition("Rep. 1 passes", marked[:, 0].sum(axis=1), "==", 3),
            Condition("Rep. 2 passes CD-3", marked[:, 1, 0].astype(float), "==", 0),
            Condition("Rep. 2 passes CD-2 and CD-1", marked[:, 1, 1:].sum(axis=1), "==", 2),
            Condition("ReLU first passes at depth", first, "==", 8),
            Condition("passes without a gap", relu.sum(axis=1) - (again - first), "==", 0),
            Condition("and fails again at", again, "==", 25),
            Condition("Gaussian passes of 100", arm["passes_gaussian"].sum(axis=1), "==", 100),
            Condition("step passes", arm["passes_step"].sum(axis=1), "==", 0),
        ],
    )


def decompositions(evidence: Evidence) -> Verdict:
    gap = np.abs(evidence["decompositions"]["kind_sizes"] - published.KIND_SIZES).max(axis=(1, 2))
    return Verdict.of_arm(evidence, "decompositions", [Condition("largest difference", gap, "<=", 5e-4)])


def dispersed(evidence: Evidence) -> Verdict:
    arm = evidence["dispersed"]
    exact = arm["dispersed_exact"]
    return Verdict.of_arm(
        evidence,
        "dispersed",
        [
            Condition(
                "largest difference from the published curve",
                np.abs(arm["dispersed_tube"] - published.DISPERSED).max(axis=1),
                "<=",
                0.01,
            ),
            Condition("exact error at S = 0.5", exact[:, -1], "<=", 1e-8),
            Condition("steepest rise of the exact error", np.diff(exact, axis=1).max(axis=1), "<", 0),
        ],
    )


def verdicts(evidence: Evidence) -> Verdict:
    arm = evidence["verdicts"]
    return Verdict.of_arm(
        evidence, "verdicts", [Condition("wrong verdicts", arm["verdicts"] - arm["verdicts_right"], "==", 0)]
    )


def finite_network(evidence: Evidence) -> Verdict:
    arm = evidence["finite network"]
    return Verdict.of_arm(
        evidence,
        "finite network",
        [
            Condition("S(1;2), difference from 0.4264", np.abs(arm["salience"] - 0.4264), "<=", 0.005),
            Condition("relative spread within an overlap", arm["within_kind"], "<", 0.03),
        ],
    )
