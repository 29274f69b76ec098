"""Small networks on symbols, from lazy to rich."""

from __future__ import annotations

from typing import Any

from recombine.nets import mlp
from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.claims import Scale
from recombine.studies.kernel_theory import symbol_probes
from recombine.studies.kernel_theory.arms.shared import LOGISTIC, SEEDS, some
from recombine.studies.kernel_theory.weights import item_weights
from recombine.tasks import addition, context_dependence, transitive_equivalence
from recombine.tasks.symbolic import ANCHORS
from recombine.training import Recipe, adam, sgd
from recombine.training.recipe import SQUARED_ERROR, Optimiser

REGIMES = {"lazy": 1.0, "rich": 1e-2, "richer": 1e-3}
"""Factors applied to the initial weights."""
DEPTHS = (1, 2, 3, 4)
HIDDEN = (3, 2, 1)
ADDITION, CONTEXT, EQUIVALENCE = (
    Part(f).name for f in (addition, context_dependence, transitive_equivalence)
)


def addition_arm(anchors: str, regime: str) -> str:
    """Addition with one hidden layer."""
    return f"addition {anchors}, {regime}"


def context_arm(hidden: int, regime: str, loss: str) -> str:
    """Context dependence with one hidden layer."""
    return f"CD-{hidden}, {regime}, {loss}"


def deep_arm(task: str, depth: int) -> str:
    """Networks of 100 units in each of `depth` layers."""
    return f"{task}, {depth} layers"


def sweep_arm(task: str, exponent: int, loss: str = "squared") -> str:
    """One hidden layer whose initial weights are 10^exponent times the standard ones (scale paper only)."""
    return f"{task}, 1e{exponent}, {loss}"


EXPONENTS = tuple(range(-6, 1))
CONTEXT_RATES = {"squared": (0.002, 0.02), "cross-entropy": (0.01, 0.3)}
"""Learning rates for context dependence: with the standard initial weights, and with smaller ones."""
WIDE = 10_000
"""Hidden units of transitive equivalence at scale paper."""


def network_arms(scale: Scale) -> dict[str, Trial]:
    """MLPs on addition, equivalence and context dependence, from lazy to rich and from shallow to deep."""
    arms = _shallow(scale) | _deep(scale)
    return arms | _sweep() if scale == "paper" else arms


def _trial(
    scale: Scale,
    task: Part,
    recipe: Recipe,
    *,
    width: int = 1000,
    depth: int = 1,
    probes: tuple[Part, ...] = (),
) -> Trial:
    inputs = {ADDITION: 18, CONTEXT: 14, EQUIVALENCE: 8}[task.name]
    slope = (Part(symbol_probes.slopes),) if task.name == ADDITION else ()
    net = Part(mlp, inputs=inputs, width=width, depth=depth, outputs=1, normal=True)
    measured = (Part(symbol_probes.predictions), Part(symbol_probes.additivity), *slope, *probes)
    return Trial(task, measured, SEEDS[scale], net, recipe)


def _full_batch(
    scale: Scale, optimiser: Optimiser, scaling: float, max_steps: int, **settings: Any
) -> Recipe:
    steps = 20 if scale == "smoke" else max_steps
    return Recipe(steps=steps, batch=None, optimiser=optimiser, initial_scale=scaling, **settings)


def _shallow(scale: Scale) -> dict[str, Trial]:
    arms = {}
    for anchors in some(scale, tuple(ANCHORS)):
        for regime, rate in (("lazy", 0.002), ("rich", 0.02)):
            recipe = _full_batch(scale, sgd(rate), REGIMES[regime], 40_000, stop_below=1e-4, record_every=100)
            arms[addition_arm(anchors, regime)] = _trial(scale, Part(addition, anchors=anchors), recipe)
    for regime, rate in (("lazy", 0.001), ("rich", 0.1), ("richer", 0.1)):
        recipe = _full_batch(scale, sgd(rate), REGIMES[regime], 40_000, stop_below=1e-4, record_every=100)
        probes = (Part(item_weights),)
        arms[f"equivalence, {regime}"] = _trial(scale, Part(transitive_equivalence), recipe, probes=probes)
    for hidden in some(scale, HIDDEN):
        task = Part(context_dependence, hidden=hidden)
        for regime, rate in (("lazy", 0.01), ("rich", 0.3)):
            recipe = _full_batch(scale, sgd(rate), REGIMES[regime], 4000, record_every=200, loss=LOGISTIC)
            arms[context_arm(hidden, regime, "cross-entropy")] = _trial(scale, task, recipe)
        recipe = _full_batch(scale, sgd(0.002), 1.0, 40_000, stop_below=1e-4, record_every=200)
        arms[context_arm(hidden, "lazy", "squared")] = _trial(scale, task, recipe)
    return arms


def _deep(scale: Scale) -> dict[str, Trial]:
    arms, max_steps = {}, 100_000 if scale == "paper" else 40_000

    def add(task: str, part: Part, depth: int, **settings: Any) -> None:
        recipe = _full_batch(scale, adam(1e-4), 0.1, max_steps, stop_below=1e-4, record_every=500, **settings)
        probes = (Part(symbol_probes.conjunctions),) if part.name == CONTEXT else ()
        arms[deep_arm(task, depth)] = _trial(scale, part, recipe, width=100, depth=depth, probes=probes)

    anchors = ("extrapolation", "interpolation", "both", "asymmetric")
    for depth in some(scale, DEPTHS):
        for name in some(scale, anchors[:3] if scale == "quick" else anchors):
            add(name, Part(addition, anchors=name), depth)
        add("equivalence", Part(transitive_equivalence), depth)
        for hidden in some(scale, HIDDEN):
            add(f"CD-{hidden}", Part(context_dependence, hidden=hidden), depth, loss=LOGISTIC)
    return arms


def _sweep() -> dict[str, Trial]:
    """The published ranges of initial scale and training length.

    The published learning rates came from a search and are unknown; ours are fixed, below the bound at which
    full-batch gradient descent becomes unstable. Weights of the standard size need smaller steps, especially in the
    wider net.
    """
    arms = {}
    for exponent in EXPONENTS:
        lazy, scaling = exponent == 0, 10.0**exponent
        for anchors in ANCHORS:
            recipe = _full_batch(
                "paper",
                sgd(0.002 if lazy else 0.02),
                scaling,
                100_000,
                stop_below=1e-4,
                record_every=100,
                diverge_above=200.0,
            )
            task = Part(addition, anchors=anchors)
            arms[sweep_arm(f"addition {anchors}", exponent)] = _trial("paper", task, recipe)
        for loss, part in (("squared", SQUARED_ERROR), ("cross-entropy", LOGISTIC)):
            for hidden in HIDDEN:
                rate = CONTEXT_RATES[loss][0 if lazy else 1]
                recipe = _full_batch(
                    "paper", sgd(rate), scaling, 5000, stop_below=1e-4, record_every=100, loss=part
                )
                task = Part(context_dependence, hidden=hidden)
                arms[sweep_arm(f"CD-{hidden}", exponent, loss)] = _trial("paper", task, recipe)
            rate = {0: 1e-4, -1: 5e-3}.get(exponent, 0.1)
            recipe = _full_batch(
                "paper",
                sgd(rate),
                scaling,
                10_000,
                stop_below=1e-6,
                record_every=100,
                diverge_above=20.0,
                loss=part,
            )
            arms[sweep_arm("equivalence", exponent, loss)] = _trial(
                "paper", Part(transitive_equivalence), recipe, width=WIDE, probes=(Part(item_weights),)
            )
    return arms
