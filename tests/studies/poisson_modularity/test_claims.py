"""The claims on modularity, decided on made-up nets that are as the claims say, and on others that are not."""

import numpy as np
import pytest

from recombine.studies import load
from recombine.studies.evidence import Arm, Evidence
from recombine.studies.poisson_modularity import published
from recombine.studies.poisson_modularity.film_heads import FRAMES, film_arm
from recombine.studies.poisson_modularity.linear_nets import PRODUCTS, SPARSE, linear_arm
from recombine.studies.poisson_modularity.module_probes import SHIFTS
from recombine.studies.poisson_modularity.noise import EPOCHS, LENGTHS, length_arm
from recombine.studies.poisson_modularity.region_arms import DEPTHS, NETS, TASKS, block_arm, region_arm
from recombine.studies.poisson_modularity.regularisers import STRENGTHS, strength_arm
from recombine.studies.poisson_modularity.sample_growth import COUNTS, SIZES, growth_arm, samples_needed
from recombine.studies.poisson_modularity.sample_structure import (
    FEW_COUNTS,
    FOUR_SIZES,
    GRIDS,
    PERMUTED,
    correlated_arm,
    grid_arm,
    plain_arm,
    sample_arm,
)

STUDY = load("poisson-modularity")
N = 10
LAYERS = 4
SPREAD = np.linspace(0.97, 1.03, N)
"""Seeds differ by a few per cent."""


def made_up(**values):
    """An arm with the same values for every seed, except for a small spread of what is not whole."""
    arrays = {}
    for name, value in values.items():
        array = np.stack([np.asarray(value, dtype=float)] * N)
        if name not in {"in_block", "live", "module_sizes", "z_inside"} and not name.startswith(
            ("labels", "weights")
        ):
            array = array * SPREAD.reshape(-1, *[1] * (array.ndim - 1))
        arrays[name] = array
    return Arm(tuple(range(N)), ("finished",) * N, arrays, {})


def sine_net(inside, *, newman=0.5, live=30, sums=25.0, train=1e-4, noisy=(0.05, 0.01, 0.004), leak=1.0):
    """A net of 32 units with that share of squared weight inside modules, in every layer or in each."""
    inside = np.broadcast_to(inside, LAYERS)
    shift = leak * 1e-4 * np.array((0.0, *SHIFTS)) ** 2 + 1e-4
    rng = np.random.default_rng(0)
    sizes = [4, 32, 32, 32, 4]
    values = {
        "in_block": inside,
        "spectra": np.tile(np.r_[np.zeros(3), 1 - inside.min() ** 3, 1.0, 1.0], (LAYERS, 1)),
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
    plain = (0.95, 0.9, 0.7, 0.75)
    values = {
        "initial": sine_net(0.3, newman=0.03, train=0.3),
        "L2": sine_net(plain, newman=0.33, sums=22.5, noisy=(0.04, 0.02, 0.017), leak=100),
        "WA": sine_net(0.995, newman=0.7, sums=26.0, noisy=(0.08, 0.01, 0.004)),
        "WA alpha 1": sine_net(0.995, newman=0.7),
        "Noise2": sine_net(0.98, newman=0.64, sums=28.4),
        "Noise1": sine_net(0.97, newman=0.6, sums=36.6),
        "Noise0": sine_net((0.9, 0.9, 0.85, 0.99), newman=0.43, sums=43.7),
        "Act": sine_net(0.99, newman=0.71, noisy=(0.2, 0.03, 0.006)),
        "L1 1e-3": sine_net(0.99, live=4, train=0.07),
        "L1 1e-4": sine_net(0.99, live=9, train=4e-4),
        "L1 3e-06": sine_net(0.99, live=15, noisy=(0.05, 0.03, 0.02)),
        "WA tanh": sine_net(0.99, train=2e-4),
        "WA sigmoid": sine_net(0.7, train=0.06, sums=148),
        "Jacobian": sine_net(0.98, sums=28.0),
        "Jacobian, projected": sine_net(0.98, sums=28.0),
        "blocks": sine_net(1.0, leak=0, noisy=(0.02, 0.005, 0.003)),
    }
    for family, strengths in STRENGTHS.items():
        for strength in strengths:
            values.setdefault(strength_arm(family, strength), sine_net(0.8, train=0.01 * strength**0.1))
    for epochs in LENGTHS:
        newman = 0.33 + 0.05 * np.log2(epochs / EPOCHS)
        values[length_arm("L2", epochs)] = sine_net(0.7, newman=newman)
        values[length_arm("WA", epochs)] = sine_net(0.99, newman=0.7)
    for name in ("L2", "Noise2", "WA alpha 1", "WA", "Noise1"):
        values[linear_arm(name)] = sine_net(0.5, sums=16.0)
    for name in ("L1", *PRODUCTS):
        values[linear_arm(name)] = sine_net(0.95)
    for name in SPARSE:
        values[linear_arm(name, sparse=True)] = sine_net(0.95 if name == "WA alpha 1" else 0.5)
    return values


def identities():
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
        "excess loss": Arm(
            (0, 1),
            ("finished",) * 2,
            {"excess_ratio": np.full((2, 3, 3), 1.001), "local_ratio": np.full((2, 3, 3), 2.0)},
            {},
        ),
    }


