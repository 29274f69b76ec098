"""The faithful penalty: against JAX, exact and projected, and where gradients are hard to come by."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from benchmarks import peers
from torch import Tensor, nn

from recombine import nets
from recombine.errors import InputError
from recombine.remedies import jacobian_activity as in_jax
from recombine.remedies.torch import jacobian as subject
from recombine.torch import Watch, jacobian_activity, weighted_activity

pytestmark = pytest.mark.usefixtures("compile_quickly")
KEY = jax.random.key(0, impl="rbg")  # compiles faster
X = np.random.default_rng(0).normal(size=(6, 3)).astype(np.float32)


def pair(shape: tuple[int, ...] = (2, 3)) -> tuple[nets.Net, nn.Module]:
    net = nets.mlp(inputs=3, width=(5, 4), outputs=shape, activation=jnp.tanh, key=KEY)
    layers = [nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, int(np.prod(shape)))]
    module = nn.Sequential(*layers, nn.Unflatten(1, shape))
    peers.load_weights(module, net)
    return net, module


@pytest.mark.parametrize(
    ("loss", "projections", "alpha"),
    [("squared", 0, 1.0), ("squared", 3, 2.0), ("cross-entropy", 0, 2.0), ("cross-entropy", 3, 1.0)],
)
def test_values_and_gradients_are_those_in_jax(
    loss: Any, projections: int, alpha: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    net, module = pair()
    key = jax.random.key(3)
    drawn = iter(torch.tensor(np.asarray(jax.random.normal(key, (3, 6, 2, 3)))))
    monkeypatch.setattr(subject, "_draw", lambda outputs, generator: next(drawn))

    @eqx.filter_jit
    def expected(net: Any) -> Any:
        how = {"alpha": alpha, "loss": loss, "projections": projections, "key": key}
        return eqx.filter_value_and_grad(lambda net: in_jax(net, X, **how))(net)

    value, gradients = expected(net)
    result = jacobian_activity(module, torch.tensor(X), alpha=alpha, loss=loss, projections=projections)
    result.backward()
    assert result.item() == pytest.approx(float(value), rel=1e-5)
    slopes = [torch.zeros_like(p) if p.grad is None else p.grad for p in module.parameters()]
    peers.load_weights(module, gradients)
    for own, theirs in zip(slopes, module.parameters(), strict=True):
        torch.testing.assert_close(own, theirs.detach(), rtol=1e-4, atol=1e-5 * float(value))


def test_random_projections_are_unbiased() -> None:
    _, module = pair()
    x, generator = torch.tensor(X), torch.Generator().manual_seed(0)
    exact = jacobian_activity(module, x).item()
    with torch.no_grad():
        many = jacobian_activity(module, x, projections=1000, generator=generator)
    assert many.item() == pytest.approx(exact, rel=0.1)
    first, second = (
        jacobian_activity(module, x, projections=1, generator=torch.Generator().manual_seed(1))
        for _ in range(2)
    )
    assert first == second


def test_classes_may_be_on_the_second_axis() -> None:
    _, module = pair()
    swapped = nn.Sequential(module, Swap())
    x = torch.tensor(X)
    value = jacobian_activity(swapped, x, loss="cross-entropy", class_axis=1)
    torch.testing.assert_close(value, jacobian_activity(module, x, loss="cross-entropy"))


class Swap(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.transpose(1, 2)


def test_layers_and_watching_the_loops_pass() -> None:
    _, module = pair()
    x = torch.tensor(X)
    with Watch(module) as watch:
        module(x)
    torch.testing.assert_close(jacobian_activity(watch), jacobian_activity(module, x))
    parts = [jacobian_activity(watch, layers=[name]) for name in ("2", "4")]
    torch.testing.assert_close(parts[0] + parts[1], jacobian_activity(module, x))
    torch.testing.assert_close(parts[1], weighted_activity(watch, layers=["4"]))  # the last hidden layer


@pytest.mark.parametrize("how", ["no_grad", "frozen", "double"])
def test_frozen_layers_no_gradients_and_other_precision(how: str) -> None:
    _, module = pair()
    x, expected = torch.tensor(X), jacobian_activity(module, torch.tensor(X)).detach()
    if how == "frozen":
        module.requires_grad_(False)
    if how == "double":
        module, x = module.double(), x.double()
    with torch.set_grad_enabled(how != "no_grad"):
        value = jacobian_activity(module, x)
    torch.testing.assert_close(value.detach(), expected.to(x.dtype), rtol=1e-5, atol=1e-6)
    assert value.dtype == x.dtype
    assert value.requires_grad is (how != "no_grad")


def test_a_residual_stream_counts_every_way_to_the_output() -> None:
    """y = W (h + V h) and h is read by V: ∂y/∂h = W (1 + V)."""

    class Residual(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.block, self.last = (nn.Linear(*size) for size in ((3, 4), (4, 4), (4, 2)))

        def forward(self, x: Tensor) -> Tensor:
            hidden = self.first(x)
            return self.last(hidden + self.block(hidden))

    net, x = Residual(), torch.tensor(X)
    total = net.last.weight @ (torch.eye(4) + net.block.weight)
    expected = (net.first(x) ** 2 @ (total**2).sum(0)).mean()
    torch.testing.assert_close(jacobian_activity(net, x, layers=["block"]), expected)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda net, x: jacobian_activity(net, x, loss="hinge"),
            "loss: got 'hinge', expected 'squared' or 'cross",
        ),
        (
            lambda net, x: jacobian_activity(net, x, projections=-1),
            "projections: got -1, expected 0 for the exact",
        ),
        (
            lambda net, x: jacobian_activity(net, x, layers=["0"]),
            "layers: got '0', expected linear maps that read",
        ),
        (
            lambda net, x: jacobian_activity(parts_only(net, x)),
            "watch: got 'no output', expected a call of the mod",
        ),
        (
            lambda net, x: jacobian_activity(blind(net, x)),
            "watch: got 'a pass without gradients', expected activi",
        ),
    ],
)
def test_bad_input(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(pair()[1], torch.tensor(X))


def parts_only(net: Any, x: Tensor) -> Watch:
    with Watch(net) as watch:
        net[0](x)
    return watch


def blind(net: nn.Module, x: Tensor) -> Watch:
    with Watch(net) as watch, torch.no_grad():
        net(x)
    return watch
