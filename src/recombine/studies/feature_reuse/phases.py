"""A phase diagram that the paper does not have: where rescaling helps, by sparsity and by overlap of the main task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.parts import Part
from recombine.report import blank_figure, heat_table, look, sentence
from recombine.runs import Trial
from recombine.studies.claim import Claim
from recombine.studies.evidence import ArmPlan, Evidence, Scale
from recombine.studies.feature_reuse.diagonal_probes import phase_errors
from recombine.studies.feature_reuse.draws import nothing
from recombine.studies.measurement import PerSeed
from recombine.studies.quantity import described
from recombine.studies.study import Drawing, StudySection

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCALES = (10.0, 1.0, 0.3, 0.1, 0.01, 0.001)
ACTIVE = (1, 2, 5, 10, 20, 40)
OVERLAPS = (0, 10, 20, 30, 40)
FEATURES = {"smoke": 120, "quick": 1000, "paper": 1000}
ROWS = {"smoke": 16, "quick": 24, "paper": 24}
SEEDS = {"smoke": 1, "quick": 6, "paper": 12}
ARM = "phase diagram"
FLOOR = 1e-3
"""Errors below this are drawn alike."""


def arms(scale: Scale) -> dict[str, ArmPlan]:
    """One draw of teachers and rows per seed."""
    grid = {"scales": SCALES, "active": ACTIVE, "overlaps": OVERLAPS}
    probe = Part(phase_errors, **grid, features=FEATURES[scale], rows=ROWS[scale])
    return {ARM: ArmPlan(Trial(Part(nothing), (probe,), (0,)), SEEDS[scale])}


def _best_scales(evidence: Evidence) -> PerSeed:
    arm = evidence[ARM]
    best = np.array(SCALES)[np.argmin(arm["sparsity"], axis=2)]  # (seeds, active)
    return PerSeed(
        best[:, 0],
        supports={f"{k} features: best rescaling": best[:, i] for i, k in enumerate(ACTIVE)},
    )


def _short(value: float) -> str:
    """Two digits; a dot for what is as good as zero."""
    return "·" if value <= FLOOR else f"{value:.2g}" if value >= 0.01 else f"{value:.0e}".replace("e-0", "e-")


def _draw(evidence: Evidence) -> Figure:
    arm = evidence[ARM]
    with look():
        figure = blank_figure(height=3.4)
        left, right = figure.subplots(1, 2)
        for ax, name, values, label in (
            (left, "sparsity", ACTIVE, "known features that the main task uses"),
            (right, "overlap", OVERLAPS, "of 40 features, shared"),
        ):
            errors = np.median(arm[name], axis=0)
            scratch = np.median(arm[f"scratch by {name}"], axis=0)[:, None]
            heat_table(
                ax,
                np.clip(np.column_stack([errors, scratch]), FLOOR, 2),
                [str(value) for value in values],
                [*(f"{s:g}" for s in SCALES), "scratch"],
                log=True,
                column_label="rescaling of the pretrained weights",
                text=_short,
                label="error / predicting zero",
            )
            sentence(ax, label)
    return figure


SECTION = StudySection(
    "Where rescaling helps: a phase diagram",
    arms=arms,
    claims=(
        Claim(
            "21",
            "which rescaling is best, by the number of known features that the main task uses",
            "ours",
            described("best rescaling for a main task of one known feature"),
            (ARM,),
            _best_scales,
        ),
    ),
    drawings=(
        Drawing(
            "phases",
            "Shrinking pays where the main task uses few of the known features, and costs where it uses all of them.",
            "Error of the limits of training with 24 rows, 1000 inputs and 40 pretrained features; medians over draws. "
            "Left: all features of the main task are known. Right: it has 40 features, of which some are known.",
            (ARM,),
            _draw,
        ),
    ),
)
