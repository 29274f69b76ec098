"""Penalties on interaction: known values, exact derivatives, and a recipe that uses all of them."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.errors import InputError
from recombine.nets import (
    DecodedPixels,
    Net,
    attention_decoder,
    broadcast_decoder,
    dense_decoder,
    dense_slots,
    parameter_count,
    slot_autoencoder,
    trace,
)
from recombine.parts import Part
from recombine.remedies import (
    attention_interaction,
    attention_interaction_of,
    capacity,
    compositional_consistency,
    compositional_contrast,
    cross_hessian,
    cross_hessian_of,
)
from recombine.spaces import Space, Split
from recombine.tasks import Task
from recombine.training import Penalty, Recipe, adam, fit
from recombine.training.losses import summed_squared_error

pytestmark = pytest.mark.usefixtures("compile_quickly")
KEY = jax.random.key(0)
RNG = np.random.default_rng(0)
SLOTS, WIDTH = 3, 2
Z = jnp.asarray(RNG.normal(size=(2, SLOTS, WIDTH)).astype(np.float32))
WEIGHT = jnp.asarray(RNG.normal(size=(SLOTS * WIDTH, 5)).astype(np.float32))


def as_net(decoder: Any) -> Net:
    return Net(("slots", "output"), (lambda z: z, decoder))


def entangled(z: jax.Array) -> jax.Array:
    return jnp.tanh(z.reshape(len(z), -1) @ WEIGHT)


def additive(z: jax.Array) -> jax.Array:
    return jnp.tanh(z).sum(axis=1)


def by_pixels(z: jax.Array) -> jax.Array:
    """Every slot draws pixels of its own."""
    return jnp.sin(z.reshape(len(z), -1)) + z.reshape(len(z), -1) ** 2


@pytest.mark.parametrize("slots", [2, 5])
def test_attention_that_is_even_or_single(slots: int) -> None:
    even = jnp.full((1, 2, 3, 4, slots), 1 / slots)
    single = jnp.broadcast_to(jnp.eye(slots)[RNG.integers(slots, size=4)], even.shape)
    np.testing.assert_allclose(attention_interaction_of(even), 0.5 * (1 - 1 / slots), rtol=1e-6)
    np.testing.assert_allclose(attention_interaction_of(single), 0, atol=1e-7)


def test_heads_that_disagree_are_pooled_first() -> None:
    """Two heads that each attend to another slot make a pixel of two slots."""
    attention = jnp.eye(2)[None, None, :, None]  # (1, 1, heads, 1, slots)
    np.testing.assert_allclose(attention_interaction_of(attention), 0.25)


def test_attention_against_a_loop() -> None:
    attention = RNG.dirichlet(np.ones(4), size=(2, 2, 3, 5))
    pooled = attention.mean(axis=(1, 2))
    pairs = [pooled[..., j] * pooled[..., k] for j in range(4) for k in range(j + 1, 4)]
    np.testing.assert_allclose(
        attention_interaction_of(jnp.asarray(attention)), np.sum(pairs, axis=0).mean(), rtol=1e-5
    )


def test_attention_is_needed() -> None:
    with pytest.raises(InputError, match="attention: got"):
        attention_interaction_of(jnp.ones((2, 3)))
    with pytest.raises(InputError, match="stage: got 'decoder', expected a decoder with attention"):
        attention_interaction(None, {"decoder": jnp.ones((2, 3))}, None)
    drawn = DecodedPixels(jnp.zeros((1, 4, 3)), jnp.full((1, 2, 3, 4, 2), 0.5), None)
    np.testing.assert_allclose(attention_interaction(None, {"decoder": drawn}, None), 0.25)


def test_the_contrast_against_the_whole_jacobian() -> None:
    jacobian = jax.vmap(jax.jacfwd(lambda z: entangled(z[None])[0]))(Z)  # (batch, outputs, slots, width)
    lengths = np.linalg.norm(jacobian, axis=-1)
    pairs = [lengths[..., j] * lengths[..., k] for j in range(SLOTS) for k in range(j + 1, SLOTS)]
    expected = np.sum(pairs, axis=0).sum(axis=1)
    value = compositional_contrast(as_net(entangled), {"slots": Z}, None)
    np.testing.assert_allclose(value, expected.mean(), rtol=1e-4)
    first = compositional_contrast(as_net(entangled), {"slots": Z}, None, rows=1)
    np.testing.assert_allclose(first, expected[0], rtol=1e-4)


def test_slots_with_separate_pixels_have_no_contrast() -> None:
    assert compositional_contrast(as_net(by_pixels), {"slots": Z}, None) < 1e-4
    assert compositional_contrast(as_net(additive), {"slots": Z}, None) > 0.1


def exact_cross_energy(decoder: Any, z: jax.Array) -> np.ndarray:
    """Σ_{j≠k} |∂²x/∂z_j ∂z_k|² of every row from the whole Hessian."""
    hessian = jax.vmap(jax.hessian(lambda z: decoder(z[None])[0]))(z)  # (batch, outputs, j, width, k, width)
    energy = np.asarray(hessian**2).sum(axis=(1, 3, 5))
    return energy.sum(axis=(1, 2)) - np.trace(energy, axis1=1, axis2=2)


def test_cross_hessians_are_drawn_without_bias() -> None:
    draws = 4000
    keys = jax.random.split(KEY, draws)
    result = np.asarray(jax.jit(jax.vmap(lambda key: cross_hessian_of(entangled, Z, key=key)))(keys))
    error = result.std(axis=0) / draws**0.5
    assert (np.abs(result.mean(axis=0) - exact_cross_energy(entangled, Z)) < 4 * error).all()


def test_additive_decoders_have_no_cross_hessian() -> None:
    np.testing.assert_allclose(cross_hessian_of(additive, Z, key=KEY), 0, atol=1e-10)
    penalty = cross_hessian(as_net(entangled), {"slots": Z}, None, key=KEY)
    np.testing.assert_allclose(penalty, cross_hessian_of(entangled, Z, key=KEY).mean(), rtol=1e-5)
    with pytest.raises(InputError, match="two slots or more"):
        cross_hessian_of(additive, Z[:, :1], key=KEY)


SHAPE = (1, 6, 3)
ALL = (
    Penalty(Part(capacity), 0.05),
    Penalty(Part(attention_interaction), 0.6, warmup=2),
    Penalty(Part(compositional_contrast, rows=1), 0.1),
    Penalty(Part(cross_hessian), 0.1, random=True),
    Penalty(Part(compositional_consistency, samples=2), 0.1, random=True, warmup=5),
)


def net_part(decoder: Part) -> Part:
    return Part(
        slot_autoencoder,
        shape=SHAPE,
        slots=2,
        width=2,
        encoder=Part(dense_slots, hidden=(8,)),
        decoder=decoder,
    )


def objective(net: Any, x: jax.Array, penalties: tuple[Penalty, ...]) -> jax.Array:
    output, stages = trace(net, x, key=KEY)
    total = summed_squared_error(output, x).mean()
    for penalty in penalties:
        draw = {"key": KEY} if penalty.random else {}
        total = total + penalty.weight * penalty.of(net, stages, (x, x), **draw)
    return total


def test_a_recipe_takes_penalties_together() -> None:
    x = RNG.random((8, *SHAPE)).astype(np.float32)
    task = Task(Split(Space({"row": 8}), np.ones(8, dtype=bool)), x, x)
    loss = Part(summed_squared_error, weight=5.0)
    recipe = Recipe(
        steps=2, batch=4, optimiser=adam(1e-3), loss=loss, penalties=(ALL[0], *ALL[2:]), record_rows=1
    )
    fitted = fit(net_part(Part(dense_decoder, hidden=(4,))), task, recipe)
    assert fitted.status == ("finished",)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(fitted.arrays))


@pytest.mark.parametrize(
    ("decoder", "penalties"),
    [
        (Part(attention_decoder, inner=8, queries=6, heads=2, depth=1, query_hidden=8), ALL),
        (Part(broadcast_decoder, channels=20, start=4), ALL[2:4]),
    ],
    ids=["attention", "convolutions without forward mode"],
)
def test_every_decoder_has_a_gradient_with_its_penalties(
    decoder: Part, penalties: tuple[Penalty, ...]
) -> None:
    net = eqx.filter_eval_shape(net_part(decoder), key=jax.random.key(0))
    x = jax.ShapeDtypeStruct((2, *SHAPE), jnp.float32)
    gradient = eqx.filter_eval_shape(eqx.filter_grad(objective), net, x, penalties)
    assert parameter_count(gradient) == parameter_count(net)
