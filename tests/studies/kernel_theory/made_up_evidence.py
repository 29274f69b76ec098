"""Made-up evidence for the kernel theory's claims: the exact arms as computed, trained arms with published numbers."""

import numpy as np

from recombine.metrics import additive_fit
from recombine.runs import run_trial
from recombine.studies import Arm
from recombine.studies.kernel_theory import (
    figure3_salience,
    figure4_failure_modes,
    published,
    section4_expressivity,
)
from recombine.studies.kernel_theory.associative_inference import CLASSES, REGIMES
from recombine.studies.kernel_theory.image_readers import (
    FAR,
    MIDDLE,
    NEAR,
    READERS,
    context_task,
    equivalence_task,
    image_arm,
    similarity_arm,
    slow_arm,
)
from recombine.studies.kernel_theory.random_splits import HOLES, forecast_arm
from recombine.studies.kernel_theory.symbol_networks import (
    DEPTHS,
    EXPONENTS,
    HIDDEN,
    addition_arm,
    context_arm,
    deep_arm,
    sweep_arm,
)
from recombine.tasks import context_dependence
from recombine.tasks.symbolic import ANCHORS

N = 10
LAZY = {"extrapolation": 0.745, "interpolation": 0.85, "both": 0.85, "asymmetric": 0.72}
RICH = {"extrapolation": 0.75, "interpolation": 0.993, "both": 0.91, "asymmetric": 0.361}


def net_arm(curves=None, **values):
    """Ten seeds that differ a little."""
    factor = 1 + 1e-3 * np.arange(N)
    arrays = {}
    for name, value in values.items():
        array = np.asarray(value, dtype=float)
        exact = name.startswith(("right", "additive", "predictions"))
        scale = np.ones(N) if exact else factor
        arrays[name] = scale.reshape(N, *[1] * array.ndim) * array
    return Arm(tuple(range(N)), ("stopped",) * N, arrays, curves or {})


def coefficients(hidden, *, invert):
    """Coefficients of perfect predictions on context dependence, or of predictions inverted on unseen cells."""
    table = context_dependence(hidden=hidden)
    outputs, seen = table.targets.ravel().astype(float), table.split.seen
    fit = additive_fit(np.where(seen | (not invert), outputs, -outputs), table.split.space.cells, seen)
    return np.concatenate(list(fit.values.values()))


def worth(slope):
    return np.outer([1, 1], np.arange(-4, 5) * slope)


def weights(*, grouped):
    """Hidden units that see the class of both items, or that ignore the classes."""
    rng = np.random.default_rng(0)
    if not grouped:
        return rng.normal(size=(200, 2, 4))
    code = np.where(np.array(CLASSES) == 0, 1.0, -1.0)
    signs = rng.choice([-1.0, 1.0], size=(200, 2))
    return signs[:, :, None] * code + 0.1 * rng.normal(size=(200, 2, 4))


def symbol_arms():
    arms = {}
    for regime, slopes in (("lazy", LAZY), ("rich", RICH)):
        for anchors, slope in slopes.items():
            bent = regime == "rich" and anchors == "asymmetric"
            settings = {"worth": worth(slope), "additive_out": 0.719 if bent else 0.998}
            arms[addition_arm(anchors, regime)] = net_arm(slope=slope, predictions=np.zeros(81), **settings)
        for hidden in HIDDEN:
            right = float(hidden < 3)
            settings = {"right_out": right, "right_in": 1.0, "margin_out": 2 * right - 1}
            arms[context_arm(hidden, regime, "cross-entropy")] = net_arm(**settings)
    arms[context_arm(3, "lazy", "squared")] = net_arm(right_out=1.0, margin_out=0.76)
    for regime, right, margin in (("lazy", 0.5, 0.1), ("rich", 1.0, 0.96), ("richer", 1.0, 0.99)):
        assert regime in REGIMES
        steps = np.stack([np.arange(1, 5)] * N)
        curves = {"step": steps, "train": 0.1 / steps, "out": 1 / steps}
        settings = {"right_out": right, "margin_out": margin}
        arms[f"equivalence, {regime}"] = net_arm(curves, item_weights=weights(grouped=right == 1), **settings)
    for depth in DEPTHS:
        slopes = {"extrapolation": 0.72 - 0.03 * (depth - 1), "interpolation": 1.0, "both": 0.87}
        arms |= {deep_arm(anchors, depth): net_arm(slope=slope) for anchors, slope in slopes.items()}
        arms[deep_arm("equivalence", depth)] = net_arm(right_out=1.0, margin_out=0.98)
        for hidden in HIDDEN:
            values = coefficients(hidden, invert=hidden == 3)
            arms[deep_arm(f"CD-{hidden}", depth)] = net_arm(coefficients=values)
    for exponent in EXPONENTS:
        lazy = exponent == 0
        for anchors in ANCHORS:
            unseen = 0.994 if lazy or anchors != "asymmetric" else 0.712
            values = {"slope": 0.9, "additive_in": 1.0, "additive_out": unseen}
            arms[sweep_arm(f"addition {anchors}", exponent)] = net_arm(**values)
        for loss in ("squared", "cross-entropy"):
            right = float(loss == "squared")
            arms[sweep_arm("CD-3", exponent, loss)] = net_arm(right_out=right, right_in=1.0)
            margin = 0.1 if lazy else 0.98
            values = {"right_out": 0.5 if lazy else 1.0, "right_in": 1.0, "margin_out": margin}
            arms[sweep_arm("equivalence", exponent, loss)] = net_arm(**values)
    return arms


