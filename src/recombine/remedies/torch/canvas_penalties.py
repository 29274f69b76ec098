"""Penalties that force every factor to be drawn as a stripe, for the render net in PyTorch (Liang et al. 2025)."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from recombine.errors import InputError
from recombine.remedies.canvas_penalties import entropy_of, variance_of
from recombine.remedies.torch.render_net import FactorCanvas


def spectrum_entropy(net: nn.Module, x: Any = None) -> Tensor:
    """Pushes every level's matrix to rank 1: `entropy_of` the spectra of all canvases in the module.

    `x` is not needed; it is accepted because all penalties are called as `penalty(net, x)`.

    ```python
    >>> import torch
    >>> from recombine.torch import RenderNet, spectrum_entropy
    >>> net = RenderNet((8, 8))
    >>> spectrum_entropy(net).item() < 16 * torch.tensor(8.0).log().item()
    True

    ```
    """
    first, *others = [entropy_of(canvas.spectrum) for canvas in canvases_of(net)]
    return sum(others, start=first)


def flatness(net: nn.Module, x: Any = None, *, normalised: bool = False) -> Tensor:
    """Pushes the vectors of every level's matrix to be constant, so that a rank-1 matrix is a stripe.

    The published penalty acts on the raw vectors, which could also satisfy it by shrinking. With `normalised` it acts
    on unit vectors, which cannot. `x` is not needed.

    ```python
    >>> import torch
    >>> from recombine.torch import FactorCanvas, flatness
    >>> canvas = FactorCanvas(4, 6, 6)
    >>> with torch.no_grad():
    ...     stripes = [vectors.fill_(0.5) for vectors in (canvas.columns, canvas.rows)]
    >>> flatness(canvas).item()
    0.0

    ```
    """
    terms = []
    for canvas in canvases_of(net):
        used = canvas.normalised() if normalised else (canvas.columns, canvas.rows)
        terms += [variance_of(vectors, axis=axis) for axis, vectors in enumerate(used, start=1)]
    return sum(terms[1:], start=terms[0])


def canvases_of(module: nn.Module) -> list[FactorCanvas]:
    """All canvases anywhere in a module."""
    canvases = [part for part in module.modules() if isinstance(part, FactorCanvas)]
    if not canvases:
        raise InputError(
            "net", type(module).__name__, "a module with a render layer (recombine.torch.RenderLayer)"
        )
    return canvases
