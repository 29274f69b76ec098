"""Forced rendering in PyTorch: the render net and its penalties, ready to be trained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from recombine.errors import InputError
from recombine.remedies.torch import canvas_penalties
from recombine.remedies.torch.render_net import RenderNet


@dataclass(frozen=True, eq=False)
class ForcedRendering:
    """A net, and the penalty to train it with: `loss = mse(remedy.net(codes), images) + remedy.penalty()`."""

    net: RenderNet
    entropy: float
    flatness: float
    normalised: bool = False

    def penalty(self) -> Tensor:
        """Both penalties with their weights: a · `spectrum_entropy` + b · `flatness`."""
        spread = canvas_penalties.flatness(self.net, normalised=self.normalised)
        return self.entropy * canvas_penalties.spectrum_entropy(self.net) + self.flatness * spread


def forced_rendering(
    levels: tuple[int, ...],
    *,
    size: tuple[int, int] | None = None,
    entropy: float = 0.1,
    flatness: float = 0.01,
    hidden: int = 2,
    normalised: bool = False,
    device: Any = None,
    dtype: torch.dtype | None = None,
) -> ForcedRendering:
    """Makes every factor draw its own image, pushed towards a stripe, before factors are combined.

    **Arguments:**

    - `levels`, `size`, `hidden`: see `RenderNet`; inputs are the factors' one-hot codes in a row.
    - `entropy`, `flatness`: the weights a and b of the two penalties (published: 0.1 and 0.01 at 32 levels).
    - `normalised`: see `recombine.torch.flatness`.

    ```python
    >>> import torch
    >>> from recombine.torch import forced_rendering
    >>> remedy = forced_rendering((8, 8))
    >>> optimiser = torch.optim.AdamW(remedy.net.parameters(), weight_decay=1e-4)
    >>> codes, images = torch.eye(16)[:8] + torch.eye(16)[8:], torch.zeros(8, 8, 8)
    >>> loss = ((remedy.net(codes) - images) ** 2).mean() + remedy.penalty()
    >>> loss.backward()
    >>> optimiser.step()

    ```
    """
    for name, weight in (("entropy", entropy), ("flatness", flatness)):
        if not 0 <= weight < float("inf"):
            raise InputError(name, weight, "a weight of 0 or more")
    net = RenderNet(levels, size=size, hidden=hidden, device=device, dtype=dtype)
    return ForcedRendering(net, entropy, flatness, normalised)
