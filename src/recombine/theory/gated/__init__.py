"""Gated linear networks: what gradient descent ends at, solved without training."""

from recombine.theory.gated.cone_programme import group_norm_by_cones
from recombine.theory.gated.gated_rows import OFF, GatedRows
from recombine.theory.gated.group_margin import GroupMachine, InseparableError, min_group_norm_machine

__all__ = [
    "OFF",
    "GatedRows",
    "GroupMachine",
    "InseparableError",
    "group_norm_by_cones",
    "min_group_norm_machine",
]
