"""The claims of forced rendering, decided on made-up evidence: as published, without an effect, and reversed."""

import numpy as np
import pytest

from recombine.studies import Arm, Evidence, load
from recombine.studies.forced_rendering.figure4_data_needed import PER_N, SIZES, images_needed, scaling_arm

N = 10
SPREAD = np.linspace(0.9, 1.1, N)
STUDY = load("forced-rendering")


def arm(curves=None, spread=True, **values):
    """Ten seeds around each value, which spread by 10% up and down."""
    factor = SPREAD if spread else np.ones(N)
    arrays = {name: np.multiply.outer(factor, np.asarray(v, dtype=float)) for name, v in values.items()}
    records = {
        name: np.multiply.outer(factor, np.asarray(c, dtype=float)) for name, c in (curves or {}).items()
    }
    return Arm(tuple(range(N)), ("finished",) * N, arrays, records)


BLANK = {"baseline_blank_in": 4e-3, "baseline_blank_out": 4e-3}


def decoder(seen=6e-5, unseen=3.2e-3, **values):
    errors = {"error_in": seen, "error_out": unseen, **BLANK}
    fixed = {name: np.full(N, value) for name, value in errors.items()}
    made = arm(**values)
    return Arm(made.seeds, made.status, {**fixed, **made.values}, {})


CNN = {
    "with_superposition": 0.8,
    "other_superpositions": 0.3,
    "with_truth": 0.05,
    "truth_with_superposition": 0.1,
    "accuracy1_in": 1.0,
    "accuracy_inner": 0.0,
    "explained_overlap_shared": 0.5,
    "explained_overlap_radial": 0.1,
    "explained_overlap_shared_all": 0.3,
    "explained_overlap_radial_all": 0.6,
    "explained_cosine_shared": 0.5,
    "explained_cosine_radial": 0.1,
    "cosine_binary": 0.4,
    "volume_gap": np.zeros(6),
    "volume_spread_in": np.full(6, 0.1),
    "volume_spread_out": np.full(6, 0.3),
}
LAYERS = {
    "factorisation": [1.0, 0.97, 0.95, 0.93, 0.88, 0.75, 0.9],
    "factorisation_out": [1.0, 0.97, 0.95, 0.93, 0.88, 0.75, 0.9],
    "r2": np.full((7, 2), 0.98),
    "r2_held_out": np.full((7, 2), 0.97),
    "volume_gap": np.zeros(7),
    "volume_spread_in": np.full(7, 0.1),
    "volume_spread_out": np.full(7, 0.3),
}


def render(seen, unseen, gap, components):
    errors = {"error_in": seen, "error_out": unseen, "error_out_median": unseen / 3}
    values = {
        "volume_gap": [0.0, gap],
        "accuracy1_out": 0.9,
        "with_superposition": 0.8,
        "with_truth": 0.1,
        "canvas_participation": np.full((2, 20), components),
        "stripe_energy": np.full((2, 20), 0.99),
    }
    blank = {"baseline_blank_in": np.full(N, 6.5e-3), "baseline_blank_out": np.full(N, 6.6e-3)}
    made = arm(curves={"out": [9e-3, 6.5e-3, unseen]}, **errors, **values)
    return Arm(made.seeds, made.status, {**made.values, **blank}, made.curves)


def published():
    """Evidence in which every headline comes out as the paper says."""
    free, forced = render(1e-6, 2.76e-2, 0.305, 18.0), render(4.4e-5, 1.45e-4, 0.0, 1.0)
    return {
        "cnn bump": decoder(**CNN),
        "cnn ramp": decoder(seen=7e-4, unseen=5e-3),
        "mlp bump 200 epochs": decoder(seen=5e-4, **LAYERS),
        "render none": free,
        "render both": forced,
        "render entropy": render(4e-5, 6e-3, 0.0, 1.0),
        "render flatness": render(4e-5, 1e-3, 0.0, 1.0),
        "cnn stripes + 7N bumps": decoder(seen=5e-5, unseen=4e-4, accuracy1_out=0.95),
        "cnn 9N bumps, no stripes": decoder(seen=5e-5, unseen=4e-3, accuracy1_out=0.0),
        **scaling(stripes=1.0, everywhere=3.0),
    }


