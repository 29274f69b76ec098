"""Slots hidden in flat latents are found again."""

from __future__ import annotations

import json
from itertools import combinations

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.metrics.interaction import discover_slots
from recombine.metrics.interaction.partitions import (
    all_partitions,
    best_partitions,
    canonical,
    count_partitions,
)

pytestmark = pytest.mark.usefixtures("compile_quickly")


class Hidden(eqx.Module):
    """Two slots of two and three latents, behind a permutation, of order 1 or 2 across slots."""

    first: np.ndarray
    second: np.ndarray
    cross: np.ndarray
    order: np.ndarray

    def __call__(self, z):
        y = self.order @ z
        return (
            jnp.sin(self.first @ y[:2] + 0.1)
            + jnp.tanh(self.second @ y[2:] + 0.3)
            + jnp.einsum("oij,i,j->o", self.cross, y[:2], y[2:])
        )


@given(st.permutations(range(5)), st.sampled_from([0.0, 1.0]), st.integers(0, 10_000))
@settings(max_examples=10)
def test_hidden_slots_are_found(order, cross, seed):
    """The threshold is low because a slot of two latents may by chance interact less than the usual one."""
    rng = np.random.default_rng(seed)
    matrix = np.eye(5)[order]
    net = Hidden(rng.normal(size=(9, 2)), rng.normal(size=(9, 3)), cross * rng.normal(size=(9, 2, 3)), matrix)
    z = rng.normal(size=(8, 5))
    expected = {tuple(sorted(order[:2])), tuple(sorted(order[2:]))}
    for settings_ in ({"sizes": (2, 3)}, {"threshold": 1e-9}):
        discovery = discover_slots(net, z, batched=False, standardise=False, **settings_)
        assert set(discovery.slots) == expected
        assert discovery.found
        assert discovery.order == (3 if cross else 2)
        assert discovery.share < 1e-6 < discovery.margin
        assert discovery.second < discovery.random[0] * 1.5


def test_slots_of_separate_outputs_need_no_curvature():
    """Linear, order 0: the first derivatives show them."""
    weights = np.random.default_rng(0).normal(size=(2, 4, 2))

    def decoder(z):
        return jnp.concatenate([weights[0] @ z[jnp.array([0, 3])], weights[1] @ z[jnp.array([1, 2])]])

    discovery = discover_slots(decoder, np.random.default_rng(1).normal(size=(10, 4)), 2)
    assert discovery.slots == ((0, 3), (1, 2))
    assert discovery.order == 1
    assert "the dependence of outputs on latents" in str(discovery)
    assert json.loads(json.dumps(discovery.to_dict()))["found"]


def test_no_slots():
    weights = np.random.default_rng(0).normal(size=(8, 4))
    z = np.random.default_rng(1).normal(size=(10, 4))
    tangled = discover_slots(lambda z: jnp.tanh(weights @ z), z, 2)
    assert not tangled.found
    assert tangled.share > 0.3
    assert str(tangled).startswith("No clear slots; the best partition is")
    free = discover_slots(lambda z: jnp.tanh(weights @ z), z)
    assert free.slots == ((0, 1, 2, 3),)
    assert not free.found
    assert str(free).startswith("No slots found")


def test_black_boxes():
    def decoder(z):
        return np.maximum(np.stack([z[:, 0] + z[:, 2], z[:, 1] - z[:, 3], z[:, 0] - z[:, 2] + 1], axis=1), 0)

    discovery = discover_slots(decoder, np.random.default_rng(0).normal(size=(20, 4)), 2)
    assert discovery.slots == ((0, 2), (1, 3))
    assert "black box" in discovery.notes[-1]


def test_partitions_are_counted_once():
    for sizes in ((2, 2), (3, 1), (2, 1, 1), (2, 2, 2), (1, 1, 1), (3, 2)):
        result = list(all_partitions(sizes))
        assert len(result) == len(set(result)) == count_partitions(sizes)
        assert all(sorted(np.bincount(labels)) == sorted(sizes) for labels in result)
        assert all(canonical(labels) == labels for labels in result)


@given(st.integers(0, 1000))
@settings(max_examples=10)
def test_the_search_finds_planted_blocks(seed):
    """With too many partitions to try them all."""
    rng = np.random.default_rng(seed)
    owner = rng.permutation(np.repeat(np.arange(4), 4))
    weight = np.where(owner[:, None] == owner, 1.0, 0.2) * rng.uniform(0.5, 1.5, size=(16, 16))
    weight = weight + weight.T

    def cost(labels):
        return float(weight[labels[:, None] != labels].sum())

    assert count_partitions((4,) * 4) > 5000
    best = best_partitions(cost, (4,) * 4, weight, rng)
    assert best[0][1] == canonical(owner)
    assert best[0][0] < best[1][0]


def test_few_partitions_are_all_tried():
    rng = np.random.default_rng(0)
    weight = rng.uniform(size=(6, 6))
    weight = weight + weight.T

    def cost(labels):
        return float(weight[labels[:, None] != labels].sum())

    by_hand = sorted(
        cost(np.isin(np.arange(6), [0, *rest]).astype(int)) for rest in combinations(range(1, 6), 2)
    )
    assert [value for value, _ in best_partitions(cost, (3, 3), weight, rng)] == pytest.approx(by_hand[:2])


@pytest.mark.parametrize(
    ("settings_", "message"),
    [
        ({"n_slots": 3}, "n_slots: got 3, expected a number that divides 4 latents"),
        ({"n_slots": 2, "sizes": (2, 2)}, "either n_slots or sizes"),
        ({"sizes": (2, 1)}, "two or more sizes that add up to 4 latents"),
        ({"sizes": (4,)}, "two or more sizes"),
        ({"n_slots": 2, "order": 4}, "order: got 4"),
    ],
)
def test_bad_input(settings_, message):
    with pytest.raises(InputError, match=message):
        discover_slots(jnp.sin, np.ones((3, 4)), **settings_)


def test_nothing_to_cut():
    with pytest.raises(InputError, match="no derivatives of the orders tried"):
        discover_slots(lambda z: 2.0 * z, np.random.default_rng(0).normal(size=(5, 4)), 2, order=2)
