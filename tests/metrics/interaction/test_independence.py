from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from recombine.errors import InputError
from recombine.metrics.interaction import derivative_tensors, independence_of, sufficient_independence


def random_tensors(rng, outputs, d, orders):
    results = []
    for m in range(1, orders + 1):
        full = rng.normal(size=(outputs, *[d] * m))
        results.append(full if m == 1 else (full + np.swapaxes(full, -1, -2)) / 2)
    return tuple(results)


@pytest.mark.parametrize(("outputs", "holds"), [(10, True), (9, False)])
def test_generic_derivatives_need_enough_outputs(outputs, holds):
    """Order 1, slots of 2 + 2: 4 first derivatives and 3 second ones of each slot."""
    independence = sufficient_independence(random_tensors(np.random.default_rng(0), outputs, 4, 2), 2)
    assert independence.outputs_needed == 10
    assert independence.holds == holds
    assert (independence.lower, independence.slots) == (4, (3, 3))
    assert independence.joint == outputs
    assert str(independence) == f"rank {outputs} {'=' if holds else '<'} 4 + 3 + 3"


def test_order_zero_is_the_rank_of_the_jacobian():
    jacobian = np.random.default_rng(0).normal(size=(6, 4))
    assert sufficient_independence((jacobian,), 2).holds
    jacobian[:, 3] = jacobian[:, 0]
    independence = sufficient_independence((jacobian,), 2)
    assert (independence.joint, independence.lower, independence.slots, independence.holds) == (
        3,
        0,
        (2, 2),
        False,
    )


def test_a_second_derivative_among_the_first_ones():
    """e^a is its own second derivative."""
    independence = independence_of(lambda z: jnp.stack([jnp.exp(z[0]), z[1], z[1] ** 2]), [0.1, 0.2], 2, 1)
    assert (independence.joint, independence.lower, independence.slots) == (3, 2, (1, 1))
    assert not independence.holds


def test_a_slot_without_second_derivatives_has_rank_zero():
    independence = independence_of(lambda z: jnp.stack([z[0], z[1] ** 2, z[1]]), [0.1, 0.2], 2, 1)
    assert independence.slots == (0, 1)
    assert independence.holds


def test_units_of_the_derivatives_do_not_matter():
    rng = np.random.default_rng(0)
    first, second = random_tensors(rng, 12, 4, 2)
    for scale in (1e-5, 1e5):
        assert sufficient_independence((first, scale * second), 2).holds


def test_derivatives_by_differences_are_those_by_jax():
    def decoder(z):
        return jnp.stack([jnp.sin(z[0]) * z[1] ** 2, z[0] ** 3 * z[1]])

    exact = derivative_tensors(decoder, [0.5, -0.7], 3)
    by_steps = derivative_tensors(decoder, [0.5, -0.7], 3, step=0.01)
    black_box = derivative_tensors(lambda z: np.asarray(decoder(z), dtype=float), [0.5, -0.7], 1)
    for a, b in zip(exact, by_steps, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-3)
    np.testing.assert_allclose(black_box[0], exact[0], atol=1e-2)
    assert [a.shape for a in exact] == [(2, 2), (2, 2, 2), (2, 2, 2, 2)]
    np.testing.assert_allclose(exact[2], exact[2].transpose(0, 3, 1, 2), rtol=1e-6, atol=1e-6)


def test_bad_input():
    with pytest.raises(InputError, match="derivatives: got '4 orders'"):
        sufficient_independence((np.ones((3, 2)),) * 4, 2)
    with pytest.raises(InputError, match="derivatives: got"):
        sufficient_independence((np.ones((3, 2)), np.ones((3, 2))), 2)
    with pytest.raises(InputError, match="order: got 3"):
        independence_of(jnp.sin, [0.0, 1.0], 2, 3)
    with pytest.raises(InputError, match=r"point: got 'shape \(1, 2\)'"):
        derivative_tensors(jnp.sin, [[0.0, 1.0]], 1)
    with pytest.raises(InputError, match="derivatives of order 1 that are not finite"):
        derivative_tensors(lambda z: jnp.sqrt(jnp.abs(z)), [0.0, 1.0], 1)
    with pytest.raises(
        InputError, match="latents: got '101 of them for derivatives of order 3', expected at most 100"
    ):
        derivative_tensors(jnp.sin, np.zeros(101), 3)