def growth(needed):
    """Nets that become modular at `needed(K)` samples: the weight outside falls as the inverse square of samples."""
    return {
        growth_arm(k, n): made_up(in_block=np.full(LAYERS, 1 - min(0.9, 0.02 * (needed(k) / n) ** 2)))
        for k in COUNTS
        for n in SIZES
    }


def samples():
    values = growth(lambda k: 30 * 1.6**k)
    for k, n in {*((4, n) for n in FOUR_SIZES), *((k, 1000) for k in FEW_COUNTS)}:
        values[sample_arm(k, n)] = made_up(in_block=np.full(LAYERS, 1 - 0.2 * min(1, 30 / n)))
    for k in FEW_COUNTS:
        values[plain_arm(k)] = made_up(in_block=np.full(LAYERS, 1 - 0.1 * k))
    for n in GRIDS:
        values[grid_arm(n, "grid")] = made_up(in_block=np.full(LAYERS, 0.9))
        values[grid_arm(n, "random")] = made_up(in_block=np.full(LAYERS, 0.8))
    for share in PERMUTED:
        values[correlated_arm(share)] = made_up(in_block=np.full(LAYERS, 0.5 + 0.49 * share))
    return values


def regions():
    values = {}
    for task in TASKS:
        for net in NETS:
            seen, unseen = published.REGIONS.get((task, net), (1e-5, 1e-3))
            values[region_arm(task, net)] = made_up(
                mse_in=seen,
                mse_out=unseen,
                relative_in=seen / 0.1,
                relative_out=unseen / 0.1,
                map=np.random.default_rng(0).normal(size=(9, 9)),
            )
    for depth in DEPTHS:
        values[block_arm(depth)] = made_up(readout_rmse=published.READOUT[depth - 1], mse_test=1e-4)
    return values


def films():
    values = {}
    for frames in FRAMES:
        low, high = published.FILM.get(frames, (0.15, 0.75))
        for regime, gap in (("WA", high - low), ("plain", 0.01)):
            spectrum = np.r_[np.zeros(frames - 1), 1 - gap, 1.0, 1.0]
            values[film_arm(frames, regime)] = made_up(
                spectrum=spectrum, eigengap=gap, accuracy_test=0.9, in_block_out=0.9
            )
    return values


@pytest.fixture(scope="module")
def arms():
    return identities() | regimes() | samples() | regions() | films()


def changed(arms, arm, **values):
    """The arms, with values of one arm replaced for every seed."""
    old = arms[arm]
    new = {n: np.stack([np.asarray(v, dtype=float)] * len(old.seeds)) for n, v in values.items()}
    return arms | {arm: Arm(old.seeds, old.status, {**old.values, **new}, old.curves)}


def verdict(id, arms):
    return STUDY.claim(id).decide(Evidence(arms, "quick")).verdict


EXPECTED = {"exact": "verified", "trained": "reproduced", "described": "described"}


@pytest.mark.parametrize("claim", STUDY.claims, ids=lambda claim: claim.id)
def test_every_claim_is_reproduced_on_its_own_numbers(claim, arms):
    assert verdict(claim.id, arms).name == EXPECTED[claim.kind]


