"""Penalties on interaction of slots: the JAX ones with the same weights and directions."""

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
from recombine.metrics import attention_interaction_of
from recombine.remedies import compositional_contrast as contrast_in_jax
from recombine.remedies import cross_hessian as hessian_in_jax
from recombine.remedies.torch import interaction
from recombine.torch import attention_interaction, compositional_contrast, cross_hessian

pytestmark = pytest.mark.usefixtures("compile_quickly")
SLOTS, WIDTH = 3, 2
Z = np.random.default_rng(0).normal(size=(4, SLOTS, WIDTH)).astype(np.float32)


def pair() -> tuple[nets.Net, nn.Module]:
    flat = nets.mlp(inputs=SLOTS * WIDTH, width=(7,), outputs=5, activation=jnp.tanh, key=jax.random.key(0))
    net = nets.Net(
        ("slots", "decoder"), (nets.Reshape((SLOTS, WIDTH)), nets.Chain(nets.Reshape((-1,)), flat))
    )
    module = nn.Sequential(nn.Flatten(), nn.Linear(SLOTS * WIDTH, 7), nn.Tanh(), nn.Linear(7, 5))
    peers.load_weights(module, net)
    return net, module


def same_directions(monkeypatch: pytest.MonkeyPatch, key: Any) -> None:
    """The directions that `recombine.remedies.cross_hessian_of` draws."""
    choose, draw = jax.random.split(key)
    order = jax.vmap(lambda k: jax.random.permutation(k, SLOTS)[:2])(jax.random.split(choose, len(Z)))
    chosen = jax.nn.one_hot(order.T, SLOTS)[..., None]
    directions = torch.tensor(np.asarray(jax.random.normal(draw, (2, *Z.shape)) * chosen))
    monkeypatch.setattr(interaction, "_directions", lambda slots, generator: tuple(directions))


@pytest.mark.parametrize("which", ["contrast", "hessian"])
def test_values_and_gradients_are_those_in_jax(which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    net, module = pair()
    key = jax.random.key(5)
    same_directions(monkeypatch, key)

    @eqx.filter_jit
    def expected(net: Any, slots: Any) -> Any:
        def penalty(both: Any) -> jax.Array:
            net, slots = both
            if which == "contrast":
                return contrast_in_jax(net, {"slots": slots}, None)
            return hessian_in_jax(net, {"slots": slots}, None, key=key)

        return eqx.filter_value_and_grad(penalty)((net, slots))

    value, (gradients, slope) = expected(net, jnp.asarray(Z))
    slots = torch.tensor(Z, requires_grad=True)
    result = (compositional_contrast if which == "contrast" else cross_hessian)(module, slots)
    result.backward()
    assert result.item() == pytest.approx(float(value), rel=1e-5)
    np.testing.assert_allclose(slots.grad, slope, rtol=1e-3, atol=1e-5 * abs(float(value)))
    slopes = [torch.zeros_like(p) if p.grad is None else p.grad for p in module.parameters()]
    peers.load_weights(module, gradients)
    for own, theirs in zip(slopes, module.parameters(), strict=True):
        torch.testing.assert_close(own, theirs.detach(), rtol=1e-3, atol=1e-5 * abs(float(value)))


def test_draws_have_the_hessian_across_slots_as_their_mean() -> None:
    _, module = pair()
    module, row = module.double(), torch.tensor(Z[:1]).double()
    hessian: Any = torch.stack(
        [torch.autograd.functional.hessian(lambda z, k=k: module(z)[0, k], row) for k in range(5)]
    ).reshape(5, SLOTS, WIDTH, SLOTS, WIDTH)
    across = ~torch.eye(SLOTS, dtype=torch.bool)
    exact = (hessian.permute(1, 3, 0, 2, 4)[across] ** 2).sum().item()
    many = row.expand(40_000, -1, -1)
    with torch.no_grad():
        value = cross_hessian(module, many, generator=torch.Generator().manual_seed(0))
    assert value.dtype == torch.float64
    assert value.item() == pytest.approx(exact, rel=0.05)


def test_two_different_slots_and_nothing_else() -> None:
    left, right = interaction._directions(torch.zeros(200, 4, 3), torch.Generator().manual_seed(0))
    touched = [(side != 0).any(2) for side in (left, right)]
    assert all((side.sum(1) == 1).all() for side in touched)
    assert not (touched[0] & touched[1]).any()
    counts = torch.stack(touched).sum(1)
    assert counts.min() > 20


def test_a_decoder_with_attention_in_evaluation() -> None:
    net = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True).eval()
    slots = torch.randn(2, 3, 4, requires_grad=True)
    for penalty in (compositional_contrast, cross_hessian):
        penalty(net, slots).backward()
    assert slots.grad is not None
    assert torch.isfinite(slots.grad).all()


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor")  # the compiler's own
def test_within_a_compiled_loss() -> None:
    _, module = pair()
    slots = torch.tensor(Z)

    def loss(slots: Tensor) -> Tensor:
        return (module(slots) ** 2).mean() + compositional_contrast(module, slots)

    torch.testing.assert_close(torch.compile(loss, backend="eager")(slots), loss(slots))


