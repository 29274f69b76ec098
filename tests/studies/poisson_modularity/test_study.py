"""The claims on modularity hold on made-up nets that are as they say, and fail if a number is changed."""

import numpy as np
import pytest

from recombine.studies import load
from recombine.studies.claims import Arm, Evidence
from recombine.studies.poisson_modularity import published
from recombine.studies.poisson_modularity.arms.blocks import DEPTHS, block_arm
from recombine.studies.poisson_modularity.arms.compositions import NETS, TASKS, region_arm
from recombine.studies.poisson_modularity.arms.film import FRAMES, film_arm
from recombine.studies.poisson_modularity.arms.linear import REGIMES, linear_arm
from recombine.studies.poisson_modularity.arms.samples import (
    COUNTS,
    GRIDS,
    LAWS,
    PERMUTED,
    SIZES,
    correlated_arm,
    grid_arm,
    plain_arm,
    sample_arm,
)
from recombine.studies.poisson_modularity.arms.sine import LENGTHS, STRENGTHS, length_arm, strength_arm
from recombine.studies.poisson_modularity.checks.readings import growth, matched, protocol
from recombine.studies.poisson_modularity.module_probes import SHIFTS

STUDY = load("poisson-modularity")
N = 3
LAYERS = 4


def made_up(**values):
    arrays = {name: np.stack([np.asarray(value, dtype=float)] * N) for name, value in values.items()}
    return Arm(tuple(range(N)), ("finished",) * N, arrays, {})


