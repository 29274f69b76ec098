"""Linear nets: the identity on four inputs, dense or one at a time."""

from __future__ import annotations

from recombine.nets import identity
from recombine.parts import Part
from recombine.remedies import l1, l12, l21
from recombine.runs import Trial
from recombine.studies.claims import Scale
from recombine.studies.poisson_modularity.arms.shared import PROBES, SEEDS, net, noise, recipe, weighted
from recombine.tasks import modular_task
from recombine.training import Penalty

REGIMES = ("L2", "Noise2", "L1", "L12", "L21")
"""As published."""
SPARSE = ("L2", "Noise1", "WA alpha 1", "WA")
"""With one input at a time, and with all inputs for comparison."""


def linear_arm(regime: str, *, sparse: bool = False) -> str:
    """A linear net trained in that regime."""
    return f"linear {regime}, sparse" if sparse else f"linear {regime}"


def linear_arms(scale: Scale) -> dict[str, Trial]:
    """All regimes of linear nets, without biases."""
    recipes = {
        "L2": recipe(scale),
        "Noise2": recipe(scale, noise=noise(2)),
        "Noise1": recipe(scale, noise=noise(1)),
        "L1": recipe(scale, Penalty(Part(l1), 1e-3)),
        "L12": recipe(scale, Penalty(Part(l12), 5e-4)),
        "L21": recipe(scale, Penalty(Part(l21), 5e-4)),
        "WA": recipe(scale, weighted()),
        "WA alpha 1": recipe(scale, weighted(alpha=1.0)),
    }
    network = net(activation=Part(identity), bias=False)
    arms = {}
    for sparse in (False, True):
        task = Part(modular_task, functions="identity", inputs="sparse" if sparse else "uniform")
        for regime, how in recipes.items():
            if regime in SPARSE or not sparse:
                arms[linear_arm(regime, sparse=sparse)] = Trial(task, PROBES, SEEDS[scale], network, how)
    return {name: arms[name] for name in ("linear L12",)} if scale == "smoke" else arms
