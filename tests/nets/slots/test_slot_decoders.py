"""Decoders of slots: geometry, pixels that do not mix, and the orders of interaction that they allow."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from benchmarks import peers
from tests.nets.filled import filled

from recombine.errors import InputError
from recombine.metrics.interaction import interaction_profile
from recombine.nets import (
    DecodedPixels,
    PixelSample,
    additive_decoder,
    attention_decoder,
    bilinear_decoder,
    broadcast_decoder,
    dense_decoder,
    pixels_at,
)
from recombine.nets.slots.slot_decoders import AsImage, position_code

pytestmark = pytest.mark.usefixtures("compile_quickly")
KEY = jax.random.key(0, impl="rbg")
SHAPE = (3, 4, 2)


@cache
def decoder_of_pixels() -> Any:
    settings: dict[str, Any] = {"inner": 8, "queries": 6, "heads": 2, "sampled": 5}
    return filled(partial(attention_decoder, shape=SHAPE, slots=3, width=4, **settings))


@eqx.filter_jit
def draw(net: Any, z: jax.Array, key: Any = None) -> Any:
    return net(z, key=key)


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).normal(size=shape).astype(np.float32)


def test_position_codes_by_hand() -> None:
    code = position_code(3, 5, octaves=2)
    row, column = 0.5, 0.25  # of pixel (1, 1), number 6
    angles = np.pi * np.array([row, 2 * row, column, 2 * column])
    np.testing.assert_allclose(code[6], [*np.sin(angles), *np.cos(angles)], atol=1e-6)
    assert position_code(64, 64).shape == (4096, 32)
    line = position_code(1, 5, octaves=2)
    np.testing.assert_allclose(line[1], [*np.sin(angles[2:]), *np.cos(angles[2:])], atol=1e-6)


@pytest.fixture(scope="module")
def drawings() -> tuple[DecodedPixels, DecodedPixels, DecodedPixels]:
    """The whole image, and two draws of five pixels."""
    z = jnp.asarray(normal(2, 3, 4))
    return (
        draw(decoder_of_pixels(), z),
        draw(decoder_of_pixels(), z, jax.random.key(1)),
        draw(decoder_of_pixels(), z, jax.random.key(2)),
    )


def test_sampled_pixels_are_those_of_the_whole_image(drawings: tuple[DecodedPixels, ...]) -> None:
    whole, *samples = drawings
    assert whole.which is None
    assert whole.pixels.shape == (2, 12, 2)
    for sample in samples:
        assert len(set(np.asarray(sample.which).tolist())) == 5
        np.testing.assert_allclose(sample.pixels, whole.pixels[:, sample.which], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(sample.attention, whole.attention[..., sample.which, :], atol=1e-5)
    assert not np.array_equal(*(np.sort(sample.which) for sample in samples))


def test_attention_is_shared_out_among_slots(drawings: tuple[DecodedPixels, ...]) -> None:
    attention = drawings[0].attention
    assert attention.shape == (2, 2, 2, 12, 3)
    np.testing.assert_allclose(attention.sum(axis=-1), 1, atol=1e-6)


def test_slots_are_a_set(drawings: tuple[DecodedPixels, ...]) -> None:
    order = np.array([1, 2, 0])
    moved = draw(decoder_of_pixels(), jnp.asarray(normal(2, 3, 4)[:, order]))
    np.testing.assert_allclose(moved.pixels, drawings[0].pixels, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(moved.attention, drawings[0].attention[..., order], atol=1e-5)


def test_pixels_are_arranged_as_an_image(drawings: tuple[DecodedPixels, ...]) -> None:
    whole, sample, _ = drawings
    as_image = AsImage(SHAPE)
    image = as_image(whole)
    np.testing.assert_array_equal(image[:, 1, 2], whole.pixels[:, 6])
    some = as_image(sample)
    assert isinstance(some, PixelSample)
    np.testing.assert_allclose(some.values, pixels_at(image, some.which, 2), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(as_image(whole.pixels), image)


def test_the_broadcast_decoder_against_torch() -> None:
    """PyTorch's geometry: stride 2, padding 2, output padding 1; the upper left part is kept."""
    net = filled(partial(broadcast_decoder, shape=(7, 6, 3), slots=2, width=3, channels=4, start=2))
    up = {"stride": 2, "padding": 2, "output_padding": 1}
    module = torch.nn.ModuleList(
        [
            torch.nn.Linear(4, 3),
            torch.nn.ConvTranspose2d(3, 4, 5, **up),
            torch.nn.ConvTranspose2d(4, 4, 5, **up),
            torch.nn.ConvTranspose2d(4, 4, 5, padding=2),
            torch.nn.ConvTranspose2d(4, 4, 3, padding=1),
        ]
    )
    peers.load_weights(module, net)
    z = normal(2, 2, 3)
    with torch.no_grad():
        y = torch.tensor(z).reshape(4, 1, 1, 3) + module[0](torch.tensor(np.asarray(net.grid.value)))
        y = y.permute(0, 3, 1, 2)
        for layer in module[1:4]:
            y = torch.nn.functional.gelu(layer(y))
        y = module[4](y)
        assert y.shape[2:] == (8, 8)
        y = y[:, :, :7, :6].permute(0, 2, 3, 1).reshape(2, 2, 7, 6, 4)
        expected = (y[..., :3] * y[..., 3:].softmax(dim=1)).sum(dim=1)
    image, (_, shares) = eqx.filter_jit(lambda net, z: (net(z), net.layers(z)))(net, jnp.asarray(z))
    np.testing.assert_allclose(image, expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-6)