@pytest.mark.parametrize(
    ("id", "arm", "values", "expected"),
    [
        ("1", "constants", {"cells_that_differ": 2}, "violated"),
        ("2", "excess loss", {"excess_ratio": np.full((3, 3), 1.05)}, "violated"),
        ("3", "gradients", {"last_layer_gap": 1e-3}, "violated"),
        ("4", "rescaling", {"gap_alpha_1": 1e-3}, "violated"),
        ("20", "metrics", {"dense_lambda": 0.5}, "violated"),
        ("9", "Noise0", {"in_block": np.full(4, 0.99)}, "contradicted"),
        ("9", "Noise1", {"in_block": np.full(4, 0.8)}, "contradicted"),
        ("9", "Noise1", {"in_block": np.full(4, 0.88)}, "weaker"),
        ("6", "WA", {"in_block": np.full(4, 0.6)}, "contradicted"),
        ("6", "WA", {"in_block": np.full(4, 0.9)}, "weaker"),
        ("6", "WA", {"mse_train": 0.1}, "open"),
        ("13", "linear Noise2", {"in_block": (0.999, 0.5, 0.5, 0.5)}, "contradicted"),
        ("13", "linear Noise2", {"in_block": np.full(4, 0.95)}, "weaker"),
        ("23", "Act", {"in_block": np.full(4, 0.5)}, "contradicted"),
        ("23", "L1 3e-06", {"mse_train": 1e-3}, "open"),
        ("17", "wedge, modular", {"relative_out": 0.5}, "contradicted"),
        ("17", "wedge, full", {"relative_out": 1e-4}, "weaker"),
        ("17", "wedge, bottleneck", {"relative_in": 0.1}, "open"),
        ("14", "WA", {"noisy_error": (0.01, 0.01, 0.05)}, "contradicted"),
        ("22", "blocks", {"noisy_error": (0.01, 0.01, 0.05)}, "contradicted"),
        ("36", "wedge, modular", {"relative_out": 0.5}, "contradicted"),
        ("7", "L2", {"in_block": np.full(4, 0.85)}, "weaker"),
        ("10", "WA", {"sum_squares": 40}, "contradicted"),
        ("19", block_arm(3), {"mse_test": 0.1}, "open"),
        ("31", film_arm(3, "WA"), {"eigengap": 0.0}, "contradicted"),
    ],
)
def test_other_numbers_change_the_verdict(id, arm, values, expected, arms):
    assert verdict(id, changed(arms, arm, **values)).name == expected


def test_additive_noise_that_helps_is_never_hidden_by_the_other_kinds(arms):
    """The less modular kind of growing noise counts, so one good kind is not enough."""
    found = verdict("9", changed(arms, "Noise2", in_block=np.full(4, 0.8)))
    assert found.name == "contradicted"
    assert found.favourable == 0


def test_one_modular_net_of_ten_may_fail_on_the_unseen_quadrants(arms):
    unseen = arms["wedge, modular"]["relative_out"].copy()
    for failures, expected in ((1, "reproduced"), (2, "open")):
        unseen[:failures] = 0.5
        old = arms["wedge, modular"]
        arm = Arm(old.seeds, old.status, {**old.values, "relative_out": unseen.copy()}, old.curves)
        assert verdict("17", arms | {"wedge, modular": arm}).name == expected


@pytest.mark.parametrize(
    ("needed", "expected"),
    [
        (lambda k: 30 * 1.6**k, "reproduced"),
        (lambda k: 12 * k**2.5, "contradicted"),
    ],
)
def test_an_exponential_and_a_power_law_are_told_apart(needed, expected, arms):
    evidence = arms | growth(needed)
    np.testing.assert_allclose(
        samples_needed(Evidence(evidence, "quick"))[0], [needed(k) for k in COUNTS], rtol=0.02
    )
    assert verdict("21", evidence).name == expected


def test_nets_that_never_become_modular_are_left_out_of_the_growth_law(arms):
    found = verdict("21", arms | growth(lambda k: 10 * 3.0**k))
    assert found.name == "open"
    assert found.n_seeds == 0


@pytest.mark.parametrize("drawing", STUDY.drawings, ids=lambda drawing: drawing.name)
def test_every_figure_draws(drawing, arms):
    from recombine.report import png_bytes

    shown = Evidence({name: arms[name] for name in drawing.needs}, "quick")
    assert png_bytes(drawing.draw(shown)).startswith(b"\x89PNG")


def test_the_main_figure_needs_only_headlines_that_run_by_default():
    main = next(drawing for drawing in STUDY.drawings if drawing.name == STUDY.main_figure)
    run = {arm for claim in STUDY.headlines if not claim.on_request for arm in claim.needs}
    assert set(main.needs) <= run


def test_all_regimes_train_equally_long_with_equally_many_seeds():
    plans = STUDY.arms("quick")
    for arm in (
        "L2",
        "WA",
        "Noise0",
        "Noise1",
        "Noise2",
        "Act",
        "L1 1e-3",
        "L1 3e-06",
        "linear L12",
        "blocks",
    ):
        assert plans[arm].trial.recipe.steps == 50_000
        assert plans[arm].seeds == 10
