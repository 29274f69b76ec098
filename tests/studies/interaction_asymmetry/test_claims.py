"""Made-up evidence: what each claim concludes from nets that are as the paper says, and from nets that are not."""

from dataclasses import replace

import numpy as np
import pytest

from recombine.report import png_bytes
from recombine.studies import Arm, Evidence, load
from recombine.studies.interaction_asymmetry.line_world_recombination import CORNER_MODELS, corner_arm
from recombine.studies.interaction_asymmetry.order_of_interaction import per_draw
from recombine.studies.interaction_asymmetry.section4_theorems import (
    FITS,
    PAIRS,
    RESTRICTED,
    generator_arm,
    vector_arm,
)
from recombine.studies.interaction_asymmetry.separation import clean, one_slot
from recombine.studies.interaction_asymmetry.table1_line_world import (
    ALPHA_ONLY,
    BETA_ONLY,
    BOTH,
    PLAIN,
    SCAN,
)
from recombine.studies.interaction_asymmetry.table1_sprites import (
    BASELINE,
    MODELS,
    SMALL_MODELS,
    SWEEP,
    large_arm,
    small_arm,
    sweep_arm,
)

STUDY = load("interaction-asymmetry")
N = 10
FIGURES = [drawing for drawing in STUDY.drawings if drawing.name not in ("rotations", "l-shape")]
RNG = np.random.default_rng(0)


def made_up(**values):
    """An arm of ten seeds; small differences between them, except in images."""
    arrays = {}
    for name, value in values.items():
        array = np.stack([np.asarray(value, dtype=float)] * N)
        arrays[name] = array if array.ndim > 2 else array + 1e-3 * RNG.random(array.shape)
    return Arm(tuple(range(N)), ("finished",) * N, arrays, {})


def changed(arm, **values):
    """The arm with some values replaced, for all seeds or one by one."""
    new = {
        name: np.broadcast_to(np.asarray(value, dtype=float), (N,)).copy() for name, value in values.items()
    }
    return replace(arm, values={**arm.values, **new})


def slot_net(j_ari=0.9, jis=0.8, *, size=(1, 32), exchanged=0.8, unseen=np.nan, q1=0.3, r2=0.1, sse=0.1):
    pictures = np.random.default_rng(0).random((4, *size, 3))
    maps = np.full((4, *size, 3), 1 / 3)
    return made_up(
        j_ari=j_ari,
        jis=jis,
        active=2.0,
        sse=sse,
        sse_blank=13.0,
        capacity=27.0,
        attention_interaction=0.2,
        q1=q1,
        r2=r2,
        q1_inside=q1,
        q1_border=2 * q1,
        q1_background=q1,
        recombined_r2_in=exchanged,
        recombined_r2_out=unseen,
        kept_r2_in=0.0,
        again_r2_in=0.95,
        gallery=np.stack([pictures] * 4),
        pictures=pictures,
        pictures_decoded=pictures,
        pictures_jacobian=maps,
        pictures_attention=maps,
    )


def vector_net(kind):
    starts = np.linspace(0.002, 0.1, 10)
    if kind == "dense":
        values = {"matched": 0.6, "crossed": 0.5, "gap": 0.1, "recombined_r2_out": -1.0}
    else:
        values = {"matched": 0.99, "crossed": -0.01, "gap": 1.0, "recombined_r2_out": 0.99}
    arm = made_up(recombined_r2_in=0.9, start_misfits=starts, **values)
    return changed(arm, misfit=4e-4)


@pytest.fixture
def arms():
    values = {vector_arm(*how, corner=c): vector_net(how[1]) for how in PAIRS for c in (False, True)}
    values |= {generator_arm(order): changed(made_up(), independent=1.0) for order in RESTRICTED}
    poor = {"exchanged": 0.1, "q1": 0.8, "r2": 0.5}
    values |= {
        PLAIN: slot_net(0.5, 0.3, sse=0.05, **poor),
        ALPHA_ONLY: slot_net(0.55, 0.35, **poor),
        BETA_ONLY: slot_net(0.85, 0.6),
    }
    values |= {name: slot_net(0.9, 0.75 + 0.05 * i) for i, name in enumerate(SCAN)}
    unseen = {"attention, plain": 0.1, "attention, both": 0.7, "additive, beta": 0.8, "dense, beta": 0.0}
    values |= {corner_arm(model): slot_net(unseen=unseen[model]) for model in CORNER_MODELS}
    square = (16, 16)
    values |= {
        small_arm(model): slot_net(0.4 if model == "plain" else 0.8, 0.5, size=square)
        for model in (*SMALL_MODELS, "beta only")
    }
    values |= {sweep_arm(t): slot_net(0.8, 0.6 + 0.05 * i, size=square) for i, t in enumerate(SWEEP)}
    values |= {large_arm(m): slot_net(0.8) for m in (*MODELS, BASELINE)}
    return values


