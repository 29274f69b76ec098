"""Small networks on symbols, from lazy to rich."""

from __future__ import annotations

from recombine.fit import Recipe, adam, sgd
from recombine.fit.recipe import SQUARED_ERROR
from recombine.nets import mlp
from recombine.parts import Part
from recombine.probes import symbols
from recombine.runs import Trial
from recombine.studies.claims import Scale
from recombine.studies.kernel_theory.arms.shared import LOGISTIC, SEEDS, some
from recombine.tasks import addition, context_dependence, transitive_equivalence
from recombine.tasks.symbolic import ANCHORS

REGIMES = {"lazy": 1.0, "rich": 1e-2, "richer": 1e-3}
"""Factors on the initial weights."""
DEPTHS = (1, 2, 3, 4)
HIDDEN = (3, 2, 1)


def addition_arm(anchors: str, regime: str) -> str:
    """Addition by one hidden layer."""
    return f"addition {anchors}, {regime}"


def context_arm(hidden: int, regime: str, loss: str) -> str:
    """Context dependence by one hidden layer."""
    return f"CD-{hidden}, {regime}, {loss}"


def deep_arm(task: str, depth: int) -> str:
    """Networks of 100 units in each of `depth` layers."""
    return f"{task}, {depth} layers"


def network_arms(scale: Scale) -> dict[str, Trial]:
    """Addition, equivalence and context dependence by perceptrons, from lazy to rich and from shallow to deep."""
    seeds = SEEDS[scale]

    def steps(most: int) -> int:
        return 20 if scale == "smoke" else most

    def trial(
        task: Part, inputs: int, recipe: Recipe, *, width: int = 1000, depth: int = 1, slope: bool = False
    ) -> Trial:
        probes = (
            Part(symbols.answers),
            Part(symbols.additivity),
            *((Part(symbols.slopes),) if slope else ()),
        )
        net = Part(mlp, inputs=inputs, width=width, depth=depth, outputs=1, normal=True)
        return Trial(task, probes, seeds, net, recipe)

    def full_batch(
        rate: float,
        regime: str,
        most: int,
        *,
        stop: float | None = 1e-4,
        every: int = 100,
        loss: Part = SQUARED_ERROR,
    ) -> Recipe:
        return Recipe(
            steps=steps(most),
            batch=None,
            optimiser=sgd(rate),
            initial_scale=REGIMES[regime],
            stop_below=stop,
            record_every=every,
            loss=loss,
        )

    found = {}
    for anchors in some(scale, tuple(ANCHORS)):
        for regime, rate in (("lazy", 0.002), ("rich", 0.02)):
            recipe = full_batch(rate, regime, 40_000)
            found[addition_arm(anchors, regime)] = trial(
                Part(addition, anchors=anchors), 18, recipe, slope=True
            )
    for regime, rate in (("lazy", 0.001), ("rich", 0.1), ("richer", 0.1)):
        recipe = full_batch(rate, regime, 40_000)
        found[f"equivalence, {regime}"] = trial(Part(transitive_equivalence), 8, recipe)
    for hidden in some(scale, HIDDEN):
        task = Part(context_dependence, hidden=hidden)
        for regime, rate in (("lazy", 0.01), ("rich", 0.3)):
            recipe = full_batch(rate, regime, 4000, stop=None, every=200, loss=LOGISTIC)
            found[context_arm(hidden, regime, "cross-entropy")] = trial(task, 14, recipe)
        recipe = full_batch(0.002, "lazy", 40_000, every=200)
        found[context_arm(hidden, "lazy", "squared")] = trial(task, 14, recipe)
    for depth in some(scale, DEPTHS):
        deep = Recipe(
            steps=steps(40_000),
            batch=None,
            optimiser=adam(1e-4),
            initial_scale=0.1,
            stop_below=1e-4,
            record_every=500,
        )
        for anchors in some(scale, ("extrapolation", "interpolation", "both")):
            found[deep_arm(anchors, depth)] = trial(
                Part(addition, anchors=anchors), 18, deep, width=100, depth=depth, slope=True
            )
        found[deep_arm("equivalence", depth)] = trial(
            Part(transitive_equivalence), 8, deep, width=100, depth=depth
        )
    return found
