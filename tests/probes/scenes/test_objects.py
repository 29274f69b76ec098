"""Probes of scenes, on autoencoders whose slots hold objects by construction."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

from recombine.nets import Net
from recombine.probes.objects import (
    borders,
    decoder_interaction,
    mirror_quality,
    slot_pictures,
    slot_quality,
)
from recombine.tasks import line_world, mini_clevr, mirror_pixels

pytestmark = pytest.mark.usefixtures("compile_quickly")


@pytest.fixture(scope="module")
def task():
    return line_world(rows=1, test=20)


def test_slots_that_hold_objects(task, perfect):
    found = slot_quality(perfect(task), task)
    for suffix in ("", "_drawn"):
        assert found[f"j_ari{suffix}"] == found[f"jis{suffix}"] == 1
        assert found[f"active{suffix}"] == 2
        assert found[f"sse{suffix}"] < 1e-6
    assert found["mean_share"] == pytest.approx(1)
    assert found["sse_blank"] == pytest.approx((task.inputs[task.test_in] ** 2).sum() / 20, rel=1e-5)
    assert np.isnan(found["capacity"])  # no posterior
    assert np.isnan(found["attention_interaction"])  # no attention


def test_a_slot_that_holds_everything(task, stubborn):
    found = slot_quality(stubborn(task), task)
    assert found["sse"] < 1e-6
    assert found["j_ari"] < 0.01


def test_pictures_for_a_figure(task, perfect):
    found = slot_pictures(perfect(task), task, images=3)
    np.testing.assert_allclose(found["pictures_decoded"], found["pictures"], atol=1e-5)
    shares = found["pictures_jacobian"]
    assert shares.shape == (3, 1, 32, 3)
    np.testing.assert_allclose(shares[found["pictures_masks"] > 0].sum(axis=-1), 1, atol=1e-6)
    assert "pictures_attention" not in found


def test_slots_with_pixels_of_their_own_do_not_interact(task, perfect):
    found = decoder_interaction(perfect(task), task, scenes=5, max_order=1)
    assert found["q1"] < 1e-6
    assert found["q1_inside"] == found["q1_border"] == 0


def test_borders_by_hand():
    masks = np.array([[[0, 0, 0, 0], [0, 1, 1, 2], [0, 1, 1, 2]]])
    expected = [[0, 1, 1, 1], [1, 1, 1, 1], [1, 1, 1, 1]]
    np.testing.assert_array_equal(borders(masks)[0], np.array(expected, dtype=bool))


def test_metal_that_depends_on_what_it_reflects(nearest):
    """A pixel of metal changes half as much with every other object as with its own."""
    task = mini_clevr(rows=1, test=12, size=16, objects=2, samples=1)
    scenes, count = task.scenes, 2
    metal = mirror_pixels(scenes)
    assert metal.any()
    assert (~metal & (scenes.masks > 0)).any()
    own = np.eye(count + 1)[scenes.masks][..., 1:]
    depends = np.where(metal[..., None], 0.5 + 0.5 * own, own)
    table = jnp.asarray(depends, jnp.float32)
    codes = np.stack([np.ones((len(scenes), count)), np.tile(np.arange(len(scenes))[:, None], count)], axis=2)

    def decoder(z):
        scene = z[:, 0, 1].astype(int)
        return jnp.einsum("nhwk,nk->nhw", table[scene], z[..., 0])[..., None] * jnp.ones(3)

    net = Net(("encoding", "slots", "decoder"), (nearest(task, codes), lambda z: z, decoder))
    found = mirror_quality(net, task)
    assert found["j_ari_matt"] == pytest.approx(1)
    assert found["reflected_share"] == pytest.approx(1 / 3, abs=1e-6)
    assert found["other_share"] == pytest.approx(0, abs=1e-6)
    assert found["jis_mirror"] == pytest.approx((2 / 3 - 1 / 2) / (1 - 1 / 2), abs=1e-6)
