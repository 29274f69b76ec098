"""The figures of the study."""

from __future__ import annotations

from recombine.studies.study import Drawing

DRAWINGS: tuple[Drawing, ...] = ()

__all__ = ["DRAWINGS"]
