"""Derivatives of PyTorch functions along directions: first derivatives of many tensors, and mixed ones of any order."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from recombine.models.model_errors import NoDerivativeError
from recombine.models.torch.hooks import reachable

Function = Callable[[Tensor], Tensor]


def slopes_of(function: Callable[[Any], Sequence[Any]], values: Any, along: Any) -> list[Any]:
    """J u for every tensor that a function returns, where u is the direction `along`.

    The product w J of reverse mode is linear in w, so J u is the derivative of (w J) u by w: two passes for all tensors
    together. Forward mode has rules for fewer operations. `NoDerivativeError` if there is no second derivative.

    ```python
    >>> import torch
    >>> from recombine.models.torch.derivatives import slopes_of
    >>> slopes_of(lambda x: [x**2, x.sum()], torch.tensor([3.0, 4.0]), torch.tensor([1.0, 0.0]))
    [tensor([6., 0.]), tensor(1.)]

    ```
    """
    with torch.enable_grad(), sdpa_kernel(SDPBackend.MATH):  # other kernels can be differentiated only once
        start = values.detach().clone().requires_grad_()
        results = function(start)
        moving = [one for one in results if one.requires_grad]
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
    return [next(slopes) if one.requires_grad else torch.zeros_like(one) for one in results]


def derivative_along(function: Function, at: Tensor, directions: Sequence[Tensor]) -> Tensor:
    """D^m f(z)[u_1, …, u_m] for m directions of the shape of `at`, by m nested forward-mode products.

    To be called within `forward_mode()`.

    ```python
    >>> import torch
    >>> from recombine.models.torch.derivatives import derivative_along, forward_mode
    >>> x = torch.tensor([2.0, 3.0])
    >>> with forward_mode():
    ...     derivative_along(lambda x: x**3, x, [torch.ones(2), torch.tensor([1.0, 0.0])])
    tensor([12.,  0.])

    ```
    """
    for direction in directions:
        function = _along(function, direction)
    return function(at)


def _along(function: Function, direction: Tensor) -> Function:
    return lambda z: torch.func.jvp(function, (z,), (direction,))[1]


@contextmanager
def forward_mode() -> Iterator[None]:
    """Attention uses operations that have forward mode; PyTorch's own warning at the first product is off."""
    with warnings.catch_warnings(), sdpa_kernel(SDPBackend.MATH), reachable():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield
