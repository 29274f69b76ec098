"""Which samples lead to modules: how many, on a grid or at random, with independent or equal inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.parts import Part
from recombine.report import BASELINE, blank_figure, colours, look, sentence
from recombine.runs import Trial
from recombine.studies.claim import Amendment, Claim
from recombine.studies.evidence import ArmPlan, Evidence, Scale
from recombine.studies.measurement import PerSeed
from recombine.studies.poisson_modularity import module_probes
from recombine.studies.poisson_modularity.sine_nets import (
    MODULAR,
    OUTSIDE,
    SEEDS,
    TOGETHER,
    inside,
    net,
    outside,
    recipe,
    weighted,
)
from recombine.studies.quantity import difference, ratio
from recombine.studies.study import Drawing, StudySection
from recombine.tasks import modular_task
from recombine.training import Recipe

if TYPE_CHECKING:
    from matplotlib.figure import Figure

USUAL = (0.4, 1.8)
"""The published range of frequencies up to four modules; here up to five."""
FOUR_SIZES = (30, 100, 300, 1000)
FEW_COUNTS = (2, 3, 4, 5)
GRIDS = (16, 81, 256, 625)
PERMUTED = (0.0, 0.25, 0.5, 1.0)
PROBES = (Part(module_probes.task_errors), Part(module_probes.modularity, maps=False))


def sample_arm(modules: int, samples: int) -> str:
    """Weighted activity on that many of the published samples."""
    return f"{modules} modules, {samples} samples, published draw"


def plain_arm(modules: int) -> str:
    """L2 alone on 1000 samples of a task with that many modules."""
    return f"{modules} modules, L2"


def grid_arm(samples: int, kind: str) -> str:
    """Four modules, samples on a full grid or at random."""
    return f"{samples} samples, {kind}"


def correlated_arm(permuted: float) -> str:
    """Four modules, 1000 samples whose inputs are equal except for a permuted share."""
    return f"correlated, {permuted:g} permuted"


def arms(scale: Scale) -> dict[str, ArmPlan]:
    """Four modules on 30 to 1000 samples, two to five on 1000; full grids; correlated inputs."""

    def plan(task: Part, how: Recipe, modules: int = 4) -> ArmPlan:
        return ArmPlan(Trial(task, PROBES, (0,), net(modules), how), seeds=SEEDS[scale], together=TOGETHER)

    how = recipe(scale, weighted())
    if scale == "smoke":
        task = Part(modular_task, inputs="correlated", permuted=0.25)
        return {correlated_arm(0.25): plan(task, how)}
    plans = {}
    for modules, samples in sorted({*((4, n) for n in FOUR_SIZES), *((k, 1000) for k in FEW_COUNTS)}):
        task = Part(modular_task, modules=modules, train=samples, frequencies=USUAL)
        plans[sample_arm(modules, samples)] = plan(task, how, modules)
    for modules in FEW_COUNTS:
        task = Part(modular_task, modules=modules, frequencies=USUAL)
        plans[plain_arm(modules)] = plan(task, recipe(scale), modules)
    for samples in GRIDS:
        for kind, inputs in (("grid", "grid"), ("random", "uniform")):
            plans[grid_arm(samples, kind)] = plan(Part(modular_task, train=samples, inputs=inputs), how)
    for permuted in PERMUTED:
        task = Part(modular_task, inputs="correlated", permuted=permuted)
        plans[correlated_arm(permuted)] = plan(task, how)
    return plans


def _samples_of_four(evidence: Evidence) -> PerSeed:
    few, many = (evidence[sample_arm(4, n)] for n in (FOUR_SIZES[0], FOUR_SIZES[-1]))
    return PerSeed(
        outside(few) / outside(many),
        supports={f"share inside, {n} samples": inside(evidence[sample_arm(4, n)]) for n in FOUR_SIZES},
    )


SAMPLES_OF_FOUR = Claim(
    "16",
    "four modules emerge only with enough samples",
    "abstract, rerun",
    # At most 85% inside with 30 samples and at least 98% with 1000, the bounds set before measuring.
    ratio(f"{OUTSIDE}: 30 / 1000 samples", "above", magnitude=7.5),
    tuple(sample_arm(4, n) for n in FOUR_SIZES),
    _samples_of_four,
    reversal="nets on 30 samples had become as modular as those on 1000",
    amendments=(
        Amendment(
            "medians increase over 30, 100, 300 and 1000 samples; at most 85% inside at 30, at least 98% at 1000",
            "the ratio of the weights outside at 30 and 1000, magnitude 15% / 2%",
            "one quantity decides",
        ),
    ),
)


def _grids(evidence: Evidence) -> PerSeed:
    pairs = {n: [outside(evidence[grid_arm(n, kind)]) for kind in ("random", "grid")] for n in GRIDS}
    ratios = {n: random / grid for n, (random, grid) in pairs.items()}
    supports = {f"{n} samples": ratios[n] for n in GRIDS if n != 81}
    return PerSeed(ratios[81], supports=supports)


GRIDS_HELP = Claim(
    "29",
    "full grids of samples lead to modules earlier than as many random samples",
    "code of a follow-up",
    ratio(f"{OUTSIDE}, 81 samples: random / full grid", "above"),
    tuple(grid_arm(n, kind) for n in GRIDS for kind in ("grid", "random")),
    _grids,
    reversal="grids had left more weight between modules than random samples",
    amendments=(
        Amendment(
            "share inside, grid minus the median of random, with 16 and 81 samples; equal inputs at most 80% inside",
            "the ratio of the weights outside with 81 samples, paired by seed; equal inputs are claim 37",
            "two statements became two claims",
        ),
    ),
)


def _equal_inputs(evidence: Evidence) -> PerSeed:
    equal, independent = (evidence[correlated_arm(share)] for share in (0.0, 1.0))
    return PerSeed(
        outside(equal) / outside(independent),
        supports={
            f"share inside, {share:g} permuted": inside(evidence[correlated_arm(share)]) for share in PERMUTED
        },
    )


EQUAL_INPUTS = Claim(
    "37",
    "inputs that always have the same value do not lead to modules",
    "code of a follow-up",
    # At most 80% inside with equal inputs, at least 98% with independent ones, the bounds set before measuring.
    ratio(f"{OUTSIDE}: equal / independent inputs", "above", magnitude=10.0),
    tuple(correlated_arm(share) for share in PERMUTED),
    _equal_inputs,
    reversal="nets with equal inputs had become as modular as with independent ones",
)


def _more_modules(evidence: Evidence) -> PerSeed:
    plain = {k: inside(evidence[plain_arm(k)]) for k in FEW_COUNTS}
    trained = {k: inside(evidence[sample_arm(k, 1000)]) for k in FEW_COUNTS}
    return PerSeed(
        (trained[4] - plain[4]) - (trained[2] - plain[2]),
        supports={
            **{f"share inside, L2, {k} modules": plain[k] for k in FEW_COUNTS},
            **{f"weighted activity, {k} modules": trained[k] for k in FEW_COUNTS},
        },
    )


MORE_MODULES = Claim(
    "32",
    "with two modules L2 alone is nearly modular; the advantage of weighted activity is larger with four",
    "rerun",
    difference("advantage of weighted activity over L2 in the share inside: four minus two modules", "above"),
    (*(plain_arm(k) for k in FEW_COUNTS), *(sample_arm(k, 1000) for k in FEW_COUNTS)),
    _more_modules,
    reversal="the advantage had been larger with two modules",
)


def _draw_structure(evidence: Evidence) -> Figure:
    with look():
        figure = blank_figure(height=2.7)
        panels = figure.subplots(1, 3, sharey=True)
        for kind, ink in colours(["grid", "random"]).items():
            values = np.array([inside(evidence[grid_arm(n, kind)]) for n in GRIDS])
            panels[0].plot(GRIDS, np.median(values, axis=1), color=ink, label=kind)
            panels[0].plot(GRIDS, values, "o", color=ink, markersize=3)
        panels[0].set_xscale("log")
        panels[0].set_xticks(GRIDS, [str(n) for n in GRIDS])
        panels[0].minorticks_off()
        panels[0].set_xlabel("training samples")
        panels[0].legend()
        values = np.array([inside(evidence[correlated_arm(p)]) for p in PERMUTED])
        panels[1].plot(PERMUTED, np.median(values, axis=1), color="#000000")
        panels[1].plot(PERMUTED, values, "o", color="#000000", markersize=3)
        panels[1].set_xlabel("share of entries permuted")
        trained = {
            "L2": [plain_arm(k) for k in FEW_COUNTS],
            "WA": [sample_arm(k, 1000) for k in FEW_COUNTS],
        }
        for name, ink in colours(list(trained)).items():
            shares = np.array([inside(evidence[arm]) for arm in trained[name]])
            panels[2].plot(FEW_COUNTS, np.median(shares, axis=1), color=ink, label=name)
            panels[2].plot(FEW_COUNTS, shares, "o", color=ink, markersize=3)
        panels[2].set_xticks(FEW_COUNTS)
        panels[2].set_xlabel("modules")
        panels[2].legend()
        panels[0].set_ylabel("weight inside, least modular layer")
        for ax, text in zip(panels, ("full grids", "correlated inputs", "1000 samples"), strict=True):
            ax.axhline(MODULAR, color=BASELINE, linewidth=0.8)
            sentence(ax, text)
    return figure


STRUCTURE = Drawing(
    "sample-structure",
    "Which samples help: grids, independent inputs, and few modules.",
    "Weighted activity on four modules and full grids or as many random samples; on 1000 samples whose inputs are "
    "equal except for a permuted share; and compared with L2 for two to five modules.",
    (
        *(grid_arm(n, kind) for n in GRIDS for kind in ("grid", "random")),
        *(correlated_arm(share) for share in PERMUTED),
        *(plain_arm(k) for k in FEW_COUNTS),
        *(sample_arm(k, 1000) for k in FEW_COUNTS),
    ),
    _draw_structure,
)

SECTION = StudySection(
    "Which samples lead to modules",
    arms=arms,
    claims=(SAMPLES_OF_FOUR, GRIDS_HELP, EQUAL_INPUTS, MORE_MODULES),
    drawings=(STRUCTURE,),
)
