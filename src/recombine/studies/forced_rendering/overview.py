"""The message in one figure, and every decoder of the study on one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recombine.probes.decoders import polarity_of
from recombine.report import PAGE_WIDTH, blank_figure, image_grid, look, seed_points
from recombine.studies.evidence import ArmPlan, Evidence, Scale
from recombine.studies.forced_rendering.decoder_figures import (
    CNNS,
    median,
    present,
    shares_figure,
    shares_of_blank,
    task_of,
)
from recombine.studies.study import Drawing, StudySection

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = {
    "standard decoder": "cnn bump",
    "forced rendering": "render both",
    "stripes in training": "cnn stripes + 7N bumps",
}
DECODERS = {
    **CNNS,
    "MLP, bump code, 200 epochs": "mlp bump 200 epochs",
    "MLP, ramp code, 200 epochs": "mlp ramp 200 epochs",
    "render net, no penalty": "render none",
    "render net, both penalties": "render both",
    "CNN, stripes only": "cnn stripes + 0 bumps",
    "CNN, stripes + 7N bumps": "cnn stripes + 7N bumps",
    "CNN, 9N bumps, no stripes": "cnn 9N bumps, no stripes",
    "per-pixel MLP": "spatial mlp",
    "pixel transformer": "transformer",
    "CNN, enlarged canvas": "canvas bump",
}


def arms(scale: Scale) -> dict[str, ArmPlan]:
    """None of its own; the figures show the arms of other sections."""
    return {}


def _message(evidence: Evidence) -> Figure:
    """Targets and images of three methods at the left, errors of all seeds at the right."""
    shown = 2 if evidence.scale == "smoke" else 4
    rows: dict[str, np.ndarray] = {}
    for label, arm in METHODS.items():
        targets, drawn = (evidence[arm][name][0][:shown] for name in ("picture_targets", "pictures"))
        if polarity_of(task_of(evidence, arm)) == "bright":
            targets, drawn = 1 - targets, 1 - drawn
        rows |= {f"target for\n{label}": targets, f"{label}\ndraws": drawn}
    groups = shares_of_blank(evidence, METHODS)
    with look():
        figure = blank_figure(width=PAGE_WIDTH, height=5.4)
        left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=(1.35, 1.0))[0]
        image_grid(left, rows, unseen=np.ones(shown, dtype=bool))
        ax = right.subplots()
    seed_points(
        ax,
        groups,
        baselines={"blank image": 1.0},
        log=True,
        title="Error on seen and on unseen combinations",
        label="error / error of a blank image",
    )
    return figure


def _everything(evidence: Evidence) -> Figure:
    groups = shares_of_blank(evidence, present(evidence, DECODERS))
    worse = sum(median(group["unseen"]) > 1.0 for group in groups.values())
    title = f"On unseen combinations {worse} of {len(groups)} decoders are worse than a blank image"
    return shares_figure(groups, title)


SECTION = StudySection(
    "All decoders on one scale",
    arms=arms,
    claims=(),
    drawings=(
        Drawing(
            "message",
            "A decoder that knows x and y separately still cannot draw a new combination, unless it has to draw each "
            "factor by itself.",
            "A net receives the position (x, y) in a code that keeps x and y apart, and has to draw a dot there. "
            "Every x and every y occurs in training, but some combinations are left out; all images here are of "
            "such combinations (dashed frames, first seed). Left: the standard decoder smears seen images over "
            "each other; a net that must render x and y as low-rank canvases, and one that has also seen x alone "
            "and y alone, draw the dot. Right: errors of all seeds; 1 is the error of a blank image. The three "
            "methods have holes and images of different sizes.",
            tuple(METHODS.values()),
            _message,
            "image",
        ),
        Drawing(
            "overview",
            "All decoders on one scale: errors on seen and on unseen combinations.",
            "Each point is one trained net. An error of 1 is that of a blank image on the same cells, so anything "
            "to its right is worse than drawing nothing. The further apart the two colours are, the less a net "
            "generalises to unseen combinations. Images, holes and training lengths differ between nets.",
            ("cnn bump",),
            _everything,
        ),
    ),
)