def scaling(**exponents):
    """Errors that fall like one over the data, and reach the criterion at 3 N^exponent images (scaled to fit)."""
    made = {}
    for n in SIZES:
        for kind, exponent in exponents.items():
            needed = (3.2 * SIZES[0] if kind == "stripes" else 2.5 * SIZES[0]) * (n / SIZES[0]) ** exponent
            for m in PER_N[kind]:
                images = m * n + (2 * n if kind == "stripes" else 0)
                made[scaling_arm(n, kind, m)] = arm(
                    spread=False, held_out_error=0.25 * needed / images, held_out_blank=1.0
                )
    return made


def verdict(id, arms):
    return STUDY.claim(id).decide(Evidence(arms, "quick")).verdict


HEADLINES = tuple(claim.id for claim in STUDY.headlines)


@pytest.mark.parametrize("id", [*HEADLINES, "12", "14", "15", "16"])
def test_published_numbers_reproduce(id):
    assert verdict(id, published()).name == "reproduced"


CONTRADICTING = {
    "4": {"cnn bump": decoder(seen=1e-4, unseen=5e-5, **CNN)},
    "5": {"cnn ramp": decoder(seen=7e-4, unseen=5e-4)},
    # the mean image resembles all sums alike
    "8": {"cnn bump": decoder(**CNN | {"other_superpositions": 0.8, "with_truth": -0.4})},
    "9": {"cnn bump": decoder(**CNN | {"explained_overlap_radial": 0.9})},
    "10": {
        "mlp bump 200 epochs": decoder(
            seen=5e-4, **LAYERS | {"factorisation": [1, 0.8, 0.8, 0.9, 0.9, 0.95, 1]}
        )
    },
    "42": {"cnn bump": decoder(**CNN | {"volume_spread_in": np.full(6, 0.9)})},
    "47": {"mlp bump 200 epochs": decoder(seen=5e-4, **LAYERS | {"volume_spread_in": np.full(7, 0.9)})},
    "13": {"render none": render(1e-6, 1e-5, 0.3, 18.0)},
    "15": {"render none": render(1e-6, 2.8e-2, -0.305, 18.0)},
    "16": {"render flatness": render(4e-5, 1e-5, 0.0, 1.0)},
    "19": {"cnn stripes + 7N bumps": decoder(seen=5e-5, unseen=6e-3, accuracy1_out=0.0)},
    "20": scaling(stripes=1.5, everywhere=1.0),
}


@pytest.mark.parametrize("id", CONTRADICTING)
def test_the_opposite_contradicts(id):
    assert verdict(id, published() | CONTRADICTING[id]).name == "contradicted"


def test_nets_that_have_not_learned_are_left_out():
    for id, name, made in (
        ("4", "cnn bump", decoder(seen=1e-3, unseen=5e-3, **CNN)),
        ("5", "cnn ramp", decoder(seen=2e-3, unseen=9e-3)),
        ("10", "mlp bump 200 epochs", decoder(seen=3.9e-3, **LAYERS)),
        ("13", "render both", render(1e-3, 1.4e-4, 0.0, 1.0)),
    ):
        found = verdict(id, published() | {name: made})
        assert (found.name, found.n_excluded) == ("open", N), id


def test_smaller_effects_are_weaker():
    assert verdict("4", published() | {"cnn bump": decoder(seen=1.9e-4, unseen=1e-3, **CNN)}).name == "weaker"
    assert verdict("13", published() | {"render none": render(1e-6, 1e-3, 0.3, 18.0)}).name == "weaker"
    halfway = {"cnn stripes + 7N bumps": decoder(seen=5e-5, unseen=2e-3, accuracy1_out=0.9)}
    assert verdict("19", published() | halfway).name == "weaker"


