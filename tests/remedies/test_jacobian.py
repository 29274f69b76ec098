"""The faithful form: against brute force, against its random estimate, and against noise itself."""

from __future__ import annotations

from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax.flatten_util import ravel_pytree
from scipy.special import softmax

from recombine.errors import InputError
from recombine.nets import Chain, Linear, Net, Reshape, leaky_relu, mlp, noisy, trace
from recombine.remedies import jacobian_activity, noise_level, penalty_weight, weighted_activity

pytestmark = pytest.mark.usefixtures("compile_quickly")
KEY = jax.random.key(0, impl="rbg")  # compiles faster
X = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)
quick = eqx.filter_jit(jacobian_activity)


def small_net(outputs: int = 2) -> Net:
    return mlp(inputs=3, width=(5, 4), outputs=outputs, activation=jnp.tanh, key=KEY)


def brute_force(net: Net, alpha: float, curvature: Any = None) -> dict[str, float]:
    """Per stage, Σ_i E |a_i|^alpha J_iᵀ H J_i with the Jacobian of one example at a time; H is I by default."""

    @jax.jit
    def parts(x: jax.Array) -> dict[str, Any]:
        output, stages = trace(net, x[None])
        results = {}
        for position, name in enumerate(net.names[:-1]):
            rest = Net(net.names[position + 1 :], net.layers[position + 1 :])
            results[name] = (
                stages[name][0],
                jax.jacobian(lambda a, rest=rest: rest(a[None]).ravel())(stages[name][0]),
            )
        return {"output": output[0], "stages": results}

    totals = dict.fromkeys(net.names[:-1], 0.0)
    for x in X:
        here = jax.tree.map(np.asarray, parts(x))
        h = np.eye(here["output"].size) if curvature is None else curvature(here["output"])
        for name, (a, jacobian) in here["stages"].items():
            powers = np.abs(a) ** alpha
            totals[name] += float(np.einsum("i,oi,op,pi->", powers, jacobian, h, jacobian)) / len(X)
    return totals


@pytest.mark.parametrize("alpha", [0, 1, 2])
def test_exact_against_brute_force(alpha: float) -> None:
    net = small_net()
    expected = brute_force(net, alpha)

    @jax.jit
    def penalties() -> list[jax.Array]:
        exact = [jacobian_activity(net, X, alpha=alpha, stages=names) for names in (["hidden0"], None)]
        last = [
            penalty(net, X, alpha=alpha, stages=["hidden1"])
            for penalty in (jacobian_activity, weighted_activity)
        ]
        return [*exact, *last]

    first, both, last, local = penalties()
    np.testing.assert_allclose(first, expected["hidden0"], rtol=1e-5)
    np.testing.assert_allclose(both, sum(expected.values()), rtol=1e-5)
    np.testing.assert_allclose(last, expected["hidden1"], rtol=1e-5)
    np.testing.assert_allclose(
        last, local, rtol=1e-6
    )  # the last hidden layer's term is that of weighted activity


def softmax_curvature(outputs: np.ndarray) -> np.ndarray:
    """Of the summed cross-entropies of all parts."""
    parts = softmax(outputs, axis=-1).reshape(-1, outputs.shape[-1])
    whole = np.zeros((outputs.size, outputs.size))
    for i, p in enumerate(parts):
        here = slice(i * len(p), (i + 1) * len(p))
        whole[here, here] = np.diag(p) - np.outer(p, p)
    return whole


@pytest.mark.parametrize("shape", [(4,), (2, 3)], ids=str)
def test_cross_entropy_against_brute_force(shape: tuple[int, ...]) -> None:
    net = mlp(inputs=3, width=(5, 4), outputs=shape, activation=jnp.tanh, key=KEY)
    expected = sum(brute_force(net, 2, softmax_curvature).values())
    assert float(quick(net, X, loss="cross-entropy")) == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("loss", ["squared", "cross-entropy"])
def test_random_projections_are_unbiased(loss: Any) -> None:
    net = mlp(inputs=3, width=(5, 4), outputs=(2, 3), activation=jnp.tanh, key=KEY)

    @jax.jit
    def draw(keys: jax.Array) -> tuple[jax.Array, ...]:
        _, stages = trace(net, X)
        of = partial(jacobian_activity, net, stages, (X, None), loss=loss)
        return jax.vmap(lambda key: of(projections=1, key=key))(keys), of(), of(projections=4000, key=keys[0])

    drawn, exact, many = map(np.asarray, draw(jax.random.split(jax.random.key(0), 4000)))
    assert drawn.std() > 0.05 * exact
    assert abs(drawn.mean() - exact) < 4 * drawn.std() / len(drawn) ** 0.5
    assert many == pytest.approx(exact, rel=0.05)


