"""Metrics: measurements of a trained net as pure functions of NumPy arrays, wherever these come from.

Rows are the cells of a space in C order unless stated otherwise; `in` means seen cells and `out` unseen ones. Every
metric states its range and its null value, the value to compare with. Only `metric_tensor_exact`, which differentiates
a JAX function, needs JAX.

| question | module |
|---|---|
| How wrong are the outputs on seen and unseen cells, compared with what? | `behaviour`, `image_measures`, `baselines` |
| Does the net add up memorised images instead of composing them? | `superposition` |
| Does a kernel between cells explain its outputs? | `output_similarity`, `cell_kernels`, `kernel_regression` |
| Are its outputs sums over conjunctions of levels? | `additivity` |
| Can the factors be decoded linearly from a layer? | `representation` |
| Are the factors orthogonal in a layer (factorisation), and is the layer warped? | `geometry` |
| In how many directions does a layer vary? | `ranks` |
| What does a net keep of what it had learned before? | `reuse` |
| How far is training from where it would end? | `implicit_bias` |
| Does each slot represent one object? | `slots`, `identifiability` |
| How do slots interact, and which weights connect modules? | `interaction`, `connectivity` (sub-packages) |

**Reference:** Liang, Qian, Ziyin and Fiete, Compositional generalization via forced rendering of disentangled
latents, 2025, arXiv 2501.18797, for most of these; other papers are named where they apply.
"""

from recombine.metrics.additivity import AdditiveFit, additive_fit, item_slope
from recombine.metrics.baselines import baseline_errors, baseline_images
from recombine.metrics.behaviour import code_accuracy, squared_error, summarise, within_tolerance
from recombine.metrics.cell_kernels import additive_kernel, binary_kernel, gaussian_kernel, shared_levels
from recombine.metrics.geometry import (
    factorisation,
    log10_volume,
    metric_summary,
    metric_tensor,
    metric_tensor_exact,
    volume,
    volume_gap,
)
from recombine.metrics.gram import centred_gram
from recombine.metrics.identifiability import slot_identifiability
from recombine.metrics.image_measures import (
    position,
    position_accuracy,
    position_error,
    signal,
    structural_dissimilarity,
)
from recombine.metrics.implicit_bias import (
    Inconsistency,
    balancedness,
    inconsistency,
    kkt_residual,
    norm_ratio,
    normalised_margin,
)
from recombine.metrics.kernel_regression import KernelFit, compare_kernels, kernel_regression
from recombine.metrics.output_similarity import (
    cosine_similarity,
    euclidean_distance,
    kernel_agreement,
    pixel_overlap,
)
from recombine.metrics.ranks import (
    activation_ranks,
    components_for,
    covariance_spectrum,
    effective_rank,
    numerical_rank,
    participation,
    stripe_energy,
)
from recombine.metrics.representation import (
    ProbeScore,
    fold_numbers,
    linear_probe,
    ridge_predictions,
    ridge_probe,
)
from recombine.metrics.reuse import (
    SharedDimensions,
    UnitMatch,
    kernel_movement,
    match_units,
    participation_ratio,
    response_persistence,
    shared_dimensions,
    weight_displacement,
)
from recombine.metrics.slots import (
    SlotScores,
    attention_interaction_of,
    contrast_of,
    pair_products,
    reconstruction_error,
    relative_contrast,
    slot_scores,
    slot_shares,
    slots_of_objects,
)
from recombine.metrics.superposition import (
    SuperpositionIndex,
    correlations,
    superposition_image,
    superposition_index,
)
from recombine.tasks.bumps.bump_images import Polarity

__all__ = [
    "AdditiveFit",
    "Inconsistency",
    "KernelFit",
    "Polarity",
    "ProbeScore",
    "SharedDimensions",
    "SlotScores",
    "SuperpositionIndex",
    "UnitMatch",
    "activation_ranks",
    "additive_fit",
    "additive_kernel",
    "attention_interaction_of",
    "balancedness",
    "baseline_errors",
    "baseline_images",
    "binary_kernel",
    "centred_gram",
    "code_accuracy",
    "compare_kernels",
    "components_for",
    "contrast_of",
    "correlations",
    "cosine_similarity",
    "covariance_spectrum",
    "effective_rank",
    "euclidean_distance",
    "factorisation",
    "fold_numbers",
    "gaussian_kernel",
    "inconsistency",
    "item_slope",
    "kernel_agreement",
    "kernel_movement",
    "kernel_regression",
    "kkt_residual",
    "linear_probe",
    "log10_volume",
    "match_units",
    "metric_summary",
    "metric_tensor",
    "metric_tensor_exact",
    "norm_ratio",
    "normalised_margin",
    "numerical_rank",
    "pair_products",
    "participation",
    "participation_ratio",
    "pixel_overlap",
    "position",
    "position_accuracy",
    "position_error",
    "reconstruction_error",
    "relative_contrast",
    "response_persistence",
    "ridge_predictions",
    "ridge_probe",
    "shared_dimensions",
    "shared_levels",
    "signal",
    "slot_identifiability",
    "slot_scores",
    "slot_shares",
    "slots_of_objects",
    "squared_error",
    "stripe_energy",
    "structural_dissimilarity",
    "summarise",
    "superposition_image",
    "superposition_index",
    "volume",
    "volume_gap",
    "weight_displacement",
    "within_tolerance",
]
