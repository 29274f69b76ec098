"""One call for all penalties: in your own loop, and inside the compiled one."""

from __future__ import annotations

import inspect

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.errors import InputError
from recombine.nets import mlp, staged, trace
from recombine.parts import Part
from recombine.remedies import (
    activity,
    as_penalty,
    compositional_contrast,
    cross_hessian,
    jacobian_activity,
    l2,
    l12,
    weighted_activity,
)

X = np.random.default_rng(1).normal(size=(6, 3)).astype(np.float32)


@pytest.mark.parametrize("penalty", [weighted_activity, activity, jacobian_activity, l2, l12])
def test_both_calls_give_one_number(penalty) -> None:
    net = eqx.nn.MLP(3, 2, width_size=5, depth=2, key=jax.random.key(0))
    outputs = trace(staged(net), X)[1]
    np.testing.assert_allclose(penalty(net, X), penalty(staged(net), outputs, (X, None)), rtol=1e-6)
    np.testing.assert_allclose(penalty(net, x=X), penalty(net, X), rtol=1e-6)


def test_a_recipe_finds_it_by_its_name() -> None:
    part = Part(weighted_activity, alpha=1.0)
    assert part.name == "recombine.remedies:weighted_activity"
    assert part.function is weighted_activity
    assert list(inspect.signature(weighted_activity).parameters) == ["net", "x", "alpha", "stages"]


def test_custom_penalties() -> None:
    @as_penalty
    def largest(net, outputs, batch, *, stage="hidden0"):
        return jnp.abs(outputs[stage]).max() + 0 * batch[0].sum()

    net = mlp(inputs=3, width=4, depth=1, outputs=2, key=jax.random.key(0))
    assert float(largest(net, X)) == pytest.approx(float(jnp.abs(trace(net, X)[1]["hidden0"]).max()))
    with pytest.raises(InputError, match="x: got None, expected the batch's inputs: largest"):
        largest(net)
    assert float(l2(net)) == float(l2(net, X))  # which looks at weights only


def test_decoders_of_slots() -> None:
    slots = jax.random.normal(jax.random.key(0), (4, 2, 3))

    def product(z):
        return (z[:, 0] * z[:, 1]).sum(axis=1, keepdims=True)

    lengths = jnp.linalg.norm(slots, axis=2)  # |∂x/∂z_1| = |z_2| and the other way round
    np.testing.assert_allclose(compositional_contrast(product, slots), lengths.prod(axis=1).mean(), rtol=1e-5)
    keys = jax.random.split(jax.random.key(1), 400)
    draws = jax.vmap(lambda key: cross_hessian(product, slots, key=key))(keys)
    np.testing.assert_allclose(
        draws.mean(), 6.0, rtol=0.15
    )  # ordered pairs: 2 times the norm² of the identity
    for penalty, settings in ((compositional_contrast, {}), (cross_hessian, {"key": keys[0]})):
        with pytest.raises(InputError, match="two slots or more"):
            penalty(product, slots[:, :1], **settings)
