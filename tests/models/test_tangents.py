"""Tangent kernels: known answers in both frameworks, samples of large models, and models without gradients."""

import jax
import numpy as np
import pytest
import torch
from torch import nn

from recombine.metrics import kernel_movement
from recombine.models import as_model, tangents
from recombine.models.tangents import tangent_kernel
from recombine.nets import mlp

X = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)


def rectified():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 50), nn.ReLU(), nn.Linear(50, 2))


def by_hand(net, x):
    """Readout, its bias, hidden weights and their bias, summed over outputs."""
    w, b, v = (one.detach().numpy().astype(np.float64) for one in (net[0].weight, net[0].bias, net[2].weight))
    before = x @ w.T + b
    hidden, slope = np.maximum(before, 0), (before > 0).astype(float)
    back = sum((slope * v[k]) @ (slope * v[k]).T for k in range(len(v)))
    return len(v) * (hidden @ hidden.T + 1) + back * (x @ x.T + 1)


def test_a_rectified_network_equals_the_formula():
    net = rectified()
    np.testing.assert_allclose(tangent_kernel(as_model(net, X)), by_hand(net, X), rtol=1e-4)
    assert all(parameter.grad is None for parameter in net.parameters())


def test_frozen_parameters_count_and_stay_frozen():
    net = rectified()
    net[0].requires_grad_(requires_grad=False)
    np.testing.assert_allclose(tangent_kernel(as_model(net, X)), by_hand(net, X), rtol=1e-4)
    assert not net[0].weight.requires_grad


def test_jax_and_torch_agree():
    net = mlp(inputs=3, width=16, depth=1, outputs=1, key=jax.random.key(0))
    module = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1))
    from recombine.nets import links

    with torch.no_grad():
        for layer, link in zip((module[0], module[2]), links(net), strict=True):
            layer.weight.copy_(torch.tensor(np.asarray(link.layer.weight).T))
            layer.bias.copy_(torch.tensor(np.asarray(link.layer.bias)))
    ours, theirs = (tangent_kernel(as_model(one, X)) for one in (net, module))
    np.testing.assert_allclose(ours, theirs, rtol=1e-4)


def test_many_outputs_and_a_sample_of_parameters_estimate_the_same_kernel(monkeypatch):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(3, 200), nn.ReLU(), nn.Linear(200, 30))
    exact = by_hand(net, X)
    assert kernel_movement(exact, tangent_kernel(as_model(net, X))) < 0.05
    monkeypatch.setattr(tangents, "MAX_PARAMETERS", 2000)
    assert kernel_movement(exact, tangent_kernel(as_model(net, X))) < 0.1


def test_shuffled_weights_give_another_kernel_and_leave_the_model_alone():
    net = rectified()
    state = {name: value.clone() for name, value in net.state_dict().items()}
    model = as_model(net, X)
    assert kernel_movement(tangent_kernel(model), tangent_kernel(model, shuffled=True)) > 0.001
    assert all(torch.equal(value, state[name]) for name, value in net.state_dict().items())


def test_whole_numbers_as_inputs():
    whole = np.arange(40).reshape(20, 2) % 5
    assert tangent_kernel(as_model(nn.Linear(2, 1), whole)).shape == (20, 20)
    embedding = nn.Sequential(nn.Embedding(5, 3), nn.Flatten(), nn.Linear(6, 1))
    assert tangent_kernel(as_model(embedding, whole)).shape == (20, 20)


class NoGradient(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)

    def forward(self, x):
        with torch.no_grad():
            return self.layer(x)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (NoGradient(), "no gradient"),
        (nn.ReLU(), "cannot be seen"),
        (lambda x: x.sum(axis=1), "only PyTorch and JAX"),
        (jax.jit(lambda x: x.sum()), "cannot be seen"),
    ],
)
def test_models_without_gradients_say_why(model, reason):
    assert reason in tangent_kernel(as_model(model, X))
