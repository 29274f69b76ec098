"""Models as functions of rows: values and mixed derivatives, whatever the convention and the framework."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch import nn

from recombine import InputError, audit, interaction_profile
from recombine.models import as_function, as_model

Z = np.random.default_rng(0).normal(size=(12, 4))
UNIT = np.eye(4)


class ImageDecoder(nn.Module):
    """A decoder that ends in `.view(-1, height, width)`, so that a single row gets an axis of its own."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.dense = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Dropout(0.5), nn.Linear(8, 6))

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.dense(z).view(-1, 2, 3)


class NeedsRows(ImageDecoder):
    """A decoder that cannot take a single row."""

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.dense(z)[:, :, None].permute(0, 2, 1)


@pytest.mark.parametrize("net", [ImageDecoder(), NeedsRows()], ids=["view", "rows"])
def test_decoders_that_need_a_batch_axis(net: nn.Module) -> None:
    flat = as_function(net.dense, Z)
    function = as_function(net, Z)
    np.testing.assert_allclose(function.values(Z), flat.values(Z), rtol=1e-6)
    directions = np.broadcast_to(UNIT[:2], (12, 2, 4))
    np.testing.assert_allclose(
        function.derivative(Z, directions), flat.derivative(Z, directions), rtol=1e-4, atol=1e-6
    )
    profile = interaction_profile(net, Z, 2, max_order=2)
    assert profile.output_shape == function.output_shape
    assert profile.r2 == pytest.approx(interaction_profile(net.dense, Z, 2, max_order=2).r2, rel=1e-4)


@pytest.mark.parametrize("net", [ImageDecoder(), NeedsRows()], ids=["view", "rows"])
def test_they_can_be_audited_with_slots(net: nn.Module) -> None:
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 3)] * 2, indexing="ij"), -1).reshape(-1, 2)
    inputs = np.repeat(grid, 2, axis=1) + np.array([0.0, 0.1, 0.0, 0.2])
    table = {"a": grid[:, 0].tolist(), "b": grid[:, 1].tolist(), "seen": [True] * 7 + [False] * 2}
    net.eval()
    with torch.no_grad():
        target = net(torch.tensor(inputs, dtype=torch.float32)).numpy()
    report = audit(
        table,
        factors=["a", "b"],
        seen="seen",
        inputs=inputs,
        target=target,
        model=net,
        slots=[[0, 1], [2, 3]],
    )
    finding = next(one for one in report.to_dict()["findings"] if one["id"] == "cross_interaction")
    assert finding["estimate"] > 0


def test_conventions_that_disagree_name_an_argument_of_the_caller() -> None:
    def decoder(z):
        return z[0] * z

    with pytest.raises(InputError, match="decoder: got 'different outputs for rows together"):
        interaction_profile(decoder, Z, 2)
    assert interaction_profile(decoder, Z, 2, batched=False, max_order=2).output_shape == (4,)
    model = as_model(decoder, Z)  # which takes rows together, and says so
    assert "they are run together" in model.notes[0]
    assert as_function(model, Z).output_shape == (4,)


def test_shapes_that_follow_the_number_of_rows_are_not_outputs() -> None:
    function = as_function(lambda z: z @ z.T, Z)
    assert function.output_shape == ()
    np.testing.assert_allclose(function.values(Z)[:, 0], (Z**2).sum(axis=1), rtol=1e-6)


def test_methods_and_functions_of_tensors() -> None:
    net = ImageDecoder()
    method = as_function(net.dense.forward, Z)
    assert (method.arrays, method.notes[0][:24]) == ("torch", "the model (Dropout) was ")
    np.testing.assert_allclose(method.values(Z), as_function(net.dense, Z).values(Z))
    assert net.training
    opened = as_model(lambda z: torch.sin(z) @ torch.ones(4, 2), Z)  # tensors, as trying shows
    assert as_function(opened, Z).arrays == "torch"
    assert as_function(opened, Z).derivative is not None


def test_one_of_several_outputs() -> None:
    opened = as_model(lambda z: (z.sum(), z[:, :2] ** 3), Z)
    function = as_function(opened, Z)
    np.testing.assert_allclose(function.values(Z), Z[:, :2] ** 3)
    third = function.derivative(Z, np.broadcast_to(UNIT[:1], (12, 3, 4)))
    np.testing.assert_allclose(third, np.stack([np.full(12, 6.0), np.zeros(12)], axis=1), atol=1e-9)


def test_frameworks_agree_on_mixed_derivatives() -> None:
    theirs = eqx.nn.MLP(4, 3, width_size=5, depth=1, activation=jnp.tanh, key=jax.random.key(0))
    ours = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)).double()
    with torch.no_grad():
        for layer, other in zip(theirs.layers, ours[::2], strict=True):
            other.weight.copy_(torch.tensor(np.array(layer.weight)))
            other.bias.copy_(torch.tensor(np.array(layer.bias)))
    one, two = as_function(theirs, Z), as_function(ours, Z)
    for order in range(4):
        directions = np.random.default_rng(order).normal(size=(12, order, 4))
        np.testing.assert_allclose(
            one.derivative(Z, directions), two.derivative(Z, directions), rtol=1e-6, atol=1e-9
        )
