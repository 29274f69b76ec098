"""Every net computes what its PyTorch counterpart computes with the same weights."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from benchmarks import peers
from torch import nn

from recombine.nets import (
    LayerNorm,
    PReLU,
    cnn_decoder,
    cnn_encoder,
    evaluate,
    mlp,
    pixel_transformer,
    render_net,
    rotation_decoder,
    spatial_mlp,
    trace,
)

pytestmark = pytest.mark.usefixtures("compile_quickly")
KEY = jax.random.key(0, impl="rbg")  # compiles faster
RNG = np.random.default_rng(0)


def assert_same(net: Any, module: nn.Module, x: np.ndarray, *, peer_x: Any = None) -> None:
    """Copies the weights of `net` into `module` and compares their outputs on `x` in evaluation mode."""
    peers.load_weights(module, net)
    with torch.no_grad():
        expected = module.eval()(torch.tensor(x if peer_x is None else peer_x)).numpy()
    got = evaluate(net, x)
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, atol=2e-5 * np.abs(expected).max(), rtol=0)


def normal(*shape: int) -> np.ndarray:
    return RNG.normal(size=shape).astype(np.float32)


def test_mlp() -> None:
    net = mlp(inputs=5, width=7, depth=2, outputs=(2, 3), key=KEY)
    assert_same(net, peers.dense(5, 7, 7, 6, shape=(2, 3)), normal(4, 5))


def test_mlp_with_batch_normalisation() -> None:
    net = mlp(inputs=5, width=7, depth=2, outputs=6, normalise=True, key=KEY)
    hidden = [nn.Linear(5, 7), nn.BatchNorm1d(7), nn.ReLU(), nn.Linear(7, 7), nn.BatchNorm1d(7), nn.ReLU()]
    module = nn.Sequential(*hidden, nn.Linear(7, 6))
    x = normal(6, 5)
    assert_same(net, module, x)
    with torch.no_grad():
        expected = module.train()(torch.tensor(x)).numpy()
    np.testing.assert_allclose(net(jnp.asarray(x), key=KEY), expected, atol=1e-5)


@pytest.mark.parametrize("size", [28, 36], ids=["as published", "scaled up"])
def test_cnn_decoder(size: int) -> None:
    """The scaled one resizes its last map by nearest-neighbour sampling."""
    net = cnn_decoder(inputs=6, width=4, depth=3, size=size, key=KEY)
    assert_same(net, peers.cnn_decoder(inputs=6, width=4, depth=3, size=size), normal(2, 6))


@pytest.mark.parametrize("size", [24, 32, 36, 40])
def test_nearest_sampling_at_every_published_size(size: int) -> None:
    from recombine.nets.convnet import NearestResize

    side = 28 if size <= 28 else 56
    maps = np.arange(side * side, dtype=np.float32).reshape(1, side, side, 1)
    expected = nn.functional.interpolate(torch.tensor(maps[..., 0])[None], size=(size, size))[0]
    np.testing.assert_array_equal(NearestResize(size)(jnp.asarray(maps))[..., 0], expected)


def test_cnn_encoder() -> None:
    net = cnn_encoder(outputs=3, key=KEY)
    layers: list[nn.Module] = []
    for c_in, c_out in ((1, 32), (32, 64), (64, 128)):
        layers += [nn.Conv2d(c_in, c_out, 3, 2, 1), nn.ReLU()]
    dense = [ChannelsLast(), nn.Flatten(), nn.Linear(2048, 128), nn.ReLU(), nn.Linear(128, 3)]
    images = normal(2, 28, 28, 1)
    assert_same(net, nn.Sequential(*layers, *dense), images, peer_x=images.transpose(0, 3, 1, 2))


@pytest.mark.parametrize("deep", [False, True])
def test_rotation_decoder(deep: bool) -> None:
    net = rotation_decoder(inputs=2, width=4, deep=deep, key=KEY)
    first = [nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 196)] if deep else [nn.Linear(2, 196)]
    maps = [nn.ConvTranspose2d(4, 4, 4, 2, 1), nn.BatchNorm2d(4), nn.ReLU()]
    maps += [nn.ConvTranspose2d(4, 2, 4, 2, 1), nn.BatchNorm2d(2), nn.ReLU()]
    maps += [nn.Conv2d(2, 2, 3, padding=1), nn.BatchNorm2d(2), nn.ReLU()] if deep else []
    last = [nn.Conv2d(2, 1, 3, padding=1), nn.Sigmoid(), nn.Flatten(0, 1)]
    module = nn.Sequential(*first, nn.Unflatten(1, (7, 7, 4)), ChannelsFirst(), *maps, *last)
    assert_same(net, module, normal(3, 2))


def test_render_net() -> None:
    net = render_net(levels=(5, 5), key=KEY)
    codes = np.concatenate([np.eye(5)[RNG.integers(5, size=6)] for _ in range(2)], axis=1)
    assert_same(net, peers.RenderNet(5), codes.astype(np.float32))


def test_spatial_mlp() -> None:
    net = spatial_mlp(inputs=3, depth=2, size=4, width=8, key=KEY)
    hidden = [nn.Linear(8, 8), nn.PReLU(), nn.Linear(8, 8), nn.PReLU()]
    module = nn.Sequential(PixelTokens(3, 8, 4), *hidden, nn.Linear(8, 1), nn.Unflatten(1, (4, 4)), Squeeze())
    assert_same(net, module, normal(5, 3))


def test_pixel_transformer() -> None:
    """PyTorch's own encoder layer, whose joint projection is loaded by hand."""
    net = pixel_transformer(inputs=3, depth=2, size=4, width=8, heads=2, hidden=24, key=KEY)
    tokens = PixelTokens(3, 8, 4)
    layers = [nn.TransformerEncoderLayer(8, 2, 24, batch_first=True) for _ in range(2)]
    readout = nn.Linear(8, 1)
    peers.load_weights(tokens, net.layers[0])
    peers.load_weights(readout, net.layers[-1])
    for ours, peer in zip(net.layers[1:-1], layers, strict=True):
        attention, mix = peer.self_attn, ours.attention.mix
        attention.in_proj_weight.data.copy_(torch.tensor(np.asarray(mix.weight).T))
        attention.in_proj_bias.data.copy_(torch.tensor(np.asarray(mix.bias)))
        pairs = [(attention.out_proj, ours.attention.merge), (peer.linear1, ours.expand)]
        pairs += [(peer.linear2, ours.contract), (peer.norm1, ours.norms[0]), (peer.norm2, ours.norms[1])]
        for target, source in pairs:
            peers.load_weights(target, source)
    x = normal(3, 3)
    with torch.no_grad():
        module = nn.Sequential(tokens, *layers, readout).eval()
        expected = module(torch.tensor(x)).reshape(3, 4, 4)
    np.testing.assert_allclose(evaluate(net, x), expected, atol=1e-5)
    dropped = trace(net, jnp.asarray(x), key=KEY)[0]
    assert not np.allclose(dropped, expected, atol=1e-2)  # in training there is dropout