def test_nets_with_and_without_penalties_are_not_paired():
    """Only the two samples count, not which seed of one stands next to which of the other."""
    arms = published()
    shuffled = Arm(
        arms["render both"].seeds,
        arms["render both"].status,
        {name: values[::-1] for name, values in arms["render both"].values.items()},
        arms["render both"].curves,
    )
    first, second = verdict("13", arms), verdict("13", arms | {"render both": shuffled})
    assert first.estimate == second.estimate
    assert first.favourable is None


def test_exponents_of_the_data_needed():
    outcome = STUDY.claim("20").decide(Evidence(published(), "quick"))
    supports = outcome.supports()
    np.testing.assert_allclose(supports["exponent, stripes + bumps"], 1.0, atol=0.01)
    np.testing.assert_allclose(supports["exponent, bumps everywhere"], 3.0, atol=0.01)
    assert outcome.verdict.estimate.value == pytest.approx(2.0, abs=0.02)


def test_the_number_of_images_is_unknown_outside_the_range_that_was_run():
    images = np.array([10.0, 20.0, 40.0])
    assert images_needed(images, np.array([1.0, 0.5, 0.125])) == pytest.approx(20 * np.sqrt(2))
    assert np.isnan(images_needed(images, np.array([1.0, 0.9, 0.8])))
    assert np.isnan(images_needed(images, np.array([0.2, 0.1, 0.05])))


def test_data_needed_that_grow_faster_with_stripes_contradict_the_claim():
    assert verdict("20", published() | scaling(stripes=3.5, everywhere=3.0)).name == "contradicted"


def test_errors_that_do_not_fall_with_data_leave_the_claim_open():
    worse = {
        name: Arm(
            arm.seeds, arm.status, arm.values | {"held_out_error": 1 / arm["held_out_error"]}, arm.curves
        )
        for name, arm in scaling(stripes=1.0, everywhere=3.0).items()
        if "stripes" in name
    }
    found = verdict("20", published() | worse)
    assert (found.name, found.n_seeds) == ("open", 0)
    assert any("error falls with data" in reason for reason, _ in found.excluded)


def depths(lost, failure):
    """MLPs of five depths with these losses of factorisation and these unseen errors."""
    names = (
        "mlp bump depth 3",
        "mlp bump depth 4",
        "mlp bump 200 epochs",
        "mlp bump depth 6",
        "mlp bump depth 7",
    )
    return {
        name: decoder(seen=5e-4, unseen=error, **LAYERS | {"factorisation": [1, 0.97, 0.97 - loss, 0.9]})
        for name, loss, error in zip(names, lost, failure, strict=True)
    }


def test_entanglement_is_compared_with_failure_over_depths():
    lost = [0.02, 0.04, 0.06, 0.08, 0.1]
    rising = depths(lost, [4e-3, 5e-3, 6e-3, 7e-3, 8e-3])
    falling = depths(lost, [8e-3, 7e-3, 6e-3, 5e-3, 4e-3])
    assert verdict("44", rising).name == "reproduced"
    assert verdict("44", falling).name == "contradicted"


def test_every_depth_must_fail():
    arms = {f"cnn bump depth {depth}": decoder() for depth in (2, 4, 8)}
    assert verdict("7", arms).name == "reproduced"
    assert verdict("7", arms | {"cnn bump depth 8": decoder(unseen=5e-4)}).name == "contradicted"


def test_claims_with_different_tolerances_share_one_scale():
    gaps = {"picture_gap": 1e-8, "code_gap": 0.0, "count_gap": 0.0, "blank_gap": 3e-6}
    one = {name: np.array([value]) for name, value in gaps.items()}
    for changed, name in ((one, "verified"), (one | {"count_gap": np.array([1.0])}, "violated")):
        evidence = {"constants": Arm((0,), ("finished",), changed, {})}
        assert verdict("1", evidence).name == name


def test_headlines_stand_in_the_papers_order():
    assert HEADLINES == ("4", "5", "8", "9", "10", "42", "13", "19", "20")
