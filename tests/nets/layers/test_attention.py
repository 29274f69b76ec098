"""Three ways to compute attention against a plain one, and what goes with it."""

from __future__ import annotations

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ndtr

from recombine.errors import InputError
from recombine.nets.layers.activations import gelu
from recombine.nets.layers.attention import CrossAttention, CrossLayer
from recombine.nets.layers.dense import MLP, xavier_linear

pytestmark = pytest.mark.usefixtures("compile_quickly")
KEY = jax.random.key(0, impl="rbg")
BATCH, WIDTH, CONTEXT, INNER, HEADS = 3, 5, 6, 16, 2


@cache
def attention() -> CrossAttention:
    return CrossAttention(WIDTH, CONTEXT, INNER, HEADS, key=KEY)


def normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).normal(size=shape).astype(np.float32)


def plain(net: CrossAttention, queries: np.ndarray, context: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Row by row and head by head, in float64."""
    head = INNER // HEADS
    asked = queries @ net.query.weight + net.query.bias
    known, carried = np.split(np.asarray(context @ net.key_value.weight + net.key_value.bias), 2, axis=2)
    taken, weights = [], []
    for row in range(len(context)):
        own = np.asarray(asked[row if len(asked) > 1 else 0], dtype=np.float64)
        parts = []
        for first in range(0, INNER, head):
            piece = slice(first, first + head)
            logits = own[:, piece] @ known[row][:, piece].T * net.scale
            share = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
            parts.append((share @ carried[row][:, piece], share))
        taken.append(np.concatenate([part for part, _ in parts], axis=1))
        weights.append(np.stack([share for _, share in parts]))
    return np.stack(taken) @ net.merge.weight + net.merge.bias, np.stack(weights)


@pytest.mark.parametrize("rows", [BATCH, 1])
@pytest.mark.parametrize(("n", "m"), [(7, 3), (2, 9), (7, 9)], ids=["few slots", "few queries", "many"])
def test_attention_as_it_chooses(n: int, m: int, rows: int) -> None:
    queries, context = normal(rows, n, WIDTH), normal(BATCH, m, CONTEXT)
    for got, expected in zip(
        attention()(queries, context), plain(attention(), queries, context), strict=True
    ):
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, atol=2e-6)


def test_all_routes_agree_in_values_and_gradients() -> None:
    queries, context = jnp.asarray(normal(1, 7, WIDTH)), jnp.asarray(normal(BATCH, 9, CONTEXT))
    routes = (CrossAttention.__call__, CrossAttention._short_context, CrossAttention._few_queries)

    def scalar(inputs, route):
        net, queries, context = inputs
        taken, weights = route(net, queries, context)
        return (taken**2).sum() + (weights**3).sum()

    results = [
        eqx.filter_jit(eqx.filter_value_and_grad(scalar))((attention(), queries, context), r) for r in routes
    ]
    for value, grads in results[1:]:
        np.testing.assert_allclose(value, results[0][0], rtol=1e-5)
        for one, other in zip(jax.tree.leaves(grads), jax.tree.leaves(results[0][1]), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5 * max(1, np.abs(other).max()))


def test_weights_ignore_the_order_of_the_context() -> None:
    queries, context = normal(BATCH, 7, WIDTH), normal(BATCH, 9, CONTEXT)
    order = np.random.default_rng(0).permutation(9)
    taken, weights = attention()(queries, context)
    again, moved = attention()(queries, context[:, order])
    np.testing.assert_allclose(again, taken, atol=1e-6)
    np.testing.assert_allclose(moved, weights[..., order], atol=1e-6)
    np.testing.assert_allclose(weights.sum(axis=-1), 1, atol=1e-6)


def test_the_scale_is_that_of_the_full_width() -> None:
    assert attention().scale == pytest.approx(WIDTH**-0.5)
    assert CrossAttention(4, 4, 4, 2, scale=0.25, key=KEY).scale == 0.25
    with pytest.raises(InputError, match="heads: got 3, expected a divisor of the inner width 16"):
        CrossAttention(4, 4, 16, 3, key=KEY)


def test_gelu_is_x_times_the_normal_distribution() -> None:
    x = np.linspace(-6, 6, 101)
    np.testing.assert_allclose(gelu(jnp.asarray(x, jnp.float32)), x * ndtr(x), atol=1e-6)


def test_xavier_weights_fill_their_bounds() -> None:
    layer = xavier_linear(40, 10, key=KEY)
    largest = np.abs(layer.weight).max()
    assert 0.95 * (6 / 50) ** 0.5 < largest <= (6 / 50) ** 0.5
    assert np.abs(layer.bias).max() <= 40**-0.5  # PyTorch's own


@pytest.mark.parametrize("glorot", [False, True])
def test_perceptrons_use_the_requested_initialisation(glorot: bool) -> None:
    layers = MLP((30, 60, 6), glorot=glorot, key=KEY).layers
    for layer, bound in zip(layers, [(6 / 90) ** 0.5, (6 / 66) ** 0.5], strict=True):
        bound = bound if glorot else len(layer.weight) ** -0.5
        assert 0.9 * bound < np.abs(layer.weight).max() <= bound


def test_a_layer_without_weights_passes_its_input_on() -> None:
    layer = CrossLayer(WIDTH, CONTEXT, INNER, HEADS, 8, key=KEY)
    silent = jax.tree.map(lambda leaf: 0 * leaf, eqx.filter(layer, eqx.is_array))
    x = jnp.asarray(normal(1, 7, WIDTH))
    new, weights = eqx.combine(silent, eqx.filter(layer, eqx.is_array, inverse=True))(
        x, jnp.asarray(normal(BATCH, 3, CONTEXT))
    )
    np.testing.assert_array_equal(new, np.broadcast_to(x, (BATCH, 7, WIDTH)))
    np.testing.assert_allclose(weights, 1 / 3, atol=1e-7)
