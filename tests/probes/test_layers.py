"""Probes of layers, on nets whose layers are known."""

import numpy as np

from recombine import Part
from recombine.nets import Net
from recombine.probes import geometry, readability
from recombine.spaces import corner_hole
from recombine.tasks import bumps


def test_every_layer_of_an_identity_is_as_flat_as_its_input():
    task = bumps(n=10, hole=Part(corner_hole, low=4))
    net = Net(("same", "double"), (lambda x: x, lambda x: 2 * x))
    values = geometry(net, task) | readability(net, task)
    np.testing.assert_allclose(values["factorisation"], 1.0, atol=1e-6)
    np.testing.assert_allclose(values["volume_gap"], values["volume_gap"][0], atol=1e-6)
    np.testing.assert_allclose(values["volume_in"][2] - values["volume_in"][1], np.log10(4), atol=1e-6)
    assert (values["r2"] > 0.99).all()