def outcome(arms, number, scale="quick"):
    claim = STUDY.claim(number)
    return claim.decide(Evidence({name: arms[name] for name in (*claim.needs, *claim.also)}, scale))


TRAINED = [claim.id for claim in STUDY.claims if claim.kind == "trained"]


@pytest.mark.parametrize("number", TRAINED)
def test_every_trained_claim_is_reproduced_by_nets_as_the_paper_describes_them(number, arms):
    verdict = outcome(arms, number).verdict
    assert verdict.name == "reproduced", verdict
    assert verdict.n_seeds == N


REVERSED = [
    ("16", vector_arm(1, "dense"), {"gap": 1.5}),
    ("17", vector_arm(2, "bilinear"), {"gap": 0.0}),
    ("25", vector_arm(1, "dense", corner=True), {"recombined_r2_out": 1.5}),
    ("34", vector_arm(2, "bilinear", corner=True), {"recombined_r2_out": -2.0}),
    ("18", BOTH, {"j_ari": 0.5}),
    ("20", ALPHA_ONLY, {"j_ari": 0.9}),
    ("21", SCAN[-1], {"jis": 0.1}),
    ("22", BOTH, {"q1": 0.9}),
    ("23", BOTH, {"recombined_r2_in": -0.2}),
    ("24", corner_arm("attention, both"), {"recombined_r2_out": -0.2}),
    ("26", small_arm("both"), {"j_ari": 0.1}),
    ("27", small_arm(BASELINE), {"q1_border": 0.1}),
    ("28", sweep_arm(SWEEP[-1]), {"jis": 0.1}),
    ("29", large_arm("both"), {"j_ari": 0.5}),
    ("31", small_arm("both"), {"j_ari": 0.6}),
    ("35", BOTH, {"jis": 0.1}),
    ("36", ALPHA_ONLY, {"jis": 0.9}),
]


@pytest.mark.parametrize(("number", "arm", "values"), REVERSED)
def test_reversed_effects_are_contradicted(number, arm, values, arms):
    arms[arm] = changed(arms[arm], **values)
    if number == "20":
        arms[BETA_ONLY] = changed(arms[BETA_ONLY], j_ari=0.5)
    assert outcome(arms, number).verdict.name == "contradicted"


def test_every_trained_claim_can_come_out_the_other_way():
    assert {number for number, _, _ in REVERSED} | {"19"} == set(TRAINED)


def test_half_the_separation_of_slots_is_weaker(arms):
    arms[vector_arm(1, "additive")] = changed(arms[vector_arm(1, "additive")], gap=0.4)
    assert outcome(arms, "16").verdict.name == "weaker"


@pytest.mark.parametrize("unfit", [vector_arm(1, "additive"), vector_arm(1, "dense")])
def test_pairs_at_unequal_misfit_are_left_out_and_counted(unfit, arms):
    misfit = np.where(np.arange(N) < 3, 2 * FITS, FITS / 2)
    arms[unfit] = changed(
        arms[unfit], misfit=misfit, gap=np.where(np.arange(N) < 3, -5.0, arms[unfit]["gap"])
    )
    verdict = outcome(arms, "16").verdict
    assert (verdict.name, verdict.n_seeds, verdict.n_excluded) == ("reproduced", N - 3, 3)


def test_without_a_net_that_fits_nothing_is_decided(arms):
    name = vector_arm(2, "bilinear")
    arms[name] = changed(arms[name], misfit=0.02)
    result = outcome(arms, "17")
    assert (result.verdict.name, result.note) == ("open", "no seed meets the preconditions")
    assert outcome(arms, "33").verdict.estimate.value == 0