def sine_net(inside, *, newman=0.5, live=30, sums=25.0, train=1e-4, noisy=(0.05, 0.01, 0.004), leak=1.0):
    """A net of 32 units with that share of squared weight inside modules, in every layer or in each."""
    inside = np.broadcast_to(inside, LAYERS)
    shift = leak * 1e-4 * np.array((0.0, *SHIFTS)) ** 2 + 1e-4
    rng = np.random.default_rng(0)
    sizes = [4, 32, 32, 32, 4]
    spectrum = np.r_[np.zeros(3), 1 - inside.min() ** 3, 1.0, 1.0]
    values = {
        "in_block": inside,
        "spectra": np.tile(spectrum, (LAYERS, 1)),
        "spectra_all": np.tile(spectrum, (LAYERS, 1)),
        "newman": newman,
        "live": np.full(3, live),
        "module_sizes": np.full((3, 4), live // 4),
        "sum_squares": sums,
        "mse_train": train,
        "mse_test": 1.2 * train,
        "noisy_error": noisy,
        "pruned_error": np.full(4, 1e-4 + (1 - inside.min()) * 0.5),
        "shift_error": np.repeat(shift[:, None], 4, axis=1),
        "shift_error_pruned": np.full((len(shift), 4), 1e-3),
    }
    values |= {f"weights{i}": rng.normal(size=sizes[i : i + 2]) for i in range(LAYERS)}
    values |= {f"labels{i}": np.arange(size) % 4 for i, size in enumerate(sizes)}
    return made_up(**values)


def regimes():
    values = {
        "initial": sine_net(0.3, newman=0.03, train=0.3),
        "L2": sine_net((0.95, 0.9, 0.7, 0.75), newman=0.33, sums=22.5, noisy=(0.04, 0.02, 0.017), leak=100),
        "WA": sine_net(0.995, newman=0.7, sums=26.0),
        "WA alpha 1": sine_net(0.995, newman=0.7),
        "Noise2": sine_net(0.98, newman=0.64, sums=28.4),
        "Noise1": sine_net(0.94, newman=0.49, sums=36.6),
        "Noise0": sine_net((0.9, 0.9, 0.85, 0.99), newman=0.43, sums=43.7),
        "Act": sine_net(0.99, newman=0.71, noisy=(0.2, 0.03, 0.006)),
        "L1 1e-3": sine_net(0.99, live=4, train=0.07),
        "L1 1e-4": sine_net(0.99, live=9, train=4e-4, noisy=(0.05, 0.03, 0.02)),
        "WA tanh": sine_net(0.99, train=2e-4),
        "WA sigmoid": sine_net(0.7, train=0.06, sums=148),
        "Jacobian": sine_net(0.98, sums=28.0),
        "Jacobian, projected": sine_net(0.98, sums=28.0),
        "blocks": sine_net(1.0, leak=0, noisy=(0.02, 0.005, 0.003)),
    }
    for family, strengths in STRENGTHS.items():
        for strength in strengths:
            name = strength_arm(family, strength)
            if name not in values:
                values[name] = sine_net(0.8, train=0.01 * strength**0.1)
    for epochs in LENGTHS:
        newman = 0.33 + 0.05 * np.log2(epochs / 10_000)
        values[length_arm("L2", epochs)] = sine_net(0.7, newman=newman)
        values[length_arm("WA", epochs)] = sine_net(0.99, newman=0.7)
    for name in REGIMES:
        values[linear_arm(name)] = sine_net(0.5 if name in {"L2", "Noise2"} else 0.95, sums=16.0)
    values[linear_arm("WA alpha 1")] = sine_net(0.5)
    for name in ("L2", "Noise1", "WA"):
        values[linear_arm(name, sparse=True)] = sine_net(0.5)
    values[linear_arm("WA alpha 1", sparse=True)] = sine_net(0.95)
    return values


def exact():
    return {
        "constants": made_up(constant_gap=1e-7, row_gap=1e-7, cells_that_differ=0, counts_that_differ=0),
        "gradients": made_up(gradient_gap=1e-7, last_layer_gap=0),
        "rescaling": made_up(gap_alpha_2=1e-16, gap_alpha_1=1e-16),
        "metrics": made_up(
            block_lambda=1e-6,
            block_newman_gap=1e-16,
            block_mass_gap=1e-16,
            dense_lambda=0.95,
            z_inside=1.0,
            dead_unit_gap=1e-16,
        ),
    }


def samples():
    values = {}
    for law in LAWS:
        for k in COUNTS:
            for n in SIZES:
                values[sample_arm(k, n, law)] = made_up(
                    in_block=np.full(4, max(0.0, 1 - 0.02 * 15 * 2.0**k / n))
                )
    for k in COUNTS:
        values[plain_arm(k)] = made_up(in_block=np.full(4, 1 - 0.1 * k))
    for n in GRIDS:
        values[grid_arm(n, "grid")] = made_up(in_block=np.full(4, 0.9))
        values[grid_arm(n, "random")] = made_up(in_block=np.full(4, 0.8))
    for share in PERMUTED:
        values[correlated_arm(share)] = made_up(in_block=np.full(4, 0.5 + 0.49 * share))
    return values


def elsewhere():
    values = {}
    for task in TASKS:
        for net in NETS:
            inside, outside = published.REGIONS.get((task, net), (1e-5, 1e-3))
            lattice = np.random.default_rng(0).normal(size=(9, 9))
            values[region_arm(task, net)] = made_up(
                mse_in=inside, mse_out=outside, ratio=outside / inside, map=lattice
            )
    for depth in DEPTHS:
        values[block_arm(depth)] = made_up(readout_rmse=published.READOUT[depth - 1], mse_test=1e-4)
    for frames in FRAMES:
        low, high = published.FILM.get(frames, (0.15, 0.75))
        for regime, gap in (("WA", high - low), ("plain", 0.01)):
            spectrum = np.r_[np.zeros(frames - 1), 1 - gap, 1.0, 1.0]
            values[film_arm(frames, regime)] = made_up(
                spectrum=spectrum, eigengap=gap, accuracy_test=0.9, in_block_out=0.9
            )
    values["excess loss"] = made_up(excess_ratio=np.full((3, 3), 1.001), local_ratio=np.full((3, 3), 2.0))
    return values


@pytest.fixture(scope="module")
def arms():
    return exact() | regimes() | samples() | elsewhere()


@pytest.mark.parametrize("claim", STUDY.claims, ids=lambda claim: claim.id)
def test_every_claim_holds_on_its_own_numbers(claim, arms):
    outcome = claim.judge(Evidence(arms, "quick"))
    assert outcome.word == "holds", outcome.verdict.detail


@pytest.mark.parametrize(
    ("id", "arm", "name", "value"),
    [
        ("1", "constants", "constant_gap", 1e-3),
        ("1", "constants", "cells_that_differ", 2),
        ("2", "excess loss", "excess_ratio", np.full((3, 3), 1.05)),
        ("3", "gradients", "last_layer_gap", 1e-3),
        ("4", "rescaling", "gap_alpha_1", 1e-3),
        ("5", "L2", "sum_squares", 26),
        ("6", "WA", "in_block", (1, 1, 0.97, 1)),
        ("6", "WA", "spectra", np.full((4, 6), 0.5)),
        ("7", "L2", "in_block", (0.9, 0.9, 0.7, 0.85)),
        ("8", "L2", "pruned_error", np.full(4, 1e-3)),
        ("9", "Noise1", "newman", 0.66),
        ("9", "Noise0", "in_block", (0.99, 0.99, 0.99, 0.8)),
        ("10", "Noise2", "sum_squares", 33),
        ("11", "L1 1e-3", "mse_train", 0.01),
        ("11", "L1 1e-4", "live", np.full(3, 20)),
        ("12", "WA", "module_sizes", np.full((3, 4), 2)),
        ("13", "linear Noise2", "in_block", (0.9, 0.5, 0.5, 0.5)),
        ("13", "linear L12", "in_block", (0.9, 0.8, 0.9, 0.9)),
        ("14", "WA", "noisy_error", (0.03, 0.01, 0.004)),
        ("15", "WA", "shift_error_pruned", np.linspace(1, 2, 52)[:, None] * np.ones(4)),
        ("16", sample_arm(4, 30, "usual"), "in_block", np.full(4, 0.9)),
        ("17", "wedge, modular", "ratio", 20),
        ("17", "wedge, modular", "mse_out", 1e-3),
        ("18", "composition, full", "ratio", 2),
        ("19", block_arm(3), "readout_rmse", np.full(4, 0.2)),
        ("20", "metrics", "dense_lambda", 0.5),
        ("20", "metrics", "dead_unit_gap", 0.1),
        ("21", sample_arm(5, 17, "low"), "in_block", np.full(4, 0.99)),
        ("22", "blocks", "noisy_error", (0.02, 0.005, 0.1)),
        ("23", "Act", "in_block", np.full(4, 0.9)),
        ("24", "WA", "live", np.full(3, 10)),
        ("25", "WA tanh", "in_block", np.full(4, 0.7)),
        ("26", "Jacobian", "sum_squares", 20),
        ("27", length_arm("L2", 20_000), "newman", 0.3),
        ("28", linear_arm("WA alpha 1", sparse=True), "in_block", np.full(4, 0.6)),
        ("29", correlated_arm(0.0), "in_block", np.full(4, 0.99)),
        ("30", "wedge, full, small", "ratio", 3),
        ("31", film_arm(3, "WA"), "eigengap", 0.0),
        ("32", plain_arm(2), "in_block", np.full(4, 0.3)),
    ],
)
def test_any_spoilt_number_makes_it_fail(id, arm, name, value, arms):
    wrong = np.stack([np.asarray(value, dtype=float)] * N)
    old = arms[arm]
    spoilt = Arm(old.seeds, old.status, {**old.values, name: wrong[: len(old.seeds)]}, old.curves)
    assert STUDY.claim(id).judge(Evidence({**arms, arm: spoilt}, "quick")).word == "fails"


@pytest.mark.parametrize("drawing", STUDY.drawings, ids=lambda drawing: drawing.name)
def test_every_figure_draws(drawing, arms):
    from recombine.report import png_bytes

    needed = Evidence({name: arms[name] for name in drawing.needs}, "quick")
    assert png_bytes(drawing.draw(needed)).startswith(b"\x89PNG")


def test_samples_needed_grow_by_the_factor_they_were_made_with(arms):
    needed = protocol(Evidence(arms, "quick"))
    assert needed["usual"] == {2: 100.0, 3: 170.0, 4: 300.0, 5: 550.0}
    assert 1.6 < growth(needed["mixed"]) < 1.9
    assert np.isnan(growth({2: 10.0, 3: float("nan")}))


def test_regularisers_are_compared_at_the_task_loss_of_weighted_activity(arms):
    chosen = matched(Evidence(arms, "quick"))
    assert chosen == {"L2": "L2", "L1": "L1 1e-4", "Act": "Act", "WA": "WA", "Noise2": "Noise2"}


def test_published_regimes_train_equally_long():
    for arm in ("L2", "WA", "Noise0", "Noise1", "Noise2", "Act", "L1 1e-3", "L1 1e-4", "linear L12"):
        (trial,) = STUDY.arms("quick")[arm]
        assert trial.recipe.steps == 50_000
        assert len(trial.seeds) >= 3
