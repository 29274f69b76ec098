"""Qian, Liang & Fiete 2025: modular connectivity from noise that grows with activity."""

from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.poisson_modularity import (
    derivation,
    extrapolation,
    film_heads,
    linear_nets,
    noise,
    penalty,
    regularisers,
    robustness,
    sample_growth,
    sample_structure,
)
from recombine.studies.poisson_modularity.film_roll import film_roll
from recombine.studies.study import Lesson, Study

FILM = Part(film_roll).name
ROWS = {"modular_task": 1000, "gaussian_wedge": 2038, "random_composition": 3994}
"""Training rows of each task, by the name of its function."""
COMPILATION = 6.0
FILM_SECONDS = 60.0


def cost(trial: Trial) -> float:
    """A rough number of seconds on one core, from measured times per step and seed."""
    if trial.net is None or trial.recipe is None:
        return 4.0
    if trial.task.name == FILM:
        return FILM_SECONDS * len(trial.seeds)
    width = dict(trial.net.settings).get("width", 32)
    width = width if isinstance(width, int) else 32
    steps = trial.recipe.steps
    if steps is None:
        steps = trial.recipe.steps_for(ROWS[trial.task.name.rpartition(":")[2]])
    small_batch = 0.5 if trial.recipe.batch is not None and trial.recipe.batch < 100 else 1.0
    per_step = small_batch * (2e-6 * width + 1.5e-8 * width**2)
    if trial.recipe.noise or any(penalty.random for penalty in trial.recipe.penalties):
        per_step += 2e-4  # sampling costs more than the rest of a step
    return COMPILATION + per_step * steps * len(trial.seeds)


STUDY = Study(
    "poisson-modularity",
    "Modular connectivity in neural networks emerges from Poisson noise-motivated regularisation",
    "Qian, Liang & Fiete, 2025, arXiv:2512.13707",
    sections=(
        derivation.SECTION,
        noise.SECTION,
        penalty.SECTION,
        linear_nets.SECTION,
        regularisers.SECTION,
        sample_growth.SECTION,
        sample_structure.SECTION,
        extrapolation.SECTION,
        robustness.SECTION,
        film_heads.SECTION,
    ),
    main_figure="modules",
    learned=(
        Lesson(
            "The product of activity and weights is not what makes modules: at equal task loss, L1 and plain activity "
            "decay give modules, too. What weighted activity adds is that nearly all units stay in use and that the "
            "net withstands activity noise.",
            ("23", "24"),
        ),
        Lesson(
            "Modular by construction does not mean robust: separate blocks trained with L2 are no better under "
            "activity noise than a dense net of as many units, and under additive noise nets with weighted activity "
            "are worse than those with L2.",
            ("14", "22"),
        ),
        Lesson(
            "Modules do not guarantee extrapolation. Some modular nets fit the seen quadrants perfectly with signed "
            "modules and then fail worse than dense nets on the unseen ones.",
            ("17", "36"),
        ),
        Lesson(
            "With tanh units the penalty fits the task but leaves the deeper layers mixed; the effect depends on the "
            "unit.",
            ("25",),
        ),
        Lesson(
            "Poisson-like noise makes nets as modular as multiplicative noise; additive noise removes about 40% of the "
            "weight between modules that L2 alone leaves.",
            ("9",),
        ),
        Lesson("L2 alone drifts towards modules with very long training.", ("27",)),
        Lesson(
            "Small weights between modules are enough to leak: a disturbance in one input is contained only after "
            "they are cut.",
            ("15",),
        ),
    ),
    cost=cost,
    sources=(
        "Sources: abstract: stated in the abstract or on the first page, the only parts of the text that we could "
        "read; code: the authors' public code and its output; derived: follows from formulas, whether or not the paper "
        "contains them; rerun: a bound with slack around single runs of an independent implementation; ours: neither "
        "published nor run before."
    ),
)
