"""Tokens of images, and encoders that treat slots and tokens as sets."""

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
from recombine.nets import slot_attention, slot_transformer
from recombine.nets.slots.slot_encoders import GRUCell, PixelTrunk, RowConvolution, normalised, position_grid

pytestmark = pytest.mark.usefixtures("compile_quickly")
KEY = jax.random.key(0, impl="rbg")
TOKENS = (6, 5)
"""Tokens and features, for encoders without convolutions."""


SIZES: dict[str, Any] = {"shape": TOKENS, "slots": 3, "width": 8}


@cache
def transformer() -> Any:
    return filled(partial(slot_transformer, **SIZES, depth=1, heads=2))


@cache
def authors() -> Any:
    return filled(partial(slot_attention, **SIZES, variant="authors"))


@cache
def standard() -> Any:
    return filled(partial(slot_attention, **SIZES))


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).normal(size=shape).astype(np.float32)


@eqx.filter_jit
def encode(net: Any, x: jax.Array, key: Any = None) -> jax.Array:
    return net(x, key=key)


def test_positions_from_corner_to_corner() -> None:
    grid = position_grid(2, 3)
    np.testing.assert_allclose(grid[1, 1], [1, 0.5, 0, 0.5])
    np.testing.assert_allclose(grid[0, 2], [0, 1, 1, 0])
    np.testing.assert_allclose(position_grid(1, 3)[0, :, 0], 0)


def test_tokens_are_normalised_together() -> None:
    x = normal(4, 6, 5) * 3 + 2
    expected = torch.nn.functional.layer_norm(torch.tensor(x), (6, 5))
    np.testing.assert_allclose(normalised(jnp.asarray(x)), expected, atol=1e-6)


@pytest.mark.parametrize("stride", [1, 2, 3])
def test_rows_are_convolved_as_in_torch(stride: int) -> None:
    layer = RowConvolution(3, 4, 5, stride=stride, key=KEY)
    x = normal(2, 1, 11, 3)
    weight = torch.tensor(np.asarray(layer.weight[0]).transpose(2, 1, 0))
    expected = torch.nn.functional.conv1d(
        torch.tensor(x[:, 0].transpose(0, 2, 1)),
        weight,
        torch.tensor(np.asarray(layer.bias)),
        stride=stride,
        padding=2,
    )
    np.testing.assert_allclose(layer(x)[:, 0], expected.numpy().transpose(0, 2, 1), atol=1e-6)
    assert np.abs(layer.weight).max() <= 15**-0.5


@pytest.mark.parametrize(
    ("shape", "strides", "tokens"),
    [
        ((1, 12, 3), (1, 1, 1, 1), 12),
        ((1, 13, 3), (1, 2, 2, 1), 4),
        ((7, 5, 3), (1, 1, 1, 1), 35),
        ((7, 5, 3), (1, 2, 2, 1), 4),
        ((8, 8, 1), (2, 2), 4),
    ],
)
def test_the_number_of_tokens(shape: tuple[int, ...], strides: tuple[int, ...], tokens: int) -> None:
    trunk = eqx.filter_eval_shape(PixelTrunk, shape, 4, channels=6, strides=strides, key=KEY)
    x = jax.ShapeDtypeStruct((2, *shape), jnp.float32)
    assert eqx.filter_eval_shape(trunk, x).shape == (2, tokens, 4)


def test_a_kernel_of_one_row_for_images_of_one_row() -> None:
    trunk = filled(partial(PixelTrunk, (1, 12, 3), 4, channels=6))
    assert {layer.weight.shape[0] for layer in trunk.convolutions} == {1}


@pytest.mark.parametrize("make", [transformer, authors, standard])
def test_tokens_are_a_set(make: Any) -> None:
    net = make()
    x, order = normal(2, *TOKENS), np.random.default_rng(0).permutation(TOKENS[0])
    np.testing.assert_allclose(encode(net, x[:, order]), encode(net, x), atol=1e-5)


@pytest.mark.parametrize(
    ("make", "start"),
    [(transformer, lambda net: net.queries), (authors, lambda net: net.start)],
    ids=["transformer", "authors"],
)
def test_slots_follow_the_order_they_start_in(make: Any, start: Any) -> None:
    net = make()
    x, order = normal(2, *TOKENS), np.array([2, 0, 1])
    moved = eqx.tree_at(start, net, start(net)[order])
    slots = encode(net, x)
    np.testing.assert_allclose(encode(moved, x), slots[:, order], atol=1e-5)
    assert np.abs(slots[:, 0] - slots[:, 1]).max() > 1e-3


