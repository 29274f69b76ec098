"""Lippl & Stachenfeld 2025: when does compositional structure yield compositional generalization? A kernel theory."""

from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.kernel_theory.arms import arms
from recombine.studies.kernel_theory.claims import CLAIMS, SOURCES
from recombine.studies.kernel_theory.figures import DRAWINGS
from recombine.studies.study import Study
from recombine.tasks import composite_images

IMAGES = Part(composite_images).name


def cost(trial: Trial) -> float:
    """A rough number of seconds on one core."""
    if trial.net is None or trial.recipe is None:
        return 3.0
    if trial.task.name == IMAGES:
        examples = trial.task["total"] * (trial.recipe.epochs or 0) * len(trial.seeds)
        return 30.0 + 2e-4 * examples * (1 + trial.task["distance"] / 16)
    return 3.0 + 1e-4 * trial.recipe.steps_for(1) * len(trial.seeds)


STUDY = Study(
    name="kernel-theory",
    title="When does compositional structure yield compositional generalization? A kernel theory",
    reference="Lippl & Stachenfeld, ICLR 2025, arXiv:2405.16391",
    arms=arms,
    claims=CLAIMS,
    sources=SOURCES,
    drawings=DRAWINGS,
    cost=cost,
)
