"""The figures of the study, with published values next to ours."""

from __future__ import annotations

from recombine.studies.poisson_modularity.figures import maps, regimes, regions, robustness, samples
from recombine.studies.study import Drawing

DRAWINGS: tuple[Drawing, ...] = (
    *maps.DRAWINGS,
    *regimes.DRAWINGS,
    *robustness.DRAWINGS,
    *samples.DRAWINGS,
    *regions.DRAWINGS,
)

__all__ = ["DRAWINGS"]
