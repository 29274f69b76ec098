"""What can be known without training: kernels, conjunctions, closed forms, determinacy, retention.

Everything is computed with NumPy in float64; importing it does not start JAX.
"""

from recombine.theory.cell_verdicts import (
    CellVerdicts,
    Separation,
    TaskVerdicts,
    cell_verdicts,
    separation,
    task_verdicts,
)
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
from recombine.theory.kernel_machines import (
    Machine,
    max_margin,
    max_margin_by_pivoting,
    min_norm,
    ridge,
    support_vector_regression,
)
from recombine.theory.overlap_kernels import OverlapKernel
from recombine.theory.random_networks import (
    layer_kernel,
    multi_hot,
    named_profile,
    random_features,
    random_network,
    salience_by_depth,
)
from recombine.theory.retention import retention
from recombine.theory.retention_update import updated_retention
from recombine.theory.salience_estimate import SalienceEstimate, estimate_salience

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
    "max_margin_by_pivoting",
    "min_norm",
    "multi_hot",
    "named_profile",
    "random_features",
    "random_network",
    "retention",
    "ridge",
    "salience_by_depth",
    "separation",
    "subsets",
    "support_vector_regression",
    "task_verdicts",
    "updated_retention",
]
