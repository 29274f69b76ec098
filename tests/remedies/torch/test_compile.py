"""Compiled modules and compiled losses: the same numbers, though compiled programs pass hooks by."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from recombine.remedies.torch import activity
from recombine.torch import Watch, jacobian_activity, noisy, trace, weighted_activity

pytestmark = pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # the compiler's own
X = torch.linspace(-1, 1, 18).reshape(6, 3)


@pytest.fixture(autouse=True)
def start_anew() -> None:
    torch._dynamo.reset()


def small_net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))


def one_call(net: Any, x: Tensor) -> Tensor:
    penalty = weighted_activity(net, x) + activity(net, x) + 0.1 * jacobian_activity(net, x)
    return (net(x) ** 2).mean() + penalty


def own_pass(net: Any, x: Tensor) -> Tensor:
    with Watch(net) as watch:
        loss = (net(x) ** 2).mean()
    return loss + weighted_activity(watch) + activity(watch) + 0.1 * jacobian_activity(watch)


def with_noise(net: Any, x: Tensor) -> Tensor:
    with noisy(net, ["1"], level=0.5, exponent=2, generator=torch.Generator().manual_seed(0)):
        return (net(x) ** 2).mean()


def value_and_slopes(loss: Any, net: nn.Module, called: Any) -> list[Tensor]:
    net.zero_grad()
    value = loss(called, X)
    value.backward()
    return [value.detach(), *(p.grad.clone() for p in net.parameters() if p.grad is not None)]


@pytest.mark.parametrize(
    ("loss", "backend"),
    [(one_call, "eager"), (own_pass, "aot_eager"), (with_noise, "eager")],
)
def test_values_and_gradients(loss: Any, backend: str) -> None:
    net = small_net()
    compiled = torch.compile(net, backend=backend)
    compiled(X)  # without hooks, which a later call would not notice
    expected = value_and_slopes(loss, net, net)
    torch.testing.assert_close(value_and_slopes(loss, net, compiled), expected)
    if loss is not with_noise:  # a generator cannot be made within a compiled function
        whole = torch.compile(loss, backend=backend)
        called = net if loss is one_call else compiled
        for _ in range(2):  # when it is compiled, and afterwards
            torch.testing.assert_close(value_and_slopes(whole, net, called), expected)
    torch.testing.assert_close(compiled(X), net(X))
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in net.modules())


def test_noise_within_a_compiled_function() -> None:
    net = small_net()
    generator = torch.Generator()

    def loss(x: Tensor) -> Tensor:
        with noisy(net, ["1"], level=0.5, exponent=2, generator=generator):
            return net(x)

    whole = torch.compile(loss, backend="eager")
    for _ in range(2):
        results = [function(X) for function in (loss, whole) if generator.manual_seed(0)]
        torch.testing.assert_close(*results)
        assert not torch.equal(results[1], net(X))


def test_modules_compiled_in_place_or_in_part() -> None:
    net = small_net()
    expected = weighted_activity(net, X)
    inner = nn.Sequential(torch.compile(nn.Sequential(*net[:3]), backend="eager"), net[3], net[4])
    for part in (inner, nn.Sequential(*net)):
        part.compile(backend="eager")
        part(X)
        torch.testing.assert_close(weighted_activity(part, X), expected)
        assert len(trace(part, X)[1]) == 5
