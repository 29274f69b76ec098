"""Checks of the regimes on four sines."""

from __future__ import annotations

import numpy as np

from recombine.studies.claims import Condition, Evidence, Verdict
from recombine.studies.poisson_modularity import published
from recombine.studies.poisson_modularity.arms.sine import LENGTHS, length_arm
from recombine.studies.poisson_modularity.checks.readings import (
    in_order,
    last_eigenvalues,
    matched,
    median,
    other_outputs,
    relative_to,
    shift_index,
    within,
    worst_in_block,
)


def plain_fits(evidence: Evidence) -> Verdict:
    arm = evidence["L2"]
    conditions = [
        Condition("training error", arm["mse_train"], "<", 3e-4),
        *within("sum of squared weights", arm["sum_squares"], 22, 25),
    ]
    return Verdict.of_arm(evidence, "L2", conditions, headline=arm["sum_squares"])


def weighted_is_modular(evidence: Evidence) -> Verdict:
    arm = evidence["WA"]
    conditions = [
        Condition("weight inside modules, worst layer", worst_in_block(arm), ">=", 0.98),
        Condition("eigenvalue 4, worst layer", last_eigenvalues(arm).max(axis=1), "<=", 0.4),
        Condition("training error", arm["mse_train"], "<", 4e-4),
        *within("sum of squared weights", arm["sum_squares"], 24, 28),
        Condition("eigenvalue 4 with dead units", last_eigenvalues(arm, "spectra_all").max(axis=1)),
    ]
    return Verdict.of_arm(evidence, "WA", conditions)


def plain_is_not(evidence: Evidence) -> Verdict:
    arm = evidence["L2"]
    earlier = evidence[length_arm("L2", 2500)]
    conditions = [
        *(
            Condition(f"weight inside modules, layer {layer + 1}", arm["in_block"][:, layer], "<=", 0.8)
            for layer in (2, 3)
        ),
        *(
            Condition(f"eigenvalue 4, layer {layer + 1}", last_eigenvalues(arm)[:, layer], ">=", 0.6)
            for layer in (1, 2, 3)
        ),
        Condition(
            "weight inside modules at 2500 epochs, layers 3 and 4", earlier["in_block"][:, 2:].max(axis=1)
        ),
        Condition("worst layer", worst_in_block(arm)),
    ]
    return Verdict.of_arm(evidence, "L2", conditions, headline=arm["in_block"][:, 2:].mean(axis=1))


def block_pruning(evidence: Evidence) -> Verdict:
    conditions = [
        Condition(
            "WA, error after cutting between modules",
            other_outputs(evidence["WA"], "pruned_error"),
            "<=",
            3e-3,
        ),
        Condition(
            "L2, error after cutting between modules",
            other_outputs(evidence["L2"], "pruned_error"),
            ">=",
            3e-2,
        ),
    ]
    return Verdict.of_arm(evidence, "WA", conditions)


def noise_orders(evidence: Evidence) -> Verdict:
    additive = np.sort(evidence["Noise0"]["in_block"], axis=1)[:, 1]
    names = ("WA", "Noise2", "Noise1", "Noise0", "L2")
    conditions = [
        Condition(
            "Noise2, weight inside modules, worst layer", worst_in_block(evidence["Noise2"]), ">=", 0.95
        ),
        Condition("Noise0, second worst layer", additive, "<=", 0.93),
        *in_order("Newman modularity", {name: median(evidence[name]["newman"]) for name in names}),
    ]
    return Verdict.of_arm(evidence, "Noise2", conditions)


def weight_sizes(evidence: Evidence) -> Verdict:
    names = ("Noise0", "Noise1", "Noise2", "WA", "L2")
    conditions = in_order("sum of squares", {name: median(evidence[name]["sum_squares"]) for name in names})
    for name in names:
        gap = np.abs(evidence[name]["sum_squares"] / published.SUM_SQUARES[name] - 1)
        conditions.append(Condition(f"{name}, relative difference from published", gap, "<=", 0.12))
    return Verdict.of_arm(evidence, "WA", conditions, headline=evidence["Noise0"]["sum_squares"])


def thin_circuits(evidence: Evidence) -> Verdict:
    strong, weak = evidence["L1 1e-3"], evidence["L1 1e-4"]
    conditions = [
        Condition("L1 1e-3, training error", strong["mse_train"], ">", 0.03),
        Condition("L1 1e-4, training error", weak["mse_train"], "<", 1e-3),
        Condition("L1 1e-4, live units, fullest layer", weak["live"].max(axis=1), "<=", 16),
        Condition("L1 1e-4, weight inside modules, worst layer", worst_in_block(weak), ">=", 0.97),
    ]
    return Verdict.of_arm(evidence, "L1 1e-4", conditions)


def full_circuits(evidence: Evidence) -> Verdict:
    arm = evidence["WA"]
    conditions = [
        Condition("live units, emptiest layer", arm["live"].min(axis=1), ">=", 24),
        Condition("units of the smallest module", arm["module_sizes"].min(axis=(1, 2)), ">=", 3),
    ]
    return Verdict.of_arm(evidence, "WA", conditions)


def noise_robustness(evidence: Evidence) -> Verdict:
    weighted, plain = evidence["WA"]["noisy_error"], evidence["L2"]["noisy_error"]
    conditions = [
        Condition("multiplicative, WA / L2", relative_to(weighted[:, 2], plain[:, 2]), "<=", 1 / 2.5),
        Condition("additive, WA / L2", relative_to(weighted[:, 0], plain[:, 0]), ">=", 1),
        Condition("Poisson-like, WA / L2", relative_to(weighted[:, 1], plain[:, 1])),
    ]
    return Verdict.of_arm(evidence, "WA", conditions)