def test_images_of_another_brightness_have_the_same_slots() -> None:
    """Features are normalised as one, so scale and offset of a whole image do not count."""
    x = normal(2, *TOKENS)
    np.testing.assert_allclose(encode(transformer(), 7 * x + 3), encode(transformer(), x), atol=1e-3)


def test_which_starts_get_a_gradient() -> None:
    x = normal(2, *TOKENS)
    grads = {
        net.variant: eqx.filter_jit(eqx.filter_grad(lambda n: (n(x) ** 2).sum()))(net)
        for net in (authors(), standard())
    }
    fixed, drawn = grads["authors"], grads["standard"]
    for unused in (fixed.start, fixed.mean, fixed.log_deviation):
        np.testing.assert_array_equal(unused, 0)
    assert np.abs(fixed.cell.new.weight).max() > 0
    for used in (drawn.mean, drawn.log_deviation):
        assert np.abs(used).min() > 0
    assert drawn.start is None


def test_the_standard_start_is_drawn_in_training_and_fixed_in_evaluation() -> None:
    x = normal(2, *TOKENS)
    np.testing.assert_array_equal(encode(standard(), x), encode(standard(), x))
    drawn = [encode(standard(), x, jax.random.key(seed)) for seed in (1, 2)]
    assert np.abs(drawn[0] - drawn[1]).max() > 1e-3
    np.testing.assert_allclose(encode(authors(), x, KEY), encode(authors(), x), atol=1e-6)


def test_the_recurrent_unit_is_that_of_torch() -> None:
    cell, peer = GRUCell(4, key=KEY), torch.nn.GRUCell(4, 4)
    for name, ours in (("ih", cell.new), ("hh", cell.old)):
        getattr(peer, f"weight_{name}").data.copy_(torch.tensor(np.asarray(ours.weight).T))
        getattr(peer, f"bias_{name}").data.copy_(torch.tensor(np.asarray(ours.bias)))
    x, state = normal(6, 4), normal(6, 4) + 1
    with torch.no_grad():
        expected = peer(torch.tensor(x), torch.tensor(state))
    np.testing.assert_allclose(cell(x, state), expected, atol=1e-6)


def test_the_trunk_against_torch() -> None:
    """Convolutions, positions, one normalisation and an MLP, with equal weights."""
    trunk = filled(partial(PixelTrunk, (4, 3, 2), 5, channels=3))
    trunk = eqx.tree_at(lambda net: net.grid.value, trunk, jnp.asarray(position_grid(4, 3)))
    sizes = (2, 3, 3, 3, 5)
    module = torch.nn.ModuleList(
        [torch.nn.Conv2d(sizes[i], sizes[i + 1], 5, padding=2) for i in range(4)]
        + [torch.nn.Linear(*pair) for pair in ((4, 5), (5, 5), (5, 5))]
    )
    peers.load_weights(module, trunk)
    x = normal(2, 4, 3, 2)
    f = torch.nn.functional
    with torch.no_grad():
        y = torch.tensor(x).permute(0, 3, 1, 2)
        for layer in module[:4]:
            y = f.gelu(layer(y))
        y = y.permute(0, 2, 3, 1) + module[4](torch.tensor(position_grid(4, 3)))
        y = f.layer_norm(y.reshape(2, 12, 5), (12, 5))
        expected = module[6](f.gelu(module[5](y)))
    np.testing.assert_allclose(eqx.filter_jit(trunk)(jnp.asarray(x)), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"shape": (8,)}, r"shape: got \(8,\), expected \(height, width, channels\) or \(tokens, features\)"),
        ({"shape": (4, 4, 3), "strides": (1,) * 5}, r"strides: got \(1, 1, 1, 1, 1\), expected one to four"),
        ({"shape": (4, 4, 3), "strides": (0, 1)}, r"strides: got \(0, 1\)"),
        ({"shape": TOKENS, "variant": "lucid"}, "variant: got 'lucid', expected 'authors' or 'standard'"),
    ],
)
def test_bad_settings(settings: dict[str, Any], line: str) -> None:
    with pytest.raises(InputError, match=line):
        slot_attention(slots=2, width=4, key=KEY, **settings)
