"""Penalties on weights: the same numbers as in JAX, for equal weights."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch import nn

from recombine import nets, remedies
from recombine import torch as twins
from recombine.errors import InputError

NAMES = ("l1", "l2", "l12", "l21")


def dense() -> tuple[eqx.nn.MLP, nn.Module]:
    theirs = eqx.nn.MLP(3, 2, width_size=8, depth=2, key=jax.random.key(0))
    ours = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
    with torch.no_grad():
        for layer, other in zip(theirs.layers, ours[::2], strict=True):
            other.weight.copy_(torch.tensor(np.array(layer.weight)))
    return theirs, ours


def convolutions() -> tuple[nets.Net, nn.Module]:
    keys = jax.random.split(jax.random.key(0), 2)
    conv, linear = nets.Conv2d(1, 4, 3, key=keys[0]), nets.Linear(36, 3, key=keys[1])
    theirs = nets.Net(("pixels", "output"), (conv, nets.Chain(nets.Reshape((36,)), linear)))
    ours = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(36, 3))
    with torch.no_grad():
        ours[0].weight.copy_(torch.tensor(np.array(conv.weight)).permute(3, 2, 0, 1))
        by_pixel = torch.tensor(np.array(linear.weight)).reshape(9, 4, 3)  # JAX: channels last
        ours[2].weight.copy_(by_pixel.permute(2, 1, 0).reshape(3, 36))
    return theirs, ours


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["dense", "convolutions"])
def test_the_numbers_of_jax(name: str, kind: str) -> None:
    theirs, ours = dense() if kind == "dense" else convolutions()
    x = np.ones((5, 3) if kind == "dense" else (5, 5, 5, 1), np.float32)
    moved = torch.tensor(x if kind == "dense" else x.transpose(0, 3, 1, 2).copy())
    expected = float(getattr(remedies, name)(theirs, jnp.asarray(x)))
    value = getattr(twins, name)(ours, moved)
    np.testing.assert_allclose(value.item(), expected, rtol=1e-5)
    value.backward()
    assert (ours[0].weight.grad != 0).any()


def test_the_order_is_that_of_execution() -> None:
    class Turned(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.last, self.first = nn.Linear(2, 1), nn.Linear(3, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.last(self.first(x))

    net = Turned()
    expected = (net.first.weight.abs().sum(1) * (net.last.weight**2).sum(0)).sum()
    torch.testing.assert_close(twins.l12(net, torch.ones(4, 3)), expected)


def test_bad_input() -> None:
    with pytest.raises(InputError, match="net: got 'ReLU', expected a module with linear"):
        twins.l1(nn.ReLU())
    with pytest.raises(InputError, match="x: got None, expected an input of the module"):
        twins.l12(nn.Linear(2, 2), None)
    skipping = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 4), nn.Unflatten(1, (2, 2)), nn.Linear(2, 2))
    with pytest.raises(InputError, match="reads 2 units behind one of 4"):
        twins.l12(skipping, torch.ones(5, 3))
