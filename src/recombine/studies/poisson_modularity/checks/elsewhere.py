"""Checks of linear nets, samples, held-out regions, blocks and film rolls."""

from __future__ import annotations

import numpy as np

from recombine.studies.claims import Condition, Evidence, Verdict
from recombine.studies.poisson_modularity.arms.blocks import DEPTHS, block_arm
from recombine.studies.poisson_modularity.arms.compositions import region_arm
from recombine.studies.poisson_modularity.arms.film import FRAMES, film_arm
from recombine.studies.poisson_modularity.arms.linear import linear_arm
from recombine.studies.poisson_modularity.arms.samples import (
    COUNTS,
    correlated_arm,
    grid_arm,
    plain_arm,
    sample_arm,
)
from recombine.studies.poisson_modularity.checks.readings import (
    growth,
    in_order,
    median,
    protocol,
    relative_to,
    within,
    worst_in_block,
)

HARDEST = 2
"""The function with the highest frequency."""


def linear_nets(evidence: Evidence) -> Verdict:
    conditions = [
        Condition(
            f"{name}, weight inside modules, best layer",
            evidence[linear_arm(name)]["in_block"].max(axis=1),
            "<=",
            0.75,
        )
        for name in ("Noise2", "L2")
    ]
    conditions += [
        Condition("L12, worst layer", worst_in_block(evidence[linear_arm("L12")]), ">=", 0.85),
        *within("L2, sum of squares", evidence[linear_arm("L2")]["sum_squares"], 15.8, 16.2),
        Condition("L21, worst layer", worst_in_block(evidence[linear_arm("L21")])),
        Condition("L1, worst layer", worst_in_block(evidence[linear_arm("L1")])),
        Condition("L1, live units in total", evidence[linear_arm("L1")]["live"].sum(axis=1)),
    ]
    return Verdict.of_arm(evidence, linear_arm("Noise2"), conditions)


def sparse_inputs(evidence: Evidence) -> Verdict:
    dense, sparse = (evidence[linear_arm("WA alpha 1", sparse=on)] for on in (False, True))
    conditions = [
        Condition("WA alpha 1, one input at a time, worst layer", worst_in_block(sparse), ">=", 0.85),
        Condition("WA alpha 1, all inputs, best layer", dense["in_block"].max(axis=1), "<=", 0.75),
    ]
    for name in ("Noise1", "WA", "L2"):
        arm = evidence[linear_arm(name, sparse=True)]
        conditions.append(Condition(f"{name}, one input at a time, worst layer", worst_in_block(arm)))
    return Verdict.of_arm(evidence, linear_arm("WA alpha 1", sparse=True), conditions)


def samples_of_four(evidence: Evidence) -> Verdict:
    sizes = (1000, 300, 100, 30)
    arms = {n: evidence[sample_arm(4, n, "usual")] for n in sizes}
    conditions = [
        *in_order("weight inside modules", {f"{n} samples": median(worst_in_block(arms[n])) for n in sizes}),
        Condition("30 samples, worst layer", worst_in_block(arms[30]), "<=", 0.85),
        Condition("1000 samples, worst layer", worst_in_block(arms[1000]), ">=", 0.98),
    ]
    return Verdict.of_arm(evidence, sample_arm(4, 30, "usual"), conditions, headline=worst_in_block(arms[30]))


def sample_growth(evidence: Evidence) -> Verdict:
    needed = protocol(evidence)
    factors = {name: growth(values) for name, values in needed.items()}
    conditions = [
        Condition("factor for one more module, published frequencies", factors["mixed"], ">", 1),
        Condition("usual frequencies throughout", factors["usual"]),
        Condition("low frequencies throughout", factors["low"]),
    ]
    shown = "; ".join(
        f"{name}: " + ", ".join(f"{k} modules {n:.0f}" for k, n in values.items())
        for name, values in needed.items()
        if name != "mixed"
    )
    return Verdict.of_arm(evidence, sample_arm(4, 30, "usual"), conditions, note=f"Samples needed, {shown}.")


