"""The figures of the study, with published values next to ours."""

from __future__ import annotations

from recombine.studies.kernel_theory.figures import forecasts, images, networks, theory
from recombine.studies.study import Drawing

DRAWINGS: tuple[Drawing, ...] = (*theory.DRAWINGS, *networks.DRAWINGS, *images.DRAWINGS, *forecasts.DRAWINGS)

__all__ = ["DRAWINGS"]
