"""Reuse of representations: known values, invariances, both routes, and wrong input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine import InputError
from recombine.metrics import (
    kernel_movement,
    match_units,
    participation_ratio,
    response_persistence,
    shared_dimensions,
    weight_displacement,
)


def gaussian(rows, units, seed=0):
    return np.random.default_rng(seed).normal(size=(rows, units))


@settings(max_examples=30, deadline=None)
@given(st.integers(3, 30), st.integers(1, 30), st.integers(0, 10**6), st.booleans())
def test_both_routes_agree_with_the_definition(rows, units, seed, centred):
    x, y = gaussian(rows, units, seed) + 1, gaussian(rows, units, seed + 1)
    found = shared_dimensions(x, y, centred=centred)
    if centred:
        x, y = x - x.mean(axis=0), y - y.mean(axis=0)
    c, d = x.T @ x, y.T @ y
    ratios = [np.trace(m) ** 2 / np.trace(m @ m) for m in (c, d)]
    shared = ratios[0] * ratios[1] * np.trace(c @ d) / (np.trace(c) * np.trace(d))
    np.testing.assert_allclose(
        [found.before, found.after, found.shared], [*ratios, shared], rtol=1e-6, atol=1e-12
    )


def test_shared_dimensions_of_a_layer_with_itself_is_its_participation_ratio():
    x = gaussian(50, 8)
    found = shared_dimensions(x, x)
    assert found.shared == pytest.approx(found.before) == pytest.approx(participation_ratio(x))
    assert found.retained == pytest.approx(1)


def test_scale_and_rotations_of_the_rows_do_not_matter():
    x, y = gaussian(30, 8), gaussian(30, 8, 1)
    turn = np.linalg.qr(gaussian(30, 30, 2))[0]
    for centred in (False, True):
        plain = shared_dimensions(x, y, centred=centred)
        scaled = shared_dimensions(1e-8 * x, 1e8 * y, centred=centred)
        assert scaled.shared == pytest.approx(plain.shared, rel=1e-9)
    turned = shared_dimensions(turn @ x, y, centred=False)
    assert turned.shared == pytest.approx(shared_dimensions(x, y, centred=False).shared)
    both = np.linalg.qr(gaussian(8, 8, 3))[0]
    assert shared_dimensions(x @ both, y @ both).shared == pytest.approx(shared_dimensions(x, y).shared)


@pytest.mark.parametrize("units", [20, 200])
def test_unrelated_layers_share_what_chance_gives(units):
    """Random directions of unequal strength: about as many shared dimensions as chance predicts, so none retained."""
    strengths = np.linspace(1, 4, units)
    found = [
        shared_dimensions(
            *(
                (gaussian(2000, units, 10 * seed + k) * strengths)
                @ np.linalg.qr(gaussian(units, units, 10 * seed + k + 5))[0]
                for k in (0, 1)
            )
        )
        for seed in range(4)
    ]
    assert np.mean([one.shared / one.chance for one in found]) == pytest.approx(1, abs=0.1)


def test_a_subset_is_retained_and_new_directions_are_not():
    x = gaussian(1000, 40)
    subset, fresh = np.zeros(40), np.zeros(40)
    subset[:5], fresh[20:25] = 1, 1
    old = np.where(np.arange(40) < 20, 1.0, 1e-3)
    inside = shared_dimensions(x * old, x * subset)
    assert inside.kept == pytest.approx(0.25, abs=0.03)
    assert inside.retained > 0.9
    assert shared_dimensions(x * old, x * fresh).retained < 0.05


def test_responses_persist_or_not():
    x = gaussian(1000, 40)
    assert response_persistence(x, x) == pytest.approx(1)
    assert response_persistence(x, -2 * x + 1) == pytest.approx(1)
    assert response_persistence(x, gaussian(1000, 40, 1)) < 0.01
    half = np.where(np.arange(40) < 20, x, gaussian(1000, 40, 1))
    assert response_persistence(x, half) == pytest.approx(0.5, abs=0.05)
    assert response_persistence(x * (np.arange(40) < 20), x) == pytest.approx(0.5, abs=0.05)


def test_displacement_and_kernels():
    w = {"a": gaussian(3, 4), "b": np.zeros(2)}
    assert weight_displacement(w, w) == {"a": 0.0, "b": 0.0}
    assert weight_displacement(w, {**w, "b": np.ones(2)})["b"] == np.inf
    assert weight_displacement(w, {**w, "a": 3 * w["a"]})["a"] == pytest.approx(2)
    independent = weight_displacement({"w": gaussian(200, 200)}, {"w": gaussian(200, 200, 1)})["w"]
    assert independent == pytest.approx(np.sqrt(2), rel=0.02)
    k = gaussian(6, 6)
    assert kernel_movement(k, 3 * k) == pytest.approx(0, abs=1e-12)
    assert kernel_movement(k, -k) == pytest.approx(2)


def test_units_and_what_they_carry():
    rng = np.random.default_rng(0)
    old = rng.normal(size=(300, 50))
    new = old.copy()
    new[100:200] = old[100:200] + rng.normal(size=(100, 50))  # at about 45 degrees
    new[200:] = rng.normal(size=(100, 50))
    found = match_units(old, new, np.ones((300, 1)))
    assert (found.fate[:100] == "reused").all()
    assert (found.fate[100:200] == "rotated").mean() > 0.95
    assert (found.fate[200:] == "fresh").all()  # a cosine of 0.5 is 3.5 standard deviations away from chance
    assert sum(found.shares.values()) == pytest.approx(1)
    silent = match_units(np.vstack([old[:1], 1e-9 * old[1:2]]), old[:2], np.ones(2))
    assert silent.fate.tolist() == ["reused", "fresh"]
    assert np.isnan(match_units(old, 0 * new, np.ones((300, 1))).shares["fresh"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: shared_dimensions(np.ones((3, 2)), gaussian(3, 2)), "a layer that responds to its inputs"),
        (lambda: shared_dimensions(gaussian(3, 2), gaussian(3, 4)), "as many rows and units as before"),
        (lambda: shared_dimensions(gaussian(1, 2), gaussian(1, 2)), "at least two rows"),
        (lambda: participation_ratio(np.full((3, 2), np.nan)), "finite activations"),
        (lambda: weight_displacement({"a": np.ones(2)}, {"b": np.ones(2)}), "weights: got 'a'"),
        (lambda: weight_displacement({"a": np.ones(2)}, {"a": np.ones(3)}), "the shape before"),
        (lambda: weight_displacement({"a": np.ones(2)}, {"a": np.array([1, np.nan])}), "NaN or infinity"),
        (lambda: kernel_movement(np.zeros((2, 2)), np.eye(2)), "finite kernels that are not zero"),
        (lambda: match_units(np.ones((2, 2)), np.ones((2, 3)), np.ones(2)), "as many units and inputs"),
        (lambda: match_units(np.ones((2, 2)), np.ones((2, 2)), np.ones(3)), "one row per unit"),
    ],
)
def test_wrong_input_gets_one_line(make, message):
    with pytest.raises(InputError, match=message):
        make()
