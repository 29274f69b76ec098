"""Slot sensitivity against the whole Jacobian."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.errors import InputError
from recombine.nets import Net, broadcast_decoder
from recombine.studies.interaction_asymmetry.slot_sensitivity import net_sensitivity, slot_sensitivity

pytestmark = pytest.mark.usefixtures("compile_quickly")
SLOTS, WIDTH, PIXELS, CHANNELS = 3, 2, 4, 2
RNG = np.random.default_rng(0)
WEIGHT = jnp.asarray(RNG.normal(size=(SLOTS * WIDTH, PIXELS * CHANNELS)).astype(np.float32))
Z = RNG.normal(size=(5, SLOTS, WIDTH)).astype(np.float32)


def decoder(z: jax.Array) -> jax.Array:
    return jnp.sin(z.reshape(len(z), -1) @ WEIGHT).reshape(len(z), 2, 2, CHANNELS)


def lengths(norm: str) -> np.ndarray:
    whole = np.asarray(jax.vmap(jax.jacfwd(lambda z: decoder(z[None])[0]))(Z))
    whole = whole.reshape(len(Z), PIXELS, CHANNELS, SLOTS, WIDTH)
    return np.abs(whole).sum(axis=(2, 4)) if norm == "l1" else np.sqrt((whole**2).sum(axis=(2, 4)))


@pytest.mark.parametrize("norm", ["l1", "l2"])
def test_sums_over_the_whole_jacobian(norm: str) -> None:
    values = slot_sensitivity(decoder, Z, channels=CHANNELS, norm=norm, batch=5)  # type: ignore[arg-type]
    np.testing.assert_allclose(values, lengths(norm), rtol=1e-4)


def test_batches_that_do_not_fill() -> None:
    values = slot_sensitivity(decoder, Z, channels=CHANNELS, batch=2)
    np.testing.assert_allclose(values, lengths("l1"), rtol=1e-4)


def test_a_decoder_with_convolutions() -> None:
    """With 20 channels it has no forward mode of its own."""
    made = broadcast_decoder(shape=(8, 8, 3), slots=2, width=2, channels=20, start=4, key=jax.random.key(0))
    net = Net(("slots", "decoder"), (lambda z: z, made))
    z = Z[:2, :2]
    values = net_sensitivity(net, z, batch=2)
    assert values.shape == (2, 64, 2)
    whole = np.asarray(jax.jit(jax.jacrev(lambda z: made(z[None])[0]))(z[1]))  # reverse mode
    np.testing.assert_allclose(values[1], np.abs(whole).sum(axis=(2, 4)).reshape(64, 2), rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize(
    ("slots", "settings", "line"),
    [
        (Z[:, :1], {}, "slots: got (5, 1, 2), expected (n, slots, width) with 2 slots or more"),
        (Z[0], {}, "slots: got (3, 2)"),
        (Z, {"norm": "l3"}, "norm: got 'l3', expected 'l1' or 'l2'"),
    ],
)
def test_bad_input(slots: np.ndarray, settings: dict[str, str], line: str) -> None:
    with pytest.raises(InputError) as error:
        slot_sensitivity(decoder, slots, channels=CHANNELS, **settings)  # type: ignore[arg-type]
    assert line in str(error.value)


def test_derivatives_that_are_not_finite() -> None:
    with pytest.raises(InputError, match="decoder: got 'derivatives that are not finite'"):
        slot_sensitivity(jnp.sqrt, np.zeros((1, 2, 2)), channels=1, batch=1)
