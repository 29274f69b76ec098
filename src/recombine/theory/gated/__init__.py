"""Gated linear networks: the norm that gradient descent minimises in them, and its solutions, without training.

**Reference:** Lippl, Abbott and Chung, The implicit bias of gradient descent on generalized gated linear networks,
2022, arXiv 2202.02649.
"""

from recombine.theory.gated.architecture import GatedArchitecture, GatedLayer, ImplicitNorm
from recombine.theory.gated.cone_programme import group_norm_by_cones
from recombine.theory.gated.context_bounds import ContextBounds, context_bounds, enclosing_radius
from recombine.theory.gated.context_coverage import (
    ContextCoverage,
    LeftOut,
    context_coverage,
    effective_weights,
    leave_one_conjunction_out,
)
from recombine.theory.gated.gated_rows import OFF, DiagonalRows, GatedRows
from recombine.theory.gated.group_margin import GroupMachine, InseparableError, min_group_norm_machine
from recombine.theory.gated.kernel_forms import (
    KernelMargin,
    context_kernel,
    kernel_margin,
    published_groups,
    published_l2_kernel,
)
from recombine.theory.gated.nuclear_margin import NuclearMachine, min_nuclear_norm
from recombine.theory.gated.programmes import (
    ArchitectureLimit,
    OneAgainstRest,
    one_against_rest,
    solve_architecture,
)

__all__ = [
    "OFF",
    "ArchitectureLimit",
    "ContextBounds",
    "ContextCoverage",
    "DiagonalRows",
    "GatedArchitecture",
    "GatedLayer",
    "GatedRows",
    "GroupMachine",
    "ImplicitNorm",
    "InseparableError",
    "KernelMargin",
    "LeftOut",
    "NuclearMachine",
    "OneAgainstRest",
    "context_bounds",
    "context_coverage",
    "context_kernel",
    "effective_weights",
    "enclosing_radius",
    "group_norm_by_cones",
    "kernel_margin",
    "leave_one_conjunction_out",
    "min_group_norm_machine",
    "min_nuclear_norm",
    "one_against_rest",
    "published_groups",
    "published_l2_kernel",
    "solve_architecture",
]
