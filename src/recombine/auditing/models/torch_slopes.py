"""Derivatives of many tensors along one direction, by PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

from recombine.auditing.models.failing import NoDerivativeError


def slopes_of(function: Callable[[Any], Sequence[Any]], values: Any, along: Any) -> list[Any]:
    """J u of every tensor that a function gives, u being the direction `along`.

    The product w J of reverse mode is linear in w, so J u is the derivative of (w J) u by w: two passes for all tensors
    together. Forward mode has rules for fewer operations. `NoDerivativeError` if there is no second derivative.

    ```python
    >>> import torch
    >>> from recombine.auditing.models.torch_slopes import slopes_of
    >>> slopes_of(lambda x: [x**2, x.sum()], torch.tensor([3.0, 4.0]), torch.tensor([1.0, 0.0]))
    [tensor([6., 0.]), tensor(1.)]

    ```
    """
    with torch.enable_grad(), sdpa_kernel(SDPBackend.MATH):  # other kernels can be differentiated once only
        start = values.detach().clone().requires_grad_()
        found = function(start)
        moving = [one for one in found if one.requires_grad]
        weights = [torch.zeros_like(one, requires_grad=True) for one in moving]
        try:
            (back,) = torch.autograd.grad(
                moving, start, weights, create_graph=True, allow_unused=True, materialize_grads=True
            )
            slopes = iter(
                torch.autograd.grad((back * along).sum(), weights, allow_unused=True, materialize_grads=True)
                if back.requires_grad
                else [torch.zeros_like(one) for one in moving]
            )
        except RuntimeError as error:
            raise NoDerivativeError from error
    return [next(slopes) if one.requires_grad else torch.zeros_like(one) for one in found]
