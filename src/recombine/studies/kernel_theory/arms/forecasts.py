"""Random splits: a forecast for each, and nets trained on it."""

from __future__ import annotations

from recombine.nets import mlp
from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.claims import Scale
from recombine.studies.kernel_theory.arms.shared import LOGISTIC, some
from recombine.studies.kernel_theory.forecasts import forecast
from recombine.tasks import addition, bumps, context_dependence, one_hot, with_random_hole
from recombine.training import Recipe, sgd
from recombine.training.recipe import SQUARED_ERROR

HOLES = {
    "addition": (10, 25, 40, 50, 60),
    "context dependence": (8, 20, 32, 44, 54),
    "bumps": (8, 16, 24, 32, 40),
}
"""Numbers of cells held out at random in the forecast experiment, for each of three task families."""
SPLITS = {"smoke": 1, "quick": 5, "paper": 10}
"""Random splits for each number of cells."""


def forecast_arm(family: str, held_out: int) -> str:
    """Random splits of one task family with `held_out` unseen cells."""
    return f"{family}, {held_out} unseen at random"


def forecast_arms(scale: Scale) -> dict[str, Trial]:
    """Random splits of three task families."""
    arms, seeds = {}, tuple(range(SPLITS[scale]))
    families = {
        "addition": (Part(addition), 18, 1, sgd(0.002)),
        "context dependence": (Part(context_dependence), 14, 1, sgd(0.01)),
        "bumps": (Part(bumps, n=8, encoding=Part(one_hot), polarity="bright"), 16, (8, 8), sgd(0.02)),
    }
    for family, (task, inputs, outputs, optimiser) in families.items():
        signs = family == "context dependence"
        recipe = Recipe(
            steps=20 if scale == "smoke" else 4000 if signs else 20_000,
            batch=None,
            optimiser=optimiser,
            loss=LOGISTIC if signs else SQUARED_ERROR,
            stop_below=None if signs else 1e-4,
            record_every=200,
        )
        net = Part(mlp, inputs=inputs, width=1000, depth=1, outputs=outputs, normal=True)
        for held_out in some(scale, HOLES[family]):
            split = Part(with_random_hole, task=task, held_out=held_out)
            arms[forecast_arm(family, held_out)] = Trial(
                split, (Part(forecast, signs=signs),), seeds, net, recipe
            )
    return arms
