"""Brady et al. 2025: interaction asymmetry, a principle for composable abstractions."""

from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.interaction_asymmetry.arms import arms
from recombine.studies.interaction_asymmetry.claims import CLAIMS, SOURCES
from recombine.studies.interaction_asymmetry.figures import DRAWINGS
from recombine.studies.interaction_asymmetry.tables import TABULATIONS
from recombine.studies.study import Study
from recombine.tasks import interaction_task, line_world, sprites

STEP_SECONDS = {
    Part(interaction_task).name: 1.5e-3,
    Part(line_world).name: 1.3e-2,
    Part(sprites).name: 6e-2,
}


def cost(trial: Trial) -> float:
    """A rough number of seconds on one core."""
    if trial.recipe is None:
        return 5.0
    return 20.0 + STEP_SECONDS[trial.task.name] * (trial.recipe.steps or 0) * len(trial.seeds)


STUDY = Study(
    name="interaction-asymmetry",
    title="Interaction asymmetry: a general principle for learning composable abstractions",
    reference="Brady, von Kügelgen, Lachapelle, Buchholz, Kipf & Brendel, ICLR 2025, arXiv:2411.07784",
    arms=arms,
    claims=CLAIMS,
    sources=SOURCES,
    drawings=DRAWINGS,
    cost=cost,
    tabulations=TABULATIONS,
)
