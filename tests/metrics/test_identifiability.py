"""Concepts decoded from slots: one to one, mixed, and inputs that cannot be matched."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.metrics import slot_identifiability

RNG = np.random.default_rng(0)


def test_slots_that_hold_concepts_mixtures_and_nothing() -> None:
    z = RNG.normal(size=(400, 2, 2))
    spare = np.concatenate([np.tanh(z[:, ::-1]), RNG.normal(size=(400, 1, 2))], axis=1)
    held = slot_identifiability(spare, z)
    np.testing.assert_array_equal(held["r2"].argmax(axis=1), [1, 0])
    assert held["score"] > 0.8
    assert held["interval"][0] < held["score"] < held["interval"][1]
    mixed = np.stack([z.sum(axis=1), z[:, 0] - z[:, 1]], axis=1)
    assert slot_identifiability(mixed, z)["score"] < 0.2


@pytest.mark.parametrize(
    ("inferred", "true"),
    [((9, 1, 2), (9, 2, 2)), ((9, 1, 2), (9, 1, 2)), ((9, 2), (9, 2, 2)), ((8, 2, 2), (9, 2, 2))],
)
def test_slots_that_cannot_be_matched(inferred: tuple[int, ...], true: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="slots: got"):
        slot_identifiability(np.ones(inferred), np.ones(true))


def test_a_penalty_chosen_by_cross_validation_decodes_what_a_strong_one_smooths_away() -> None:
    """A bent slot needs a weak penalty; noise needs a strong one, and its R² stays near 0."""
    z = RNG.uniform(-1, 1, size=(400, 2, 1))
    bent = np.concatenate([np.sign(z) * np.abs(z) ** 3, z], axis=2)[:, :, :1]
    fixed = slot_identifiability(bent, z)
    chosen = slot_identifiability(bent, z, penalties=(1e-4, 1e-2, 1.0, 100.0))
    assert chosen["matched"].min() > fixed["matched"].min()
    assert chosen["crossed"].max() < 0.1


def test_penalties_are_positive() -> None:
    with pytest.raises(InputError, match="penalties: got"):
        slot_identifiability(np.ones((9, 2, 2)), np.ones((9, 2, 2)), penalties=(0.0,))
