"""The kernel theory's claims hold on its exact numbers and the published ones, and fail if one is changed."""

import numpy as np
import pytest

from recombine.metrics import additive_fit
from recombine.runs import run_trial
from recombine.studies import load
from recombine.studies.claims import Arm, Evidence
from recombine.studies.kernel_theory.arms.exact import FACTS, IDENTITIES
from recombine.studies.kernel_theory.arms.forecasts import HOLES, forecast_arm
from recombine.studies.kernel_theory.arms.images import (
    FAR,
    MIDDLE,
    NEAR,
    READERS,
    context_task,
    equivalence_task,
    image_arm,
    similarity_arm,
)
from recombine.studies.kernel_theory.arms.networks import (
    DEPTHS,
    EXPONENTS,
    HIDDEN,
    addition_arm,
    context_arm,
    deep_arm,
    sweep_arm,
)
from recombine.studies.kernel_theory.checks.theory import published_region
from recombine.studies.kernel_theory.published import (
    IMAGE_CONTEXT,
    IMAGE_EQUIVALENCE,
    IMAGE_SLOPES,
    READER_CONTEXT,
    READER_SLOPES,
)
from recombine.tasks import context_dependence
from recombine.tasks.symbolic import ANCHORS

STUDY = load("kernel-theory")
N = 3


def net_arm(**values):
    arrays = {name: np.stack([np.asarray(value, dtype=float)] * N) for name, value in values.items()}
    return Arm(tuple(range(N)), ("stopped",) * N, arrays, {})


def coefficients(hidden, invert):
    """Coefficients of perfect predictions on context dependence, or of predictions inverted on unseen cells."""
    table = context_dependence(hidden=hidden)
    outputs, seen = table.targets.ravel().astype(float), table.split.seen
    fit = additive_fit(np.where(seen | (not invert), outputs, -outputs), table.split.space.cells, seen)
    return np.concatenate(list(fit.values.values()))


def networks():
    lazy = {"extrapolation": 0.745, "interpolation": 0.85, "both": 0.85, "asymmetric": 0.72}
    rich = {"extrapolation": 0.75, "interpolation": 0.993, "both": 0.91, "asymmetric": 0.361}
    arms = {}
    for anchors in ANCHORS:
        worth = np.outer([1, 1], np.arange(-4, 5) * lazy[anchors])
        arms[addition_arm(anchors, "lazy")] = net_arm(slope=lazy[anchors], additive_out=0.998, worth=worth)
        bent = 0.719 if anchors == "asymmetric" else 0.99
        arms[addition_arm(anchors, "rich")] = net_arm(slope=rich[anchors], additive_out=bent, worth=worth)
    for regime, right, margin in (("lazy", 0.5, 0.1), ("rich", 1.0, 0.96), ("richer", 1.0, 0.99)):
        weights = np.random.default_rng(0).normal(size=(20, 2, 4))
        arm = net_arm(right_out=right, margin_out=margin, item_weights=weights)
        steps = np.stack([np.arange(1, 5)] * N)
        curves = {"step": steps, "train": 0.1 / steps, "out": 1 / steps}
        arms[f"equivalence, {regime}"] = Arm(arm.seeds, arm.status, arm.values, curves)
    for hidden in HIDDEN:
        for regime in ("lazy", "rich"):
            arms[context_arm(hidden, regime, "cross-entropy")] = net_arm(right_out=float(hidden < 3))
        arms[context_arm(hidden, "lazy", "squared")] = net_arm(right_out=1.0, margin_out=0.76)
    for depth in DEPTHS:
        arms[deep_arm("extrapolation", depth)] = net_arm(slope=0.72 - 0.03 * (depth - 1))
        arms[deep_arm("interpolation", depth)] = net_arm(slope=1.0)
        arms[deep_arm("both", depth)] = net_arm(slope=0.87)
        arms[deep_arm("equivalence", depth)] = net_arm(right_out=1.0)
        for hidden in HIDDEN:
            arms[deep_arm(f"CD-{hidden}", depth)] = net_arm(coefficients=coefficients(hidden, hidden == 3))
    for exponent in EXPONENTS:
        for anchors in ANCHORS:
            arm = net_arm(slope=0.9, additive_in=1.0, additive_out=0.95)
            curves = {"train": np.full((N, 2), 1e-5)}
            arms[sweep_arm(f"addition {anchors}", exponent)] = Arm(arm.seeds, arm.status, arm.values, curves)
    for family, held in HOLES.items():
        for held_out in held:
            error = np.linspace(0, 1, held_out) * held_out / 100
            values = {"retained": 1 - error, "predicted": error, "measured": 1.2 * error, "sure": error}
            values["start"] = 0.1 * error
            arm = net_arm(determined=np.arange(held_out) % 2, **values)
            for name in ("predicted", "measured"):  # random splits differ
                arm.values[name][:] *= 1 + 0.1 * np.arange(N)[:, None]
            arms[forecast_arm(family, held_out)] = arm
    return arms


