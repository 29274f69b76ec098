"""The arms of the sweep: one for every world and remedy that fit together."""

from __future__ import annotations

from functools import lru_cache

from recombine.runs import Trial
from recombine.studies.evidence import ArmPlan, Scale
from recombine.studies.remedies.arrangement import Arrangement
from recombine.studies.remedies.published_remedies import NONE, REMEDIES
from recombine.studies.remedies.tuning import chosen_strength
from recombine.studies.remedies.worlds import worlds

SEEDS = {"smoke": 1, "quick": 10, "paper": 10}
SMOKE_WORLDS = ("context dependence", "gated contexts")
SMOKE_REMEDIES = (NONE.name, "squared error", "small initial scale")
WORLDS = tuple(world.name for world in worlds("quick"))
KINDS = {world.name: world.outputs for world in worlds("quick")}
HOME = {world.name: world.paper for world in worlds("quick")}


def arm_name(world: str, remedy: str) -> str:
    """The name of an arm."""
    return f"{world}/{remedy}"


@lru_cache(maxsize=3)
def arrangements(scale: Scale) -> dict[tuple[str, str], Arrangement | str]:
    """What every remedy makes of every world, with the strength that tuning chose, or why it cannot be applied."""
    made = {}
    for world in worlds(scale):
        for remedy in REMEDIES:
            made[world.name, remedy.name] = remedy.apply(world, chosen_strength(world.name, remedy))
    return made


def arms(scale: Scale) -> dict[str, ArmPlan]:
    """All arms at scale quick and paper; at scale smoke two worlds and three remedies."""
    smoke = scale == "smoke"
    return {
        arm_name(world, remedy): ArmPlan(made.trial(), SEEDS[scale])
        for (world, remedy), made in arrangements(scale).items()
        if isinstance(made, Arrangement)
        and (not smoke or (world in SMOKE_WORLDS and remedy in SMOKE_REMEDIES))
    }


@lru_cache(maxsize=1)
def all_arms() -> tuple[str, ...]:
    """The names of all arms."""
    return tuple(arms("quick"))


SMOKE_ARMS = tuple(arm_name(world, remedy) for world in SMOKE_WORLDS for remedy in SMOKE_REMEDIES)
"""All claims need these; they use the others where they are there."""


def cost(trial: Trial) -> float:
    """Seconds: compiling, and a step for every thousand weights or so."""
    if trial.recipe is None or trial.net is None:
        return 1.0
    slow = {"slot_autoencoder": 5e-3, "render_net": 3e-3, "pretrained": 2e-3}
    per_step = slow.get(trial.net.name.rpartition(":")[2], 7e-4)
    return (1.0 + per_step * (trial.recipe.steps or 0)) * len(trial.seeds)
