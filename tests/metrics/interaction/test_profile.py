"""Profiles of decoders whose interaction is known."""

from __future__ import annotations

import json

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import block_diag

from recombine.metrics.interaction import interaction_profile

from .conftest import SLOTS, make

pytestmark = pytest.mark.usefixtures("compile_quickly")
Z = np.random.default_rng(0).normal(size=(12, 4))


def profile(decoder, latents=Z, slots=SLOTS, **settings):
    settings = {"method": "exact", "standardise": False, "batched": False, **settings}
    return interaction_profile(decoder, latents, slots, **settings)


@given(st.integers(1, 4), st.integers(0, 10_000))
@settings(max_examples=12)
def test_a_random_polynomial_gets_its_order(order, seed):
    interactions = profile(make(order, np.random.default_rng(seed)), max_order=4, threshold=1e-6)
    assert interactions.order == (order if order < 4 else None)
    assert interactions.order_chances[order] == 1.0


@given(st.integers(1, 3), st.integers(0, 10_000))
@settings(max_examples=12)
def test_linear_maps_within_slots_keep_the_order(order, seed):
    rng = np.random.default_rng(seed)
    turn = block_diag(rng.normal(size=(2, 2)) + 2 * np.eye(2), rng.normal(size=(2, 2)) + 2 * np.eye(2))
    interactions = profile(make(order, rng, turn), max_order=4, threshold=1e-6)
    assert interactions.order == order
    assert interactions.share(order + 1).value < 1e-9


@given(st.integers(0, 10_000))
@settings(max_examples=8)
def test_rotations_within_slots_change_nothing(seed):
    rng = np.random.default_rng(seed)
    turn = block_diag(*(np.linalg.qr(rng.normal(size=(2, 2)))[0] for _ in range(2)))
    plain = make(4, rng)
    turned = eqx.tree_at(lambda net: net.mixing, plain, turn)
    before, after = profile(plain, Z @ turn.T), profile(turned, Z)
    np.testing.assert_allclose(
        [s.value for s in before.shares], [s.value for s in after.shares], rtol=1e-9, atol=1e-12
    )


@given(st.integers(0, 10_000), st.permutations(range(2)))
@settings(max_examples=8)
def test_the_order_of_slots_does_not_matter(seed, order):
    decoder = make(3, np.random.default_rng(seed))
    before, after = profile(decoder), profile(decoder, slots=[SLOTS[k] for k in order])
    np.testing.assert_allclose([s.value for s in before.shares], [s.value for s in after.shares], rtol=1e-12)
    for m in (1, 2):
        np.testing.assert_allclose(before.pairs(m)[np.ix_(order, order)], after.pairs(m), rtol=1e-12)


def test_one_product_by_hand():
    """f = (ab, a²): D² holds twice 1 across and 2 within, so r2 = sqrt(2 / 6)."""
    interactions = profile(lambda z: jnp.stack([z[0] * z[1], z[0] ** 2]), np.array([[1.0, 2.0]]), 2)
    assert interactions.r2 == pytest.approx(np.sqrt(2 / 6))
    assert (interactions.share(2).cross, interactions.share(2).within) == pytest.approx((2.0, 4.0))
    assert np.isnan(interactions.r3)
    assert interactions.order == 2
    np.testing.assert_allclose(interactions.pairs(2), [[4 / 6, 1 / 6], [1 / 6, 0]])
    assert interactions.sets(2) == pytest.approx({(0, 0): 4 / 6, (0, 1): 2 / 6, (1, 1): 0.0})
    # s = (2, 1) for the first output and (2, 0) for the second
    assert interactions.q1 == pytest.approx(2 / (0.5 * 0.5 * (9 + 4)))
    np.testing.assert_allclose(interactions.cross_map(2), [2, 0])
    np.testing.assert_allclose(interactions.share_map(2), [1, 0])
    np.testing.assert_allclose(interactions.share_map(1), [2 * 2 / (0.5 * 9), 0])


def test_even_dependence_on_three_slots_is_one():
    interactions = profile(lambda z: z.sum()[None], np.ones((2, 3)), 3)
    assert interactions.q1 == pytest.approx(1.0)
    assert interactions.order == 1
    np.testing.assert_allclose(interactions.pairs(1), 1 / 9)


def test_maps_have_the_shape_of_an_output():
    def render(z):
        return jnp.zeros((3, 2)).at[1, 0].set(z[0] * z[2]).at[2].set(jnp.sin(z[:2]))

    interactions = profile(render)
    assert interactions.cross_map(2).shape == (3, 2)
    assert np.argwhere(interactions.cross_map(2) > 0).tolist() == [[1, 0]]


def test_units_do_not_matter_if_latents_are_standardised(polynomial, latents):
    decoder = polynomial(2, np.random.default_rng(1))
    scale = np.array([1.0, 10.0, 0.1, 3.0])
    before = profile(decoder, latents, standardise=True)
    after = profile(
        eqx.tree_at(lambda net: net.mixing, decoder, np.diag(1 / scale)), latents * scale, standardise=True
    )
    np.testing.assert_allclose([s.value for s in before.shares], [s.value for s in after.shares], rtol=1e-9)


def test_a_latent_that_does_not_vary_keeps_its_unit(polynomial, latents):
    still = latents.copy()
    still[:, 2] = 0.7
    interactions = profile(polynomial(2, np.random.default_rng(1)), still, standardise=True)
    assert interactions.notes == ("latents that do not vary keep their own unit: 2",)
    assert interactions.scale[2] == 1.0
    assert interactions.order == 2


def test_samples_are_drawn_and_reported(polynomial):
    many = np.random.default_rng(3).normal(size=(40, 4))
    interactions = profile(polynomial(1, np.random.default_rng(1)), many, samples=12)
    assert interactions.samples == 12
    assert "12 of 40 latents were drawn" in interactions.notes[0]
    assert profile(polynomial(1, np.random.default_rng(1)), many, samples=None).samples == 40


def test_it_prints_and_goes_to_json(polynomial, latents):
    interactions = profile(polynomial(2, np.random.default_rng(1)), latents)
    text = str(interactions)
    assert text.startswith("Interaction order across slots: 2 (in 100% of resamples)")
    assert "2 slots of 2 + 2 latents, 24 samples (exact)" in text
    data = json.loads(json.dumps(interactions.to_dict()))
    assert data["order"] == 2
    assert data["shares"]["r2"]["value"] == pytest.approx(interactions.r2)
    linear = profile(lambda z: jnp.stack([z[0] + z[2], z[1] - z[3]]), latents)
    assert "there are no second derivatives" in str(linear)
    assert linear.to_dict()["shares"]["r2"]["value"] is None
    assert linear.order == 1


def test_a_wide_interval_shows_in_the_chances():
    """One sample in ten has interaction: some resamples have none."""

    def rare(z):
        return jnp.stack([jnp.where(z[0] > 5, z[0] * z[1], 0.0), z[0] ** 2 + jnp.sin(z[1])])

    z = np.random.default_rng(0).normal(size=(10, 2))
    z[0, 0] = 6.0
    interactions = profile(rare, z, 2)
    assert 0.2 < interactions.order_chances[1] < 0.5
    assert interactions.share(2).low == 0.0 < interactions.share(2).value < interactions.share(2).high
    assert "1 in" in str(interactions)
