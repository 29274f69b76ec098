"""Lippl & Lindsey 2024: inductive biases of multi-task learning and finetuning, multiple regimes of feature reuse."""

from recombine.runs import Trial
from recombine.studies.feature_reuse import (
    diagonal_networks,
    diagonal_overlaps,
    group_norm_training,
    images,
    penalties,
    phases,
    relu_networks,
    relu_rows,
)
from recombine.studies.study import Lesson, Study

SECONDS = {
    "transfer": 120.0,
    "theory_errors": 40.0,
    "trained_errors": 40.0,
    "phase_errors": 20.0,
    "forecast_errors": 26.0,
    "group_norm_errors": 90.0,
    "kernel_errors": 30.0,
    "rescaled_finetuning": 400.0,
    "multi_task_images": 400.0,
}
"""Of a trial's probe on one core, at scale quick."""


def cost(trial: Trial) -> float:
    """A rough number of seconds on one core."""
    return max(SECONDS.get(probe.name.rpartition(":")[2], 3.0) for probe in trial.probes)


STUDY = Study(
    "feature-reuse",
    "Inductive biases of multi-task learning and finetuning: multiple regimes of feature reuse",
    "Lippl & Lindsey, NeurIPS 2024, arXiv:2310.02396",
    sections=(
        penalties.SECTION,
        group_norm_training.SECTION,
        diagonal_networks.SECTION,
        diagonal_overlaps.SECTION,
        relu_networks.SECTION,
        relu_rows.SECTION,
        images.SECTION,
        phases.SECTION,
    ),
    main_figure="fig3-nested",
    learned=(
        Lesson(
            "The group norm is not where multi-task learning ends: plain gradient descent from small weights stays "
            "several percent above its minimum; only with vanishing weight decay is it reached.",
            ("5",),
        ),
        Lesson(
            "The form of the penalty in the paper's plots, and that in the authors' training code, differ from the "
            "penalty of the trained network by factors of two and four in the pretrained coefficient; the exact form "
            "also has a linear term that matters for readouts that do not start near zero.",
            ("1", "4"),
        ),
        Lesson(
            "Published losses of the toy experiments are the lowest over training; tables here show the last ones next "
            "to them.",
            ("8", "11"),
        ),
    ),
    cost=cost,
    sources=(
        "Sources: figures of the paper; authors' results: the processed results in their repository; derived: follows "
        "from formulas and is checked by a second route; ours: not in the paper."
    ),
)
