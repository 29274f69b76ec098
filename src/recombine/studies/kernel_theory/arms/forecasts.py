"""Random splits that are foretold and then trained on."""

from __future__ import annotations

from recombine.fit import Recipe, sgd
from recombine.fit.recipe import SQUARED_ERROR
from recombine.nets import mlp
from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.claims import Scale
from recombine.studies.kernel_theory.arms.shared import LOGISTIC, some
from recombine.studies.kernel_theory.forecasts import forecast
from recombine.tasks import addition, bumps, context_dependence, one_hot, with_random_hole

HOLES = {
    "addition": (10, 25, 40, 50, 60),
    "context dependence": (8, 20, 32, 44, 54),
    "bumps": (8, 16, 24, 32, 40),
}
"""Cells that are held out at random in the forecast experiment, for each of three worlds."""
SPLITS = {"smoke": 1, "quick": 5, "paper": 10}
"""Random splits for each number of cells."""


def forecast_arm(world: str, held_out: int) -> str:
    """Random splits of one world with so many cells unseen."""
    return f"{world}, {held_out} unseen at random"


def forecast_arms(scale: Scale) -> dict[str, Trial]:
    """Random splits of three worlds."""
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
        for held_out in some(scale, HOLES[world]):
            split = Part(with_random_hole, task=task, held_out=held_out)
            found[forecast_arm(world, held_out)] = Trial(
                split, (Part(forecast, signs=signs),), seeds, net, recipe
            )
    return found
