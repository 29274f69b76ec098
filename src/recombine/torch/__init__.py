"""Remedies for a PyTorch training loop of one's own, by the same arithmetic as `recombine.remedies`.

| name | what it does |
|---|---|
| `trace` | output and activities of named layers of any module |
| `weighted_activity`, `activity`, `jacobian_activity` | penalties, `loss + 1e-3 * weighted_activity(net, x)` |
| `Watch` | the same from the loop's own forward pass |
| `ActivityNoise`, `noisy`, `activity_noise` | the noise that these penalties stand for |
| `forced_rendering`, `RenderNet`, `RenderLayer`, `FactorCanvas` | nets that draw every factor by itself |
| `spectrum_entropy`, `flatness`, `entropy_of`, `variance_of` | what makes them draw stripes |
| `compositional_contrast`, `cross_hessian` | penalties on interaction between the slots of a decoder |

Nothing here creates a tensor on another device or of another precision than its inputs.
"""

try:
    import torch as _torch  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ImportError('recombine.torch needs PyTorch: pip install "recombine[torch]"') from None

from recombine.torch.activity import activity, weighted_activity
from recombine.torch.forced import ForcedRendering, forced_rendering
from recombine.torch.interaction import compositional_contrast, cross_hessian
from recombine.torch.jacobian import jacobian_activity
from recombine.torch.noise import ActivityNoise, activity_noise, noisy
from recombine.torch.penalties import entropy_of, flatness, spectrum_entropy, variance_of
from recombine.torch.rendering import FactorCanvas, RenderLayer, RenderNet
from recombine.torch.tracing import trace
from recombine.torch.watching import Watch

__all__ = [
    "ActivityNoise",
    "FactorCanvas",
    "ForcedRendering",
    "RenderLayer",
    "RenderNet",
    "Watch",
    "activity",
    "activity_noise",
    "compositional_contrast",
    "cross_hessian",
    "entropy_of",
    "flatness",
    "forced_rendering",
    "jacobian_activity",
    "noisy",
    "spectrum_entropy",
    "trace",
    "variance_of",
    "weighted_activity",
]
