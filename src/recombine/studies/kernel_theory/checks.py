"""The checks behind the claims."""

from __future__ import annotations

import numpy as np

from recombine.studies.claims import Condition, Evidence, Verdict
from recombine.studies.kernel_theory import published
from recombine.studies.kernel_theory.arms import (
    DEPTHS,
    HIDDEN,
    HOLES,
    addition_arm,
    context_arm,
    deep_arm,
    forecast_arm,
)


def at_most(evidence: Evidence, arm: str, **bounds: float) -> Verdict:
    values = evidence[arm]
    return Verdict.of_arm(
        evidence,
        arm,
        [Condition(name.replace("_", " "), values[name], "<=", bound) for name, bound in bounds.items()],
    )


def small_tables(evidence: Evidence) -> Verdict:
    arm = evidence["small tables"]
    conditions = [Condition("largest gap to the closed form", arm["corner_gap"], "<=", 1e-9)]
    right = arm["logic_right"]
    for position, (name, wanted) in enumerate((("AND", 0), ("OR", 1), ("XOR", 0))):
        conditions.append(Condition(f"{name} right", right[:, position], "==", wanted))
    return Verdict.of_arm(evidence, "small tables", conditions)


def equivalence(evidence: Evidence) -> Verdict:
    arm = evidence["equivalence"]
    return Verdict.of_arm(
        evidence,
        "equivalence",
        [
            Condition("largest output on unseen pairs", arm["largest_output"], "<=", 1e-8),
            Condition("settings whose signs can be had", arm["signs_possible"].sum(axis=1), "==", 0),
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
                "gap to tabulated margins", np.abs(margins[:, 1] - published.ORDERING).max(axis=1), "<=", 1e-3
            ),
        ],
    )


def context_tables(evidence: Evidence) -> Verdict:
    arm = evidence["context tables"]
    sizes = np.abs(arm["context_sizes"] - [[54, 18], [64, 8], [70, 2]]).max(axis=(1, 2))
    alone = np.abs(arm["context_alone"] - [0.6667, 0.5625, 0.5143]).max(axis=1)
    conditions = [
        Condition("wrong counts", sizes, "==", 0),
        Condition("gap in what context achieves", alone, "<=", 5.1e-5),
    ]
    conditions.append(Condition("context right on unseen cells", arm["context_unseen"].max(axis=1), "==", 0))
    return Verdict.of_arm(evidence, "context tables", conditions)


def context_forms(evidence: Evidence) -> Verdict:
    arm = evidence["context forms"]
    return Verdict.of_arm(
        evidence,
        "context forms",
        [
            Condition("gap, largest margin", arm["margin_gap"], "<=", 1e-4),
            Condition("gap, squared loss", arm["squared_gap"], "<=", 1e-8),
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
    found, expected = evidence["region"]["region"], published_region()
    compared = (found >= 0) & (expected >= 0)
    wrong = ((found != expected) & compared).sum(axis=(1, 2))
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
    return Verdict.of_arm(evidence, "decompositions", [Condition("largest gap", gap, "<=", 5e-4)])


def dispersed(evidence: Evidence) -> Verdict:
    arm = evidence["dispersed"]
    exact = arm["dispersed_exact"]
    return Verdict.of_arm(
        evidence,
        "dispersed",
        [
            Condition(
                "largest gap to the published curve",
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
            Condition("S(1;2), distance from 0.4264", np.abs(arm["salience"] - 0.4264), "<=", 0.005),
            Condition("relative spread within an overlap", arm["within_kind"], "<", 0.03),
        ],
    )


def _within(label: str, values: np.ndarray, centre: float, width: float) -> list[Condition]:
    return [
        Condition(label, values, ">=", round(centre - width, 6)),
        Condition(label, values, "<=", round(centre + width, 6)),
    ]


def _fitted(evidence: Evidence, arms: list[str]) -> str:
    stopped = sum(word == "stopped" for arm in arms for word in evidence[arm].status)
    total = sum(len(evidence[arm].status) for arm in arms)
    return f"{stopped} of {total} nets reached the training loss asked for"


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
    conditions.append(Condition("size of the mean margin, lazy", np.abs(lazy["margin_out"]), "<", 0.4))
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


def by_split(evidence: Evidence, world: str, *, level: bool = False) -> dict[str, np.ndarray]:
    """Means over the unseen cells of every random split of a world, `(splits,)`.

    - `level`: less the mean of all splits with as many unseen cells, so that their number alone explains nothing.
    """
    arms = [evidence[forecast_arm(world, held_out)] for held_out in HOLES[world]]
    found = {}
    for name in ("determined", "retained", "foretold", "measured"):
        means = [arm[name].mean(axis=1) for arm in arms]
        found[name] = np.concatenate([mean - mean.mean() if level else mean for mean in means])
    return found


def by_cell(evidence: Evidence, world: str) -> dict[str, np.ndarray]:
    """The same cell by cell, `(cells of all splits,)`."""
    arms = [evidence[forecast_arm(world, held_out)] for held_out in HOLES[world]]
    return {
        name: np.concatenate([arm[name].ravel() for arm in arms])
        for name in ("determined", "retained", "foretold", "measured")
    }


def rank_correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Spearman's; NaN if one of the two does not vary."""
    from scipy.stats import rankdata

    ranks = [rankdata(values) for values in (one, other)]
    return float(np.corrcoef(*ranks)[0, 1]) if min(np.ptp(rank) for rank in ranks) > 0 else float("nan")


def forecast_holds(evidence: Evidence, world: str) -> Verdict:
    splits, cells = by_split(evidence, world), by_cell(evidence, world)
    level = by_split(evidence, world, level=True)

    def together(found: dict[str, np.ndarray], forecast: np.ndarray) -> list[float]:
        return [rank_correlation(forecast, found["measured"])]

    conditions = [
        Condition("rank correlation over splits, kernel", together(splits, splits["foretold"]), ">=", 0.5),
        Condition("over splits, split alone (1 - retention)", together(splits, 1 - splits["retained"])),
        Condition("with their number of unseen cells held fixed, kernel", together(level, level["foretold"])),
        Condition("held fixed, split alone", together(level, -level["retained"])),
        Condition("over cells, kernel", together(cells, cells["foretold"])),
        Condition("over cells, split alone", together(cells, 1 - cells["retained"])),
    ]
    fixed = cells["determined"] > 0
    if 0 < fixed.sum() < len(fixed):
        conditions.append(Condition("measured error, determined cells", [cells["measured"][fixed].mean()]))
        conditions.append(Condition("measured error, other cells", [cells["measured"][~fixed].mean()]))
    return Verdict.of(conditions, n_seeds=len(splits["measured"]), note=f"{len(splits['measured'])} splits")
