"""The slot autoencoder of the line world in plain eager PyTorch, and its training loop.

A test holds it against `recombine.nets` with equal weights, penalties included.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from benchmarks import peers
from recombine.nets.slots.slot_decoders import position_code
from recombine.nets.slots.slot_encoders import RowConvolution, position_grid

peers.LAYERS[RowConvolution] = nn.Conv1d
peers.AXES[RowConvolution] = (3, 2, 0, 1)


class Run(NamedTuple):
    """Pictures `(batch, 1, length, channels)`, attention `(batch, layers, heads, pixels, slots)`, and the posterior."""

    images: Tensor
    attention: Tensor
    mean: Tensor
    deviation: Tensor


def perceptron(*widths: int) -> nn.Sequential:
    """Linear maps with GELU between them."""
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(widths):
        layers += [nn.Linear(inputs, outputs), nn.GELU()]
    return nn.Sequential(*layers[:-1])


class Attention(nn.Module):
    """The counterpart of `recombine.nets.layers.attention.CrossAttention`."""

    def __init__(self, width: int, context: int, inner: int, heads: int) -> None:
        super().__init__()
        self.query, self.key_value = nn.Linear(width, inner), nn.Linear(context, 2 * inner)
        self.merge = nn.Linear(inner, width)
        self.heads, self.scale = heads, width**-0.5

    def forward(self, queries: Tensor, context: Tensor) -> tuple[Tensor, Tensor]:
        asked = self._heads(self.query(queries))
        known, carried = (self._heads(part) for part in self.key_value(context).chunk(2, dim=-1))
        weights = (asked @ known.transpose(-1, -2) * self.scale).softmax(dim=-1)
        taken = weights @ carried
        return self.merge(taken.transpose(1, 2).flatten(2)), weights

    def _heads(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)


class SlotLayer(nn.Module):
    """The counterpart of `recombine.nets.slots.slot_encoders.SlotLayer`."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.look, self.exchange = (Attention(width, width, width, heads) for _ in range(2))
        self.feed = perceptron(width, 2 * width, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(4))

    def forward(self, slots: Tensor, tokens: Tensor) -> Tensor:
        slots = slots + self.look(self.norms[0](slots), self.norms[1](tokens))[0]
        own = self.norms[2](slots)
        slots = slots + self.exchange(own, own)[0]
        return slots + self.feed(self.norms[3](slots))


class Encoder(nn.Module):
    """The counterpart of `recombine.nets.slot_transformer` for images of one row."""

    def __init__(self, length: int, slots: int, width: int, channels: int, depth: int, heads: int) -> None:
        super().__init__()
        sizes = (3, channels, channels, channels, width)
        self.convolutions = nn.ModuleList(nn.Conv1d(*pair, 5, padding=2) for pair in pairwise(sizes))
        self.position, self.tokens = nn.Linear(4, width), perceptron(width, width, width)
        self.layers = nn.ModuleList(SlotLayer(width, heads) for _ in range(depth))
        self.norm, self.queries = nn.LayerNorm(width), nn.Parameter(torch.rand(slots, width))
        self.register_buffer("grid", torch.tensor(position_grid(1, length)[0]))

    def forward(self, x: Tensor) -> Tensor:
        x = x[:, 0].transpose(1, 2)
        for layer in self.convolutions:
            x = nn.functional.gelu(layer(x))
        x = x.transpose(1, 2) + self.position(self.grid)
        tokens = self.tokens(nn.functional.layer_norm(x, x.shape[1:]))
        slots = self.queries.expand(len(x), -1, -1)
        for layer in self.layers:
            slots = layer(slots, tokens)
        return self.norm(slots)


