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
from recombine.theory.growing_retention import GrowingRetention
from recombine.theory.kernel_machines import (
    Machine,
    max_margin,
    max_margin_by_pivoting,
    min_norm,
    ridge,
    support_vector_regression,
)
from recombine.theory.overlap_kernels import OverlapKernel
from recombine.theory.penalties import (
    REGIMES,
    DiagonalPenalty,
    DiagonalWeights,
    Regime,
    UnitPenalty,
    finetuning_dependence,
    finetuning_order,
    group_norm,
    hypentropy,
    hypentropy_slope,
    multi_task_dependence,
    multi_task_order,
    multi_task_penalty,
    plotted_penalty,
    unit_penalty,
)
from recombine.theory.penalty_programmes import (
    Solution,
    min_diagonal_penalty,
    min_group_norm,
    min_l1,
    min_l2,
)
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
from recombine.theory.transfer import PhaseDiagram, TransferForecast, phase_diagram, predict_transfer

__all__ = [
    "REGIMES",
    "CellVerdicts",
    "Conjunctions",
    "Determinacy",
    "DiagonalPenalty",
    "DiagonalWeights",
    "GrowingRetention",
    "Line",
    "Machine",
    "Margins",
    "OverlapKernel",
    "PhaseDiagram",
    "Regime",
    "SalienceEstimate",
    "Separation",
    "Solution",
    "TaskVerdicts",
    "TransferForecast",
    "UnitPenalty",
    "addition_line",
    "addition_slope",
    "cell_verdicts",
    "context_margin",
    "context_squared",
    "decompose",
    "estimate_salience",
    "finetuning_dependence",
    "finetuning_order",
    "grid_rank",
    "group_norm",
    "held_out_corner",
    "hypentropy",
    "hypentropy_slope",
    "implied_salience",
    "invariance",
    "layer_kernel",
    "leak_ratio",
    "max_margin",
    "max_margin_by_pivoting",
    "min_diagonal_penalty",
    "min_group_norm",
    "min_l1",
    "min_l2",
    "min_norm",
    "multi_hot",
    "multi_task_dependence",
    "multi_task_order",
    "multi_task_penalty",
    "named_profile",
    "phase_diagram",
    "plotted_penalty",
    "predict_transfer",
    "random_features",
    "random_network",
    "retention",
    "ridge",
    "salience_by_depth",
    "separation",
    "subsets",
    "support_vector_regression",
    "task_verdicts",
    "unit_penalty",
    "updated_retention",
]