@pytest.mark.parametrize(
    ("make", "own", "order"),
    [
        (additive_decoder, {"shared": False}, 1),
        (bilinear_decoder, {"shared": False}, 2),
        (dense_decoder, {}, None),
    ],
    ids=["additive", "bilinear", "dense"],
)
def test_orders_of_interaction(make: Any, own: dict[str, Any], order: int | None) -> None:
    decoder = make(shape=(5,), slots=2, width=2, hidden=(6,), key=KEY, **own)
    profile = interaction_profile(
        lambda z: decoder(z.reshape(-1, 2, 2)), normal(6, 4).astype(float), 2, max_order=3, batched=True
    )
    assert profile.order == order
    assert profile.r2 > 0.01 or order == 1


def test_slotwise_parts_add_up_and_depend_on_their_own_slot() -> None:
    decoder = additive_decoder(shape=(2, 3), slots=2, width=2, hidden=(6,), shared=False, key=KEY)
    z = jnp.asarray(normal(3, 2, 2))
    parts = decoder.parts(z)
    np.testing.assert_allclose(decoder(z), parts.sum(axis=1).reshape(3, 2, 3), atol=1e-6)
    other = decoder.parts(z.at[:, 1].add(1.0))
    np.testing.assert_array_equal(other[:, 0], parts[:, 0])
    assert np.abs(other[:, 1] - parts[:, 1]).max() > 1e-3


def test_the_bilinear_part_against_a_loop() -> None:
    decoder = bilinear_decoder(shape=(2,), slots=3, width=2, hidden=(4,), key=KEY)
    plain = eqx.tree_at(lambda net: net.bilinear, decoder, jnp.zeros_like(decoder.bilinear))
    z, weight = normal(4, 3, 2), np.asarray(decoder.bilinear)
    expected = np.zeros((4, 2))
    for j in range(3):
        for k in range(j + 1, 3):
            block = weight[2 * j : 2 * j + 2, 2 * k : 2 * k + 2]
            expected += np.einsum("ba,aco,bc->bo", z[:, j], block, z[:, k])
    np.testing.assert_allclose(decoder(z) - plain(z), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("make", "settings", "line"),
    [
        (attention_decoder, {"shape": SHAPE, "sampled": 0}, "sampled: got 0, expected from 1 to 12 pixels"),
        (attention_decoder, {"shape": SHAPE, "sampled": 13}, "sampled: got 13"),
        (attention_decoder, {"shape": (5, 8)}, r"shape: got \(5, 8\), expected \(height, width, channels\)"),
        (broadcast_decoder, {"shape": (8,)}, r"shape: got \(8,\)"),
        (
            broadcast_decoder,
            {"shape": (64, 64, 3), "doublings": 2},
            "doublings: got 2, expected at least 3, to get from 8 to 64 pixels",
        ),
    ],
)
def test_bad_settings(make: Any, settings: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError, match=line):
        make(slots=2, width=4, key=KEY, **settings)