class DecoderLayer(nn.Module):
    """The counterpart of `recombine.nets.layers.attention.CrossLayer`."""

    def __init__(self, width: int, inner: int, heads: int) -> None:
        super().__init__()
        self.attention, self.feed = Attention(width, inner, inner, heads), perceptron(width, 2 * width, width)
        self.norms = nn.ModuleList(nn.LayerNorm(size) for size in (width, inner, width))

    def forward(self, x: Tensor, slots: Tensor) -> tuple[Tensor, Tensor]:
        taken, weights = self.attention(self.norms[0](x), self.norms[1](slots))
        x = x + taken
        return x + self.feed(self.norms[2](x)), weights


class Decoder(nn.Module):
    """The counterpart of `recombine.nets.attention_decoder`."""

    def __init__(self, code: Tensor, width: int, inner: int, queries: int, heads: int, depth: int) -> None:
        super().__init__()
        self.slots = perceptron(width, 4 * inner, inner)
        self.queries = perceptron(code.shape[1], 2 * queries, queries)
        self.layers = nn.ModuleList(DecoderLayer(queries, inner, heads) for _ in range(depth))
        self.norm, self.readout = nn.LayerNorm(queries), perceptron(queries, queries, queries, 3)
        self.register_buffer("code", code)

    def forward(self, z: Tensor) -> tuple[Tensor, Tensor]:
        slots, x, attention = self.slots(z), self.queries(self.code)[None], []
        for layer in self.layers:
            x, weights = layer(x, slots)
            attention.append(weights)
        return self.readout(self.norm(x)), torch.stack(attention, dim=1)


class LineAutoencoder(nn.Module):
    """The counterpart of the line world's variational slot autoencoder."""

    def __init__(
        self,
        *,
        length: int = 32,
        slots: int = 3,
        width: int = 8,
        channels: int = 16,
        inner: int = 48,
        queries: int = 32,
        depth: int = 2,
    ) -> None:
        super().__init__()
        code = torch.tensor(position_code(1, length))
        self.encoder = Encoder(length, slots, 2 * width, channels, depth, heads=4)
        self.decoder = Decoder(code, width, inner, queries, heads=4, depth=depth)

    def forward(self, x: Tensor, noise: Tensor | None = None) -> Run:
        """`noise`, of the slots' shape, is what the posterior draws; `None` takes its mean."""
        mean, log_scale = self.encoder(x).chunk(2, dim=-1)
        deviation = 0.5 * log_scale.exp()
        pixels, attention = self.decoder(mean if noise is None else mean + deviation * noise)
        return Run(pixels.reshape(x.shape), attention, mean, deviation)


def load_weights(module: LineAutoencoder, net: Any) -> None:
    """Copies the weights of a net into its counterpart."""
    peers.load_weights(module, net)
    module.encoder.queries.data.copy_(torch.tensor(net.layers[0].queries.tolist()))


def objective(run: Run, x: Tensor, *, error: float, alpha: float, beta: float) -> Tensor:
    """Weighted squared error, capacity and attention interaction."""
    capacity = (-run.deviation.log() + 0.5 * (run.deviation**2 + run.mean**2) - 0.5).sum(dim=(1, 2)).mean()
    pooled = run.attention.mean(dim=(1, 2))
    interaction = 0.5 * (pooled.sum(dim=-1) ** 2 - (pooled**2).sum(dim=-1)).mean()
    squares = ((run.images - x) ** 2).sum(dim=(1, 2, 3)).mean()
    return error * squares + beta * capacity + alpha * interaction


def train(
    module: LineAutoencoder,
    inputs: Tensor,
    rows: Iterable[Tensor],
    optimiser: torch.optim.Optimizer,
    *,
    error: float,
    alpha: float,
    beta: float,
    warmup: int,
) -> None:
    """One step for every batch of `rows`; alpha grows over the first `warmup` steps."""
    slots = module.encoder.queries.shape
    for step, index in enumerate(rows):
        x = inputs[index]
        run = module(x, torch.randn(len(x), slots[0], slots[1] // 2))
        now = alpha * min(1.0, step / warmup)
        optimiser.zero_grad()
        objective(run, x, error=error, alpha=now, beta=beta).backward()
        optimiser.step()