def images():
    """The published numbers, and coefficients of predictions that are inverted on unseen cells of CD-3."""
    arms, at = {}, {NEAR: 0, MIDDLE: 2, FAR: 4}
    for distance, i in at.items():
        arms[similarity_arm(distance)] = net_arm(salience=[0.36 + 0.02 * i, 0.3], salience_self=[0.3, 0.4])
        for anchors in ANCHORS:
            slope = IMAGE_SLOPES[anchors][i]
            worth = np.outer([1, 1], np.arange(-4, 5) * slope)
            arm = net_arm(slope=slope, worth=worth, mse_train=0.003, mse_fresh=1.9)
            arms[image_arm("ConvNet", f"addition {anchors}", distance)] = arm
    for reader in READERS:
        for anchors, slope in READER_SLOPES[reader].items():
            arms.setdefault(
                image_arm(reader, f"addition {anchors}", NEAR),
                net_arm(slope=slope, mse_train=1.7, mse_fresh=3.3),
            )
        for hidden, right in zip(HIDDEN, READER_CONTEXT[reader], strict=True):
            arms[image_arm(reader, context_task(hidden), NEAR)] = net_arm(right_out=right)
    for hidden in HIDDEN:
        shared = {"coefficients": coefficients(hidden, hidden == 3), "additive_out": 0.95}
        for distance in (NEAR, FAR):
            right = IMAGE_CONTEXT[hidden][at[distance]]
            arm = net_arm(right_out=right, right_fresh=0.97, right_train=1.0, **shared)
            arms[image_arm("ConvNet", context_task(hidden), distance)] = arm
    for distance in (NEAR, FAR):
        fresh, unseen = (IMAGE_EQUIVALENCE[name][at[distance]] for name in ("new images", "unseen pairs"))
        arm = net_arm(right_fresh=fresh, right_out=unseen)
        arms[image_arm("ConvNet", equivalence_task(4), distance)] = arm
    return arms


@pytest.fixture(scope="module")
def arms():
    exact = {
        name: Arm.of([run_trial(trial) for trial in trials])
        for name, trials in STUDY.arms("smoke").items()
        if name in IDENTITIES or name in FACTS
    }
    return exact | networks() | images()


@pytest.mark.parametrize("claim", STUDY.claims, ids=lambda claim: claim.id)
def test_every_claim_holds_on_its_own_numbers(claim, arms):
    outcome = claim.judge(Evidence(arms, "quick"))
    assert outcome.word == "holds", outcome.verdict.detail


