"""Weights from files: all names and shapes must fit."""

import equinox as eqx
import jax
import numpy as np
import pytest
import torch

from recombine import InputError
from recombine.models import load_weights


def arrays_of(net):
    return {name: value.numpy() for name, value in net.state_dict().items()}


@pytest.fixture
def net():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))


def test_state_dicts(net, tmp_path):
    np.savez(tmp_path / "net.npz", **arrays_of(net))
    other = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    assert not torch.equal(other[0].weight, net[0].weight)
    assert load_weights(other, tmp_path / "net.npz") is other
    assert all(torch.equal(a, b) for a, b in zip(other.parameters(), net.parameters(), strict=True))


def test_names_and_shapes_must_fit(net, tmp_path):
    arrays = arrays_of(net)
    arrays["extra"] = arrays.pop("0.bias")
    np.savez(tmp_path / "net.npz", **arrays)
    with pytest.raises(InputError, match=r"arrays without 0\.bias and with unknown extra"):
        load_weights(net, tmp_path / "net.npz")
    np.savez(tmp_path / "net.npz", **arrays_of(net) | {"0.bias": np.zeros(5)})
    with pytest.raises(InputError, match=r"'0.bias' of shape \(5,\)\", expected shape \(2,\)"):
        load_weights(net, tmp_path / "net.npz")
    with pytest.raises(InputError, match="pickles are never read"):
        load_weights(net, tmp_path / "net.pt")
    with pytest.raises(InputError, match="got 'function'"):
        load_weights(lambda x: x, tmp_path / "net.npz")


def test_equinox_modules(tmp_path):
    net, other = (eqx.nn.Linear(3, 2, key=jax.random.key(seed)) for seed in (0, 1))
    eqx.tree_serialise_leaves(tmp_path / "net.eqx", net)
    np.testing.assert_array_equal(load_weights(other, tmp_path / "net.eqx").weight, net.weight)
    with pytest.raises(InputError, match="weights"):
        load_weights(eqx.nn.Linear(3, 5, key=jax.random.key(0)), tmp_path / "net.eqx")
    with pytest.raises(InputError, match=r"an \.eqx file"):
        load_weights(other, tmp_path / "net.npz")