def test_the_fitting_rate_is_described(arms):
    name = vector_arm(1, "additive")
    arms[name] = changed(arms[name], misfit=np.where(np.arange(N) < 2, 1.0, 1e-4))
    verdict = outcome(arms, "32").verdict
    assert (verdict.name, verdict.estimate.value) == ("described", 0.8)


SEPARATIONS = [
    ("both separate always, plain never", np.ones(N), np.zeros(N), "reproduced", 10),
    ("both separate on four more seeds", np.ones(N), np.arange(N) >= 4, "reproduced", 4),
    ("as often, on the same seeds", np.ones(N), np.ones(N), "open", 0),
    ("as often, on other seeds", np.arange(N) % 2, 1 - np.arange(N) % 2, "open", 10),
    ("plain separate where both do not", np.zeros(N), np.ones(N), "contradicted", 10),
]


@pytest.mark.parametrize(("case", "both", "plain", "verdict", "pairs"), SEPARATIONS)
def test_only_pairs_in_which_one_net_separates_decide(case, both, plain, verdict, pairs, arms):
    arms[BOTH] = changed(arms[BOTH], j_ari=np.where(both, 0.93, 0.4))
    arms[PLAIN] = changed(arms[PLAIN], j_ari=np.where(plain, 0.97, 0.3))
    found = outcome(arms, "19").verdict
    assert (found.name, found.n_seeds) == (verdict, pairs), case


def test_nets_that_do_not_reconstruct_are_left_out(arms):
    arms[PLAIN] = changed(arms[PLAIN], sse=np.where(np.arange(N) < 2, 5.0, 0.1))
    assert outcome(arms, "35").verdict.n_seeds == N - 2


def test_separated_nets_and_nets_with_one_slot(arms):
    assert clean(arms[BOTH]).all()
    assert not clean(arms[PLAIN]).any()
    assert not one_slot(arms[BOTH]).any()
    assert one_slot(slot_net(0.0, 0.9)).all()


def orders(found):
    return {"orders": Arm((0,), ("finished",), {"orders": np.array([found])}, {})}


def test_orders_are_verified_or_violated():
    assert outcome(orders([0, 1, 2, 3, 4]), "2").verdict.name == "verified"
    wrong = outcome(orders([0, 1, 2, 3, 3]), "2").verdict
    assert wrong.name == "violated"
    assert "gs" in wrong.note


def test_mixed_differences_that_vanish_at_the_order_itself_violate_the_statement():
    values = {"vanishing": np.zeros((2, 3)), "present": np.full((2, 2), 0.4), "softmax": np.ones((2, 2))}
    arms = {"finite differences": Arm((0, 1), ("finished",) * 2, values, {})}
    assert outcome(arms, "3").verdict.name == "verified"
    values["present"] = np.array([[0.4, 0.4], [0.4, 0.01]])
    assert outcome(arms, "3").verdict.name == "violated"


def test_one_case_per_draw():
    assert per_draw(np.array([[1.0, -3.0], [0.0, 0.5]]), "x") == {"x, draw 1": 3.0, "x, draw 2": 0.5}


@pytest.mark.parametrize("drawing", FIGURES, ids=lambda drawing: drawing.name)
def test_every_figure_draws(drawing, arms):
    png_bytes(drawing.draw(Evidence({name: arms[name] for name in drawing.needs}, "quick")))


TABULATIONS = [tabulation for section in STUDY.sections for tabulation in section.tabulations]


@pytest.mark.parametrize("tabulation", TABULATIONS, ids=lambda tabulation: tabulation.title)
def test_every_table_has_its_arms(tabulation, arms):
    table = tabulation.fill(Evidence({name: arms[name] for name in tabulation.needs}, "quick"))
    assert [row.entries[0] for row in table.rows] == list(tabulation.needs)
    assert all(len(row.entries) == len(table.columns) for row in table.rows)


def test_the_main_figure_needs_headline_arms_only():
    (main,) = (drawing for drawing in STUDY.drawings if drawing.name == STUDY.main_figure)
    run = {arm for claim in STUDY.headlines if not claim.on_request for arm in claim.needs}
    assert set(main.needs) <= run
