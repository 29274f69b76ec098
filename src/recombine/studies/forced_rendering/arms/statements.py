"""Exact statements: without training, or with training only to compare numbers bit by bit."""

from __future__ import annotations

from recombine.parts import Part
from recombine.runs import Trial
from recombine.studies.forced_rendering import identities
from recombine.studies.forced_rendering.arms.builder import CENTRE, Builder
from recombine.studies.study import Arms, split_seeds
from recombine.tasks import bumps


def arms(build: Builder) -> Arms:
    """Constants, parameter counts, codes, and two fits with one seed."""
    task = Part(bumps, hole=CENTRE)
    return {
        "constants": (Trial(task, (Part(identities.constants),), (0,)),),
        "parameter counts": (Trial(task, (Part(identities.parameter_counts),), (0,)),),
        "encodings": (Trial(task, (Part(identities.encodings),), (0,)),),
        "repeatability": split_seeds(
            Trial(Part(bumps, hole=CENTRE, train=495), (Part(identities.repeatability),), build.seeds),
            len(build.seeds),
        ),
    }
