"""Probes of scenes, on autoencoders whose slots hold objects by construction."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.studies.interaction_asymmetry.slot_probes import (
    borders,
    decoder_interaction,
    slot_images,
    slot_quality,
)
from recombine.tasks import line_world

pytestmark = pytest.mark.usefixtures("compile_quickly")


@pytest.fixture(scope="module")
def task():
    return line_world(rows=1, test=20)


def test_slots_that_hold_objects(task, perfect):
    values = slot_quality(perfect(task), task)
    for suffix in ("", "_drawn"):
        assert values[f"j_ari{suffix}"] == values[f"jis{suffix}"] == 1
        assert values[f"active{suffix}"] == 2
        assert values[f"sse{suffix}"] < 1e-6
    assert values["mean_share"] == pytest.approx(1)
    assert values["sse_blank"] == pytest.approx((task.inputs[task.test_in] ** 2).sum() / 20, rel=1e-5)
    assert np.isnan(values["capacity"])  # no posterior
    assert np.isnan(values["attention_interaction"])  # no attention


def test_a_slot_that_holds_everything(task, stubborn):
    values = slot_quality(stubborn(task), task)
    assert values["sse"] < 1e-6
    assert values["j_ari"] < 0.01


def test_images_for_a_figure(task, perfect):
    values = slot_images(perfect(task), task, images=3)
    np.testing.assert_allclose(values["pictures_decoded"], values["pictures"], atol=1e-5)
    shares = values["pictures_jacobian"]
    assert shares.shape == (3, 1, 32, 3)
    np.testing.assert_allclose(shares[values["pictures_masks"] > 0].sum(axis=-1), 1, atol=1e-6)
    assert "pictures_attention" not in values


def test_slots_with_separate_pixels_do_not_interact(task, perfect):
    values = decoder_interaction(perfect(task), task, scenes=5, max_order=1)
    assert values["q1"] < 1e-6
    assert values["q1_inside"] == values["q1_border"] == 0


def test_borders_by_hand():
    masks = np.array([[[0, 0, 0, 0], [0, 1, 1, 2], [0, 1, 1, 2]]])
    expected = [[0, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]]
    np.testing.assert_array_equal(borders(masks)[0], np.array(expected, dtype=bool))
