"""Exact statements: no training, or training only to compare numbers bit by bit."""

from __future__ import annotations

from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.forced_rendering import exact
from recombine.studies.forced_rendering.arms.builder import CENTRE, Builder
from recombine.studies.study import Arms, in_pieces
from recombine.tasks import bumps


def arms(build: Builder) -> Arms:
    """Constants, parameter counts, codes, and two fits of one seed."""
    task = Part(bumps, hole=CENTRE)
    return {
        "constants": (Trial(task, (Part(exact.constants),), (0,)),),
        "parameter counts": (Trial(task, (Part(exact.parameter_counts),), (0,)),),
        "encodings": (Trial(task, (Part(exact.encodings),), (0,)),),
        "repeatability": in_pieces(
            Trial(Part(bumps, hole=CENTRE, train=495), (Part(exact.repeatability),), build.seeds),
            len(build.seeds),
        ),
    }
