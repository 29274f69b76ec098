"""Every decoder of the study on one scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recombine.studies.claims import Evidence
from recombine.studies.forced_rendering.figures.layers import MLPS
from recombine.studies.forced_rendering.figures.shared import (
    CNNS,
    median,
    present,
    shares_figure,
    shares_of_blank,
)
from recombine.studies.study import Drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DECODERS = {
    **CNNS,
    **{label: arm for label, arm in MLPS.items() if "200" in arm},
    "render net, no penalty": "render none",
    "render net, both penalties": "render both",
    "CNN, stripes only": "cnn stripes + 0 bumps",
    "CNN, stripes + 196 bumps": "cnn stripes + 196 bumps",
    "CNN, 252 bumps, no stripes": "cnn 252 bumps, no stripes",
    "per-pixel MLP": "spatial mlp",
    "pixel transformer": "transformer",
    "CNN, enlarged canvas": "canvas bump",
}


def _everything(evidence: Evidence) -> Figure:
    groups = shares_of_blank(evidence, present(evidence, DECODERS))
    worse = sum(median(group["unseen"]) > 1.0 for group in groups.values())
    title = f"On unseen combinations {worse} of {len(groups)} decoders are worse than a blank image"
    return shares_figure(groups, title)


DRAWINGS = (
    Drawing(
        "overview",
        "All decoders on one scale: errors on seen and on unseen combinations.",
        "Each point is one trained net. An error of 1 is that of a blank image on the same cells, so anything "
        "to its right is worse than drawing nothing. The further apart the two colours are, the less a net generalises "
        "to unseen combinations. Images, holes and training lengths differ between nets.",
        ("cnn bump",),
        _everything,
    ),
)
