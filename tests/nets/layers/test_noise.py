from __future__ import annotations

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.nets import activity_noise, identity, leaky_relu, mlp, noisy, sigmoid, tanh, trace

pytestmark = pytest.mark.usefixtures("compile_quickly")
KEY = jax.random.key(0, impl="rbg")  # compiles faster
VALUES = np.array([-3.0, -0.5, 0.0, 0.25, 2.0], np.float32)


@pytest.mark.parametrize("exponent", [0, 0.5, 1, 2])
def test_the_variance_grows_with_the_activity(exponent: float) -> None:
    """level² |a|^exponent, no mean, and no relation between units or examples."""
    rows = np.broadcast_to(VALUES, (20_000, 5))
    added = np.asarray(jax.jit(partial(activity_noise, level=0.3, exponent=exponent))(rows, KEY)) - rows
    expected = 0.3 * np.abs(VALUES) ** (exponent / 2) if exponent else np.full(5, 0.3)
    np.testing.assert_allclose(added.std(axis=0), expected, rtol=0.03)
    assert (np.abs(added.mean(axis=0)) <= 5 * expected / len(rows) ** 0.5).all()
    moving = added[:, expected > 0]
    assert np.abs(np.corrcoef(moving.T) - np.eye(moving.shape[1])).max() < 0.04
    assert abs(np.corrcoef(moving[:-1, 0], moving[1:, 0])[0, 1]) < 0.04


@pytest.mark.parametrize("exponent", [0, 0.5, 1, 2])
def test_gradients_flow_through_the_size_of_the_noise(exponent: float) -> None:
    """∂/∂a (a + level |a|^(e/2) ξ) = 1 + level ξ (e/2) |a|^(e/2 - 1) sign(a), and 1 where a unit is silent."""

    @jax.jit
    def both(a: jax.Array) -> tuple[jax.Array, jax.Array]:
        of = partial(activity_noise, key=KEY, level=0.3, exponent=exponent)
        return of(a), jax.grad(lambda a: of(a).sum())(a)

    value, slope = map(np.asarray, both(VALUES))
    alive = VALUES != 0
    a = VALUES[alive]
    drawn = (value[alive] - a) / (0.3 * np.abs(a) ** (exponent / 2))
    expected = 1 + 0.3 * drawn * exponent / 2 * np.abs(a) ** (exponent / 2 - 1) * np.sign(a)
    np.testing.assert_allclose(slope[alive], expected, rtol=1e-4)
    assert np.isfinite(slope).all()
    if exponent < 2:
        assert slope[~alive] == 1


def test_noise_is_off_in_evaluation_unless_requested() -> None:
    net = mlp(inputs=3, width=8, depth=2, outputs=2, key=KEY)
    x, noise = np.ones((5, 3), np.float32), noisy(["hidden1"], level=0.5, exponent=2)

    @eqx.filter_jit
    def run(**keys: jax.Array) -> dict[str, jax.Array]:
        return trace(net, x, perturb=noise, **keys)[1]

    clean, trained, tested, again = run(), run(key=KEY), run(noise_key=KEY), run(noise_key=KEY)
    # Four calls, three different programs: they agree up to rounding, and noise is far above that.
    near = {"rtol": 1e-5, "atol": 1e-6}
    np.testing.assert_allclose(clean["output"], eqx.filter_jit(net)(x), **near)
    for noised in (trained, tested):
        np.testing.assert_allclose(
            noised["hidden0"], clean["hidden0"], **near
        )  # only the stage that was named
        moved = ~np.isclose(noised["hidden1"], clean["hidden1"], **near)
        np.testing.assert_array_equal(moved, clean["hidden1"] > 1e-4)
        assert not np.isclose(noised["output"], clean["output"], **near).any()
    np.testing.assert_array_equal(tested["output"], again["output"])


def test_activations() -> None:
    x = np.linspace(-3, 3, 13, dtype=np.float32)
    result = jax.jit(lambda x: [leaky_relu(x), leaky_relu(x, slope=0.5), tanh(x), sigmoid(x), identity(x)])(x)
    expected = [np.where(x > 0, x, 0.1 * x), np.where(x > 0, x, x / 2), np.tanh(x), 1 / (1 + np.exp(-x)), x]
    for one, other in zip(result, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-7)
    assert jax.jit(jax.grad(leaky_relu))(jnp.float32(-1)) == pytest.approx(0.1)
