"""Penalties that force every factor to be drawn as a stripe, for the render net in PyTorch (Liang et al. 2025)."""

from __future__ import annotations

from torch import Tensor, nn

from recombine.errors import InputError
from recombine.torch.rendering import FactorCanvas


def entropy_of(spectrum: Tensor, *, floor: float = 1e-8) -> Tensor:
    """Entropy of the shares λ² / Σλ² of every level's spectrum `(levels, rank)`, in nats, summed over levels.

    H = -Σ_t Σ_j p ln p with p = max(λ_tj² / Σ_j' λ_tj'², floor): zero, up to the floor, if and only if every level's
    matrix has rank 1; at most levels · ln(rank).

    ```python
    >>> import torch
    >>> from recombine.torch import entropy_of
    >>> flat, single = torch.ones(1, 4), torch.tensor([[1.0, 0.0, 0.0, 0.0]])
    >>> [round(entropy_of(spectrum).item(), 4) for spectrum in (flat, single)]
    [1.3863, 0.0]

    ```
    """
    energy = spectrum**2
    share = (energy / energy.sum(1, keepdim=True)).clamp(min=floor)
    return -(share * share.log()).sum()


def variance_of(vectors: Tensor, *, axis: int) -> Tensor:
    """Unbiased variance along `axis`, summed over everything else: zero if all vectors are constant.

    ```python
    >>> import torch
    >>> from recombine.torch import variance_of
    >>> vectors = torch.arange(6.0).reshape(1, 2, 3)
    >>> variance_of(vectors, axis=1).item(), variance_of(vectors, axis=2).item()
    (13.5, 2.0)

    ```
    """
    return vectors.var(axis).sum()


def spectrum_entropy(module: nn.Module) -> Tensor:
    """Pushes every level's matrix to rank 1: `entropy_of` the spectra of all canvases in the module.

    ```python
    >>> import torch
    >>> from recombine.torch import RenderNet, spectrum_entropy
    >>> net = RenderNet((8, 8))
    >>> spectrum_entropy(net).item() < 16 * torch.tensor(8.0).log().item()
    True

    ```
    """
    first, *others = [entropy_of(canvas.spectrum) for canvas in canvases_of(module)]
    return sum(others, start=first)


def flatness(module: nn.Module, *, normalised: bool = False) -> Tensor:
    """Pushes the vectors of every level's matrix to be constant, so that a rank-1 matrix is a stripe.

    The published penalty acts on the raw vectors, which could also meet it by shrinking. With `normalised` it
    acts on unit vectors, which cannot.

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
    for canvas in canvases_of(module):
        used = canvas.normalised() if normalised else (canvas.columns, canvas.rows)
        terms += [variance_of(vectors, axis=axis) for axis, vectors in enumerate(used, start=1)]
    return sum(terms[1:], start=terms[0])


def canvases_of(module: nn.Module) -> list[FactorCanvas]:
    """All canvases in a module, wherever they stand."""
    found = [part for part in module.modules() if isinstance(part, FactorCanvas)]
    if not found:
        raise InputError(
            "module", type(module).__name__, "a module with a render layer (recombine.torch.RenderLayer)"
        )
    return found
