"""Figures 2b, d, f and 4b: rectified networks over several numbers of rows, and main tasks that are weak.

These runs take longer than the headlines and are made on request. Published: 1000 hidden units and up to 512 rows
everywhere; here 200 units, up to 128 rows in Figure 2, and two cosines and three magnitudes in Figure 4b.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.parts import Part
from recombine.report import blank_figure
from recombine.runs import Trial
from recombine.studies.claim import Amendment, Claim
from recombine.studies.evidence import ArmPlan, Evidence, Scale
from recombine.studies.feature_reuse import published
from recombine.studies.feature_reuse import relu_networks as networks
from recombine.studies.feature_reuse.draws import relu_draw
from recombine.studies.feature_reuse.relu_networks import CONDITIONS, HALF, MORE, MUCH, SHARED, TURNED, final
from recombine.studies.feature_reuse.relu_probes import run_name, transfer
from recombine.studies.feature_reuse.row_curves import Learner, row_curves
from recombine.studies.feature_reuse.tangent_kernel import kernel_errors
from recombine.studies.measurement import PerSeed
from recombine.studies.quantity import ratio
from recombine.studies.study import Drawing, StudySection

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS = (16, 32, 128)
ONE_NEW, SIX_NEW = "1 new unit", "6 new units"
NEW_UNITS = (
    (SHARED, (("cosines", (1.0,) * 6),)),
    (HALF, (("cosines", (1.0,) * 3 + (0.0,) * 3),)),
    (ONE_NEW, (("amplitude", "1/k"), ("cosines", (0.0,)))),
    (SIX_NEW, (("amplitude", "1/k"), ("cosines", (0.0,) * 6))),
)
LEARNERS = ("scratch", "finetuned", "multi-task")
ROWS_RUNS = (
    *((learner, SHARED, 32, 1.0) for learner in LEARNERS),
    *((learner, name, n, 1.0) for name in (ONE_NEW, SIX_NEW, HALF) for n in ROWS for learner in LEARNERS),
)
KERNEL_RUNS = tuple((name, n) for name in (SHARED, HALF) for n in (*ROWS, MUCH))
WEAK_TASKS = {
    1.0: {"cosine 1": SHARED, "cosine 0.9": TURNED},
    0.1: {"cosine 1": "magnitude 0.1, cosine 1", "cosine 0.9": "magnitude 0.1, cosine 0.9"},
    0.01: {"cosine 1": "weak, cosine 1", "cosine 0.9": "weak, cosine 0.9"},
}
"""Main tasks by their magnitude and the cosine of their units with the pretrained ones."""
WEAK_CONDITIONS = (
    *CONDITIONS,
    ("magnitude 0.1, cosine 1", (("cosines", (1.0,) * 6), ("magnitude", 0.1))),
    ("magnitude 0.1, cosine 0.9", (("cosines", (0.9,) * 6), ("magnitude", 0.1))),
)
WEAK_ROWS = (32, 128, 512)
WEAK_RUNS = (
    *(
        ("finetuned", name, n, 1.0)
        for tasks in WEAK_TASKS.values()
        for name in tasks.values()
        for n in WEAK_ROWS
    ),
    *(("scratch", tasks["cosine 0.9"], n, 1.0) for tasks in WEAK_TASKS.values() for n in WEAK_ROWS),
    ("scratch", "weak, cosine 1", MUCH, 1.0),
)
WEAK_STEPS, WEAK_GOAL = {"quick": 40_000, "paper": 100_000}, 1e-10
"""A weak task has a small loss from the start: its training ends at the published loss of this study, not at 1e-8."""
BY_ROWS = "rectified networks by rows"
KERNEL = networks.KERNEL
WEAK_ARM = "rectified networks, weak main tasks"
ROWS_ARMS = (BY_ROWS, networks.ARM, networks.FURTHER, KERNEL)
"""What Figure 2b, d, f shows."""
ROWS_MINUTES, WEAK_MINUTES = 14, 9


def arms(scale: Scale) -> dict[str, ArmPlan]:
    """One trial per seed and figure; nothing at scale smoke, at which other sections train the same networks."""
    if scale == "smoke":
        return {}
    size = {"width": networks.WIDTH[scale], "pretrain_steps": networks.PRETRAINING[scale]}
    by_rows = Part(transfer, runs=ROWS_RUNS, steps=networks.STEPS[scale], **size)
    weak = Part(transfer, runs=WEAK_RUNS, steps=WEAK_STEPS[scale], goal=WEAK_GOAL, **size)
    kernel = Part(kernel_errors, runs=KERNEL_RUNS, **size)
    seeds = networks.SEEDS[scale]
    return {
        BY_ROWS: ArmPlan(Trial(Part(relu_draw, conditions=NEW_UNITS), (by_rows,), (0,)), seeds),
        KERNEL: ArmPlan(Trial(Part(relu_draw, conditions=NEW_UNITS), (kernel,), (0,)), seeds),
        WEAK_ARM: ArmPlan(Trial(Part(relu_draw, conditions=WEAK_CONDITIONS), (weak,), (0,)), seeds),
    }


def _sparse_units(evidence: Evidence) -> PerSeed:
    arm = evidence[BY_ROWS]

    def relative(learner: str, name: str, n: int) -> np.ndarray:
        return final(arm, learner, name, n) / final(arm, "scratch", name, ROWS[0])

    def gap(learner: str) -> np.ndarray:
        return relative(learner, SIX_NEW, MORE) / relative(learner, ONE_NEW, MORE)

    return PerSeed(
        gap("finetuned"),
        supports={
            "the same for multi-task learning": gap("multi-task"),
            "the same from scratch": gap("scratch"),
            "1 new unit, 32 rows: finetuned / from scratch": relative("finetuned", ONE_NEW, 32)
            / relative("scratch", ONE_NEW, 32),
            "6 new units, 32 rows: finetuned / from scratch": relative("finetuned", SIX_NEW, 32)
            / relative("scratch", SIX_NEW, 32),
        },
    )


SPARSE_UNITS = Claim(
    "24",
    "rectified networks favour sparse solutions, too: one new unit is found from fewer rows than six",
    "Figure 2b",
    ratio(
        "relative error of finetuning with 128 rows: six new units / one new unit",
        "above",
        published=0.219 / 2.5e-3,
    ),
    (BY_ROWS,),
    _sparse_units,
    on_request=True,
    minutes=ROWS_MINUTES,
    reversal="many new units had been as easy to find as one",
    reduced=networks.REDUCED,
)


def _weak_features(evidence: Evidence) -> PerSeed:
    arm = evidence[WEAK_ARM]

    def gain(cosine: str) -> np.ndarray:
        name = WEAK_TASKS[0.01][cosine]
        return final(arm, "scratch", name, MUCH) / final(arm, "finetuned", name, MUCH)

    power = arm[f"{run_name('scratch', 'weak, cosine 0.9', MUCH)}, loss"]
    return PerSeed(
        gain("cosine 1") / gain("cosine 0.9"),
        supports={
            "from scratch / finetuned, cosine 1": gain("cosine 1"),
            "from scratch / finetuned, cosine 0.9": gain("cosine 0.9"),
            "training loss from scratch": power,
            "training loss of finetuning, cosine 0.9": arm[
                f"{run_name('finetuned', 'weak, cosine 0.9', MUCH)}, loss"
            ],
        },
    )


WEAK = Claim(
    "15",
    "if the main task is weak, finetuning needs the direction of the pretrained units to match",
    "Figure 4b (one seed)",
    ratio(
        "gain of finetuning over learning from scratch, cosine 1 / cosine 0.9, main task 100 times weaker",
        "above",
        published=(5.2e-3 / 4.8e-5) / (5.2e-3 / 0.012),
        magnitude=20,
    ),
    (WEAK_ARM,),
    _weak_features,
    on_request=True,
    minutes=WEAK_MINUTES,
    reversal="rotated units had been as useful as matching ones for a weak task",
    reduced="200 hidden units and at most 40,000 steps (published: 1000 and 100,000 epochs)",
    amendments=(
        Amendment(
            "training ends at a loss of 1e-8",
            "training ends at a loss of 1e-10, after at most 40,000 steps",
            "the loss of a task that is 100 times weaker starts so low that training ended after 200 steps; one pilot "
            "net of seed 0 had been seen",
        ),
    ),
)


def _rows_panels(evidence: Evidence) -> dict[str, list[Learner]]:
    """The lines of Figure 2b, d and f; with 512 rows only where half of the units are shared."""

    def line(learner: str, name: str, suffix: str = "") -> Learner:
        errors: dict[int, np.ndarray] = {}
        for n in (*ROWS, MUCH) if name == HALF else ROWS:
            run = run_name(learner, name, n)
            arm = next(evidence[one] for one in ROWS_ARMS if run in evidence[one].values)
            values = arm[run][:, 1] if arm[run].ndim == 2 else arm[run]
            errors[n] = values / _baseline(evidence, name)
        return Learner(learner, errors, published.RELU[name].get(learner, {}), suffix)

    new = [line(learner, ONE_NEW, ", 1") for learner in LEARNERS]
    new += [line(learner, SIX_NEW, ", 6") for learner in LEARNERS]
    everything = (*LEARNERS, "probe", "kernel")
    return {
        "b: new units": new,
        "d: all shared": [line(learner, SHARED) for learner in everything],
        "f: half shared": [line(learner, HALF) for learner in everything],
    }


def _baseline(evidence: Evidence, name: str) -> np.ndarray:
    """Learning from scratch with 16 rows."""
    arm = evidence[networks.ARM] if name == SHARED else evidence[BY_ROWS]
    return final(arm, "scratch", name, ROWS[0])


def _draw_rows(evidence: Evidence) -> Figure:
    figure = blank_figure(height=3.6)
    paired = evidence.with_common_seeds(ROWS_ARMS)
    row_curves(figure, _rows_panels(paired), label="error / from scratch with 16 rows")
    return figure


def _draw_weak(evidence: Evidence) -> Figure:
    arm = evidence[WEAK_ARM]
    panels = {}
    for magnitude, tasks in WEAK_TASKS.items():
        known = published.WEAK[magnitude]
        first = final(arm, "scratch", tasks["cosine 0.9"], WEAK_ROWS[0])
        lines = [("scratch", "scratch", tasks["cosine 0.9"], "")]
        lines += [("finetuned", cosine, name, f", {cosine}") for cosine, name in tasks.items()]
        panels[f"magnitude {magnitude:g}"] = [
            Learner(learner, {n: final(arm, learner, name, n) / first for n in WEAK_ROWS}, known[key], suffix)
            for learner, key, name, suffix in lines
        ]
    figure = blank_figure(height=3.0)
    row_curves(figure, panels, label="error / from scratch with 32 rows")
    return figure


SECTION = StudySection(
    "Figures 2 and 4b: rectified networks by the number of rows",
    arms=arms,
    claims=(SPARSE_UNITS, WEAK),
    drawings=(
        Drawing(
            "fig2-relu",
            "Rectified networks find few new units, and units that they know, from few rows.",
            "Medians over seeds; crosses are published means (the lowest loss over training, 1000 hidden units). Left: "
            "none of the main task's units is known; thin lines for six of them. Middle and right: all or half are "
            "known. The tangent kernel of the pretrained network does no better than a linear probe on its units: "
            "neither can learn a new one.",
            ROWS_ARMS,
            _draw_rows,
        ),
        Drawing(
            "fig4-weak",
            "The weaker the main task, the better its units must match those that are known.",
            "Finetuning on units at cosine 1 or 0.9 (thin) to the pretrained ones, for main tasks of smaller magnitude "
            "from left to right; medians over seeds. Crosses: published, one seed.",
            (WEAK_ARM,),
            _draw_weak,
        ),
    ),
)
