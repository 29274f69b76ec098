"""Generators of known order: mixed differences and derivatives vanish exactly where they should."""

from __future__ import annotations

from itertools import product

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.parts import Part
from recombine.tasks import InteractionTask, PolynomialDecoder, interaction_task, polynomial_decoder


def mixed_difference(decoder: PolynomialDecoder, z: np.ndarray, steps: list[np.ndarray]) -> np.ndarray:
    """The alternating sum over all subsets of steps."""
    total = 0.0
    for chosen in product((0, 1), repeat=len(steps)):
        moved = z + sum(on * step for on, step in zip(chosen, steps, strict=True))
        total = total + (-1) ** (len(steps) - sum(chosen)) * decoder(moved)
    return np.asarray(total)


def steps_of(decoder: PolynomialDecoder, slots: list[int], rng: np.random.Generator) -> list[np.ndarray]:
    """A random step within each of the slots."""
    latents = sum(map(len, decoder.slots))
    results = []
    for slot in slots:
        step = np.zeros(latents)
        step[list(decoder.slots[slot])] = rng.uniform(0.5, 1, len(decoder.slots[slot]))
        results.append(step)
    return results


@given(
    st.lists(st.integers(1, 3), min_size=2, max_size=3),
    st.integers(1, 3),
    st.sampled_from(["sine", "exponential", "polynomial"]),
    st.integers(0, 50),
)
@settings(max_examples=40)
def test_mixed_differences_across_slots_vanish_above_the_order(
    slots: list[int], order: int, functions: str, seed: int
) -> None:
    decoder = polynomial_decoder(slots, outputs=sum(slots) + 2, order=order, functions=functions, seed=seed)
    rng = np.random.default_rng(seed)
    z = rng.uniform(-1, 1, (5, sum(slots)))
    for where in product(range(2), repeat=order + 1):
        above = mixed_difference(decoder, z, steps_of(decoder, list(where), rng))
        if len(set(where)) > 1:
            assert np.abs(above).max() < 1e-8 * max(1, np.abs(decoder(z)).max())
    if order > 1:
        below = mixed_difference(decoder, z, steps_of(decoder, [0, *[1] * (order - 1)], rng))
        assert np.abs(below).max() > 1e-3


@pytest.mark.parametrize("functions", ["sine", "exponential", "polynomial"])
@pytest.mark.parametrize("order", [0, 1, 2])
def test_latents_of_one_slot_interact_at_a_higher_order(functions: str, order: int) -> None:
    decoder = polynomial_decoder((2, 2), order=order, functions=functions)
    steps = [np.eye(4)[0] * 0.7] * order + [np.eye(4)[1] * 0.6]
    z = np.random.default_rng(0).uniform(-1, 1, (20, 4))
    assert np.abs(mixed_difference(decoder, z, steps)).max(axis=1).min() > 1e-2


def test_at_order_0_every_output_belongs_to_one_slot() -> None:
    decoder = polynomial_decoder((2, 1, 2), outputs=9, order=0)
    z = np.random.default_rng(0).uniform(-1, 1, (30, 5))
    moves = [
        np.abs(mixed_difference(decoder, z, steps_of(decoder, [k], np.random.default_rng(k))))
        for k in range(3)
    ]
    np.testing.assert_array_equal((np.stack(moves).max(axis=1) > 1e-9).sum(axis=0), 1)


def test_outputs_have_mean_0_and_variance_1_but_for_couplings() -> None:
    z = np.random.default_rng(9).uniform(-1, 1, (20_000, 4))
    for order, variance in ((1, 1.0), (2, 1 + 0.25), (3, 1 + 2 * 0.25)):
        result = polynomial_decoder(order=order, coupling=0.5, seed=3)(z)
        np.testing.assert_allclose(result.mean(axis=0), 0, atol=0.1)
        assert result.var(axis=0).mean() == pytest.approx(variance, rel=0.15)


def test_numpy_and_jax_agree_and_jax_differentiates() -> None:
    decoder = polynomial_decoder((2, 2), order=2, functions="polynomial")
    z = np.random.default_rng(0).uniform(-1, 1, (6, 4)).astype(np.float32)
    np.testing.assert_allclose(jax.jit(jax.vmap(decoder))(jnp.asarray(z)), decoder(z), atol=1e-5)
    third = jax.jacfwd(jax.jacfwd(jax.jacfwd(decoder)))(jnp.asarray(z[0]))
    assert third.shape == (20, 4, 4, 4)
    assert jnp.abs(third[:, 0, 2]).max() < 1e-5
    assert jnp.abs(third[:, :2, :2, :2]).max() > 0.1
    assert jnp.isfinite(jax.jacfwd(jax.jacfwd(decoder))(jnp.zeros(4))).all()


def test_support_and_rows() -> None:
    task = interaction_task(rows=4000, test=400, support="l-shaped", bins=4)
    held_out = (task.latents[:, [0, 2]] > 0).all(axis=1)
    np.testing.assert_array_equal(np.flatnonzero(held_out), task.rows_out)
    np.testing.assert_allclose(task.inputs, task.decoder(task.latents), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(task.inputs, task.targets)
    assert np.abs(task.latents).max() <= 1
    near = interaction_task(rows=500, test=50, support="diagonal", bins=8, delta=0.1)
    assert np.abs(near.latents[near.train, :2] - near.latents[near.train, 2:]).max() < 2 * (1 / 8 + 1 / 8)
    everything = interaction_task(rows=50, test=5)
    assert len(everything.rows_out) == 0
    assert len(everything.test_in) == 5


def test_draw_keeps_the_generator_over_seeds() -> None:
    one, two, other = (
        Part(interaction_task, rows=50, test=5, draw=d)(seed=s) for d, s in ((3, 0), (3, 1), (4, 0))
    )
    z = one.latents
    np.testing.assert_array_equal(one.decoder(z), two.decoder(z))
    assert not np.array_equal(one.latents, two.latents)
    assert not np.allclose(one.decoder(z), other.decoder(z))
    fewer = one.trained_on(np.arange(5))
    assert isinstance(fewer, InteractionTask)
    assert repr(fewer).startswith("InteractionTask(regression, 55 rows")


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"slots": ()}, r"slots: got \(\)"),
        ({"slots": (2, 0)}, r"slots: got \(2, 0\)"),
        ({"order": -1}, "order: got -1"),
        ({"outputs": 3}, "outputs: got 3, expected at least the 4 latents"),
        ({"functions": "tangent"}, "functions: got 'tangent'"),
        ({"coupling": 0.0}, "coupling: got 0.0"),
        ({"rows": 0}, "rows: got 0"),
        ({"bins": 1}, "bins: got 1"),
        ({"support": "round"}, "support: got 'round'"),
        ({"support": "diagonal", "slots": (2, 1)}, "support: got 'diagonal', expected at least two slots"),
    ],
)
def test_errors(changes: dict, line: str) -> None:
    with pytest.raises(InputError, match=line):
        interaction_task(**{"rows": 10, "test": 0, **changes})
