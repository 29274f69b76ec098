"""The figures of the study."""

from __future__ import annotations

from recombine.studies.interaction_asymmetry.figures import recombination, slots, theory
from recombine.studies.study import Drawing

DRAWINGS: tuple[Drawing, ...] = (*theory.DRAWINGS, *slots.DRAWINGS, *recombination.DRAWINGS)

__all__ = ["DRAWINGS"]
