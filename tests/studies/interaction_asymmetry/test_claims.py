"""The claims hold on made-up nets that are as they say, and fail when a number is spoilt; pages are drawn from them."""

from dataclasses import replace

import numpy as np
import pytest

from recombine.report import png_bytes
from recombine.studies import load
from recombine.studies.claims import Arm, Evidence
from recombine.studies.interaction_asymmetry.arms.identifiability import (
    PAIRS,
    RESTRICTED,
    generator_arm,
    vector_arm,
)
from recombine.studies.interaction_asymmetry.arms.lines import (
    ALPHA_ONLY,
    BETA_ONLY,
    BOTH,
    CORNER_MODELS,
    PLAIN,
    SCAN,
    corner_name,
)
from recombine.studies.interaction_asymmetry.arms.sprites import (
    BASELINE,
    MODELS,
    SMALL_MODELS,
    SWEEP,
    large_arm,
    small_arm,
    sweep_arm,
)
from recombine.studies.interaction_asymmetry.checks.readings import collapsed, fits, of_fitting

STUDY = load("interaction-asymmetry")
N = 3
FIGURES = [drawing for drawing in STUDY.drawings if drawing.name not in ("rotations", "l-shape")]


def made_up(**values):
    arrays = {name: np.stack([np.asarray(value, dtype=float)] * N) for name, value in values.items()}
    return Arm(tuple(range(N)), ("finished",) * N, arrays, {})


def slot_net(
    j_ari=0.9, jis=0.8, *, size=(1, 32), exchanged=0.8, unseen=np.nan, q1=0.3, r2=0.1, sse=0.1, shared=0.2
):
    pictures = np.random.default_rng(0).random((4, *size, 3))
    maps = np.full((4, *size, 3), 1 / 3)
    return made_up(
        j_ari=j_ari,
        jis=jis,
        active=2.0,
        sse=sse,
        capacity=27.0,
        attention_interaction=shared,
        q1=q1,
        r2=r2,
        q1_inside=q1,
        q1_border=2 * q1,
        q1_background=q1,
        recombined_r2_in=exchanged,
        recombined_r2_out=unseen,
        kept_r2_in=0.0,
        again_r2_in=0.95,
        again_r2_out=0.9,
        gallery=np.stack([pictures] * 4),
        pictures=pictures,
        pictures_decoded=pictures,
        pictures_jacobian=maps,
        pictures_attention=maps,
        j_ari_matt=0.9,
        reflected_share=0.4,
        other_share=0.1,
    )


def vector_net(kind):
    """Of three restricted nets two fit and find the slots; dense ones fit and do not."""
    if kind == "dense":
        return made_up(fit_r2=1.0, matched=0.6, crossed=0.5, gap=0.1, recombined_r2_out=-1.0)
    arm = made_up(fit_r2=1.0, matched=0.99, crossed=0.0, gap=1.0, recombined_r2_out=0.99)
    lost = {"fit_r2": 0.98, "matched": 0.5, "crossed": 0.5, "gap": 0.0, "recombined_r2_out": -2.0}
    return replace(arm, values=dict(arm.values) | {k: np.r_[arm[k][:2], v] for k, v in lost.items()})


@pytest.fixture
def arms():
    values = {vector_arm(*how, corner=c): vector_net(how[1]) for how in PAIRS for c in (False, True)}
    values |= {generator_arm(order): made_up(independent=1.0) for order in RESTRICTED}
    poor = {"exchanged": 0.1, "q1": 0.8, "r2": 0.5}
    values |= {
        PLAIN: slot_net(0.5, 0.3, shared=0.31, sse=0.05, **poor),
        ALPHA_ONLY: slot_net(0.55, 0.35, shared=0.3, **poor),
        BETA_ONLY: slot_net(0.85, 0.7, shared=0.28),
    }
    values |= {
        name: slot_net(0.9, 0.75 + 0.05 * i, shared=0.2 - 0.05 * i, sse=0.1 + 0.1 * i)
        for i, name in enumerate(SCAN)
    }
    unseen = {"attention, plain": 0.1, "attention, both": 0.7, "additive, beta": 0.8, "dense, beta": 0.0}
    values |= {corner_name(model): slot_net(unseen=unseen[model]) for model in CORNER_MODELS}
    square = (16, 16)
    values |= {
        small_arm(model): slot_net(0.4 if model == "plain" else 0.8, 0.5, size=square)
        for model in SMALL_MODELS
    }
    values |= {sweep_arm(t): slot_net(0.8, 0.6 + 0.05 * i, size=square) for i, t in enumerate(SWEEP)}
    values |= {large_arm(m): slot_net(0.5 + 0.1 * i) for i, m in enumerate((*MODELS, BASELINE))}
    return values


