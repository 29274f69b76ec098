"""Nets of 32 units on four sines: the published regimes, comparisons at equal task loss, and modular controls."""

from __future__ import annotations

from dataclasses import replace

from recombine.nets import parallel_mlp, sigmoid, tanh
from recombine.parts import Part
from recombine.remedies import activity, jacobian_activity, l1, l2, penalty_weight
from recombine.runs import Trial
from recombine.studies.claims import Scale
from recombine.studies.poisson_modularity.arms.shared import (
    BATCH,
    DEPTH,
    LEAKY,
    MODULES,
    PROBES,
    ROBUSTNESS,
    ROWS,
    SEEDS,
    SINES,
    WIDTH,
    net,
    noise,
    recipe,
    weighted,
)
from recombine.training import Penalty, Recipe

PUBLISHED = ("Noise0", "Noise1", "Noise2", "L2", "L1 1e-3", "Act", "WA", "WA sigmoid", "WA tanh")
"""The nine regimes of the authors' notebook."""
FURTHER = ("L1 1e-4", "WA alpha 1", "Jacobian", "Jacobian, projected", "initial", "blocks")
STRENGTHS = {
    "L2": (1e-4, 3e-4, 1e-3, 3e-3),
    "L1": (3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3),
    "Act": (3e-4, 1e-3, 3e-3, 1e-2),
    "WA": (3e-4, 1e-3, 3e-3, 1e-2),
    "Noise2": (0.02, 0.05, 0.1, 0.2),
}
"""Penalty weights, or noise levels, for comparison at equal task loss."""


LENGTHS = (2500, 5000, 20_000)
"""Epochs in addition to the published 10,000, for plain L2 and weighted activity: how much is a matter of time?"""


def strength_arm(family: str, strength: float) -> str:
    """An arm of the comparison; those at the published strength are the published regimes."""
    same = {("L2", 1e-4): "L2", ("Act", 1e-3): "Act", ("WA", 1e-3): "WA", ("Noise2", 0.1): "Noise2"}
    same |= {("L1", 1e-3): "L1 1e-3", ("L1", 1e-4): "L1 1e-4"}
    return same.get((family, strength), f"{family} {strength:g}")


def sine_arms(scale: Scale) -> dict[str, Trial]:
    """All regimes on the published four sines."""
    arms = _regimes(scale)
    if scale == "smoke":
        fewer = {name: replace(arms[name], probes=PROBES) for name in ("Noise2", "Jacobian, projected")}
        return fewer | {name: arms[name] for name in ("L2", "WA")}
    for family, strengths in STRENGTHS.items():
        for strength in strengths:
            arms.setdefault(strength_arm(family, strength), _strength(scale, family, strength))
    for epochs in LENGTHS:
        for name in ("L2", "WA"):
            arms[length_arm(name, epochs)] = _at_length(arms[name], epochs)
    return arms


def length_arm(regime: str, epochs: int) -> str:
    """A regime trained for another number of epochs."""
    return f"{regime}, {epochs} epochs"


def _at_length(trial: Trial, epochs: int) -> Trial:
    assert trial.recipe is not None
    return replace(trial, recipe=replace(trial.recipe, steps=epochs * ROWS // BATCH))


def regime_trials() -> list[Trial]:
    """The nine published regimes with three seeds, which the benchmark measures."""
    arms = _regimes("quick")
    return [arms[name] for name in PUBLISHED]


def _trial(scale: Scale, how: Recipe, network: Part | None = None) -> Trial:
    return Trial(SINES, (*PROBES, *ROBUSTNESS), SEEDS[scale], network or net(), how)


def _regimes(scale: Scale) -> dict[str, Trial]:
    act = Penalty(Part(activity), 1e-3)
    weight = penalty_weight(0.1, MODULES)
    exact = Penalty(Part(jacobian_activity), weight)
    drawn = Penalty(Part(jacobian_activity, projections=1), weight, random=True)
    blocks = Part(parallel_mlp, modules=MODULES, width=WIDTH, depth=DEPTH, activation=LEAKY)
    arms = {
        "L2": _trial(scale, recipe(scale)),
        "WA": _trial(scale, recipe(scale, weighted())),
        "WA alpha 1": _trial(scale, recipe(scale, weighted(alpha=1.0))),
        "WA tanh": _trial(scale, recipe(scale, weighted()), net(activation=Part(tanh))),
        "WA sigmoid": _trial(scale, recipe(scale, weighted()), net(activation=Part(sigmoid))),
        "Act": _trial(scale, recipe(scale, act)),
        "L1 1e-3": _trial(scale, recipe(scale, Penalty(Part(l1), 1e-3))),
        "L1 1e-4": _trial(scale, recipe(scale, Penalty(Part(l1), 1e-4))),
        "Jacobian": _trial(scale, recipe(scale, exact)),
        "Jacobian, projected": _trial(scale, recipe(scale, drawn)),
        "blocks": _trial(scale, recipe(scale), blocks),
    }
    arms |= {f"Noise{e}": _trial(scale, recipe(scale, noise=noise(e))) for e in (0, 1, 2)}
    untrained = recipe(scale)
    return arms | {"initial": _trial(scale, replace(untrained, steps=0))}


def _strength(scale: Scale, family: str, strength: float) -> Trial:
    if family == "Noise2":
        return _trial(scale, recipe(scale, noise=noise(2, strength)))
    if family == "L2":
        return _trial(scale, recipe(scale, base=(Penalty(Part(l2), strength),)))
    if family == "WA":
        return _trial(scale, recipe(scale, weighted(strength)))
    return _trial(scale, recipe(scale, Penalty(Part(l1 if family == "L1" else activity), strength)))