def test_gradients_flow_through_activity_and_jacobian() -> None:
    """Against finite differences, in float64."""
    with jax.enable_x64(True):
        net = mlp(inputs=3, width=(4, 3), outputs=2, activation=jnp.tanh, key=KEY)
        net = jax.tree.map(lambda leaf: jnp.asarray(leaf, float) if eqx.is_array(leaf) else leaf, net)
        params, static = eqx.partition(net, eqx.is_array)
        flat, unravel = ravel_pytree(params)

        @jax.jit
        def penalty(flat: jax.Array) -> jax.Array:
            return jacobian_activity(eqx.combine(unravel(flat), static), X.astype(float))

        exact = np.asarray(jax.jit(jax.grad(penalty))(flat))
        moves = 1e-6 * np.eye(len(flat))
        numerical = [float(penalty(flat + move) - penalty(flat - move)) / 2e-6 for move in moves]
        assert np.linalg.norm(exact - numerical) < 1e-4 * np.linalg.norm(exact)


@pytest.mark.parametrize("alpha", [0, 1, 2])
def test_what_noise_costs(alpha: float) -> None:
    """The loss that noise adds is σ²/K times the penalty, for a net of leaky units (fact sheet, check 2)."""
    net = mlp(inputs=4, width=32, depth=3, outputs=4, activation=leaky_relu, key=KEY)
    x = np.random.default_rng(0).uniform(-2, 2, size=(200, 4)).astype(np.float32)

    @jax.jit
    def measured_and_predicted(level: jax.Array, keys: jax.Array) -> tuple[jax.Array, jax.Array]:
        clean, stages = trace(net, x)
        noise = noisy(net.names[:-1], level=level, exponent=alpha)

        def excess(key: jax.Array) -> jax.Array:
            outputs, _ = trace(net, x, perturb=noise, noise_key=key)
            return ((outputs - clean) ** 2).mean()

        return jax.lax.map(excess, keys).mean(), jacobian_activity(net, stages, (x, None), alpha=alpha)

    for level in (0.02, 0.05, 0.1):
        measured, penalty = measured_and_predicted(
            jnp.float32(level), jax.random.split(jax.random.key(1), 150)
        )
        assert float(measured) / (penalty_weight(level, 4) * float(penalty)) == pytest.approx(1, abs=0.03)


def test_a_stage_without_weights_counts_too() -> None:
    net = Net(
        ("first", "picture", "output"),
        (Linear(3, 4, key=KEY), Reshape((2, 2)), Chain(Reshape((4,)), Linear(4, 2, key=KEY))),
    )
    both = (
        jacobian_activity(net, X, stages=["first"]),
        jacobian_activity(net, X, stages=["picture"]),
    )
    np.testing.assert_allclose(*both, rtol=1e-5)


@given(st.floats(1e-12, 1e6), st.integers(1, 1000))
def test_weight_and_level_are_inverse(level: float, outputs: int) -> None:
    weight = penalty_weight(level, outputs)
    assert weight == pytest.approx(level**2 / outputs, rel=1e-12)
    assert noise_level(weight, outputs) == pytest.approx(level, rel=1e-9)


def test_published_strengths() -> None:
    assert penalty_weight(0.1, 4) == 0.0025
    assert noise_level(1e-3, 4) == pytest.approx(0.0632, abs=1e-4)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: jacobian_activity(small_net(), X, projections=1),
            "key: got None, expected a random key",
        ),
        (
            lambda: jacobian_activity(small_net(), X, stages=["x"]),
            "stages: got 'x', expected hidden stages: hid",
        ),
        (
            lambda: jacobian_activity(small_net(), X, loss="hinge"),
            "loss: got 'hinge', expected 'squared' or",
        ),
        (lambda: penalty_weight(-1, 2), r"level and outputs: got \(-1, 2\)"),
        (lambda: penalty_weight(float("nan"), 2), r"level and outputs: got \(nan, 2\)"),
        (lambda: noise_level(0.1, 0), r"weight and outputs: got \(0.1, 0\)"),
    ],
)
def test_bad_input(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
