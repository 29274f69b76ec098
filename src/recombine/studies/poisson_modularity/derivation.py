"""The tasks, the penalty's derivation and the measures of modularity: exact statements."""

from __future__ import annotations

import numpy as np

from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.claim import Claim
from recombine.studies.evidence import ArmPlan, Evidence, Scale
from recombine.studies.measurement import Cases
from recombine.studies.poisson_modularity import identities
from recombine.studies.poisson_modularity.sine_nets import SINES, net, recipe
from recombine.studies.quantity import deviation
from recombine.studies.study import StudySection
from recombine.tasks import modular_task

CARRIER = Part(modular_task, train=200, test=200, draw=None)
"""Identities use the task only as a source of random numbers."""
PROBES = {
    "constants": Part(identities.constants),
    "gradients": Part(identities.gradients),
    "rescaling": Part(identities.rescaling),
    "metrics": Part(identities.metrics),
}
FEWER_METRICS = Part(identities.metrics, nets=10)
SEEDS = {"smoke": 1, "quick": 3, "paper": 6}
SHORT = 300
"""Epochs of the nets on which noise is sampled; how well they have learned does not matter."""


def arms(scale: Scale) -> dict[str, ArmPlan]:
    """One arm per identity, without training, and nets on which to sample noise."""
    probes = PROBES | {"metrics": FEWER_METRICS} if scale == "smoke" else PROBES
    plans = {
        name: ArmPlan(Trial(CARRIER, (probe,), (0,)), seeds=SEEDS[scale], together=SEEDS[scale])
        for name, probe in probes.items()
    }
    if scale != "smoke":
        sampled = Trial(SINES, (Part(identities.excess_loss),), (0,), net(), recipe(scale, epochs=SHORT))
        plans["excess loss"] = ArmPlan(sampled, seeds=SEEDS[scale], together=SEEDS[scale])
    return plans


def _constants(evidence: Evidence) -> Cases:
    arm = evidence["constants"]
    return Cases(
        {
            "constants of the functions": arm["constant_gap"].max(),
            "first training row": arm["row_gap"].max(),
            "held-out cells that differ": arm["cells_that_differ"].max(),
            "numbers of rows that differ": arm["counts_that_differ"].max(),
        }
    )


CONSTANTS = Claim(
    "1",
    "the tasks' constants, first rows, held-out cells and numbers of rows equal the published ones to 6 digits",
    "code",
    deviation("difference from the published value", tolerance=1e-6, published_text="0.784913, ..."),
    ("constants",),
    _constants,
    decided_at="smoke",
)


def _excess_loss(evidence: Evidence) -> Cases:
    arm = evidence["excess loss"]
    # (seeds, exponents, levels): the worst seed of each combination
    worst = np.abs(arm["excess_ratio"] - 1).max(axis=0)
    cases = {
        f"exponent {alpha:g}, level {level:g}": worst[i, j]
        for i, alpha in enumerate(identities.ALPHAS)
        for j, level in enumerate(identities.LEVELS)
    }
    local = {"weighted activity / measured loss": arm["local_ratio"].mean(axis=(1, 2))}
    return Cases(cases, supports=local)


EXCESS_LOSS = Claim(
    "2",
    "to second order, noise adds the loss that the Jacobian form of the penalty predicts",
    "derived",
    deviation("|measured / predicted - 1|", tolerance=0.03),
    ("excess loss",),
    _excess_loss,
    finding="Weighted activity, the local form that the paper trains with, is about twice the loss that noise adds: "
    "it counts the noise that reaches the next layer, not the output.",
)


def _gradients(evidence: Evidence) -> Cases:
    arm = evidence["gradients"]
    return Cases(
        {
            "gradient, relative difference from finite differences / 1e-4": arm["gradient_gap"].max() / 1e-4,
            "last layer, relative difference from the Jacobian form / 1e-6": arm["last_layer_gap"].max()
            / 1e-6,
        }
    )


GRADIENTS = Claim(
    "3",
    "the penalty's gradient is correct, and its last layer equals that of the Jacobian form",
    "derived",
    deviation("difference as a multiple of its tolerance", tolerance=1.0),
    ("gradients",),
    _gradients,
    decided_at="smoke",
)


def _rescaling(evidence: Evidence) -> Cases:
    arm = evidence["rescaling"]
    return Cases({"alpha 2": arm["gap_alpha_2"].max(), "alpha 1": arm["gap_alpha_1"].max()})


RESCALING = Claim(
    "4",
    "activity times c and next weights divided by c: the penalty is unchanged (alpha 2) or falls as 1/c (alpha 1)",
    "derived",
    deviation("relative difference", tolerance=1e-6),
    ("rescaling",),
    _rescaling,
    decided_at="smoke",
)


def _metrics(evidence: Evidence) -> Cases:
    arm = evidence["metrics"]
    # Each measure with its own tolerance: name, how far it is off, and how far it may be.
    cases = (
        ("blocks: eigenvalue K", arm["block_lambda"].max(), 1e-3),
        ("blocks: Newman modularity from 1 - Σ share²", arm["block_newman_gap"].max(), 1e-9),
        ("blocks: weight outside", arm["block_mass_gap"].max(), 1e-9),
        ("dense: 1 - eigenvalue K after the first layer", 1 - arm["dense_lambda"].min(), 0.2),
        ("dense: share of nets with |z| of 3 or more", 1 - arm["z_inside"].min(), 0.03),
        ("half as many dead units added: largest change", arm["dead_unit_gap"].max(), 1e-6),
    )
    return Cases({f"{name} / {tolerance:g}": gap / tolerance for name, gap, tolerance in cases})


METRICS = Claim(
    "20",
    "measures of modularity distinguish blocks from dense nets, 2 to 8 unequal modules, and ignore dead units",
    "derived",
    deviation("deviation as a multiple of its tolerance", tolerance=1.0),
    ("metrics",),
    _metrics,
    decided_at="smoke",
)

SECTION = StudySection(
    "Tasks, derivation and measures",
    arms=arms,
    claims=(CONSTANTS, EXCESS_LOSS, GRADIENTS, RESCALING, METRICS),
)