@pytest.mark.parametrize(
    ("id", "arm", "name", "value"),
    [
        ("1", "round trips", "round_trip_gap", 1e-9),
        ("2", "trajectories", "sum_gap", 1e-9),
        ("2", "trajectories", "relu_gap", 1e-3),
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
        ("9", "ordering", "ordering_right", [1, 0.9, 1, 1]),
        ("9", "ordering", "ordering_margins", np.ones((4, 6))),
        ("10", "context tables", "context_sizes", np.ones((3, 2))),
        ("10", "context tables", "context_alone", [0.6, 0.5, 0.5]),
        ("10", "context tables", "context_unseen", [0, 0, 0.5]),
        ("11", "context forms", "margin_gap", 0.1),
        ("11", "context forms", "squared_gap", 0.1),
        ("11", "context forms", "criterion_wrong", 1),
        ("11", "context forms", "compared", 10),
        ("12", "region", "region", np.where(published_region() == 3, 2, published_region())),
        ("12", "region", "region", np.full((50, 25), -1)),
        ("13", "depths", "marked_margins", -np.ones((2, 3))),
        ("13", "depths", "passes_relu", np.arange(30) > 8),
        ("13", "depths", "passes_gaussian", np.zeros(100)),
        ("13", "depths", "passes_step", np.ones(30)),
        ("14", "decompositions", "kind_sizes", np.zeros((4, 5))),
        ("15", "dispersed", "dispersed_tube", np.zeros(51)),
        ("15", "dispersed", "dispersed_exact", np.linspace(13, 1, 51)),
        ("16", "verdicts", "verdicts_right", 16),
        ("17", "finite network", "salience", 0.44),
        ("17", "finite network", "within_kind", 0.05),
        ("18", addition_arm("both", "lazy"), "slope", 0.75),
        ("18", addition_arm("both", "lazy"), "additive_out", 0.9),
        ("19", addition_arm("interpolation", "rich"), "slope", 0.9),
        ("19", addition_arm("asymmetric", "rich"), "slope", 0.7),
        ("19", addition_arm("asymmetric", "rich"), "additive_out", 0.99),
        ("20", "equivalence, rich", "right_out", 0.75),
        ("20", "equivalence, richer", "margin_out", 0.5),
        ("20", "equivalence, lazy", "right_out", 1.0),
        ("20", "equivalence, lazy", "margin_out", -0.5),
        ("21", context_arm(3, "rich", "cross-entropy"), "right_out", 0.5),
        ("21", context_arm(1, "lazy", "cross-entropy"), "right_out", 0.5),
        ("21", context_arm(3, "lazy", "squared"), "right_out", 0.5),
        ("22", deep_arm("interpolation", 3), "slope", 0.95),
        ("22", deep_arm("extrapolation", 4), "slope", 0.75),
        ("22", deep_arm("equivalence", 2), "right_out", 0.75),
        ("23", image_arm("ConvNet", "addition interpolation", NEAR), "slope", 0.56),
        ("23", image_arm("ConvNet", "addition both", FAR), "slope", 0.9),
        ("23", image_arm("ConvNet", "addition asymmetric", FAR), "slope", 0.54),
        ("23", image_arm("ConvNet", "addition extrapolation", NEAR), "slope", 0.1),
        ("23", image_arm("ConvNet", "addition both", NEAR), "mse_train", 0.4),
        ("24", image_arm("ConvNet", "CD-2", NEAR), "right_train", 0.9),
        ("24", image_arm("ConvNet", "CD-3", NEAR), "right_out", 0.6),
        ("24", image_arm("ConvNet", "CD-2", FAR), "right_out", 0.2),
        ("24", image_arm("ConvNet", "CD-1", NEAR), "right_out", 0.8),
        ("24", image_arm("ConvNet", "CD-1", FAR), "right_fresh", 0.9),
        ("25", image_arm("ConvNet", "CD-1", FAR), "additive_out", 0.7),
        ("25", image_arm("ConvNet", "CD-2", NEAR), "additive_out", 0.7),
        ("25", image_arm("ConvNet", "CD-3", FAR), "coefficients", coefficients(3, False)),
        ("32", deep_arm("CD-3", 2), "coefficients", coefficients(3, False)),
        ("29", similarity_arm(FAR), "salience", [0.3, 0.4]),
        ("30", image_arm("ConvNet", equivalence_task(4), FAR), "right_out", 0.6),
        ("31", image_arm("ResNet", "addition extrapolation", NEAR), "slope", 0.6),
        ("31", image_arm("ViT", "CD-3", NEAR), "right_out", 0.7),
        ("26", forecast_arm("addition", 10), "measured", np.full(10, 9.0)),
    ],
)
def test_any_spoilt_number_makes_it_fail(id, arm, name, value, arms):
    old = arms[arm]
    wrong = np.stack([np.asarray(value, dtype=float)] * len(old.seeds))
    spoilt = Arm(old.seeds, old.status, {**old.values, name: wrong}, old.curves)
    assert STUDY.claim(id).judge(Evidence({**arms, arm: spoilt}, "quick")).word == "fails"


@pytest.mark.parametrize("drawing", STUDY.drawings, ids=lambda drawing: drawing.name)
def test_every_figure_draws(drawing, arms):
    from recombine.report import png_bytes

    needed = Evidence({name: arms[name] for name in drawing.needs}, "quick")
    assert png_bytes(drawing.draw(needed)).startswith(b"\x89PNG")
