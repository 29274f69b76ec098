"""Shares of reused, rotated and fresh units: known answers for dense layers and convolutions, and by chance."""

import copy

import jax
import numpy as np
import pytest
import torch
from torch import nn

from recombine import reuse_report
from recombine.nets import mlp
from recombine.reuse.units import chance_shares, unit_shares

RNG = np.random.default_rng(0)
X = RNG.normal(size=(100, 8)).astype(np.float32)


def test_a_third_each():
    before = {"a": np.eye(8)[:, :3], "b": np.ones((3, 2))}
    turned = before["a"].copy()
    turned[:, 1] = [0, 1, 1, 0, 0, 0, 0, 0] / np.sqrt(2)  # by 45 degrees
    turned[:, 2] = np.eye(8)[5]
    found = unit_shares(before, {"a": turned, "b": before["b"]})["a"]
    assert list(found.shares.values()) == pytest.approx([1 / 3] * 3)
    assert (found.units, found.inputs) == (3, 8)


def test_outgoing_weights_count():
    before = {"a": np.eye(4), "b": np.ones((4, 1))}
    after = {"a": -np.eye(4) * [-1, 1, 1, 1], "b": np.array([[3.0], [1.0], [0.0], [0.0]])}
    assert unit_shares(before, after)["a"].shares == pytest.approx(
        {"reused": 0.75, "rotated": 0, "fresh": 0.25}
    )


def test_channels_of_convolutions_and_a_dense_layer_over_pixels():
    kernel, dense = RNG.normal(size=(3, 3, 2, 4)), np.zeros((5, 4, 6))
    dense[:, 0], dense[:, 1] = 1.0, 1.0  # five pixels read channels 0 and 1
    new = kernel.copy()
    new[..., 1] *= -1
    new[..., :2] /= np.sqrt((new[..., :2] ** 2).sum(axis=(0, 1, 2)))
    found = unit_shares({"a": kernel, "b": dense.reshape(20, 6)}, {"a": new, "b": dense.reshape(20, 6)})["a"]
    assert found.shares == pytest.approx({"reused": 0.5, "rotated": 0, "fresh": 0.5})
    assert (found.units, found.inputs) == (4, 18)


def test_chance_equals_random_directions():
    directions = RNG.normal(size=(2, 200_000, 5))
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    cosines = (directions[0] * directions[1]).sum(axis=1)
    expected = chance_shares(5)
    assert expected["reused"] == pytest.approx((cosines >= 0.95).mean(), abs=1e-3)
    assert expected["fresh"] == pytest.approx((cosines < 0.5).mean(), abs=5e-3)
    assert sum(expected.values()) == pytest.approx(1)
    assert chance_shares(1)["reused"] == 0.5


def torch_convolutions():
    torch.manual_seed(0)
    return nn.Sequential(nn.Conv2d(1, 6, 3), nn.ReLU(), nn.Conv2d(6, 4, 3), nn.Flatten(), nn.Linear(64, 1))


def test_reports_of_both_frameworks_have_them():
    images = RNG.normal(size=(60, 1, 8, 8)).astype(np.float32)
    net = torch_convolutions()
    new = copy.deepcopy(net)
    with torch.no_grad():
        new[0].weight[:3] *= -1
    report = reuse_report(net, new, images)
    assert set(report.units) == {"0", "2"}
    assert 0.1 < report.units["0"].shares["fresh"] < 0.9
    assert report.units["2"].shares["reused"] == pytest.approx(1)
    nets = [mlp(inputs=8, width=30, depth=2, outputs=1, key=jax.random.key(seed)) for seed in (0, 1)]
    assert reuse_report(nets[0], nets[0], X).units["hidden1"].shares["reused"] == pytest.approx(1)
    fresh = reuse_report(*nets, X)
    assert fresh.units["hidden1"].shares["fresh"] > 0.9
    record = fresh.to_dict()["layers"][1]["matched_units"]
    assert sum(record["shares"].values()) == pytest.approx(1)
    assert fresh.table()["fresh"][1] == record["shares"]["fresh"]
    assert fresh.table()["fresh"][2] is None  # outgoing weights of the output are not part of the model


def test_signs_of_jax_convolutions_count():
    import equinox as eqx

    keys = jax.random.split(jax.random.key(0))
    net = eqx.nn.Sequential([eqx.nn.Conv2d(1, 4, 3, key=keys[0]), eqx.nn.Conv2d(4, 2, 3, key=keys[1])])
    turned = eqx.tree_at(lambda one: one.layers[0].weight, net, -net.layers[0].weight)
    images = RNG.normal(size=(60, 1, 8, 8)).astype(np.float32)
    assert reuse_report(net, turned, images).units["hidden0"].shares["fresh"] == pytest.approx(1)
