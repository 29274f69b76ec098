"""The kernel theory's claims: reproduced by the published numbers, and not by spoilt ones."""

import numpy as np
import pytest
from tests.studies.kernel_theory.made_up_evidence import N, all_arms, coefficients, weights

from recombine.studies import Arm, Evidence, load
from recombine.studies.kernel_theory.figure4_drawings import published_region
from recombine.studies.kernel_theory.image_readers import (
    FAR,
    NEAR,
    context_task,
    equivalence_task,
    image_arm,
    similarity_arm,
    slow_arm,
)
from recombine.studies.kernel_theory.random_splits import HOLES, forecast_arm, rank_correlation
from recombine.studies.kernel_theory.symbol_networks import addition_arm, context_arm, deep_arm, sweep_arm

STUDY = load("kernel-theory")


@pytest.fixture(scope="module")
def arms():
    return all_arms()


def decide(id, arms):
    return STUDY.claim(id).decide(Evidence(arms, "paper"))


def changed(arms, arm, name, value):
    """The evidence with one value of one arm replaced on every seed."""
    old = arms[arm]
    array = np.stack([np.asarray(value, dtype=float)] * len(old.seeds))
    return {**arms, arm: Arm(old.seeds, old.status, {**old.values, name: array}, old.curves)}


@pytest.mark.parametrize("claim", STUDY.claims, ids=lambda claim: claim.id)
def test_the_published_numbers_reproduce_every_claim(claim, arms):
    outcome = decide(claim.id, arms)
    assert outcome.verdict.name == ("verified" if claim.kind == "exact" else "reproduced"), outcome.to_dict()
    assert outcome.verdict.n_excluded == 0


@pytest.mark.parametrize(
    ("id", "arm", "name", "value"),
    [
        ("1", "round trips", "round_trip_gap", 1e-9),
        ("2", "trajectories", "sum_gap", 1e-9),
        ("2", "trajectories", "relu_gap", 1e-6),
        ("3", "spectra", "spectrum_gap", 1e-3),
        ("4", "additivity", "additivity_gap", 1e-3),
        ("5", "ridge identity", "ridge_gap", 1e-3),
        ("5", "ridge identity", "exemplar_gap", 1e-3),
        ("6", "slope law", "slope_gap", 1e-3),
        ("6", "slope law", "offset_gap", 1e-3),
        ("6", "slope law", "line_residual", 1e-3),
        ("7", "small tables", "corner_gap", 1e-3),
        ("7", "small tables", "logic_right", [1, 1, 0]),
        ("8", "equivalence", "largest_output", 1e-3),
        ("8", "equivalence", "signs_possible", [0, 1, 0]),
        ("8", "equivalence", "largest_output", np.nan),
        ("9", "ordering", "ordering_right", [1, 0.9, 1, 1]),
        ("9", "ordering", "ordering_margins", np.ones((4, 6))),
        ("10", "context tables", "context_sizes", np.ones((3, 2))),
        ("10", "context tables", "context_alone", [0.6, 0.5, 0.5]),
        ("10", "context tables", "context_unseen", [0, 0, 0.5]),
        ("11", "context forms", "margin_gap", 0.1),
        ("11", "context forms", "criterion_wrong", 1),
        ("11", "context forms", "compared", 10),
        ("35", "context forms", "squared_gap", 1e-6),
        ("12", "region", "region", np.where(published_region() == 3, 2, published_region())),
        ("12", "region", "region", np.full((50, 25), -1)),
        ("13", "depths", "marked_margins", -np.ones((2, 3))),
        ("13", "depths", "passes_relu", np.arange(30) > 8),
        ("13", "depths", "passes_gaussian", np.zeros(100)),
        ("13", "depths", "passes_step", np.ones(30)),
        ("14", "decompositions", "kind_sizes", np.zeros((4, 5))),
        ("15", "dispersed", "dispersed_tube", np.zeros(51)),
        ("15", "dispersed", "dispersed_exact", np.linspace(1, 13, 51)),
        ("16", "verdicts", "verdicts_right", 16),
        ("17", "finite network", "salience", 0.44),
        ("34", "failure modes", "leak_slopes", np.ones((2, 10))),
        ("34", "failure modes", "shortcut_margins", np.ones(10)),
    ],
)
def test_a_spoilt_number_violates_an_exact_claim(id, arm, name, value, arms):
    assert decide(id, changed(arms, arm, name, value)).verdict.name == "violated"


