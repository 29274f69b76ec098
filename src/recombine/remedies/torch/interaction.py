"""Penalties on interaction between slots in a PyTorch decoder (Brady et al. 2025, arXiv:2411.07784).

`attention_interaction` takes a module with attention layers and its input. For the other two a decoder is any function
or module from slots `(batch, slots, width)` to outputs `(batch, ...)`, row by row. Derivatives are forward-mode
products (`torch.func.jvp`); gradients flow through them to parameters and slots.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.metrics.slots import attention_interaction_of, contrast_of
from recombine.models.torch.derivatives import derivative_along, forward_mode
from recombine.models.torch.eager import uncompiled
from recombine.models.torch.hooks import original, reachable, run

Decode = Callable[[Tensor], Tensor]


def attention_interaction(net: nn.Module, x: Any, *, layers: Sequence[str] | None = None) -> Tensor:
    """The attention interaction of a module whose pixels (queries) attend to slots (keys).

    The weights of all heads are read while the module runs, whatever it asks its attention layers for.

    **Arguments:**

    - `x`: the input, a tuple of inputs, or a dictionary of named ones.
    - `layers`: names of `nn.MultiheadAttention` layers, `(pixels, slots)` each; default: all of the module.

    **Returns:**

    `recombine.metrics.attention_interaction_of` the weights: 0 if every pixel attends to one slot.

    ```python
    >>> import torch
    >>> from recombine.torch import attention_interaction
    >>> class Decoder(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.queries = torch.nn.Parameter(torch.randn(9, 8))
    ...         self.attend = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    ...     def forward(self, slots):
    ...         return self.attend(self.queries.expand(len(slots), -1, -1), slots, slots)[0]
    >>> 0 < attention_interaction(Decoder(), torch.randn(4, 3, 8)).item() <= 1 / 3
    True

    ```
    """
    return uncompiled(_attention_interaction, net, x, layers)


def _attention_interaction(net: nn.Module, x: Any, layers: Sequence[str] | None) -> Tensor:
    net = original(net)
    attention = {name: part for name, part in net.named_modules() if isinstance(part, nn.MultiheadAttention)}
    names = list(attention) if layers is None else list(layers)
    if not names or not set(names) <= set(attention):
        got = [name for name in names if name not in attention] or "no attention layer"
        raise InputError("layers", got, f"names of nn.MultiheadAttention layers, of {list(attention)}")
    weights: list[Tensor] = []
    handles: list[Any] = []
    try:
        for name in names:
            handles += _read_weights(attention[name], weights)
        with reachable():
            run(net, x)
    finally:
        for handle in handles:
            handle.remove()
    shapes = {tuple(one.shape) for one in weights}
    if len(shapes) != 1:
        raise InputError(
            "layers",
            f"weights of shapes {sorted(shapes)}",
            "layers that attend from the same pixels to the same slots",
        )
    return attention_interaction_of(torch.stack(weights, dim=1))


def _read_weights(layer: nn.MultiheadAttention, weights: list[Tensor]) -> list[Any]:
    """Hooks that add the weights `(batch, heads, pixels, slots)` of every call; the caller gets what it asked for."""
    asked: list[tuple[bool, bool]] = []

    def before(module: nn.Module, args: tuple[Any, ...], named: dict[str, Any]) -> Any:
        positional = dict(
            zip(
                ("key_padding_mask", "need_weights", "attn_mask", "average_attn_weights"),
                args[3:],
                strict=False,
            )
        )
        named = {**positional, **named}
        asked.append((named.get("need_weights", True), named.get("average_attn_weights", True)))
        return args[:3], {**named, "need_weights": True, "average_attn_weights": False}

    def after(module: nn.Module, args: Any, output: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor | None]:
        attended, heads = output
        with_weights, averaged = asked.pop()
        weights.append(heads if heads.ndim == 4 else heads[None])
        return attended, (heads.mean(dim=-3) if averaged else heads) if with_weights else None

    return [
        layer.register_forward_pre_hook(before, with_kwargs=True),
        layer.register_forward_hook(after),
    ]


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
    with forward_mode():
        columns = [derivative_along(decoder, slots, [direction.expand_as(slots)]) for direction in basis]
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
    with forward_mode():
        second = derivative_along(decoder, slots, [left, right])
    return count * (count - 1) * (second.reshape(batch, -1) ** 2).sum(1).mean()


def _directions(slots: Tensor, generator: torch.Generator | None) -> tuple[Tensor, Tensor]:
    """Gaussian directions in two different slots of every row, zero elsewhere."""
    batch, count, _ = slots.shape
    made: dict[str, Any] = {"generator": generator, "device": slots.device, "dtype": slots.dtype}
    first, second = torch.rand(batch, count, **made).argsort(1)[:, :2].T
    numbers = torch.arange(count, device=slots.device)
    left, right = torch.randn(2, *slots.shape, **made)
    return left * (first[:, None] == numbers)[..., None], right * (second[:, None] == numbers)[..., None]


def _shape(slots: Tensor) -> tuple[int, int, int]:
    if slots.ndim != 3 or slots.shape[1] < 2:
        raise InputError("slots", tuple(slots.shape), "(batch, slots, width) with two slots or more")
    batch, count, width = slots.shape
    return batch, count, width
