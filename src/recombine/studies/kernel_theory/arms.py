"""The experimental arms: exact statements, and small networks from lazy to rich."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recombine.fit import Recipe, adam, sgd
from recombine.fit.losses import logistic
from recombine.fit.recipe import SQUARED_ERROR
from recombine.nets import mlp
from recombine.parts import Part
from recombine.probes import symbols
from recombine.runs import Trial
from recombine.studies.claims import Scale
from recombine.studies.kernel_theory import identities, predictions
from recombine.studies.kernel_theory.forecasts import forecast
from recombine.studies.study import Arms
from recombine.tasks import (
    addition,
    bumps,
    context_dependence,
    dispersed_addition,
    one_hot,
    transitive_equivalence,
    with_random_hole,
)
from recombine.tasks.symbolic import ANCHORS

SEEDS = {"smoke": (0,), "quick": (0, 1, 2), "paper": tuple(range(6))}
IDENTITIES = {
    "round trips": identities.round_trips,
    "spectra": identities.spectra,
    "additivity": identities.additivity,
    "ridge identity": identities.ridge_identity,
    "slope law": identities.slope_law,
    "context forms": predictions.context_forms,
    "finite network": predictions.finite_network,
}
"""Measured for several seeds, because they hold for random kernels, labels and training sets."""
FACTS = {
    "trajectories": identities.trajectories,
    "small tables": identities.small_tables,
    "equivalence": predictions.equivalence,
    "ordering": predictions.ordering,
    "context tables": predictions.context_tables,
    "region": predictions.region,
    "depths": predictions.depths,
    "decompositions": predictions.decompositions,
    "dispersed": predictions.dispersed,
    "verdicts": predictions.verdicts,
}
"""Measured once: nothing in them is random."""
REGIMES = {"lazy": 1.0, "rich": 1e-2, "richer": 1e-3}
"""Factors on the initial weights."""
DEPTHS = (1, 2, 3, 4)
HIDDEN = (3, 2, 1)
LOGISTIC = Part(logistic)
HOLES = {
    "addition": (10, 25, 40, 50, 60),
    "context dependence": (8, 20, 32, 44, 54),
    "bumps": (8, 16, 24, 32, 40),
}
"""Cells that are held out at random in the forecast experiment, for each of three worlds."""
SPLITS = {"smoke": 1, "quick": 5, "paper": 10}
"""Random splits for each number of cells."""


def arms(scale: Scale) -> Arms:
    """All arms at a scale."""
    seeds, carrier = SEEDS[scale], Part(dispersed_addition)
    found = {name: (Trial(carrier, (Part(probe),), seeds),) for name, probe in IDENTITIES.items()}
    found |= {name: (Trial(carrier, (Part(probe),), seeds[:1]),) for name, probe in FACTS.items()}
    found |= {name: (trial,) for name, trial in _networks(scale).items()}
    found |= {name: (trial,) for name, trial in _forecasts(scale).items()}
    return found


def forecast_arm(world: str, held_out: int) -> str:
    """Random splits of one world with so many cells unseen."""
    return f"{world}, {held_out} unseen at random"


def _some(scale: Scale, values: Sequence[Any]) -> Sequence[Any]:
    """At scale smoke the first of several alike is enough."""
    return values[:1] if scale == "smoke" else values


def _forecasts(scale: Scale) -> dict[str, Trial]:
    found, seeds = {}, tuple(range(SPLITS[scale]))
    worlds = {
        "addition": (Part(addition), 18, 1, sgd(0.002)),
        "context dependence": (Part(context_dependence), 14, 1, sgd(0.01)),
        "bumps": (Part(bumps, n=8, encoding=Part(one_hot), polarity="bright"), 16, (8, 8), sgd(0.02)),
    }
    for world, (task, inputs, outputs, optimiser) in worlds.items():
        signs = world == "context dependence"
        recipe = Recipe(
            steps=20 if scale == "smoke" else 4000 if signs else 20_000,
            batch=None,
            optimiser=optimiser,
            loss=LOGISTIC if signs else SQUARED_ERROR,
            stop_below=None if signs else 1e-4,
            record_every=200,
        )
        net = Part(mlp, inputs=inputs, width=1000, depth=1, outputs=outputs, normal=True)
        for held_out in _some(scale, HOLES[world]):
            split = Part(with_random_hole, task=task, held_out=held_out)
            found[forecast_arm(world, held_out)] = Trial(
                split, (Part(forecast, signs=signs),), seeds, net, recipe
            )
    return found


def addition_arm(anchors: str, regime: str) -> str:
    """Addition by one hidden layer."""
    return f"addition {anchors}, {regime}"


def context_arm(hidden: int, regime: str, loss: str) -> str:
    """Context dependence by one hidden layer."""
    return f"CD-{hidden}, {regime}, {loss}"


def deep_arm(task: str, depth: int) -> str:
    """Networks of 100 units in each of `depth` layers."""
    return f"{task}, {depth} layers"


def _networks(scale: Scale) -> dict[str, Trial]:
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
    for anchors in _some(scale, tuple(ANCHORS)):
        for regime, rate in (("lazy", 0.002), ("rich", 0.02)):
            recipe = full_batch(rate, regime, 40_000)
            found[addition_arm(anchors, regime)] = trial(
                Part(addition, anchors=anchors), 18, recipe, slope=True
            )
    for regime, rate in (("lazy", 0.001), ("rich", 0.1), ("richer", 0.1)):
        recipe = full_batch(rate, regime, 40_000)
        found[f"equivalence, {regime}"] = trial(Part(transitive_equivalence), 8, recipe)
    for hidden in _some(scale, HIDDEN):
        task = Part(context_dependence, hidden=hidden)
        for regime, rate in (("lazy", 0.01), ("rich", 0.3)):
            recipe = full_batch(rate, regime, 4000, stop=None, every=200, loss=LOGISTIC)
            found[context_arm(hidden, regime, "cross-entropy")] = trial(task, 14, recipe)
        recipe = full_batch(0.002, "lazy", 40_000, every=200)
        found[context_arm(hidden, "lazy", "squared")] = trial(task, 14, recipe)
    for depth in _some(scale, DEPTHS):
        deep = Recipe(
            steps=steps(40_000),
            batch=None,
            optimiser=adam(1e-4),
            initial_scale=0.1,
            stop_below=1e-4,
            record_every=500,
        )
        for anchors in _some(scale, ("extrapolation", "interpolation", "both")):
            found[deep_arm(anchors, depth)] = trial(
                Part(addition, anchors=anchors), 18, deep, width=100, depth=depth, slope=True
            )
        found[deep_arm("equivalence", depth)] = trial(
            Part(transitive_equivalence), 8, deep, width=100, depth=depth
        )
    return found