@pytest.mark.parametrize(
    ("id", "arm", "name", "value", "verdict"),
    [
        ("18", addition_arm("extrapolation", "lazy"), "slope", 1.1, "contradicted"),
        ("18", addition_arm("extrapolation", "lazy"), "slope", 0.95, "weaker"),
        ("36", addition_arm("interpolation", "lazy"), "slope", 0.7, "contradicted"),
        ("19", addition_arm("interpolation", "rich"), "slope", 0.8, "contradicted"),
        ("19", addition_arm("interpolation", "rich"), "slope", 0.9, "weaker"),
        ("37", addition_arm("asymmetric", "rich"), "additive_out", 0.99, "weaker"),
        ("22", deep_arm("extrapolation", 4), "slope", 0.75, "contradicted"),
        ("45", sweep_arm("addition asymmetric", -6), "additive_out", 1.0, "contradicted"),
        ("21", context_arm(3, "lazy", "cross-entropy"), "right_out", 0.9, "contradicted"),
        ("21", context_arm(3, "lazy", "cross-entropy"), "right_out", 0.3, "weaker"),
        ("38", context_arm(3, "lazy", "squared"), "right_out", 0.0, "contradicted"),
        ("39", context_arm(3, "rich", "cross-entropy"), "right_out", 1.0, "contradicted"),
        ("46", sweep_arm("CD-3", -3, "cross-entropy"), "right_out", 1.0, "contradicted"),
        ("32", deep_arm("CD-3", 2), "coefficients", coefficients(3, invert=False), "reproduced"),
        ("20", "equivalence, rich", "margin_out", -0.2, "contradicted"),
        ("20", "equivalence, rich", "margin_out", 0.4, "weaker"),
        ("20", "equivalence, lazy", "margin_out", 1.2, "contradicted"),
        ("33", "equivalence, lazy", "item_weights", np.sign(weights(grouped=True)), "contradicted"),
        ("41", "equivalence, rich", "item_weights", weights(grouped=True) * [[1], [0.01]], "contradicted"),
        ("40", deep_arm("equivalence", 3), "right_out", 0.25, "contradicted"),
        ("47", sweep_arm("equivalence", -6), "margin_out", 0.3, "weaker"),
        ("29", similarity_arm(FAR), "salience", [0.3, 0.4], "contradicted"),
        ("23", image_arm("ConvNet", "addition interpolation", NEAR), "slope", 0.3, "contradicted"),
        ("42", image_arm("ConvNet", "addition interpolation", FAR), "slope", 0.0, "contradicted"),
        ("44", slow_arm("interpolation"), "slope", 0.9, "contradicted"),
        ("24", image_arm("ConvNet", "CD-2", FAR), "right_out", 0.1, "contradicted"),
        ("24", image_arm("ConvNet", "CD-3", FAR), "right_out", 0.9, "weaker"),
        ("43", image_arm("ConvNet", "CD-2", NEAR), "right_out", 0.55, "weaker"),
        ("25", image_arm("ConvNet", "CD-3", FAR), "coefficients", coefficients(3, invert=False), "weaker"),
        ("30", image_arm("ConvNet", equivalence_task(4), FAR), "right_out", 0.4, "contradicted"),
        ("31", image_arm("ResNet", context_task(2), NEAR), "right_out", 0.3, "contradicted"),
        ("31", image_arm("ViT", context_task(3), NEAR), "right_out", 0.7, "contradicted"),
    ],
)
def test_other_numbers_give_other_verdicts(id, arm, name, value, verdict, arms):
    assert decide(id, changed(arms, arm, name, value)).verdict.name == verdict


@pytest.mark.parametrize(
    ("id", "arm", "name", "value"),
    [
        ("21", context_arm(2, "lazy", "cross-entropy"), "right_in", 0.9),
        ("23", image_arm("ConvNet", "addition both", NEAR), "mse_train", 0.4),
        ("24", image_arm("ConvNet", "CD-2", FAR), "right_train", 0.9),
        ("31", image_arm("ViT", "CD-3", NEAR), "right_train", 0.9),
    ],
)
def test_nets_that_have_not_learned_are_left_out(id, arm, name, value, arms):
    verdict = decide(id, changed(arms, arm, name, value)).verdict
    assert (verdict.name, verdict.n_seeds, verdict.n_excluded) == ("open", 0, N)


def test_a_net_that_does_not_reach_its_loss_is_left_out(arms):
    old = arms["equivalence, rich"]
    late = Arm(old.seeds, ("finished", *old.status[1:]), old.values, old.curves)
    verdict = decide("20", {**arms, "equivalence, rich": late}).verdict
    assert (verdict.name, verdict.n_seeds, verdict.n_excluded) == ("reproduced", N - 1, 1)


def test_side_conditions_do_not_decide_the_shortcut(arms):
    """CD-1 was the side condition on which the old claim failed."""
    spoilt = changed(arms, context_arm(1, "lazy", "cross-entropy"), "right_out", 0.5)
    outcome = decide("21", spoilt)
    assert outcome.verdict.name == "reproduced"
    assert outcome.supports()["CD-1 right"].tolist() == [0.5] * N


def test_errors_on_other_cells_than_forecast_contradict_the_forecast(arms):
    names = [forecast_arm("addition", held_out) for held_out in HOLES["addition"]]
    for name in names:
        arms = changed(arms, name, "measured", 1 - arms[name]["measured"][0])
    assert decide("26", arms).verdict.name == "contradicted"


def test_rank_correlation_of_a_constant_is_unknown():
    assert rank_correlation(np.arange(4), np.array([1, 3, 5, 70])) == pytest.approx(1)
    assert np.isnan(rank_correlation(np.arange(4), np.ones(4)))


@pytest.mark.parametrize("drawing", STUDY.drawings, ids=lambda drawing: drawing.name)
def test_every_figure_draws(drawing, arms):
    from recombine.report import png_bytes

    needed = Evidence({name: arms[name] for name in drawing.needs}, "quick")
    assert png_bytes(drawing.draw(needed)).startswith(b"\x89PNG")


def test_the_main_figure_needs_arms_of_headlines_that_run_by_default():
    drawing = next(d for d in STUDY.drawings if d.name == STUDY.main_figure)
    run = {arm for claim in STUDY.headlines if not claim.on_request for arm in claim.needs}
    assert set(drawing.needs) <= run