@pytest.mark.parametrize(
    ("layer", "peer"),
    [(PReLU(), nn.PReLU()), (PReLU(0.3), nn.PReLU(init=0.3)), (LayerNorm(6), nn.LayerNorm(6))],
    ids=["PReLU", "PReLU with another slope", "LayerNorm"],
)
def test_layers(layer: Any, peer: nn.Module) -> None:
    x = normal(4, 6) * 3 + 1
    np.testing.assert_allclose(layer(jnp.asarray(x)), peer(torch.tensor(x)).detach(), atol=1e-6)


class ChannelsFirst(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.permute(0, 3, 1, 2)


class ChannelsLast(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.permute(0, 2, 3, 1)


class Squeeze(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[..., 0]


class PixelTokens(nn.Module):
    """A projected code plus the position code of every pixel, written out pixel by pixel."""

    def __init__(self, inputs: int, width: int, size: int) -> None:
        super().__init__()
        self.project = nn.Linear(inputs, width)
        table = np.zeros((size * size, width))
        for row in range(size):
            for column in range(size):
                for k in range(width // 4):
                    f = np.exp(-np.log(10000) * 4 * k / width)
                    waves = (np.sin(row * f), np.cos(row * f), np.sin(column * f), np.cos(column * f))
                    table[row * size + column, 4 * k : 4 * k + 4] = waves
        self.register_buffer("table", torch.tensor(table, dtype=torch.float32))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.project(x)[:, None] + self.table
