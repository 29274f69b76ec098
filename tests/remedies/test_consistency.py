"""Slots that are shuffled, decoded and encoded again."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from recombine.errors import InputError
from recombine.nets import Net
from recombine.remedies import compositional_consistency, matched_distance

pytestmark = pytest.mark.usefixtures("compile_quickly")
KEY = jax.random.key(0)
RNG = np.random.default_rng(0)
Z = jnp.asarray(RNG.random((6, 3, 2)).astype(np.float32))


def test_the_best_order_is_that_of_the_hungarian_method() -> None:
    target, result = RNG.normal(size=(2, 5, 4, 3))
    got = matched_distance(jnp.asarray(target), jnp.asarray(result))
    for row in range(5):
        apart = ((target[row][:, None] - result[row][None]) ** 2).sum(axis=-1)
        np.testing.assert_allclose(got[row], apart[linear_sum_assignment(apart)].mean(), rtol=1e-5)


def test_order_does_not_count() -> None:
    np.testing.assert_allclose(matched_distance(Z, Z[:, ::-1]), 0, atol=1e-12)
    with pytest.raises(InputError, match="slots: got 8, expected at most 7"):
        matched_distance(jnp.zeros((1, 8, 2)), jnp.zeros((1, 8, 2)))


class Scaled(eqx.Module):
    """Slots times a number."""

    factor: jax.Array

    def __call__(self, z: jax.Array, *, key: Any = None) -> jax.Array:
        return self.factor * z


def autoencoder(encoder: float, decoder: float) -> Net:
    """Images are slots."""
    layers = (Scaled(jnp.float32(encoder)), lambda z: z, Scaled(jnp.float32(decoder)))
    return Net(("encoding", "slots", "output"), layers)


def test_an_encoder_that_inverts_its_decoder_is_consistent() -> None:
    np.testing.assert_allclose(
        compositional_consistency(autoencoder(2.0, 0.5), {"slots": Z}, None, key=KEY), 0, atol=1e-10
    )
    assert compositional_consistency(autoencoder(1.0, 0.5), {"slots": Z}, None, key=KEY) > 0.1


def test_latents_are_standardised() -> None:
    """Slots and what is encoded ten times as large have the same distance."""
    small = compositional_consistency(autoencoder(1.0, 0.5), {"slots": Z}, None, key=KEY)
    large = compositional_consistency(autoencoder(10.0, 0.05), {"slots": 10 * Z}, None, key=KEY)
    np.testing.assert_allclose(large, small, rtol=1e-4)


def test_only_the_encoder_learns() -> None:
    def penalty(net: Net, slots: jax.Array) -> jax.Array:
        return compositional_consistency(net, {"slots": slots}, None, samples=2, key=KEY)

    by_net = eqx.filter_grad(penalty)(autoencoder(1.0, 0.5), Z)
    assert abs(by_net.layers[0].factor) > 0.01
    assert by_net.layers[2].factor == 0
    by_slots = jax.grad(lambda slots: penalty(autoencoder(1.0, 0.5), slots))(Z)
    np.testing.assert_array_equal(by_slots, 0)
