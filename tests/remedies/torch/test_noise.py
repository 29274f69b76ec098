"""Activity noise: the JAX noise with the same draws, its modes, and hooks on modules of all kinds."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from torch import Tensor, nn

from recombine.errors import InputError
from recombine.nets import activity_noise as in_jax
from recombine.remedies.torch import noise
from recombine.torch import ActivityNoise, activity_noise, noisy, trace


def small_net() -> nn.Sequential:
    return nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))


X = torch.ones(5, 3)


def test_values_and_gradients_are_those_in_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also at silent units, where |a|^(exponent/2) may have an infinite slope."""
    key, exponents = jax.random.key(0), (0, 0.5, 1, 1.5, 2, 3)
    rows = np.random.default_rng(0).normal(size=(6, 4)).astype(np.float32)
    rows[0] = 0
    drawn = torch.tensor(np.asarray(jax.random.normal(key, rows.shape)))
    monkeypatch.setattr(noise, "_draw", lambda activity, generator: drawn)

    def squared(rows: jax.Array, exponent: float) -> Any:
        result = in_jax(rows, key, level=0.3, exponent=exponent)
        return (result**2).sum(), result

    @jax.jit
    def in_turn(rows: jax.Array) -> Any:
        slopes = jax.value_and_grad(squared, has_aux=True)
        return [(value, slope) for p in exponents for (_, value), slope in (slopes(rows, p),)]

    for exponent, (expected, slope) in zip(exponents, in_turn(jnp.asarray(rows)), strict=True):
        tensor = torch.tensor(rows, requires_grad=True)
        value = activity_noise(tensor, level=0.3, exponent=exponent)
        (value**2).sum().backward()
        np.testing.assert_allclose(value.detach(), expected, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(tensor.grad, slope, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("exponent", [0, 1, 2])
def test_the_variance(exponent: float) -> None:
    layer = ActivityNoise(0.5, exponent, generator=torch.Generator().manual_seed(0))
    result = layer(torch.full((100_000,), 4.0, dtype=torch.float64))
    assert result.dtype == torch.float64
    assert result.var().item() == pytest.approx(0.25 * 4**exponent, rel=0.03)
    assert result.mean().item() == pytest.approx(4, abs=0.05)


def test_the_layer_adds_no_noise_in_evaluation_unless_requested() -> None:
    x = torch.ones(3)
    assert not torch.equal(ActivityNoise(0.1, 2)(x), x)
    assert torch.equal(ActivityNoise(0.1, 2).eval()(x), x)
    assert not torch.equal(ActivityNoise(0.1, 2, always=True).eval()(x), x)
    assert str(ActivityNoise(0.1, 2, always=True)) == "ActivityNoise(level=0.1, exponent=2, always=True)"
    assert ActivityNoise(0.1, 1)(torch.ones(3, device="meta")).device.type == "meta"


def test_hooks_agree_with_the_layer() -> None:
    net = small_net()
    seeds = [torch.Generator().manual_seed(0) for _ in range(2)]
    built_in = nn.Sequential(net[0], net[1], ActivityNoise(0.2, 1, generator=seeds[0]), net[2])
    with noisy(net, ["1"], level=0.2, exponent=1, generator=seeds[1]):
        output, stages = trace(net, X)
    torch.testing.assert_close(output, net[2](stages["1"]))
    torch.testing.assert_close(output, built_in(X))
    assert not torch.equal(output, net(X))
    output.sum().backward()
    assert net[0].weight.grad is not None


def test_modes_and_removal() -> None:
    net = small_net().eval()
    with noisy(net, ["1"], level=0.2, exponent=0):
        assert torch.equal(net(X), net(X))
    with noisy(net, ["1"], level=0.2, exponent=0, always=True):
        assert not torch.equal(net(X), net(X))
    with pytest.raises(RuntimeError, match="mat1"), noisy(net, ["1"], level=0.2, exponent=0):
        net(torch.ones(5, 4))
    assert not any(part._forward_hooks for part in net.modules())
    assert torch.backends.mha.get_fastpath_enabled()


class Pair(NamedTuple):
    activity: Tensor
    other: Tensor


class Named(nn.Module):
    def forward(self, x: Tensor) -> Pair:
        return Pair(x, x)


def test_modules_that_give_several_tensors() -> None:
    attention, x = nn.MultiheadAttention(8, 2, batch_first=True), torch.randn(3, 5, 8)
    plain = attention(x, x, x)
    with noisy(attention, [""], level=0.2, exponent=0):
        result = attention(x, x, x)
    assert not torch.allclose(result[0], plain[0])
    torch.testing.assert_close(result[1], plain[1])
    with noisy(Named(), [""], level=0.2, exponent=0) as nothing:
        assert nothing is None
    named = Named()
    with noisy(named, [""], level=0.2, exponent=0):
        pair = named(x)
    assert isinstance(pair, Pair)
    assert pair.other is x
    assert not torch.equal(pair.activity, x)


def test_attention_in_evaluation_is_reached() -> None:
    net = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval()
    x = torch.randn(3, 5, 8)
    with torch.no_grad(), noisy(net, ["linear1"], level=0.5, exponent=0, always=True):
        assert not torch.allclose(net(x), net(x))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ActivityNoise(-1, 2), "level: got -1, expected a finite number of 0 or more"),
        (lambda: ActivityNoise(1, float("nan")), "exponent: got nan, expected a finite number of 0 or more"),
        (
            lambda: noisy(small_net(), ["3"], level=1, exponent=2),
            "layers: got '3', expected names of submodules: '0'",
        ),
        (lambda: noisy(small_net(), ["1"], level=-1, exponent=2), "level: got -1"),
    ],
)
def test_bad_input(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_an_output_without_tensor() -> None:
    class Odd(nn.Module):
        def forward(self, x: Tensor) -> Any:
            return {"x": x}

    odd = Odd()
    with (
        pytest.raises(
            InputError, match="layers: got 'dict', expected layers that return a tensor, or a tuple"
        ),
        noisy(odd, [""], level=1, exponent=2),
    ):
        odd(X)
