"""How many samples modules need, by number of modules, and which samples."""

from __future__ import annotations

from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.claims import Scale
from recombine.studies.poisson_modularity import module_probes
from recombine.studies.poisson_modularity.arms.shared import SEEDS, net, recipe, weighted
from recombine.tasks import modular_task
from recombine.tasks.modular import PUBLISHED_DRAW

COUNTS = (2, 3, 4, 5)
"""Modules."""
SIZES = (17, 30, 55, 100, 170, 300, 550, 1000, 1700)
"""Numbers of training samples, about four per decade."""
LAWS: dict[str, tuple[tuple[float, float], int | None]] = {
    "usual": ((0.4, 1.8), PUBLISHED_DRAW),
    "low": ((0.4, 0.8), None),
}
"""Range of frequencies, and the seed of functions and samples. The published code uses the usual range up to four
modules and the low one beyond. With the low range every seed draws its own functions and samples."""
GRIDS = (16, 81, 256, 625)
PERMUTED = (0.0, 0.25, 0.5, 1.0)
PROBES = (Part(module_probes.task_errors), Part(module_probes.modularity, maps=False))


def sample_arm(modules: int, samples: int, law: str) -> str:
    """Weighted activity on that many samples of a task with that many modules."""
    return f"{modules} modules, {samples} samples, {law} frequencies"


def plain_arm(modules: int) -> str:
    """L2 alone on 1000 samples of a task with that many modules."""
    return f"{modules} modules, L2"


def grid_arm(samples: int, kind: str) -> str:
    """Four modules, samples on a full grid or at random."""
    return f"{samples} samples, {kind}"


def correlated_arm(permuted: float) -> str:
    """Four modules, 1000 samples whose inputs are equal except for a permuted share."""
    return f"correlated, {permuted:g} permuted"


def _trial(scale: Scale, task: Part, modules: int = 4) -> Trial:
    return Trial(task, PROBES, SEEDS[scale], net(modules), recipe(scale, weighted()))


def sample_arms(scale: Scale) -> dict[str, Trial]:
    """Weighted activity for all numbers of samples and modules; full grids; correlated inputs."""
    arms = {}
    for law, (frequencies, draw) in LAWS.items():
        for modules in COUNTS:
            settings = {"modules": modules, "frequencies": frequencies, "draw": draw}
            for samples in SIZES:
                task = Part(modular_task, train=samples, **settings)
                arms[sample_arm(modules, samples, law)] = _trial(scale, task, modules)
    for modules in COUNTS:
        task = Part(modular_task, modules=modules, frequencies=LAWS["usual"][0])
        arms[plain_arm(modules)] = Trial(task, PROBES, SEEDS[scale], net(modules), recipe(scale))
    for samples in GRIDS:
        for kind, inputs in (("grid", "grid"), ("random", "uniform")):
            task = Part(modular_task, train=samples, inputs=inputs)
            arms[grid_arm(samples, kind)] = _trial(scale, task)
    for permuted in PERMUTED:
        task = Part(modular_task, inputs="correlated", permuted=permuted)
        arms[correlated_arm(permuted)] = _trial(scale, task)
    if scale == "smoke":
        return {name: arms[name] for name in (correlated_arm(0.25),)}
    return arms
