"""The render net in PyTorch: every factor draws its own image before anything is combined (Liang et al. 2025).

The maths, names and shapes of `recombine.nets.render_net`, but channels come first. A weight of a convolution
`(height, width, in, out)` there is `(in, out, height, width)` here; all others are the same arrays.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torch
from torch import Tensor, nn

from recombine.errors import InputError


class FactorCanvas(nn.Module):
    """The matrices Σ_j λ_tj l_tj r_tjᵀ of all levels t of one factor: `(batch, levels)` to `(batch, height, width)`.

    **Attributes:**

    - `spectrum` λ `(levels, rank)`; `columns` l `(levels, height, rank)`; `rows` r `(levels, rank, width)`.
        The vectors are stored raw and made unit vectors whenever they are used, after the selection.

    ```python
    >>> import torch
    >>> from recombine.torch import FactorCanvas
    >>> canvas = FactorCanvas(levels=4, height=6, width=5)
    >>> canvas(torch.eye(4)).shape
    torch.Size([4, 6, 5])

    ```
    """

    def __init__(
        self, levels: int, height: int, width: int, *, device: Any = None, dtype: torch.dtype | None = None
    ) -> None:
        super().__init__()
        rank = min(height, width)
        made = {"device": device, "dtype": dtype}
        self.spectrum = nn.Parameter(torch.randn(levels, rank, **made) * rank**-0.5)
        self.columns = nn.Parameter(unit(torch.randn(levels, height, rank, **made), axis=1))
        self.rows = nn.Parameter(unit(torch.randn(levels, rank, width, **made), axis=2))

    def normalised(self) -> tuple[Tensor, Tensor]:
        """Columns and rows as unit vectors."""
        return unit(self.columns, axis=1), unit(self.rows, axis=2)

    def forward(self, selection: Tensor) -> Tensor:
        spectrum = selection @ self.spectrum
        columns = unit(torch.tensordot(selection, self.columns, 1), axis=1)
        rows = unit(torch.tensordot(selection, self.rows, 1), axis=2)
        return (columns * spectrum[:, None, :]) @ rows


class RenderLayer(nn.Module):
    """One canvas per factor as channels: one-hot codes in a row `(batch, codes)` to `(batch, factors, height, width)`.

    ```python
    >>> import torch
    >>> from recombine.torch import RenderLayer
    >>> RenderLayer((4, 3), height=6, width=5)(torch.ones(2, 7)).shape
    torch.Size([2, 2, 6, 5])

    ```
    """

    def __init__(
        self,
        levels: tuple[int, ...],
        height: int,
        width: int,
        *,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.levels = tuple(levels)
        self.canvases = nn.ModuleList(
            FactorCanvas(count, height, width, device=device, dtype=dtype) for count in levels
        )

    def forward(self, x: Tensor) -> Tensor:
        if x.ndim != 2 or x.shape[1] != sum(self.levels):
            raise InputError(
                "x", tuple(x.shape), f"(batch, {sum(self.levels)}): one-hot codes of {self.levels} levels"
            )
        codes = torch.split(x, list(self.levels), dim=1)
        images = [canvas(code) for canvas, code in zip(self.canvases, codes, strict=True)]
        return torch.stack(images, dim=1)


class RenderNet(nn.Sequential):
    """Draws every factor on its own canvas, then combines the canvases with a small convolutional head.

    Submodules have the names of `recombine.nets.render_net`'s stages: `embedding`, `prelu0`, `conv0`, ..., `output`.

    **Arguments:**

    - `levels`: the number of levels of every factor; the input is the factors' one-hot codes in a row.
    - `size`: height and width; by default the square with as many pixels a side as the first factor has
        levels.
    - `hidden`: hidden convolutions of the head, each preceded by a PReLU.

    **Returns:** (when called) images `(batch, height, width)`.

    ```python
    >>> import torch
    >>> from recombine.torch import RenderNet
    >>> net = RenderNet((32, 32))
    >>> sum(parameter.numel() for parameter in net.parameters()), net(torch.ones(2, 64)).shape
    (133218, torch.Size([2, 32, 32]))

    ```
    """

    def __init__(
        self,
        levels: tuple[int, ...],
        *,
        size: tuple[int, int] | None = None,
        hidden: int = 2,
        device: Any = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        if len(levels) < 2:
            raise InputError("levels", levels, "the levels of at least two factors")
        made: dict[str, Any] = {"device": device, "dtype": dtype}
        height, width = size or (levels[0], levels[0])
        factors = len(levels)
        parts: dict[str, nn.Module] = {"embedding": RenderLayer(levels, height, width, **made)}
        for layer in range(hidden):
            parts[f"prelu{layer}"] = nn.PReLU(**made)
            parts[f"conv{layer}"] = nn.ConvTranspose2d(factors, factors, 3, padding=1, **made)
        parts[f"prelu{hidden}"] = nn.PReLU(**made)
        parts["output"] = nn.ConvTranspose2d(factors, 1, 3, padding=1, **made)
        super().__init__(OrderedDict(parts))

    def forward(self, x: Tensor) -> Tensor:
        for part in self:
            x = part(x)
        return x[:, 0]


def unit(vectors: Tensor, axis: int) -> Tensor:
    """Unit vectors; the zero vector, which an absent factor selects, stays zero and has no gradient."""
    squares = (vectors**2).sum(axis, keepdim=True)
    return vectors / squares.where(squares > 0, 1.0).sqrt()
