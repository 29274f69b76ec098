"""Grouping and diagonality of hidden units that are known."""

import numpy as np
import pytest

from recombine.studies.kernel_theory.weights import diagonality, grouping

CLASSES, HUBS = (0, 0, 1, 1), (0, 2)


def test_random_weights_have_no_groups_and_lie_nowhere_in_particular():
    weights = np.random.default_rng(0).normal(size=(20_000, 2, 4))
    assert grouping(weights, CLASSES) == pytest.approx(0, abs=0.02)
    assert diagonality(weights, HUBS) == pytest.approx(2 / np.pi, abs=0.01)


def test_items_with_weights_of_their_own_have_no_groups():
    """Four units, each for one item: equivalent items are as different as other items."""
    weights = np.repeat(np.eye(4)[:, None, :], 2, axis=1)
    assert grouping(weights, CLASSES) == 0


def test_wrong_groups_are_negative():
    code = np.array([1.0, -1.0, 1.0, -1.0])
    assert grouping(np.broadcast_to(code, (3, 2, 4)), CLASSES) == pytest.approx(-1)


def test_units_for_one_position_lie_on_the_axes():
    unit = np.array([[1.0, 1.0, -1.0, -1.0], [0.0, 0.0, 0.0, 0.0]])
    assert diagonality(np.stack([unit, unit[::-1]]), HUBS) == 0