def shifted_input(evidence: Evidence) -> Verdict:
    weighted, plain = (other_outputs(evidence[name], "shift_error") for name in ("WA", "L2"))
    cut = other_outputs(evidence["WA"], "shift_error_pruned")
    conditions = [
        Condition(
            f"shift {size}, WA / L2",
            relative_to(weighted[:, shift_index(size)], plain[:, shift_index(size)]),
            "<=",
            bound,
        )
        for size, bound in ((10, 1 / 8), (1000, 1 / 50))
    ]
    conditions.append(
        Condition("WA cut: change over shifts", cut.max(axis=1) / cut.min(axis=1) - 1, "<=", 0.01)
    )
    return Verdict.of_arm(evidence, "WA", conditions)


def built_in_blocks(evidence: Evidence) -> Verdict:
    blocks, plain = evidence["blocks"], evidence["L2"]
    conditions = [
        Condition(
            f"{name} noise, blocks / dense",
            relative_to(blocks["noisy_error"][:, e], plain["noisy_error"][:, e]),
            "<",
            1,
        )
        for e, name in ((1, "Poisson-like"), (2, "multiplicative"))
    ]
    error = other_outputs(blocks, "shift_error")
    conditions += [
        Condition("blocks: change over shifts", error.max(axis=1) / error.min(axis=1) - 1, "<=", 0.01),
        Condition(
            "additive noise, blocks / dense",
            relative_to(blocks["noisy_error"][:, 0], plain["noisy_error"][:, 0]),
        ),
        Condition("test error, blocks / dense", relative_to(blocks["mse_test"], plain["mse_test"])),
    ]
    return Verdict.of_arm(evidence, "blocks", conditions)


def others_too(evidence: Evidence) -> Verdict:
    chosen = matched(evidence)
    conditions = [
        Condition(
            f"{chosen[family]}, weight inside modules, worst layer",
            worst_in_block(evidence[chosen[family]]),
            ">=",
            0.97,
        )
        for family in ("L1", "Act")
    ]
    conditions += [
        Condition(f"{chosen[family]}, worst layer", worst_in_block(evidence[chosen[family]]))
        for family in ("WA", "Noise2", "L2")
    ]
    errors = ", ".join(
        f"{arm} {median(evidence[arm]['mse_train']):.2g}" for arm in dict.fromkeys(chosen.values())
    )
    return Verdict.of_arm(evidence, "WA", conditions, note=f"Training errors: {errors}.")


def what_distinguishes(evidence: Evidence) -> Verdict:
    chosen = matched(evidence)
    weighted, sparse, quiet = (evidence[chosen[family]] for family in ("WA", "L1", "Act"))
    noisy = {name: arm["noisy_error"] for name, arm in (("L1", sparse), ("Act", quiet))}
    conditions = [
        Condition(
            "live units in total, WA / L1",
            relative_to(weighted["live"].sum(axis=1), sparse["live"].sum(axis=1)),
            ">=",
            1.5,
        ),
        Condition(
            "multiplicative noise, WA / L1",
            relative_to(weighted["noisy_error"][:, 2], noisy["L1"][:, 2]),
            "<=",
            0.5,
        ),
        *(
            Condition(
                f"{name} noise, WA / Act",
                relative_to(weighted["noisy_error"][:, e], noisy["Act"][:, e]),
                "<",
                1,
            )
            for e, name in ((1, "Poisson-like"), (2, "multiplicative"))
        ),
    ]
    return Verdict.of_arm(evidence, "WA", conditions)


def other_units(evidence: Evidence) -> Verdict:
    smooth, steep = evidence["WA tanh"], evidence["WA sigmoid"]
    conditions = [
        Condition("tanh, training error", smooth["mse_train"], "<", 1e-3),
        Condition("tanh, weight inside modules, worst layer", worst_in_block(smooth), ">=", 0.98),
        Condition("sigmoid, training error", steep["mse_train"], ">", 0.03),
        Condition("sigmoid, worst layer", worst_in_block(steep)),
    ]
    return Verdict.of_arm(evidence, "WA tanh", conditions)


def faithful_form(evidence: Evidence) -> Verdict:
    drawn = evidence["Noise2"]
    conditions = []
    for name in ("Jacobian", "Jacobian, projected"):
        arm = evidence[name]
        conditions += [
            Condition(f"{name}, weight inside modules, worst layer", worst_in_block(arm), ">=", 0.95),
            Condition(
                f"{name}, sum of squares, relative difference from Noise2",
                np.abs(relative_to(arm["sum_squares"], drawn["sum_squares"]) - 1),
                "<=",
                0.12,
            ),
            Condition(
                f"{name}, error under multiplicative noise / Noise2's",
                relative_to(arm["noisy_error"][:, 2], drawn["noisy_error"][:, 2]),
            ),
        ]
    return Verdict.of_arm(evidence, "Jacobian", conditions)


def time_alone(evidence: Evidence) -> Verdict:
    lengths = sorted((*LENGTHS, 10_000))
    arms = {epochs: "L2" if epochs == 10_000 else length_arm("L2", epochs) for epochs in lengths}
    values = {epochs: median(evidence[arm]["newman"]) for epochs, arm in arms.items()}
    longest = evidence[arms[lengths[-1]]]
    conditions = in_order(
        "Newman modularity of L2", {f"{epochs} epochs": values[epochs] for epochs in reversed(lengths)}
    )
    conditions.append(Condition("weight inside modules at the end, worst layer", worst_in_block(longest)))
    return Verdict.of_arm(evidence, "L2", conditions, headline=longest["newman"])
