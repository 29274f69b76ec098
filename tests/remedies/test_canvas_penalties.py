from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from benchmarks import peers
from scipy.special import digamma

from recombine.errors import InputError
from recombine.nets import evaluate, mlp, render_net
from recombine.remedies import entropy_of, flatness, forced_rendering, spectrum_entropy, variance_of
from recombine.spaces import Space, Split, centre_hole
from recombine.tasks import Task
from recombine.training import Recipe, adamw, fit

KEY = jax.random.key(0, impl="rbg")  # compiles faster


def test_entropy_against_a_loop() -> None:
    spectrum = np.random.default_rng(0).normal(size=(3, 5))
    expected = 0.0
    for row in spectrum:
        total = sum(value**2 for value in row)
        for value in row:
            p = max(value**2 / total, 1e-8)
            expected -= p * math.log(p)
    np.testing.assert_allclose(entropy_of(jnp.asarray(spectrum)), expected, rtol=1e-5)


def test_entropy_lies_between_its_floor_and_the_flat_spectrum() -> None:
    levels, rank = 4, 32
    flat, single = jnp.ones((levels, rank)), jnp.eye(rank)[:levels]
    np.testing.assert_allclose(entropy_of(flat), levels * math.log(rank), rtol=1e-5)
    floor = (rank - 1) * 1e-8 * math.log(1e8)  # 5.7e-6 nats per level
    np.testing.assert_allclose(entropy_of(single), levels * floor, rtol=1e-2)
    np.testing.assert_allclose(entropy_of(7 * single), entropy_of(single), rtol=1e-5)  # no scale


def test_entropy_has_finite_gradients_at_rank_one() -> None:
    assert np.isfinite(jax.grad(entropy_of)(jnp.eye(5)[:2])).all()


def test_variance_against_numpy() -> None:
    vectors = np.random.default_rng(0).normal(size=(3, 4, 5))
    for axis in (1, 2):
        expected = np.var(vectors, axis=axis, ddof=1).sum()
        np.testing.assert_allclose(variance_of(jnp.asarray(vectors), axis=axis), expected, rtol=1e-5)
    constant = jnp.broadcast_to(jnp.arange(5.0), (3, 4, 5))
    assert variance_of(constant, axis=1) == 0
    assert variance_of(constant, axis=2) > 0


def test_penalties_against_torch() -> None:
    net, module = render_net(levels=(6, 6), key=KEY), peers.RenderNet(6)
    peers.load_weights(module, net)
    got = 0.1 * spectrum_entropy(net, {}, None) + 0.01 * flatness(net, {}, None)
    np.testing.assert_allclose(got, module.penalty(0.1, 0.01).item(), rtol=1e-5)


def test_the_numbers_at_the_start_of_the_published_run() -> None:
    """32 levels: 4 · 32² unit vectors of variance 1/32 give flatness 128, and 0.1 (H_X + H_Y) is about 17.

    The shares of a Gaussian spectrum are Dirichlet(½, ..., ½), whose mean entropy is ψ(17) - ψ(1.5) = 2.77.
    """
    net = render_net(levels=(32, 32), key=KEY)
    np.testing.assert_allclose(flatness(net, {}, None), 128, rtol=0.01)
    entropy = 0.1 * spectrum_entropy(net, {}, None)
    np.testing.assert_allclose(entropy, 0.1 * 64 * (digamma(17) - digamma(1.5)), rtol=0.02)
    assert 17 <= entropy < 18
    for canvas in net.layers[0].canvases:
        np.testing.assert_allclose(canvas.spectrum.var(), 1 / 32, rtol=0.2)


def test_the_normalised_flatness_cannot_be_met_by_shrinking() -> None:
    net = render_net(levels=(6, 6), key=KEY)
    small = jax.tree.map(lambda leaf: 0.1 * leaf if isinstance(leaf, jax.Array) else leaf, net)
    np.testing.assert_allclose(flatness(small, {}, None), 0.01 * flatness(net, {}, None), rtol=1e-4)
    for one in (net, small):
        np.testing.assert_allclose(
            flatness(one, {}, None, normalised=True), flatness(net, {}, None), rtol=1e-4
        )


def test_a_net_without_render_layer() -> None:
    with pytest.raises(InputError, match="a net with a render layer"):
        spectrum_entropy(mlp(inputs=2, width=2, depth=1, outputs=1, key=KEY), {}, None)


def test_the_remedy_is_ready_to_be_trained() -> None:
    """With the penalties every level's matrix comes close to rank 1 and its vectors to constants."""
    space = Space({"x": 6, "y": 6})
    split = Split(space, ~centre_hole(space, low=2, high=3))
    codes = np.concatenate([np.eye(6)[space.cells[:, i]] for i in (0, 1)], axis=1)
    grid = np.arange(6)
    rows = np.exp(-((grid - space.cells[:, :1]) ** 2) / 2)
    columns = np.exp(-((grid - space.cells[:, 1:]) ** 2) / 2)
    task = Task(split, codes, rows[:, :, None] * columns[:, None, :])
    remedy = forced_rendering((6, 6), entropy=0.1, flatness=0.1)
    recipe = Recipe(steps=600, batch=None, optimiser=adamw(0.01), penalties=remedy.penalties)
    fitted = fit(remedy.net, task, recipe)
    start = remedy.net(key=KEY)
    assert fitted.status == ("finished",)
    assert spectrum_entropy(fitted.net(), {}, None) < 0.05 * spectrum_entropy(start, {}, None)
    assert flatness(fitted.net(), {}, None) < 0.05 * flatness(start, {}, None)
    assert evaluate(fitted.net(), task.inputs).shape == (36, 6, 6)


def test_a_sweep_over_weights_shares_one_program() -> None:
    recipes = [
        Recipe(steps=1, penalties=forced_rendering((4, 4), entropy=a, flatness=b).penalties)
        for a, b in ((0.0, 0.0), (0.1, 0.0), (0.1, 0.01))
    ]
    assert len({recipe.structure() for recipe in recipes}) == 1
    weights = [tuple(weight for weight, _ in recipe.numbers()["penalties"]) for recipe in recipes]
    assert weights == [(0.0, 0.0), (0.1, 0.0), (0.1, 0.01)]
    with pytest.raises(InputError, match="entropy: got -1, expected a weight of 0 or more"):
        forced_rendering((4, 4), entropy=-1)


def test_normalised_and_plain_remedies_differ() -> None:
    plain, normalised = (forced_rendering((4, 4), normalised=flag).penalties[1] for flag in (False, True))
    net = render_net(levels=(6, 6), key=KEY)
    net = jax.tree.map(lambda leaf: 0.1 * leaf if isinstance(leaf, jax.Array) else leaf, net)
    assert normalised.of(net, {}, None) > 50 * plain.of(net, {}, None)
