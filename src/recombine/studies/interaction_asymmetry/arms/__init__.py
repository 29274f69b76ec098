"""The experimental arms: exact statements, vectors of known order, the line world and sprites."""

from __future__ import annotations

from recombine.studies.claims import Scale
from recombine.studies.interaction_asymmetry.arms.exact import exact_arms
from recombine.studies.interaction_asymmetry.arms.identifiability import vector_arms
from recombine.studies.interaction_asymmetry.arms.lines import line_arms
from recombine.studies.interaction_asymmetry.arms.sprites import sprite_arms
from recombine.studies.study import Arms, split_seeds

GROUPS = (exact_arms, vector_arms, line_arms, sprite_arms)


def arms(scale: Scale) -> Arms:
    """All arms at a scale; training runs one seed per trial, so that all cores stay busy."""
    trials = {name: trial for group in GROUPS for name, trial in group(scale).items()}
    return {name: (trial,) if trial.net is None else split_seeds(trial) for name, trial in trials.items()}
