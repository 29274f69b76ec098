"""The render net in PyTorch is the one in JAX: outputs, penalties and gradients with the same weights."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from benchmarks import peers

from recombine import nets, remedies
from recombine.errors import InputError
from recombine.torch import (
    FactorCanvas,
    RenderNet,
    entropy_of,
    flatness,
    forced_rendering,
    spectrum_entropy,
    trace,
    variance_of,
)

pytestmark = pytest.mark.usefixtures("compile_quickly")
KEY = jax.random.key(0, impl="rbg")  # compiles faster
LEVELS, SIZE = (5, 4, 3), (6, 7)


@pytest.fixture(scope="module")
def canvases_have_peers() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(peers.LAYERS, nets.FactorCanvas, FactorCanvas)
        yield


@pytest.fixture(scope="module")
def net() -> nets.Net:
    """Vectors are of any length, as they are after training."""
    shapes = eqx.filter_eval_shape(nets.render_net, levels=LEVELS, size=SIZE, key=KEY)
    rng = np.random.default_rng(0)
    return jax.tree.map(
        lambda leaf: rng.normal(size=leaf.shape).astype(np.float32) if hasattr(leaf, "shape") else leaf,
        shapes,
    )


@pytest.fixture
def module(net: nets.Net, canvases_have_peers: None) -> RenderNet:
    made = RenderNet(LEVELS, size=SIZE)
    peers.load_weights(made, net)
    return made


def codes() -> np.ndarray:
    """Every level once, and a factor that is absent."""
    rng = np.random.default_rng(0)
    rows = [np.eye(count, dtype=np.float32)[rng.integers(count, size=8)] for count in LEVELS]
    rows[1][0] = 0
    return np.concatenate(rows, axis=1)


def test_names_and_outputs_are_those_in_jax(net: nets.Net, module: RenderNet) -> None:
    expected, stages = eqx.filter_jit(nets.trace)(net, codes())
    output, result = trace(module, torch.tensor(codes()), net.names)
    np.testing.assert_allclose(output.detach(), expected, rtol=1e-4, atol=1e-5)
    assert list(result) == list(net.names)
    for name in net.names[:-1]:
        theirs = np.asarray(stages[name]).transpose(0, 3, 1, 2)
        np.testing.assert_allclose(result[name].detach(), theirs, rtol=1e-4, atol=1e-5)


def test_loss_and_penalties_have_the_gradients_in_jax(net: nets.Net, module: RenderNet) -> None:
    @eqx.filter_jit
    @eqx.filter_value_and_grad
    def expected(net: Any) -> jax.Array:
        spread = [remedies.flatness(net, {}, None, normalised=flag) for flag in (False, True)]
        loss = (net(codes()) ** 2).mean() + 0.1 * remedies.spectrum_entropy(net, {}, None)
        return loss + 0.02 * spread[0] + 0.01 * spread[1]

    value, gradients = expected(net)
    loss = (module(torch.tensor(codes())) ** 2).mean() + 0.1 * spectrum_entropy(module)
    loss = loss + 0.02 * flatness(module) + 0.01 * flatness(module, normalised=True)
    loss.backward()
    assert loss.item() == pytest.approx(float(value), rel=1e-5)
    slopes = [parameter.grad for parameter in module.parameters()]
    peers.load_weights(module, gradients)
    for own, theirs in zip(slopes, module.parameters(), strict=True):
        torch.testing.assert_close(own, theirs.detach(), rtol=1e-4, atol=1e-5)


def test_the_arithmetic_on_arrays() -> None:
    rng = np.random.default_rng(0)
    spectrum, vectors = (
        rng.normal(size=(3, 5)).astype(np.float32),
        rng.normal(size=(3, 4, 5)).astype(np.float32),
    )
    spectrum[0, 1:] = 0  # rank one: the floor
    tensor = torch.tensor(spectrum, requires_grad=True)
    value, slope = jax.jit(jax.value_and_grad(remedies.entropy_of))(jnp.asarray(spectrum))
    entropy = entropy_of(tensor)
    entropy.backward()
    np.testing.assert_allclose(entropy.item(), value, rtol=1e-5)
    np.testing.assert_allclose(tensor.grad, slope, rtol=1e-4, atol=1e-6)
    for axis in (1, 2):
        expected = vectors.var(axis=axis, ddof=1).sum()
        np.testing.assert_allclose(variance_of(torch.tensor(vectors), axis=axis), expected, rtol=1e-5)


def test_the_numbers_at_the_start_are_those_of_the_published_run() -> None:
    """As in the test of the JAX net: flatness 128, and 0.1 (H_X + H_Y) about 17."""
    torch.manual_seed(0)
    remedy = forced_rendering((32, 32))
    assert flatness(remedy.net).item() == pytest.approx(128, rel=0.01)
    assert 0.1 * spectrum_entropy(remedy.net).item() == pytest.approx(17.5, rel=0.05)
    both = 0.1 * spectrum_entropy(remedy.net) + 0.01 * flatness(remedy.net)
    torch.testing.assert_close(remedy.penalty(), both)


def test_the_remedy_makes_stripes() -> None:
    torch.manual_seed(0)
    remedy = forced_rendering((6, 6), entropy=0.1, flatness=0.1)
    x = torch.cat([torch.eye(6)[i] for i in torch.cartesian_prod(torch.arange(6), torch.arange(6)).T], dim=1)
    bump = torch.exp(-((torch.arange(6)[:, None] - torch.arange(6)) ** 2) / 2)
    y = (x[:, :6] @ bump)[:, :, None] * (x[:, 6:] @ bump)[:, None, :]
    start = spectrum_entropy(remedy.net).item(), flatness(remedy.net).item()
    optimiser = torch.optim.AdamW(remedy.net.parameters(), lr=0.02)
    for _ in range(150):
        optimiser.zero_grad()
        (((remedy.net(x) - y) ** 2).mean() + remedy.penalty()).backward()
        optimiser.step()
    assert spectrum_entropy(remedy.net).item() < 0.05 * start[0]
    assert flatness(remedy.net).item() < 0.05 * start[1]


def test_device_and_precision() -> None:
    for options in ({"device": "meta"}, {"dtype": torch.float64}):
        remedy = forced_rendering((4, 3), **options)
        output = remedy.net(torch.ones(2, 7, **options))
        for tensor in (output, remedy.penalty()):
            assert tensor.device.type == options.get("device", "cpu")
            assert tensor.dtype == options.get("dtype", torch.float32)


def test_compiled() -> None:
    torch.manual_seed(0)
    net, x = RenderNet((4, 3)), torch.eye(7)[:3]
    torch.testing.assert_close(torch.compile(net, backend="eager", fullgraph=True)(x), net(x))
    torch.testing.assert_close(torch.compile(flatness, backend="eager")(net), flatness(net))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: RenderNet((4,)), r"levels: got \(4,\), expected the levels of at least two factors"),
        (
            lambda: RenderNet((4, 3))(torch.ones(2, 8)),
            r"x: got \(2, 8\), expected \(batch, 7\): one-hot codes of",
        ),
        (
            lambda: flatness(torch.nn.Linear(2, 2)),
            "net: got 'Linear', expected a module with a render layer",
        ),
        (lambda: forced_rendering((4, 4), entropy=-1), "entropy: got -1, expected a weight of 0 or more"),
    ],
)
def test_bad_input(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
