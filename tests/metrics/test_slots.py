"""Slot scores: known values, invariances, and inputs without a score."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.metrics import (
    contrast_of,
    relative_contrast,
    slot_scores,
    slot_shares,
    slots_of_objects,
)

RNG = np.random.default_rng(0)
TWO, THREE = np.repeat([1, 2], 50), np.repeat([1, 2, 3], 60)
SWAPPED = np.where(np.isin(np.arange(100), [0, 1, 2, 3, 4, 50, 51, 52, 53, 54]), 3 - TWO, TWO)
MASKS = np.array([[0, 0, 1, 1, 2, 2], [1, 1, 1, 0, 2, 2]])


@pytest.mark.parametrize(
    ("slots", "objects", "value"),
    [
        (np.where(np.arange(100) < 25, 3, TWO), TWO, 0.7468),
        (SWAPPED, TWO, 0.6363),
        (np.ones(100, dtype=int), TWO, 0.0),
        (np.minimum(THREE, 2), THREE, 0.5687),
        (3 - TWO, TWO, 1.0),
    ],
    ids=["one split in half", "a tenth swapped", "both in one", "two of three merged", "renamed"],
)
def test_known_rand_indices(slots: np.ndarray, objects: np.ndarray, value: float) -> None:
    scores = slot_scores(np.eye(4)[slots][None], objects[None])
    assert scores.j_ari[0] == pytest.approx(value, abs=1e-4)


@pytest.mark.parametrize(("slots", "largest", "value"), [(2, 0.7, 0.4), (5, 0.6, 0.5), (4, 1.0, 1.0)])
def test_known_interaction_scores(slots: int, largest: float, value: float) -> None:
    share = np.full((1, 6, slots), (1 - largest) / (slots - 1))
    share[..., 0] = largest
    assert slot_scores(share, MASKS[:1]).jis[0] == pytest.approx(value, abs=1e-12)


def test_the_background_does_not_count() -> None:
    sensitivity = np.eye(3)[MASKS]
    noisy = np.where(MASKS[..., None] == 0, RNG.random((2, 6, 3)), sensitivity)
    for score in ("j_ari", "jis", "active", "objects"):
        clean = getattr(slot_scores(sensitivity, MASKS), score)
        np.testing.assert_array_equal(getattr(slot_scores(noisy, MASKS), score), clean)


def test_slots_in_another_order_and_latents_of_another_scale() -> None:
    sensitivity, masks = RNG.random((5, 60, 4)), RNG.integers(4, size=(5, 60))
    first = slot_scores(sensitivity, masks)
    turned = slot_scores(sensitivity[..., [2, 0, 3, 1]], masks)
    scaled = slot_scores(7 * sensitivity, masks)
    for other in (turned, scaled):
        np.testing.assert_allclose(other.j_ari, first.j_ari, atol=1e-12)
        np.testing.assert_allclose(other.jis, first.jis, atol=1e-12)


def test_a_decoder_with_everything_in_one_slot() -> None:
    sensitivity = np.zeros((2, 6, 3))
    sensitivity[..., 1] = 2.0
    scores = slot_scores(sensitivity, MASKS).to_dict()
    assert scores == {"j_ari": 0.0, "jis": 1.0, "active": 1.0, "objects": 2.0}


def test_pixels_that_depend_on_nothing() -> None:
    sensitivity = np.zeros((2, 6, 3))
    np.testing.assert_allclose(slot_shares(sensitivity), 1 / 3)
    scores = slot_scores(sensitivity, MASKS)
    np.testing.assert_allclose(scores.jis, 0, atol=1e-12)
    np.testing.assert_allclose(scores.j_ari, 0)
    np.testing.assert_array_equal(relative_contrast(sensitivity), 0)


def test_a_slot_that_wins_nothing_can_be_active_by_what_it_carries() -> None:
    nats = np.array([[5.0, 0.5, 0.5], [0.0, 0.0, 0.0]])
    scores = slot_scores(np.eye(3)[MASKS], MASKS, capacity=nats)
    np.testing.assert_array_equal(scores.active, [3, 2])


def test_pixels_that_are_left_out() -> None:
    sensitivity = np.eye(3)[MASKS]
    wrong = MASKS == 2
    sensitivity[wrong] = np.eye(3)[1]
    assert slot_scores(sensitivity, MASKS).j_ari.max() < 1
    scores = slot_scores(sensitivity, MASKS, counted=~wrong)
    np.testing.assert_array_equal(scores.j_ari, 1)
    np.testing.assert_array_equal(scores.objects, 1)


def test_images_without_objects_are_left_out() -> None:
    scores = slot_scores(np.eye(3)[MASKS], MASKS * [[1], [0]])
    assert scores.j_ari.shape == (1,)


def test_masks_may_have_rows_and_columns() -> None:
    assert slot_scores(np.eye(3)[MASKS], MASKS.reshape(2, 2, 3)).to_dict()["j_ari"] == 1


def test_intervals_hold_the_mean() -> None:
    scores = slot_scores(RNG.random((30, 20, 3)), RNG.integers(3, size=(30, 20)))
    low, high = scores.interval("jis")
    assert low < scores.jis.mean() < high
    assert high - low == pytest.approx(2 * 1.96 * scores.jis.std() / 30**0.5, rel=0.2)
    assert "30 images" in str(scores)


@pytest.mark.parametrize(
    ("sensitivity", "masks", "more", "line"),
    [
        (np.ones((2, 5, 3)), MASKS, {}, "masks: got (2, 6), expected a label for each pixel"),
        (np.ones((2, 6)), MASKS, {}, "masks: got (2, 6)"),
        (np.ones((2, 6, 1)), MASKS, {}, "slots: got 1, expected 2 or more"),
        (np.full((2, 6, 3), np.nan), MASKS, {}, "sensitivity: got 'a value that is not finite'"),
        (np.full((2, 6, 3), np.inf), MASKS, {}, "sensitivity: got 'a value that is not finite'"),
        (np.ones((2, 6, 3)), 0 * MASKS, {}, "masks: got 'no pixel above 0'"),
        (np.ones((2, 6, 3)), MASKS, {"capacity": np.ones((2, 2))}, "capacity: got (2, 2), expected (2, 3)"),
        (np.ones((2, 6, 3)), MASKS, {"counted": MASKS[:1] > 0}, "counted: got (1, 6), expected a value for"),
    ],
)
def test_bad_input_is_refused_in_one_line(
    sensitivity: np.ndarray, masks: np.ndarray, more: dict[str, Any], line: str
) -> None:
    with pytest.raises(InputError) as error:
        slot_scores(sensitivity, masks, **more)
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_contrast_against_a_loop() -> None:
    lengths = RNG.random((2, 4, 3))
    expected = [sum(a[j] * a[k] for a in image for j in range(3) for k in range(j)) for image in lengths]
    np.testing.assert_allclose(contrast_of(lengths), expected)


def test_relative_contrast_has_no_scale() -> None:
    lengths = RNG.random((2, 4, 3))
    np.testing.assert_allclose(relative_contrast(5 * lengths), relative_contrast(lengths), rtol=1e-9)
    np.testing.assert_allclose(relative_contrast(np.eye(3)[MASKS]), 0, atol=1e-9)
    even = relative_contrast(np.ones((1, 4, 3)))  # three products of 1 in each of four pixels
    np.testing.assert_allclose(even, 12, rtol=1e-9)


def test_slots_are_matched_to_objects_one_to_one() -> None:
    sensitivity = np.zeros((2, 6, 3))
    sensitivity[0, :, 2] = 1 + (MASKS[0] == 2)  # everything in slot 2, object 1 only there
    sensitivity[0, :, 1] = MASKS[0] == 2
    sensitivity[1] = np.eye(3)[[0, 0, 0, 1, 1, 1]]
    np.testing.assert_array_equal(slots_of_objects(sensitivity, MASKS, 2), [[2, 1], [0, 1]])
    unseen = slots_of_objects(sensitivity, np.where(MASKS == 1, 0, MASKS), 3)
    np.testing.assert_array_equal(unseen[:, [0, 2]], -1)
    with pytest.raises(InputError, match="slots: got 3, expected at least as many as the 4 objects"):
        slots_of_objects(sensitivity, MASKS, 4)
