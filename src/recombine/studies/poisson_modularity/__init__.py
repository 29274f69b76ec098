"""Qian, Liang & Fiete 2025: modular connectivity from noise that grows with activity."""

from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.poisson_modularity.arms import arms
from recombine.studies.poisson_modularity.claims import CLAIMS, SOURCES
from recombine.studies.poisson_modularity.figures import DRAWINGS
from recombine.studies.poisson_modularity.film_roll import film_roll
from recombine.studies.study import Study

FILM = Part(film_roll).name


def cost(trial: Trial) -> float:
    """A rough number of seconds on one core."""
    if trial.net is None or trial.recipe is None:
        return 4.0
    if trial.task.name == FILM:
        return 60.0 * len(trial.seeds)
    rows = {"recombine.studies.poisson_modularity.compositions:gaussian_wedge": 2038}.get(
        trial.task.name, 3994
    )
    steps = trial.recipe.steps or trial.recipe.steps_for(1000 if trial.task.name.endswith("task") else rows)
    slow = 3.0 if trial.recipe.noise or any(p.random for p in trial.recipe.penalties) else 1.0
    return 5.0 + 8e-5 * slow * steps * len(trial.seeds)


STUDY = Study(
    name="poisson-modularity",
    title="Modular connectivity in neural networks emerges from Poisson noise-motivated regularisation",
    reference="Qian, Liang & Fiete, 2025, arXiv:2512.13707",
    arms=arms,
    claims=CLAIMS,
    sources=SOURCES,
    drawings=DRAWINGS,
    cost=cost,
)
