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
