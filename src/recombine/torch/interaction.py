"""Penalties on interaction between slots in a PyTorch decoder (Brady et al. 2025, arXiv:2411.07784).

A decoder is any function or module from slots `(batch, slots, width)` to outputs `(batch, ...)`, row by row.
Derivatives are forward-mode products (`torch.func.jvp`); gradients flow through them to parameters and slots.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from recombine.errors import InputError
from recombine.probes.slots import contrast_of
from recombine.torch.hooks import reachable, uncompiled

Decode = Callable[[Tensor], Tensor]


def compositional_contrast(decoder: Decode, slots: Tensor) -> Tensor:
    """Σ_l Σ_{j<k} |∂x_l/∂z_j| |∂x_l/∂z_k|, mean over the batch: 0 if each output depends on one slot.

    It takes one forward-mode product per latent; some rows of a batch do (`slots[:8]`).

    ```python
    >>> import torch
    >>> from recombine.torch import compositional_contrast
    >>> slots = torch.randn(4, 2, 3)
    >>> apart = compositional_contrast(lambda z: z.flatten(1) ** 2, slots)
    >>> together = compositional_contrast(lambda z: z.sum(1), slots)
    >>> round(apart.item(), 3), round(together.item(), 3)
    (0.0, 3.0)

    ```
    """
    return uncompiled(_compositional_contrast, decoder, slots)


def _compositional_contrast(decoder: Decode, slots: Tensor) -> Tensor:
    batch, count, width = _shape(slots)
    slots = slots.contiguous()  # forward mode takes no repeated rows
    basis = torch.eye(count * width, dtype=slots.dtype, device=slots.device).reshape(-1, count, width)
    with _forward_mode():
        columns = [_slope(decoder, direction.expand_as(slots), slots) for direction in basis]
    jacobian = torch.stack(columns).reshape(count, width, batch, -1)
    lengths = ((jacobian**2).sum(1) + 1e-12).sqrt()  # (slots, batch, outputs)
    return contrast_of(lengths.permute(1, 2, 0)).mean()


def cross_hessian(decoder: Decode, slots: Tensor, *, generator: torch.Generator | None = None) -> Tensor:
    """An unbiased draw of Σ_{j≠k} |∂²x/∂z_j ∂z_k|², summed over outputs, mean over the batch.

    Two different slots are drawn for every row and a Gaussian direction in each; for K slots the squared second
    derivative along both, times the K (K - 1) ordered pairs, has the sum as its mean. No Hessian is formed.

    ```python
    >>> import torch
    >>> from recombine.torch import cross_hessian
    >>> slots = torch.randn(4, 2, 3)
    >>> cross_hessian(lambda z: (z**3).sum(1), slots).item()  # slots add up
    0.0

    ```
    """
    return uncompiled(_cross_hessian, decoder, slots, generator)


def _cross_hessian(decoder: Decode, slots: Tensor, generator: torch.Generator | None) -> Tensor:
    batch, count, _ = _shape(slots)
    slots = slots.contiguous()  # forward mode takes no repeated rows
    left, right = _directions(slots, generator)
    with _forward_mode():
        second = _slope(partial(_slope, decoder, left), right, slots)
    return count * (count - 1) * (second.reshape(batch, -1) ** 2).sum(1).mean()


def _directions(slots: Tensor, generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
    """Gaussian directions in two different slots of every row, zero elsewhere."""
    batch, count, _ = slots.shape
    made: dict[str, Any] = {"generator": generator, "device": slots.device, "dtype": slots.dtype}
    first, second = torch.rand(batch, count, **made).argsort(1)[:, :2].T
    places = torch.arange(count, device=slots.device)
    left, right = torch.randn(2, *slots.shape, **made)
    return left * (first[:, None] == places)[..., None], right * (second[:, None] == places)[..., None]


def _slope(function: Decode, direction: Tensor, at: Tensor) -> Tensor:
    return torch.func.jvp(function, (at,), (direction,))[1]


@contextmanager
def _forward_mode() -> Iterator[None]:
    """Attention by operations that have forward mode; without PyTorch's own warning at the first product."""
    with ExitStack() as stack:
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", DeprecationWarning)
        stack.enter_context(sdpa_kernel(SDPBackend.MATH))
        stack.enter_context(reachable())
        yield


def _shape(slots: Tensor) -> tuple[int, int, int]:
    if slots.ndim != 3 or slots.shape[1] < 2:
        raise InputError("slots", tuple(slots.shape), "(batch, slots, width) with two slots or more")
    batch, count, width = slots.shape
    return batch, count, width
