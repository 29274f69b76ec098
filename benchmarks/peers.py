"""The same nets and the same loop in plain eager PyTorch: what a user would otherwise write.

The tests hold these nets against `recombine.nets` with equal weights, and the loop against `recombine.training`
step by step: that the arithmetic is the same is checked, not claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import Any

import equinox as eqx
import jax
import numpy as np
import torch
from torch import Tensor, nn

from recombine import nets


def dense(*widths: int, shape: tuple[int, ...] = ()) -> nn.Module:
    """The counterpart of `recombine.nets.mlp`: ReLU between linear maps, the output reshaped to `shape`."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1], *([nn.Unflatten(1, shape)] if shape else []))


def cnn_decoder(*, inputs: int, width: int, depth: int, size: int = 28) -> nn.Module:
    """The counterpart of `recombine.nets.cnn_decoder`."""
    layers: list[nn.Module] = [
        nn.Unflatten(1, (inputs, 1, 1)),
        nn.ConvTranspose2d(inputs, width, 7),
        nn.ReLU(),
    ]
    side = 7
    for _ in range(depth):
        kernel, stride = (4, 2) if side < size else (3, 1)
        layers += [nn.ConvTranspose2d(width, width, kernel, stride, padding=1), nn.ReLU()]
        side *= stride
    layers += [nn.ConvTranspose2d(width, 1, 3, padding=1)]
    layers += [nn.Upsample((size, size))] if side > size else []
    return nn.Sequential(*layers, nn.Flatten(0, 1))


class Canvas(nn.Module):
    """The counterpart of `recombine.nets.FactorCanvas`, square."""

    def __init__(self, levels: int) -> None:
        super().__init__()
        cube = (levels, levels, levels)
        self.spectrum = nn.Parameter(torch.randn(levels, levels) * levels**-0.5)
        self.columns = nn.Parameter(_unit(torch.randn(cube), 1))
        self.rows = nn.Parameter(_unit(torch.randn(cube), 2))

    def forward(self, code: Tensor) -> Tensor:
        columns = _unit(torch.tensordot(code, self.columns, 1), 1)
        rows = _unit(torch.tensordot(code, self.rows, 1), 2)
        return (columns * (code @ self.spectrum)[:, None]) @ rows

    def penalty(self, entropy: float, flatness: float) -> Tensor:
        energy = self.spectrum**2
        share = (energy / energy.sum(1, keepdim=True)).clamp(min=1e-8)
        spread = self.columns.var(1).sum() + self.rows.var(2).sum()
        return flatness * spread - entropy * (share * share.log()).sum()


class RenderNet(nn.Module):
    """The counterpart of `recombine.nets.render_net` with two factors and a square image."""

    def __init__(self, levels: int, hidden: int = 2) -> None:
        super().__init__()
        self.canvases = nn.ModuleList([Canvas(levels), Canvas(levels)])
        head: list[nn.Module] = []
        for outputs in (*[2] * hidden, 1):
            head += [nn.PReLU(), nn.ConvTranspose2d(2, outputs, 3, padding=1)]
        self.head = nn.Sequential(*head)

    def forward(self, x: Tensor) -> Tensor:
        codes = x.chunk(2, dim=1)
        images = [canvas(code) for canvas, code in zip(self.canvases, codes, strict=True)]
        return self.head(torch.stack(images, dim=1))[:, 0]

    def penalty(self, entropy: float = 0.1, flatness: float = 0.01) -> Tensor:
        """Both penalties of forced rendering, weighted and added."""
        first, second = self.canvases
        return first.penalty(entropy, flatness) + second.penalty(entropy, flatness)


class LeakyNet(nn.Module):
    """The counterpart of `recombine.nets.mlp` with leaky units, and of its weighted activity and squared weights."""

    def __init__(self, *widths: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(*sizes) for sizes in pairwise(widths))
        self.activities: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        self.activities = []
        for layer in self.layers[:-1]:
            x = nn.functional.leaky_relu(layer(x), 0.1)
            self.activities.append(x)
        return self.layers[-1](x)

    def penalty(self, weighted: float = 1e-3, squares: float = 1e-4) -> Tensor:
        """Both penalties, of the batch that went through last."""
        total = squares * sum((layer.weight**2).sum() for layer in self.layers)
        for activity, layer in zip(self.activities, self.layers[1:], strict=True):
            total = total + weighted * ((activity**2).mean(0) * (layer.weight**2).sum(0)).sum()
        return total


