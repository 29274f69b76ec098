"""The cost of activity noise to second order, for PyTorch modules: see `recombine.remedies.jacobian`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.models.torch.eager import uncompiled
from recombine.models.torch.tensors import first_tensor
from recombine.models.torch.watch import Watch, chosen_reads, watched, zero_like
from recombine.remedies.activity import power_of
from recombine.remedies.jacobian import Loss, check_loss


def jacobian_activity(
    source: nn.Module | Watch,
    x: Any = None,
    *,
    alpha: float = 2.0,
    layers: Sequence[str] | None = None,
    projections: int = 0,
    loss: Loss = "squared",
    class_axis: int = -1,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Σ_l Σ_i E |a_i^l|^alpha |∂y/∂a_i^l|², over the hidden activities that linear maps read.

    `weighted_activity` has the next weights in place of ∂y/∂a: the same for the last hidden layer of a dense net.
    Gradients flow through activity and Jacobian; it takes a backward pass for every output or projection.

    **Arguments:**

    - `source`, `x`, `alpha`, `layers`: as for `weighted_activity`. The output is that of the module, examples first.
    - `projections`: 0 takes every output in turn (exact); otherwise that many random combinations of outputs, whose
        mean is the same.
    - `loss`: with `"cross-entropy"` the length of ∂y/∂a is taken in the curvature of the loss, diag(p) - ppᵀ
        (Gauss-Newton), which itself is held fixed; parts with separate classes are summed.
    - `class_axis`: the axis of the classes; 1 for outputs `(batch, classes, ...)`, as for PyTorch's cross-entropy.
    - `generator`: draws the projections; by default PyTorch's own.

    ```python
    >>> import torch
    >>> from recombine.torch import jacobian_activity, weighted_activity
    >>> net = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
    >>> x = torch.ones(5, 3)
    >>> exact, local = jacobian_activity(net, x), weighted_activity(net, x)
    >>> bool(torch.isclose(exact, local))  # one hidden layer: the same
    True

    ```
    """
    return uncompiled(_jacobian_activity, source, x, alpha, layers, projections, loss, class_axis, generator)


def _jacobian_activity(
    source: nn.Module | Watch,
    x: Any,
    alpha: float,
    layers: Sequence[str] | None,
    projections: int,
    loss: Loss,
    class_axis: int,
    generator: torch.Generator | None,
) -> Tensor:
    check_loss(loss)
    if projections < 0:
        raise InputError(
            "projections", projections, "0 for the exact value, or a number of random projections"
        )
    with_graph = torch.is_grad_enabled()
    with torch.enable_grad():
        watch = watched(source, _with_gradients(x))
        outputs = first_tensor(watch.output)
        if outputs is None:
            raise InputError("watch", "no output", "a call of the module itself, which returns a tensor")
        reads = list({id(read.tensor): read for read in chosen_reads(watch, layers)}.values())
        activities = [read.tensor for read in reads]
        if not all(tensor.requires_grad for tensor in (outputs, *activities)):
            raise InputError(
                "watch", "a pass without gradients", "activities by which the output can be differentiated"
            )
        total = zero_like(watch)
        for direction in _directions(outputs, loss, projections, class_axis, generator) if reads else ():
            slopes = torch.autograd.grad(
                outputs, activities, direction, retain_graph=True, create_graph=with_graph, allow_unused=True
            )
            for read, slope in zip(reads, slopes, strict=True):
                if slope is not None:
                    total = total + (power_of(read.tensor, alpha) * slope**2).sum()
        total = total / (len(outputs) * (projections or 1))
    return total if with_graph else total.detach()


def _with_gradients(x: Any) -> Any:
    """The same inputs, as the start of a graph, so that activities behind frozen layers are part of one."""
    if isinstance(x, torch.Tensor):
        differentiable = x.is_floating_point() and not x.requires_grad
        return x.detach().requires_grad_() if differentiable else x
    if isinstance(x, tuple | list):
        parts = [_with_gradients(part) for part in x]
        return parts if isinstance(x, list) else tuple(parts)
    if isinstance(x, Mapping):
        return {name: _with_gradients(part) for name, part in x.items()}
    return x


def _directions(
    outputs: Tensor, loss: Loss, projections: int, class_axis: int, generator: torch.Generator | None
) -> Iterator[Tensor]:
    """Vectors v whose Σ v vᵀ (or its mean over random ones) is the curvature of the loss in the outputs."""
    drawn = (_draw(outputs, generator) for _ in range(projections)) if projections else _units(outputs)
    if loss == "squared":
        yield from drawn
        return
    probability = outputs.detach().softmax(class_axis)
    for direction in drawn:
        scaled = probability.sqrt() * direction
        yield scaled - probability * scaled.sum(class_axis, keepdim=True)


def _units(outputs: Tensor) -> Iterator[Tensor]:
    """One output at a time, of all examples."""
    for position in range(outputs[0].numel()):
        unit = torch.zeros_like(outputs).flatten(1)
        unit[:, position] = 1
        yield unit.reshape(outputs.shape)


def _draw(outputs: Tensor, generator: torch.Generator | None) -> Tensor:
    return torch.randn(outputs.shape, generator=generator, device=outputs.device, dtype=outputs.dtype)