def image_arms():
    """The published numbers, and coefficients of predictions that are inverted on unseen cells of CD-3."""
    arms, at = {}, {NEAR: 0, MIDDLE: 2, FAR: 4}
    fitted = {"mse_train": 0.003, "mse_fresh": 1.9}
    for distance, i in at.items():
        arms[similarity_arm(distance)] = net_arm(salience=[0.36 + 0.02 * i, 0.3], salience_self=[0.3, 0.4])
        for anchors in ANCHORS:
            slope = published.IMAGE_SLOPES[anchors][i]
            arm = net_arm(slope=slope, worth=worth(slope), **fitted)
            arms[image_arm("ConvNet", f"addition {anchors}", distance)] = arm
    arms[slow_arm("interpolation")] = net_arm(slope=0.6, **fitted)
    arms[slow_arm("both")] = net_arm(slope=0.65, **fitted)
    for reader in READERS[1:]:
        for anchors, slope in published.READER_SLOPES[reader].items():
            arms[image_arm(reader, f"addition {anchors}", NEAR)] = net_arm(slope=slope, mse_train=1.7)
        for hidden, right in zip(HIDDEN, published.READER_CONTEXT[reader], strict=True):
            arms[image_arm(reader, context_task(hidden), NEAR)] = net_arm(right_out=right, right_train=1.0)
    for hidden in HIDDEN:
        shared = {"coefficients": coefficients(hidden, invert=hidden == 3), "additive_out": 0.95}
        for distance, i in ((NEAR, 0), (FAR, 4)):
            right = published.IMAGE_CONTEXT[hidden][i]
            arm = net_arm(right_out=right, right_fresh=0.97, right_train=1.0, **shared)
            arms[image_arm("ConvNet", context_task(hidden), distance)] = arm
    for distance, i in ((NEAR, 0), (FAR, 4)):
        names = {"right_fresh": "new images", "right_out": "unseen pairs"}
        values = {name: published.IMAGE_EQUIVALENCE[series][i] for name, series in names.items()}
        arms[image_arm("ConvNet", equivalence_task(4), distance)] = net_arm(right_train=1.0, **values)
    return arms


def forecast_arms():
    arms = {}
    for family, held in HOLES.items():
        for held_out in held:
            error = np.linspace(0, 1, held_out) * held_out / 100
            values = {"retained": 1 - error, "predicted": error, "measured": 1.2 * error, "sure": error}
            values |= {"start": 0.1 * error, "determined": np.arange(held_out) % 2}
            arms[forecast_arm(family, held_out)] = net_arm(**values)
    return arms


def all_arms():
    """Every arm of the study at scale paper."""
    sections = (section4_expressivity, figure3_salience, figure4_failure_modes)
    plans = {name: plan for section in sections for name, plan in section.arms("smoke").items()}
    exact = {name: Arm.of([run_trial(trial) for trial in plan.trials()]) for name, plan in plans.items()}
    return exact | symbol_arms() | image_arms() | forecast_arms()
