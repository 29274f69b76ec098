"""Weights are drawn as PyTorch draws them (or as He et al. where the authors do)."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import numpy as np
import pytest
import torch
from benchmarks import peers
from torch import nn

from recombine.nets import Linear, cnn_decoder, mlp, render_net, rotation_decoder
from recombine.nets.pixel_tokens import SelfAttention

pytestmark = pytest.mark.usefixtures("compile_quickly")
KEY = jax.random.key(0, impl="rbg")  # compiles faster


def flat(values: Any) -> np.ndarray:
    return np.asarray(values).reshape(-1)


@pytest.mark.parametrize(
    ("make", "peer"),
    [
        (partial(mlp, inputs=40, width=60, depth=1, outputs=50), lambda: peers.dense(40, 60, 50)),
        (
            partial(cnn_decoder, inputs=9, width=12, depth=2),
            lambda: peers.cnn_decoder(inputs=9, width=12, depth=2),
        ),
        (partial(render_net, levels=(16, 16)), lambda: peers.RenderNet(16)),
    ],
    ids=["mlp", "cnn_decoder", "render_net"],
)
def test_ranges_and_spreads_are_those_of_torch(make: Any, peer: Any) -> None:
    """As far as arrays are large enough to tell."""
    torch.manual_seed(0)
    drawn, loaded = peer(), peer()
    peers.load_weights(loaded, make(key=KEY))
    for ours, theirs in zip(loaded.parameters(), drawn.parameters(), strict=True):
        ours_flat, theirs_flat = flat(ours.detach()), flat(theirs.detach())
        if len(ours_flat) >= 1000:
            np.testing.assert_allclose(ours_flat.std(), theirs_flat.std(), rtol=0.1)
            np.testing.assert_allclose(abs(ours_flat).max(), abs(theirs_flat).max(), rtol=0.25)
            assert abs(ours_flat.mean()) < 5 * ours_flat.std() / len(ours_flat) ** 0.5


def test_uniform_range_of_a_dense_layer() -> None:
    layer = Linear(25, 400, key=KEY)
    for values in (layer.weight, layer.bias):
        assert 0.19 < abs(flat(values)).max() <= 0.2
    np.testing.assert_allclose(flat(layer.weight).var(), 0.2**2 / 3, rtol=0.05)
    assert Linear(2, 2, bias=False, key=KEY).bias is None


def test_attention() -> None:
    ours, theirs = SelfAttention(16, 2, dropout=0.0, key=KEY), nn.MultiheadAttention(16, 2)
    pairs = [(ours.mix.weight, theirs.in_proj_weight), (ours.merge.weight, theirs.out_proj.weight)]
    for weight, peer in pairs:
        np.testing.assert_allclose(abs(flat(weight)).max(), abs(flat(peer.detach())).max(), rtol=0.05)
    assert not flat(ours.mix.bias).any()
    assert not flat(ours.merge.bias).any()


def test_normalised_perceptron_uses_he_initialisation() -> None:
    net = mlp(inputs=50, width=80, depth=1, outputs=3, normalise=True, key=KEY)
    np.testing.assert_allclose(flat(net.layers[0].weight).var(), 2 / 50, rtol=0.1)


def test_rotation_decoder_uses_he_initialisation_with_zero_biases() -> None:
    net = rotation_decoder(inputs=2, width=16, deep=True, key=KEY)
    stages = dict(net.stages)
    dense, up, refine = stages["dense"].layers[0], stages["up0"], stages["refine"]
    peer_layers = (nn.Linear(16, 49 * 16), nn.ConvTranspose2d(16, 16, 4), nn.Conv2d(8, 8, 3))
    for ours, peer in zip((dense, up, refine), peer_layers, strict=True):
        mode = "fan_in" if isinstance(peer, nn.Linear) else "fan_out"
        nn.init.kaiming_normal_(peer.weight, mode=mode, nonlinearity="relu")
        np.testing.assert_allclose(flat(ours.weight).std(), flat(peer.weight.detach()).std(), rtol=0.15)
        assert not flat(ours.bias).any()