class GatedNet(nn.Module):
    """The counterpart of `recombine.nets.gated.two_layer_gated` with two contexts per unit."""

    def __init__(self, directions: Any, thresholds: Any) -> None:
        super().__init__()
        units, inputs = directions.shape
        self.register_buffer("directions", torch.as_tensor(directions))
        self.register_buffer("thresholds", torch.as_tensor(thresholds))
        self.weight = nn.Parameter(torch.randn(units, 2, inputs) / inputs**0.5)
        self.readout = nn.Linear(units, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        contexts = (x @ self.directions.T > self.thresholds).long()
        both = torch.einsum("ni,uci->nuc", x, self.weight)
        return self.readout(both.gather(2, contexts[:, :, None])[:, :, 0])


def _unit(vectors: Tensor, dim: int) -> Tensor:
    return vectors / vectors.norm(dim=dim, keepdim=True)


def train(
    module: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    rows: Iterable[Tensor],
    optimiser: torch.optim.Optimizer,
    *,
    penalty: Callable[[], Tensor] | None = None,
    clip_norm: float | None = None,
    after: Callable[[], object] | None = None,
) -> list[float]:
    """One step on the mean squared error for every batch of `rows`; returns the losses without penalty."""
    losses = []
    for index in rows:
        loss = ((module(inputs[index]) - targets[index]) ** 2).mean()
        optimiser.zero_grad()
        (loss if penalty is None else loss + penalty()).backward()
        if clip_norm is not None:
            nn.utils.clip_grad_norm_(module.parameters(), clip_norm)
        optimiser.step()
        if after is not None:
            after()
        losses.append(loss.detach())
    return [loss.item() for loss in losses]


def ordered(rows: int, batch: int, steps: int) -> Iterator[Tensor]:
    """Batches in the order of the rows, the last of an epoch short if need be."""
    pieces = torch.arange(rows).split(batch)
    return (pieces[step % len(pieces)] for step in range(steps))


def shuffled(rows: int, batch: int, steps: int) -> Iterator[Tensor]:
    """Batches that go through a fresh permutation of the rows in every epoch."""
    pieces: tuple[Tensor, ...] = ()
    for step in range(steps):
        position = step % len(pieces) if pieces else 0
        if position == 0:
            pieces = torch.randperm(rows).split(batch)
        yield pieces[position]


LAYERS: dict[type, type[nn.Module]] = {
    nets.Linear: nn.Linear,
    nets.Conv2d: nn.Conv2d,
    nets.ConvTranspose2d: nn.ConvTranspose2d,
    nets.PReLU: nn.PReLU,
    nets.LayerNorm: nn.LayerNorm,
    nets.BatchNorm: nn.modules.batchnorm._BatchNorm,
    nets.FactorCanvas: Canvas,
}
"""Our layers and their counterparts, whose own parameters come in the same order."""

AXES: dict[type, tuple[int, ...]] = {
    nets.Linear: (1, 0),
    nets.Conv2d: (3, 2, 0, 1),
    nets.ConvTranspose2d: (2, 3, 0, 1),
}
"""The axes of our weights in PyTorch's order."""


def load_weights(module: nn.Module, net: Any) -> None:
    """Copies the weights of a net into its counterpart, layer by layer in order."""
    peers = iter([peer for peer in module.modules() if isinstance(peer, tuple(LAYERS.values()))])
    for layer in jax.tree.leaves(net, is_leaf=lambda node: type(node) in LAYERS):
        if type(layer) not in LAYERS:
            continue
        peer, axes = next(peers), AXES.get(type(layer), ())
        assert isinstance(peer, LAYERS[type(layer)]), (type(layer), type(peer))
        values = jax.tree.leaves(eqx.filter(layer, nets.trainable(layer)))
        for parameter, value in zip(peer.parameters(recurse=False), values, strict=True):
            value = np.asarray(value)
            value = value.transpose(axes) if value.ndim == len(axes) else value
            parameter.data.copy_(torch.tensor(value).reshape(parameter.shape))
