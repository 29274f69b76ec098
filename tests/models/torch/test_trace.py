"""Tracing modules of many kinds, and leaving them as they were."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.torch import trace


def hooks_in(module: nn.Module) -> int:
    return sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in module.modules())


class Reused(nn.Module):
    """One activation after both layers, as many modules are written."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.act = nn.Linear(3, 4), nn.Linear(4, 2), nn.Tanh()

    def forward(self, x: Tensor) -> Tensor:
        return self.act(self.second(self.act(self.first(x))))


def convolutional() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 4, 3, padding=1),
        nn.BatchNorm2d(4),
        nn.ReLU(inplace=True),
        nn.Flatten(),
        nn.Linear(100, 2),
    )


def test_this_is_pytorch() -> None:
    assert torch.__name__ == "torch"
    assert hasattr(torch, "nn")


def test_every_call_has_a_name() -> None:
    net, x = Reused(), torch.randn(5, 3)
    output, stages = trace(net, x)
    assert list(stages) == ["first", "act", "second", "act#2"]
    torch.testing.assert_close(stages["act#2"], output)
    torch.testing.assert_close(stages["act"], net.act(net.first(x)))
    assert list(trace(net, x, ["act"])[1]) == ["act", "act#2"]
    assert list(trace(net, x, ["act#2"])[1]) == ["act#2"]


def test_gradients_flow() -> None:
    net, x = Reused(), torch.randn(5, 3)
    _, stages = trace(net, x)
    (stages["act"] ** 2).sum().backward()
    assert net.first.weight.grad is not None
    assert net.second.weight.grad is None
    output, stages = trace(net, x)
    slope = torch.autograd.grad(output.sum(), stages["act"])[0]
    assert slope.shape == (5, 4)


@pytest.mark.parametrize("training", [True, False])
def test_images_with_batch_normalisation_and_an_in_place_layer(training: bool) -> None:
    net, x = convolutional().train(training), torch.randn(6, 1, 5, 5)
    before = {name: buffer.clone() for name, buffer in net.named_buffers()}
    output, stages = trace(net, x)
    assert list(stages) == ["0", "1", "2", "3", "4"]
    assert (stages["1"] < 0).any()  # as it was before the ReLU wrote into it
    torch.testing.assert_close(stages["2"], stages["1"].relu())
    for name, buffer in net.named_buffers():
        assert torch.equal(buffer, before[name]), name
    assert net.training is training
    torch.testing.assert_close(output, net(x))


@pytest.mark.parametrize("training", [True, False])
def test_a_transformer_also_in_evaluation_without_gradients(training: bool) -> None:
    """There PyTorch has a fused path that calls no submodule."""
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    net, x = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False).train(training), torch.randn(3, 5, 8)
    with torch.no_grad():
        plain = net(x)
        output, stages = trace(net, x)
    assert [name for name in stages if name.startswith("layers.1")] == [
        f"layers.1.{part}"
        for part in ("self_attn", "dropout1", "norm1", "linear1", "dropout", "linear2", "dropout2", "norm2")
    ]
    assert stages["layers.0.self_attn"].shape == (3, 5, 8)
    torch.testing.assert_close(output, plain, rtol=1e-4, atol=1e-5)
    assert torch.backends.mha.get_fastpath_enabled()


def test_several_inputs() -> None:
    attention, x = nn.MultiheadAttention(8, 2, batch_first=True), torch.randn(3, 5, 8)
    output, stages = trace(attention, (x, x, x))
    assert list(stages) == [""]
    assert stages[""] is output[0]
    _, named = trace(attention, {"query": x, "key": x, "value": x})
    torch.testing.assert_close(named[""], stages[""])


def test_overwritten_activity_is_kept() -> None:
    class Adding(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(3, 3)

        def forward(self, x: Tensor) -> Tensor:
            out = self.layer(x)
            out += x
            return out

    net, x = Adding(), torch.randn(5, 3)
    output, stages = trace(net, x)
    torch.testing.assert_close(stages["layer"], net.layer(x))
    torch.testing.assert_close(output, net(x))


def test_inner_modules_can_be_requested() -> None:
    net = nn.Sequential(nn.Sequential(nn.Linear(3, 4), nn.ReLU()), nn.Linear(4, 2))
    assert list(trace(net, torch.ones(5, 3), ["0", "0.1"])[1]) == ["0.1", "0"]


def test_hooks_are_removed_even_if_the_module_raises() -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.Linear(5, 2))
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        trace(net, torch.ones(5, 3))
    assert hooks_in(net) == 0
    assert torch.backends.mha.get_fastpath_enabled()


@pytest.mark.parametrize(
    ("layers", "message"),
    [
        (["hidden"], "layers: got 'hidden', expected names of submodules: 'first', 'second', 'act'"),
        ("first", "layers: got 'first', expected a list of names"),
        (
            ["first#2"],
            "layers: got 'first#2', expected layers that are called and return a tensor, of: 'first', 'act', 'second'",
        ),
    ],
)
def test_unknown_layers(layers: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        trace(Reused(), torch.ones(5, 3), layers)


def test_values_that_are_not_modules() -> None:
    with pytest.raises(InputError, match="module: got 'function', expected a torch"):
        trace(lambda x: x, torch.ones(5, 3))  # type: ignore[arg-type]
