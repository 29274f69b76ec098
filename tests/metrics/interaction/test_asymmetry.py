"""Reports on decoders that satisfy the conditions, and on some that break one of them."""

from __future__ import annotations

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.errors import InputError
from recombine.metrics.interaction import asymmetry_report

pytestmark = pytest.mark.usefixtures("compile_quickly")
RNG = np.random.default_rng(0)
Z = RNG.normal(size=(20, 4))
OWN = RNG.normal(size=(2, 40, 2))
CROSS = RNG.normal(size=(40, 2, 2))


def parts(z):
    return jnp.sin(OWN[0] @ z[:2] + 0.2), jnp.tanh(OWN[1] @ z[2:] + 0.5)


DECODERS = {
    0: lambda z: jnp.concatenate(parts(z)),
    1: lambda z: parts(z)[0] + parts(z)[1],
    2: lambda z: parts(z)[0] + parts(z)[1] + jnp.einsum("oij,i,j->o", CROSS, z[:2], z[2:]),
}


@pytest.mark.parametrize("order", [0, 1, 2])
def test_it_holds_with_the_order_across_slots(order):
    report = asymmetry_report(DECODERS[order], Z, 2)
    assert report.holds
    assert report.order == report.profile.order == order
    assert report.failures == ()
    assert str(report).startswith(f"Interaction asymmetry holds with n = {order}:")
    data = json.loads(json.dumps(report.to_dict()))
    assert data["holds"]
    assert data["levels"][0]["independence"][0]["holds"]


def test_a_slot_that_falls_apart():
    """Both latents of the first slot act on outputs of their own, in hidden coordinates, and never together."""

    def decoder(z):
        a = jnp.array([[1.0, 0.5], [-0.3, 1.0]]) @ z[:2]
        first = jnp.sin(jnp.arange(1.0, 21) * 0.1 * a[0]) + jnp.exp(jnp.arange(1.0, 21) * 0.05 * a[1])
        return jnp.concatenate([first, jnp.zeros(20)]) + parts(z)[1]

    report = asymmetry_report(decoder, Z, 2)
    assert not report.holds
    assert report.profile.order == 1
    assert report.failures[0] == "slot 0 can be split into 2 parts by its second derivatives"
    assert report.verdict.startswith("Interaction asymmetry does not hold: slot 0 can be split into 2 parts")
    assert "The theorem does not apply" in str(report)


def test_a_linear_map_has_no_slots():
    """Any rotation of its latents is as good."""
    report = asymmetry_report(lambda z: OWN[0] @ z[:2] + OWN[1] @ z[2:], Z, 2)
    assert not report.holds
    assert report.failures[0] == "slot 0 has no second derivatives"
    assert len(report.levels) == 2  # n = 2 was tried, too


def test_too_few_outputs():
    report = asymmetry_report(lambda z: DECODERS[2](z)[:12], Z, 2)
    assert report.levels[0].whole
    assert not report.holds
    assert "sufficient independence fails" in report.verdict
    assert "(12 outputs; at least 22 are needed)" in report.failures[0]


def test_slots_that_mix_by_a_softmax():
    def decoder(z):
        a, b = parts(z)
        weight = jax.nn.sigmoid(z[0] - z[2])
        return weight * a + (1 - weight) * b

    report = asymmetry_report(decoder, Z, 2)
    assert not report.holds
    assert report.levels == ()
    assert "beyond second order" in report.verdict


def test_no_interaction_at_order_zero_but_at_order_one():
    """Each output depends on one latent of one slot, or on a product within it: n = 0 holds by the products alone."""

    def alone(z):
        return jnp.concatenate([z, z**2, z**3])

    def together(z):
        return jnp.concatenate([alone(z), jnp.stack([z[0] * z[1], z[2] * z[3]])])

    assert (
        "slot 0 can be split into 2 parts by its first derivatives" in asymmetry_report(alone, Z, 2).failures
    )
    assert asymmetry_report(together, Z, 2).order == 0


def test_black_boxes_are_tested_by_differences():
    def decoder(z):
        first = np.sin(z[:, :2] @ OWN[0].T + 0.2)
        return np.concatenate([first, np.tanh(z[:, 2:] @ OWN[1].T)], axis=1)

    report = asymmetry_report(decoder, Z, 2)
    assert report.holds
    assert report.order == 0
    assert "differences" in str(report)


def test_bad_input():
    with pytest.raises(InputError, match="points: got 0"):
        asymmetry_report(DECODERS[1], Z, 2, points=0)
    with pytest.raises(InputError, match="max_order"):
        asymmetry_report(DECODERS[1], Z, 2, max_order=4)
