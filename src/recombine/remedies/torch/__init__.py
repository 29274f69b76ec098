"""Remedies for your own PyTorch training loop: the names, the call and the arithmetic of `recombine.remedies`.

| name | what it does |
|---|---|
| `weighted_activity`, `activity`, `jacobian_activity` | penalties on activity: `weighted_activity(net, x)` |
| `l1`, `l2`, `l12`, `l21` | penalties on weights |
| `Watch` | activity penalties from the loop's own forward pass |
| `trace` | output and activities of named layers of any module |
| `ActivityNoise`, `noisy`, `activity_noise` | the noise that the activity penalties stand for |
| `forced_rendering`, `RenderNet`, `RenderLayer`, `FactorCanvas` | nets that draw every factor by itself |
| `spectrum_entropy`, `flatness` | penalties that make them draw stripes |
| `attention_interaction`, `compositional_contrast`, `cross_hessian` | penalties on interaction between slots |
| `shrink_groups` | after every step: drops features that no task needs, for all tasks |
| `capacity` | the KL term of a variational autoencoder of slots |
| `rescale`, `rescaled_rate`, `search_rescaling` | shrinks pretrained weights before finetuning |
| `attention_interaction_of`, ..., names that end in `_of` | the arithmetic on tensors |

`compositional_consistency` has no counterpart here, because nothing marks a module's encoder and decoder;
`add_single_factors` works on tasks and needs no framework. No tensor is created on another device or in another
precision than the inputs.
"""

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ImportError('recombine.torch needs PyTorch: pip install "recombine[torch]"') from None

from recombine.metrics.slots import attention_interaction_of
from recombine.models.torch.trace import trace
from recombine.models.torch.watch import Watch
from recombine.remedies.activity import activity_of, pushed_activity_of, weighted_activity_of
from recombine.remedies.canvas_penalties import entropy_of, variance_of
from recombine.remedies.capacity import capacity_of
from recombine.remedies.group_norm import group_norm_of, shrink_groups
from recombine.remedies.jacobian import noise_level, penalty_weight
from recombine.remedies.rescaling import RescalingSearch, rescaled_rate, search_rescaling
from recombine.remedies.torch.activity import activity, weighted_activity
from recombine.remedies.torch.canvas_penalties import flatness, spectrum_entropy
from recombine.remedies.torch.capacity import capacity
from recombine.remedies.torch.forced_rendering import ForcedRendering, forced_rendering
from recombine.remedies.torch.interaction import (
    attention_interaction,
    compositional_contrast,
    cross_hessian,
)
from recombine.remedies.torch.jacobian import jacobian_activity
from recombine.remedies.torch.noise import ActivityNoise, activity_noise, noisy
from recombine.remedies.torch.render_net import FactorCanvas, RenderLayer, RenderNet
from recombine.remedies.torch.rescaling import rescale
from recombine.remedies.torch.weight_norms import l1, l2, l12, l21
from recombine.remedies.weight_norms import l1_of, l2_of, l12_of, l21_of

__all__ = [
    "ActivityNoise",
    "FactorCanvas",
    "ForcedRendering",
    "RenderLayer",
    "RenderNet",
    "RescalingSearch",
    "Watch",
    "activity",
    "activity_noise",
    "activity_of",
    "attention_interaction",
    "attention_interaction_of",
    "capacity",
    "capacity_of",
    "compositional_contrast",
    "cross_hessian",
    "entropy_of",
    "flatness",
    "forced_rendering",
    "group_norm_of",
    "jacobian_activity",
    "l1",
    "l1_of",
    "l2",
    "l2_of",
    "l12",
    "l12_of",
    "l21",
    "l21_of",
    "noise_level",
    "noisy",
    "penalty_weight",
    "pushed_activity_of",
    "rescale",
    "rescaled_rate",
    "search_rescaling",
    "shrink_groups",
    "spectrum_entropy",
    "trace",
    "variance_of",
    "weighted_activity",
    "weighted_activity_of",
]