def structured_samples(evidence: Evidence) -> Verdict:
    conditions = [
        Condition(
            f"{n} samples, grid minus random, worst layer",
            worst_in_block(evidence[grid_arm(n, "grid")])
            - median(worst_in_block(evidence[grid_arm(n, "random")])),
            ">",
            0,
        )
        for n in (16, 81)
    ]
    conditions += [
        Condition("all inputs equal, worst layer", worst_in_block(evidence[correlated_arm(0.0)]), "<=", 0.8),
        Condition("all permuted, worst layer", worst_in_block(evidence[correlated_arm(1.0)]), ">=", 0.98),
        *(
            Condition(f"{share:g} permuted, worst layer", worst_in_block(evidence[correlated_arm(share)]))
            for share in (0.25, 0.5)
        ),
    ]
    return Verdict.of_arm(evidence, grid_arm(81, "grid"), conditions)


def _ratios(evidence: Evidence, task: str, bounds: dict[str, tuple[str, float]]) -> list[Condition]:
    return [
        Condition(f"{net}, unseen / seen", evidence[region_arm(task, net)]["ratio"], relation, bound)
        for net, (relation, bound) in bounds.items()
    ]


def wedge(evidence: Evidence) -> Verdict:
    conditions = _ratios(
        evidence, "wedge", {"modular": ("<=", 10), "full": (">=", 30), "bottleneck": (">=", 100)}
    )
    modular, full = (evidence[region_arm("wedge", net)]["mse_out"] for net in ("modular", "full"))
    conditions.append(Condition("unseen, modular / full", relative_to(modular, full), "<=", 1 / 30))
    return Verdict.of_arm(evidence, region_arm("wedge", "modular"), conditions)


def composition(evidence: Evidence) -> Verdict:
    bounds = {"modular": ("<=", 2.5), "full": (">=", 4.0), "bottleneck": (">=", 4.0)}
    conditions = _ratios(evidence, "composition", bounds)
    return Verdict.of_arm(evidence, region_arm("composition", "modular"), conditions)


def small_dense(evidence: Evidence) -> Verdict:
    conditions = [
        *_ratios(evidence, "wedge", {"full, small": (">=", 30.0)}),
        *_ratios(evidence, "composition", {"full, small": (">=", 4.0)}),
    ]
    return Verdict.of_arm(evidence, region_arm("wedge", "full, small"), conditions)


def blocks(evidence: Evidence) -> Verdict:
    hardest = {depth: evidence[block_arm(depth)]["readout_rmse"][:, HARDEST] for depth in DEPTHS}
    errors = np.stack([evidence[block_arm(depth)]["mse_test"] for depth in DEPTHS])
    conditions = [
        Condition("highest frequency, one layer", hardest[1], ">", 0.3),
        Condition("highest frequency, three layers", hardest[3], "<", 0.1),
        Condition("test error, worst depth", errors.max(axis=0), "<", 1e-3),
    ]
    return Verdict.of_arm(evidence, block_arm(1), conditions)


def film_rolls(evidence: Evidence) -> Verdict:
    gaps = {n: evidence[film_arm(n, "WA")]["eigengap"] for n in FRAMES}
    conditions = [
        *(
            Condition(
                f"{n} frames, gap minus that without penalty",
                gaps[n] - median(evidence[film_arm(n, "plain")]["eigengap"]),
                ">",
                0,
            )
            for n in FRAMES
        ),
        *in_order("gap", {f"{n} frames": median(gaps[n]) for n in FRAMES}),
        *(Condition(f"{n} frames, accuracy", evidence[film_arm(n, "WA")]["accuracy_test"]) for n in FRAMES),
        *(
            Condition(f"{n} frames, weight inside", evidence[film_arm(n, "WA")]["in_block_out"])
            for n in FRAMES
        ),
    ]
    return Verdict.of_arm(evidence, film_arm(2, "WA"), conditions, headline=gaps[2])


def more_modules(evidence: Evidence) -> Verdict:
    plain = {k: evidence[plain_arm(k)] for k in COUNTS}
    weighted = {k: evidence[sample_arm(k, 1000, "usual")] for k in COUNTS}
    gap = {k: median(worst_in_block(weighted[k])) - median(worst_in_block(plain[k])) for k in COUNTS}
    conditions = [
        Condition("advantage of WA, four modules minus two", gap[4] - gap[2], ">", 0),
        *(Condition(f"L2, {k} modules, worst layer", worst_in_block(plain[k])) for k in COUNTS),
        *(Condition(f"WA, {k} modules, worst layer", worst_in_block(weighted[k])) for k in COUNTS),
    ]
    return Verdict.of_arm(evidence, plain_arm(2), conditions)
