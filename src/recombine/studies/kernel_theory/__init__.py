"""Lippl & Stachenfeld 2025: when does compositional structure yield compositional generalization? A kernel theory."""

from recombine.runs import Trial
from recombine.studies.kernel_theory.arms import arms
from recombine.studies.kernel_theory.claims import CLAIMS
from recombine.studies.kernel_theory.figures import DRAWINGS
from recombine.studies.study import Study


def cost(trial: Trial) -> float:
    """A rough number of seconds on one core."""
    if trial.net is None or trial.recipe is None:
        return 3.0
    return 3.0 + 1e-4 * trial.recipe.steps_for(1) * len(trial.seeds)


STUDY = Study(
    name="kernel-theory",
    title="When does compositional structure yield compositional generalization? A kernel theory",
    reference="Lippl & Stachenfeld, ICLR 2025, arXiv:2405.16391",
    arms=arms,
    claims=CLAIMS,
    drawings=DRAWINGS,
    cost=cost,
)
