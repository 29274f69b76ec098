"""Published changes of data, net or recipe that restore composition."""

from recombine.nets import capacity_of
from recombine.probes.slots import attention_interaction_of
from recombine.remedies.activity import (
    activity,
    activity_of,
    cost,
    pushed_activity_of,
    weighted_activity,
    weighted_activity_of,
)
from recombine.remedies.capacity import capacity
from recombine.remedies.consistency import compositional_consistency, matched_distance
from recombine.remedies.curricula import add_single_factors
from recombine.remedies.interaction import (
    attention_interaction,
    compositional_contrast,
    cross_hessian,
    cross_hessian_of,
    head_mean_weight,
    paper_equivalent_weight,
)
from recombine.remedies.jacobian import jacobian_activity, noise_level, penalty_weight
from recombine.remedies.penalties import entropy_of, flatness, spectrum_entropy, variance_of
from recombine.remedies.rendering import ForcedRendering, forced_rendering
from recombine.remedies.weight_norms import l1, l1_of, l2, l2_of, l12, l12_of, l21, l21_of

__all__ = [
    "ForcedRendering",
    "activity",
    "activity_of",
    "add_single_factors",
    "attention_interaction",
    "attention_interaction_of",
    "capacity",
    "capacity_of",
    "compositional_consistency",
    "compositional_contrast",
    "cost",
    "cross_hessian",
    "cross_hessian_of",
    "entropy_of",
    "flatness",
    "forced_rendering",
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
    "spectrum_entropy",
    "variance_of",
    "weighted_activity",
    "weighted_activity_of",
]
