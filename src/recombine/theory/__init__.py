"""What can be known without training: kernels, conjunctions, closed forms, determinacy. NumPy, in float64."""

from recombine.theory.closed_forms import (
    Line,
    Margins,
    addition_line,
    addition_slope,
    context_margin,
    context_squared,
    held_out_corner,
    implied_salience,
    invariance,
    leak_ratio,
)
from recombine.theory.conjunctions import Conjunctions, decompose, subsets
from recombine.theory.determinacy import Determinacy, grid_rank
from recombine.theory.kernel_machines import Machine, max_margin, min_norm, ridge, support_vector_regression
from recombine.theory.overlap_kernels import OverlapKernel
from recombine.theory.random_networks import (
    layer_kernel,
    multi_hot,
    named_profile,
    random_features,
    random_network,
    salience_by_depth,
)
from recombine.theory.salience_estimate import SalienceEstimate, estimate_salience
from recombine.theory.verdicts import (
    CellVerdicts,
    Separation,
    TaskVerdicts,
    cell_verdicts,
    separation,
    task_verdicts,
)

__all__ = [
    "CellVerdicts",
    "Conjunctions",
    "Determinacy",
    "Line",
    "Machine",
    "Margins",
    "OverlapKernel",
    "SalienceEstimate",
    "Separation",
    "TaskVerdicts",
    "addition_line",
    "addition_slope",
    "cell_verdicts",
    "context_margin",
    "context_squared",
    "decompose",
    "estimate_salience",
    "grid_rank",
    "held_out_corner",
    "implied_salience",
    "invariance",
    "layer_kernel",
    "leak_ratio",
    "max_margin",
    "min_norm",
    "multi_hot",
    "named_profile",
    "random_features",
    "random_network",
    "ridge",
    "salience_by_depth",
    "separation",
    "subsets",
    "support_vector_regression",
    "task_verdicts",
]
