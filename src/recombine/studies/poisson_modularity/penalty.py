"""The deterministic penalty: weighted activity, the mean activity of a unit times its squared outgoing weights.

Also its faithful (Jacobian) form, other exponents and other units.
"""

from __future__ import annotations

from recombine.nets import sigmoid, tanh
from recombine.parts import Part
from recombine.remedies import jacobian_activity, penalty_weight
from recombine.studies.claim import Amendment, Claim
from recombine.studies.evidence import ArmPlan, Evidence, Scale
from recombine.studies.measurement import PerSeed
from recombine.studies.poisson_modularity import published
from recombine.studies.poisson_modularity.noise import LENGTHS, length_arm
from recombine.studies.poisson_modularity.sine_nets import (
    FITTED,
    MODULES,
    OUTSIDE,
    inside,
    net,
    other_outputs,
    outside,
    recipe,
    sine_plan,
    weighted,
)
from recombine.studies.poisson_modularity.weight_map_drawings import MODULES_IN_ONE_FIGURE, REGIMES, SPECTRA
from recombine.studies.quantity import difference, ratio
from recombine.studies.study import StudySection
from recombine.training import Penalty

JACOBIAN_WEIGHT = penalty_weight(0.1, MODULES)
"""σ²/K, which makes the Jacobian form equivalent to noise of level 0.1."""
UNITS = 32
"""Hidden units per layer."""


def arms(scale: Scale) -> dict[str, ArmPlan]:
    """Weighted activity as published, for other lengths, exponents and units, and in its Jacobian form."""
    exact = Penalty(Part(jacobian_activity), JACOBIAN_WEIGHT)
    drawn = Penalty(Part(jacobian_activity, projections=1), JACOBIAN_WEIGHT, random=True)
    full = scale != "smoke"
    plans = {
        "WA": sine_plan(scale, recipe(scale, weighted())),
        "WA alpha 1": sine_plan(scale, recipe(scale, weighted(alpha=1.0))),
        "WA tanh": sine_plan(scale, recipe(scale, weighted()), net(activation=Part(tanh))),
        "WA sigmoid": sine_plan(scale, recipe(scale, weighted()), net(activation=Part(sigmoid))),
        "Jacobian": sine_plan(scale, recipe(scale, exact)),
        "Jacobian, projected": sine_plan(scale, recipe(scale, drawn), robustness=full),
    }
    if not full:
        return {name: plans[name] for name in ("WA", "Jacobian, projected")}
    for epochs in LENGTHS:
        plans[length_arm("WA", epochs)] = sine_plan(scale, recipe(scale, weighted(), epochs=epochs))
    return plans


def _penalty_makes_modules(evidence: Evidence) -> PerSeed:
    plain, arm = evidence["L2"], evidence["WA"]
    fits = (plain["mse_train"] < FITTED) & (arm["mse_train"] < FITTED)
    return PerSeed(
        outside(plain) / outside(arm),
        requires={f"fitted (training error below {FITTED:g})": fits},
        supports={
            "share inside, weighted activity": inside(arm),
            "L2 alone": inside(plain),
            "largest eigenvalue 4 (0: four modules), weighted activity": arm["spectra"][:, :, 3].max(axis=1),
            "training error, weighted activity": arm["mse_train"],
            f"sum of squared weights (published {published.SUM_SQUARES['WA']:g})": arm["sum_squares"],
        },
    )


PENALTY_MAKES_MODULES = Claim(
    "6",
    "a deterministic penalty on activity times outgoing weights leads to modules, too",
    "abstract",
    # 80% inside with L2 and 98% with the penalty, the bounds set before measuring, leave 20% and 2% outside.
    ratio(f"{OUTSIDE}: L2 alone / weighted activity", "above", magnitude=10.0),
    ("WA", "L2"),
    _penalty_makes_modules,
    headline=True,
    reversal="nets with the penalty had more weight between modules than nets with L2 alone",
    amendments=(
        Amendment(
            "at least 98% inside in every layer, eigenvalue 4 at most 0.4, training error below 4e-4, sum of squares "
            "between 24 and 28",
            "weight outside modules compared with L2 alone, paired by seed; the old bounds of both give the magnitude "
            "(20% / 2%), the rest is shown",
            "one quantity decides, and it needs a baseline",
        ),
    ),
)


def _exponent_one(evidence: Evidence) -> PerSeed:
    plain, arm = evidence["L2"], evidence["WA alpha 1"]
    return PerSeed(
        outside(plain) / outside(arm),
        requires={f"fitted (training error below {FITTED:g})": arm["mse_train"] < FITTED},
        supports={
            "share inside, alpha 1": inside(arm),
            "alpha 2": inside(evidence["WA"]),
            "sum of squared weights, alpha 1": arm["sum_squares"],
        },
    )


EXPONENT_ONE = Claim(
    "34",
    "the penalty also works with exponent 1, that of Poisson noise (published runs use 2)",
    "rerun",
    ratio(f"{OUTSIDE}: L2 alone / weighted activity with alpha 1", "above"),
    ("WA alpha 1", "WA", "L2"),
    _exponent_one,
    reversal="alpha 1 had left more weight between modules than L2 alone",
)


def _cutting(evidence: Evidence) -> PerSeed:
    plain, arm = (other_outputs(evidence[name], "pruned_error") for name in ("L2", "WA"))
    return PerSeed(plain / arm, supports={"error, weighted activity": arm, "L2 alone": plain})


