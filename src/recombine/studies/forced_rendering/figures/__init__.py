"""The figures of the study, in the paper's order: failure, layers, forced rendering, stripes, further material."""

from recombine.studies.forced_rendering.figures import (
    failure,
    layers,
    other_tasks,
    overview,
    rendering,
    scaling,
    stripes,
    variants,
)
from recombine.studies.study import Drawing

DRAWINGS: tuple[Drawing, ...] = (
    *overview.DRAWINGS,
    *failure.DRAWINGS,
    *layers.DRAWINGS,
    *rendering.DRAWINGS,
    *stripes.DRAWINGS,
    *scaling.DRAWINGS,
    *variants.DRAWINGS,
    *other_tasks.DRAWINGS,
)
"""The results page shows each figure whose arms have been run."""

__all__ = ["DRAWINGS"]