@pytest.mark.parametrize("shape", [(4, 6), (4, 1, 6)])
@pytest.mark.parametrize("penalty", [compositional_contrast, cross_hessian])
def test_bad_input(penalty: Any, shape: tuple[int, ...]) -> None:
    with pytest.raises(
        InputError, match=r"slots: got \(4, .*\), expected \(batch, slots, width\) with two slots or"
    ):
        penalty(lambda z: z, torch.ones(shape))


class AttentionDecoder(nn.Module):
    """Pixels that attend to slots twice, once without asking for weights and once for averaged ones."""

    def __init__(self, heads: int = 2) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.queries = nn.Parameter(torch.randn(5, 8))
        self.first = nn.MultiheadAttention(8, heads, batch_first=True)
        self.second = nn.MultiheadAttention(8, heads, batch_first=True)

    def forward(self, slots):
        pixels = self.queries.expand(len(slots), -1, -1)
        pixels = pixels + self.first(pixels, slots, slots, need_weights=False)[0]
        drawn, weights = self.second(pixels, slots, slots)
        return drawn + weights.sum(-1, keepdim=True)  # averaged over heads: sums to 1 over slots


def test_attention_interaction_reads_the_weights_of_all_heads():
    net, slots = AttentionDecoder().eval(), torch.randn(3, 4, 8)
    pixels = net.queries.expand(3, -1, -1)
    drawn, first = net.first(pixels, slots, slots, average_attn_weights=False)
    second = net.second(pixels + drawn, slots, slots, average_attn_weights=False)[1]
    attention = torch.stack([first, second], dim=1).detach().numpy()
    value = attention_interaction(net, slots)
    np.testing.assert_allclose(value.item(), attention_interaction_of(attention), rtol=1e-5)
    one = attention_interaction(net, slots, layers=["second"])
    np.testing.assert_allclose(one.item(), attention_interaction_of(attention[:, 1:]), rtol=1e-5)


def test_attention_interaction_leaves_the_net_as_it_was_and_has_gradients():
    net, slots = AttentionDecoder(), torch.randn(3, 4, 8)
    before = net(slots)
    attention_interaction(net, slots).backward()
    torch.testing.assert_close(net(slots), before)
    assert not net.first._forward_hooks
    assert not net.first._forward_pre_hooks
    assert net.queries.grad.abs().max() > 0


def test_attention_interaction_is_zero_for_one_slot_and_largest_for_equal_attention():
    net = AttentionDecoder()
    assert attention_interaction(net, torch.randn(2, 1, 8)).item() == pytest.approx(0, abs=1e-7)
    same = torch.randn(2, 1, 8).expand(-1, 4, -1)
    assert attention_interaction(net, same).item() == pytest.approx((1 - 1 / 4) / 2, rel=1e-5)


def test_attention_interaction_refuses_other_layers():
    with pytest.raises(InputError, match="layers: got 'no attention layer'"):
        attention_interaction(nn.Linear(2, 2), torch.zeros(1, 2))
    with pytest.raises(InputError, match=r"layers: got \['third'\]"):
        attention_interaction(AttentionDecoder(), torch.zeros(1, 2, 8), layers=["third"])