CUTTING = Claim(
    "8",
    "modules work on their own: cutting all connections between them spares weighted activity and ruins L2",
    "rerun",
    ratio(
        "test error of outputs 2 to 4 after cutting: L2 alone / weighted activity", "above", magnitude=10.0
    ),
    ("WA", "L2"),
    _cutting,
    reversal="the weak connections between modules carried more of the function than those of L2 nets",
    amendments=(
        Amendment(
            "at most 3e-3 with weighted activity and at least 3e-2 with L2",
            "the ratio of the two, magnitude 3e-2 / 3e-3",
            "one quantity decides",
        ),
    ),
)


def _full_circuits(evidence: Evidence) -> PerSeed:
    arm = evidence["WA"]
    return PerSeed(
        arm["live"].min(axis=1),
        supports={"units of the smallest module": arm["module_sizes"].min(axis=(1, 2))},
    )


FULL_CIRCUITS = Claim(
    "12",
    "weighted activity keeps most units alive, in every layer and in every module",
    "rerun",
    difference("live units in the emptiest layer, of 32", "above", no_effect=UNITS / 2, magnitude=24.0),
    ("WA",),
    _full_circuits,
    reversal="half of the units of a layer had died, as they do with L1",
    amendments=(
        Amendment(
            "at least 24 live units in every layer and 3 in every module",
            "the same bound on layers, compared with half of the units; modules are shown",
            "one quantity decides",
        ),
    ),
)


def _tanh_units(evidence: Evidence) -> PerSeed:
    arm = evidence["WA tanh"]
    return PerSeed(
        outside(evidence["L2"]) / outside(arm),
        requires={"fitted (training error below 1e-3)": arm["mse_train"] < 1e-3},
        supports={
            "share inside, tanh": inside(arm),
            "sum of squared weights (published 29.5)": arm["sum_squares"],
        },
    )


TANH_UNITS = Claim(
    "25",
    "with tanh units weighted activity leads to modules, too",
    "code, ours",
    ratio(f"{OUTSIDE}: L2 alone (leaky units) / weighted activity with tanh units", "above", magnitude=10.0),
    ("WA tanh", "L2"),
    _tanh_units,
    reversal="tanh nets with the penalty had more weight between modules than leaky nets without",
    finding="With tanh units losses and sums of squares are the published ones, but the layers after the first stay "
    "mixed. Weight maps of this net are published as images only, which we could not read.",
    amendments=(
        Amendment(
            "tanh fits and has at least 98% inside; sigmoid does not fit (above 0.03)",
            "tanh alone, compared with L2 as in claim 6; sigmoid is claim 35",
            "two statements became two claims",
        ),
    ),
)


def _sigmoid_units(evidence: Evidence) -> PerSeed:
    arm = evidence["WA sigmoid"]
    return PerSeed(
        arm["mse_train"] / evidence["WA"]["mse_train"],
        supports={"training error, sigmoid": arm["mse_train"], "share inside, sigmoid": inside(arm)},
    )


SIGMOID_UNITS = Claim(
    "35",
    "with sigmoid units the penalty keeps nets from fitting the task",
    "code",
    ratio(
        "training error: sigmoid / leaky units",
        "above",
        published=published.TRAIN_ERROR["WA sigmoid"] / published.TRAIN_ERROR["WA"],
    ),
    ("WA sigmoid", "WA"),
    _sigmoid_units,
    reversal="sigmoid nets had fitted as well as leaky ones",
)


def _faithful_form(evidence: Evidence) -> PerSeed:
    exact, projected, drawn = (evidence[name] for name in ("Jacobian", "Jacobian, projected", "Noise2"))
    return PerSeed(
        outside(evidence["L2"]) / outside(exact),
        supports={
            "share inside, all outputs": inside(exact),
            "one random projection": inside(projected),
            "sum of squared weights / that with multiplicative noise": exact["sum_squares"]
            / drawn["sum_squares"],
            "error under multiplicative noise / that of nets trained with it": exact["noisy_error"][:, 2]
            / drawn["noisy_error"][:, 2],
        },
    )


FAITHFUL_FORM = Claim(
    "26",
    "the Jacobian form, which equals noise to second order, leads to modules",
    "derived",
    # Bounds set before measuring: 80% inside with L2, 95% with this form.
    ratio(f"{OUTSIDE}: L2 alone / Jacobian form", "above", magnitude=4.0),
    ("Jacobian", "Jacobian, projected", "Noise2", "L2"),
    _faithful_form,
    reversal="the faithful form had left more weight between modules than L2 alone",
    finding="One random projection works as well as all outputs. It is not equivalent to noise of level 0.1, though: "
    "weights are smaller and errors under that noise larger, so higher-order terms matter at this level.",
    amendments=(
        Amendment(
            "at least 95% inside, and a sum of squares within 12% of that with noise",
            "weight outside modules compared with L2 alone; the comparison with noise is shown",
            "one quantity decides",
        ),
    ),
)

SECTION = StudySection(
    "A deterministic penalty makes modules, too",
    arms=arms,
    claims=(
        PENALTY_MAKES_MODULES,
        EXPONENT_ONE,
        CUTTING,
        FULL_CIRCUITS,
        TANH_UNITS,
        SIGMOID_UNITS,
        FAITHFUL_FORM,
    ),
    drawings=(MODULES_IN_ONE_FIGURE, REGIMES, SPECTRA),
)
