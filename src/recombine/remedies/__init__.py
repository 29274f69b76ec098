"""Published changes to the data, net or recipe that restore composition.

Every penalty is called as `penalty(net, x)` in your own training loop, and goes into a recipe as
`Penalty(Part(penalty), weight)`. `recombine.torch` has the same names for PyTorch modules.
"""

from recombine.metrics.slots import attention_interaction_of
from recombine.remedies.activity import (
    activity,
    activity_of,
    pushed_activity_of,
    weighted_activity,
    weighted_activity_of,
)
from recombine.remedies.canvas_penalties import entropy_of, flatness, spectrum_entropy, variance_of
from recombine.remedies.capacity import capacity, capacity_of
from recombine.remedies.consistency import compositional_consistency, matched_distance
from recombine.remedies.curricula import add_single_factors
from recombine.remedies.forced_rendering import ForcedRendering, forced_rendering
from recombine.remedies.group_norm import group_norm_of, shrink_groups
from recombine.remedies.interaction import (
    attention_interaction,
    compositional_contrast,
    cross_hessian,
    cross_hessian_of,
    head_mean_weight,
    paper_equivalent_weight,
)
from recombine.remedies.jacobian import jacobian_activity, noise_level, penalty_weight
from recombine.remedies.penalties import as_penalty
from recombine.remedies.rescaling import RescalingSearch, rescale, rescaled_rate, search_rescaling
from recombine.remedies.weight_norms import l1, l1_of, l2, l2_of, l12, l12_of, l21, l21_of

__all__ = [
    "ForcedRendering",
    "RescalingSearch",
    "activity",
    "activity_of",
    "add_single_factors",
    "as_penalty",
    "attention_interaction",
    "attention_interaction_of",
    "capacity",
    "capacity_of",
    "compositional_consistency",
    "compositional_contrast",
    "cross_hessian",
    "cross_hessian_of",
    "entropy_of",
    "flatness",
    "forced_rendering",
    "group_norm_of",
    "head_mean_weight",
    "jacobian_activity",
    "l1",
    "l1_of",
    "l2",
    "l2_of",
    "l12",
    "l12_of",
    "l21",
    "l21_of",
    "matched_distance",
    "noise_level",
    "paper_equivalent_weight",
    "penalty_weight",
    "pushed_activity_of",
    "rescale",
    "rescaled_rate",
    "search_rescaling",
    "shrink_groups",
    "spectrum_entropy",
    "variance_of",
    "weighted_activity",
    "weighted_activity_of",
]
