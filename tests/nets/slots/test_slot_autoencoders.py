"""Slot autoencoders: the posterior, and encoding and decoding by their stages."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from benchmarks import slot_peers

from recombine.errors import InputError
from recombine.nets import (
    Net,
    PixelSample,
    additive_decoder,
    attention_decoder,
    decode,
    dense_slots,
    encode,
    mlp,
    parameter_count,
    posterior_of,
    slot_autoencoder,
    slot_transformer,
    trace,
)
from recombine.nets.slots.slot_autoencoders import Posterior
from recombine.parts import Part
from recombine.remedies import attention_interaction, capacity
from recombine.training.losses import summed_squared_error

pytestmark = pytest.mark.usefixtures("compile_quickly")
KEY = jax.random.key(0, impl="rbg")
SHAPE = (1, 6, 3)
X = np.random.default_rng(0).random((4, *SHAPE)).astype(np.float32)


def made(**settings: Any) -> Net:
    parts = {"encoder": Part(dense_slots, hidden=(8,)), "decoder": Part(additive_decoder, hidden=(8,))}
    return slot_autoencoder(**{"shape": SHAPE, "slots": 2, "width": 3, "key": KEY} | parts | settings)


def test_the_deviation_is_half_an_exponential() -> None:
    mean, deviation = posterior_of(jnp.array([[[1.0, 2.0, 0.0, np.log(3.0)]]]))
    np.testing.assert_allclose(mean, [[[1, 2]]])
    np.testing.assert_allclose(deviation, [[[0.5, 1.5]]], rtol=1e-6)


def test_draws_have_the_posterior_s_mean_and_deviation() -> None:
    n = 20_000
    encoding = jnp.broadcast_to(jnp.array([1.0, -2.0, 0.0, np.log(3.0)]), (n, 1, 4))
    drawn = np.asarray(Posterior()(encoding, key=KEY))[:, 0]
    np.testing.assert_allclose(drawn.mean(axis=0), [1, -2], atol=5 * 1.5 / n**0.5)
    np.testing.assert_allclose(drawn.std(axis=0), [0.5, 1.5], rtol=5 / (2 * n) ** 0.5)
    np.testing.assert_array_equal(Posterior()(encoding)[0, 0], [1, -2])


@pytest.mark.parametrize("variational", [True, False])
def test_encoding_then_decoding_is_the_net(variational: bool) -> None:
    net = made(variational=variational)
    output, stages = trace(net, jnp.asarray(X))
    slots = encode(net, X)
    assert slots.shape == (4, 2, 3)
    assert stages["encoding"].shape == (4, 2, 6 if variational else 3)
    np.testing.assert_allclose(slots, stages["slots"], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(decode(net, slots), output, rtol=1e-5, atol=1e-6)
    drawn = encode(net, X, key=KEY)
    if not variational:
        np.testing.assert_array_equal(drawn, slots)
        return
    mean, deviation = posterior_of(stages["encoding"])
    np.testing.assert_array_equal(slots, mean)
    np.testing.assert_allclose(drawn, mean + deviation * jax.random.normal(KEY, mean.shape), rtol=1e-6)


def test_some_pixels_in_training_and_all_in_evaluation() -> None:
    small = Part(attention_decoder, inner=8, queries=6, heads=2, depth=1, sampled=2)
    net = eqx.filter_eval_shape(lambda: made(decoder=small))
    x = jax.ShapeDtypeStruct(X.shape, jnp.float32)
    run = eqx.filter_eval_shape(lambda net, x: (trace(net, x)[0], trace(net, x, key=KEY)[0]), net, x)
    assert run[0].shape == (4, *SHAPE)
    assert isinstance(run[1], PixelSample)
    assert run[1].values.shape == (4, 2, 3)


def test_stages_may_be_plain_functions() -> None:
    net = Net(("encoding", "slots", "output"), (lambda x: 2 * x, lambda x: x + 1, lambda z: z - 1))
    z = encode(net, jnp.ones((1, 2, 2)), key=KEY)
    np.testing.assert_array_equal(z, 3)
    np.testing.assert_array_equal(decode(net, z), 2)


def test_nets_without_slots_are_refused() -> None:
    net = mlp(inputs=3, width=2, depth=1, outputs=1, key=KEY)
    for call in (encode, decode):
        with pytest.raises(
            InputError, match=r"net: got \['hidden0', 'output'\], expected a net with a stage 'slots'"
        ):
            call(net, jnp.ones((1, 3)))
    with pytest.raises(InputError, match="slots: got 1, expected 2 or more"):
        made(slots=1)


def test_the_line_net_and_its_penalties_against_torch() -> None:
    sizes = {"slots": 3, "width": 4}
    net = made(
        **sizes,
        encoder=Part(slot_transformer, channels=4, depth=1),
        decoder=Part(attention_decoder, inner=8, queries=6, heads=4, depth=1),
    )
    module = slot_peers.LineAutoencoder(length=6, channels=4, inner=8, queries=6, depth=1, **sizes)
    slot_peers.load_weights(module, net)
    assert sum(parameter.numel() for parameter in module.parameters()) == parameter_count(net)
    x = torch.tensor(X)
    with torch.no_grad():
        run = module(x)
        total = slot_peers.objective(run, x, error=5.0, alpha=0.6, beta=0.05)

    @eqx.filter_jit
    def ours(net, x):
        output, stages = trace(net, x)
        expected = summed_squared_error(output, x, weight=5.0).mean()
        expected += 0.05 * capacity(net, stages, None) + 0.6 * attention_interaction(net, stages, None)
        return output, stages["decoder"].attention, expected

    output, attention, expected = ours(net, jnp.asarray(X))
    np.testing.assert_allclose(output, run.images, atol=1e-5)
    np.testing.assert_allclose(attention, run.attention, atol=1e-5)
    np.testing.assert_allclose(total, expected, rtol=1e-5)