def outcome(arms, number, scale="paper"):
    (claim,) = (claim for claim in STUDY.claims if claim.id == number)
    return claim.check(Evidence({name: arms[name] for name in claim.needs}, scale))


@pytest.mark.parametrize("number", [str(i) for i in range(16, 30)])
def test_every_claim_holds_on_its_own_numbers(number, arms):
    values = outcome(arms, number)
    assert values.holds, values.detail


SPOILT = [
    ("16", vector_arm(1, "additive"), "matched", 0.9),
    ("16", vector_arm(1, "additive"), "crossed", 0.3),
    ("16", vector_arm(1, "dense"), "gap", 0.9),
    ("17", vector_arm(2, "bilinear"), "matched", 0.9),
    ("18", BOTH, "j_ari", 0.7),
    ("18", BOTH, "jis", 0.6),
    ("20", ALPHA_ONLY, "jis", 0.9),
    ("20", ALPHA_ONLY, "j_ari", 0.9),
    ("21", SCAN[-1], "jis", 0.1),
    ("21", SCAN[-1], "attention_interaction", 0.3),
    ("21", SCAN[-1], "sse", 0.01),
    ("22", BOTH, "q1", 0.5),
    ("22", BOTH, "r2", 0.4),
    ("23", BOTH, "recombined_r2_in", 0.2),
    ("24", corner_name("attention, both"), "recombined_r2_out", 0.2),
    ("24", corner_name("dense, beta"), "recombined_r2_out", 0.7),
    ("25", vector_arm(1, "additive", corner=True), "recombined_r2_out", 0.9),
    ("25", vector_arm(2, "dense", corner=True), "recombined_r2_out", 0.9),
    ("26", small_arm("both"), "j_ari", 0.5),
    ("27", small_arm(BASELINE), "q1_border", 0.1),
    ("28", sweep_arm(SWEEP[-1]), "jis", 0.1),
    ("29", large_arm("both"), "j_ari", 0.2),
]


@pytest.mark.parametrize(("number", "arm", "name", "value"), SPOILT)
def test_claims_fail_on_spoilt_numbers(number, arm, name, value, arms):
    spoilt = dict(arms[arm].values) | {name: np.full_like(arms[arm][name], value)}
    assert outcome(arms | {arm: replace(arms[arm], values=spoilt)}, number).holds is False


@pytest.mark.parametrize(
    ("number", "arm"), [("16", vector_arm(1, "additive")), ("25", vector_arm(2, "bilinear", corner=True))]
)
def test_without_a_net_that_fits_nothing_is_decided(number, arm, arms):
    poor = replace(arms[arm], values={**arms[arm].values, "fit_r2": np.full(N, 0.99)})
    values = outcome(arms | {arm: poor}, number)
    assert values.holds is None
    assert "no net fits" in values.reason


def test_without_penalties_as_good_is_a_failure(arms):
    assert outcome(arms | {PLAIN: arms[BOTH]}, "19").holds is False


def test_nets_that_fit_and_nets_with_one_slot(arms):
    arm = arms[vector_arm(1, "additive")]
    assert fits(arm).tolist() == [True, True, False]
    assert of_fitting(arm, "matched").tolist() == [0.99, 0.99]
    assert np.isnan(of_fitting(replace(arm, values={**arm.values, "fit_r2": np.zeros(N)}), "matched")).all()
    assert not collapsed(arms[BOTH]).any()
    assert collapsed(slot_net(0.0, 0.9)).all()


@pytest.mark.parametrize("drawing", FIGURES, ids=lambda drawing: drawing.name)
def test_every_figure_draws(drawing, arms):
    png_bytes(drawing.draw(Evidence({name: arms[name] for name in drawing.needs}, "quick")))


@pytest.mark.parametrize("tabulation", STUDY.tabulations, ids=lambda tabulation: tabulation.title)
def test_every_table_has_its_arms(tabulation, arms):
    table = tabulation.fill(Evidence({name: arms[name] for name in tabulation.needs}, "quick"))
    assert [row.entries[0] for row in table.rows] == list(tabulation.needs)
    assert all(len(row.entries) == len(table.columns) for row in table.rows)
