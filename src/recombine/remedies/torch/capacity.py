"""The information in slots as a penalty, for PyTorch modules: see `recombine.remedies.capacity`."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from recombine.errors import InputError
from recombine.models.torch.trace import trace
from recombine.remedies.capacity import capacity_of


def capacity(net: nn.Module, x: Any, *, stage: str = "encoding") -> Tensor:
    """The KL divergence of the posterior from a unit Gaussian, summed over slots, mean over the batch, in nats.

    **Arguments:**

    - `x`: the batch's inputs, `(batch, ...)`.
    - `stage`: the submodule whose output `(batch, slots, 2 width)` holds mean μ and log-scale s of every slot, one
        after the other; the standard deviation is ½ exp(s).

    ```python
    >>> import torch
    >>> from recombine.torch import capacity
    >>> net = torch.nn.Sequential()
    >>> net.add_module("encoding", torch.nn.Unflatten(1, (2, 6)))
    >>> round(capacity(net, torch.zeros(5, 12)).item(), 4)  # deviation ½ in six latents
    1.9089

    ```
    """
    encoding = trace(net, x, [stage])[1][stage]
    if encoding.ndim != 3 or encoding.shape[-1] % 2:
        got = f"output {tuple(encoding.shape)} of {stage!r}"
        raise InputError("stage", got, "(batch, slots, 2 width): mean and log-scale of every latent")
    mean, log_scale = encoding.chunk(2, -1)
    return capacity_of(mean, 0.5 * log_scale.exp()).sum(1).mean()
