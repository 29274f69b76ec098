"""Probes: measurements of a trained net, as pure functions of NumPy arrays from anywhere.

Rows are the cells of a space in C order unless said otherwise; `in` means seen cells and `out` unseen ones.
Only `metric_tensor_exact`, which differentiates a JAX function, needs JAX.

**Reference:** Liang, Qian, Ziyin and Fiete, Compositional generalization via forced rendering of disentangled
latents, 2025, arXiv 2501.18797.
"""

from recombine.probes.additivity import AdditiveFit, additive_fit, item_slope
from recombine.probes.baselines import baseline_errors, baseline_images
from recombine.probes.behaviour import (
    code_accuracy,
    position,
    position_accuracy,
    position_error,
    squared_error,
    structural_dissimilarity,
    summarise,
    within,
)
from recombine.probes.folds import fold_numbers
from recombine.probes.geometry import (
    factorisation,
    log10_volume,
    metric_summary,
    metric_tensor,
    metric_tensor_exact,
    volume,
    volume_gap,
)
from recombine.probes.gram import centred_gram
from recombine.probes.kernel_machine import KernelFit, compare_kernels, kernel_regression
from recombine.probes.kernels import additive_kernel, binary_kernel, gaussian_kernel, shared_levels
from recombine.probes.polarity import signal
from recombine.probes.ranks import (
    activation_ranks,
    components_for,
    covariance_spectrum,
    effective_rank,
    numerical_rank,
    participation,
    stripe_energy,
)
from recombine.probes.representation import ProbeScore, linear_probe, ridge_predictions, ridge_probe
from recombine.probes.similarity import (
    cosine_similarity,
    euclidean_distance,
    kernel_agreement,
    pixel_overlap,
)
from recombine.probes.superposition import SuperpositionIndex, superposition_image, superposition_index
from recombine.tasks.bump_images import Polarity

__all__ = [
    "AdditiveFit",
    "KernelFit",
    "Polarity",
    "ProbeScore",
    "SuperpositionIndex",
    "activation_ranks",
    "additive_fit",
    "additive_kernel",
    "baseline_errors",
    "baseline_images",
    "binary_kernel",
    "centred_gram",
    "code_accuracy",
    "compare_kernels",
    "components_for",
    "cosine_similarity",
    "covariance_spectrum",
    "effective_rank",
    "euclidean_distance",
    "factorisation",
    "fold_numbers",
    "gaussian_kernel",
    "item_slope",
    "kernel_agreement",
    "kernel_regression",
    "linear_probe",
    "log10_volume",
    "metric_summary",
    "metric_tensor",
    "metric_tensor_exact",
    "numerical_rank",
    "participation",
    "pixel_overlap",
    "position",
    "position_accuracy",
    "position_error",
    "ridge_predictions",
    "ridge_probe",
    "shared_levels",
    "signal",
    "squared_error",
    "stripe_energy",
    "structural_dissimilarity",
    "summarise",
    "superposition_image",
    "superposition_index",
    "volume",
    "volume_gap",
    "within",
]
