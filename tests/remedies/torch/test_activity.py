"""Weighted activity of PyTorch modules: against the JAX penalties, against brute force, and what counts as input."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import numpy as np
import pytest
import torch
from benchmarks import peers
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from recombine import nets
from recombine.errors import InputError
from recombine.remedies import activity as jax_activity
from recombine.remedies import weighted_activity as jax_weighted_activity
from recombine.remedies.torch import activity
from recombine.torch import Watch, trace, weighted_activity

pytestmark = pytest.mark.usefixtures("compile_quickly")
KEY = jax.random.key(0, impl="rbg")  # compiles faster
RNG = np.random.default_rng(0)


def pair(kind: str) -> Any:
    """A net of ours, an equal module, and the input of both."""
    if kind == "mlp":
        net = nets.mlp(inputs=3, width=(6, 5), outputs=2, key=KEY)
        module, x = peers.dense(3, 6, 5, 2), RNG.normal(size=(7, 3))
    elif kind == "decoder":
        net = nets.cnn_decoder(inputs=4, width=3, depth=1, size=14, key=KEY)
        module, x = peers.cnn_decoder(inputs=4, width=3, depth=1, size=14), RNG.normal(size=(3, 4))
    else:
        layers = (
            nets.Chain(nets.Conv2d(2, 3, 3, padding=1, key=KEY), nets.leaky_relu),
            nets.Chain(nets.Conv2d(3, 4, 3, stride=2, key=KEY), nets.leaky_relu),
            nets.Chain(nets.Conv2d(4, 2, 2, key=KEY), nets.Reshape((2,))),
        )
        net, leaky = nets.Net(("first", "second", "output"), layers), nn.LeakyReLU(0.1)
        first, second, last = nn.Conv2d(2, 3, 3, padding=1), nn.Conv2d(3, 4, 3, stride=2), nn.Conv2d(4, 2, 2)
        module = nn.Sequential(first, leaky, second, leaky, last, nn.Flatten())
        x = RNG.normal(size=(6, 5, 5, 2))
    x = x.astype(np.float32)
    peers.load_weights(module, net)
    return net, module, x, torch.tensor(x.transpose(0, 3, 1, 2) if x.ndim == 4 else x)


def gradients_agree(module: nn.Module, gradients: Any, *, rtol: float, atol: float) -> None:
    """A net's gradients in JAX, put into a copy of the module, against the module's own."""
    results = [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in module.parameters()]
    peers.load_weights(module, gradients)
    for own, theirs in zip(results, module.parameters(), strict=True):
        torch.testing.assert_close(own, theirs.detach(), rtol=rtol, atol=atol)


@pytest.mark.parametrize(("kind", "alpha"), [("mlp", 1.0), ("decoder", 2.0), ("convolution", 1.5)])
def test_values_and_gradients_are_those_in_jax(kind: str, alpha: float) -> None:
    net, module, x, tensor = pair(kind)

    @eqx.filter_jit
    def expected(net: Any) -> Any:
        def parts(net: Any) -> Any:
            results = [penalty(net, x, alpha=alpha) for penalty in (jax_weighted_activity, jax_activity)]
            return results[0] + results[1], results

        return eqx.filter_value_and_grad(parts, has_aux=True)(net)

    (_, values), gradients = expected(net)
    results = [penalty(module, tensor, alpha=alpha) for penalty in (weighted_activity, activity)]
    np.testing.assert_allclose([value.item() for value in results], values, rtol=1e-5)
    (results[0] + results[1]).backward()
    gradients_agree(module, gradients, rtol=1e-4, atol=1e-5 * float(values[1]))


def test_in_double_precision() -> None:
    net, module, x, tensor = pair("mlp")
    module = module.double()
    with jax.enable_x64(True):
        net = jax.tree.map(lambda leaf: np.asarray(leaf, float) if eqx.is_array(leaf) else leaf, net)
        x = x.astype(float)
        value, gradients = eqx.filter_jit(
            eqx.filter_value_and_grad(lambda net: jax_weighted_activity(net, x, alpha=1.5))
        )(net)
        result = weighted_activity(module, tensor.double(), alpha=1.5)
        result.backward()
        assert result.dtype == torch.float64
        assert result.item() == pytest.approx(float(value), rel=1e-12)
        gradients_agree(module, gradients, rtol=1e-10, atol=1e-12)


GEOMETRIES = [
    nn.Conv1d(4, 6, 3, stride=2, padding=1, groups=2),
    nn.Conv1d(4, 6, 4, padding="same", padding_mode="circular"),
    nn.Conv2d(4, 6, (3, 2), stride=(2, 1), padding=(1, 0), dilation=(1, 2)),
    nn.Conv2d(4, 8, 3, padding=(1, 2), groups=4, bias=False),
    nn.Conv2d(4, 2, 3, padding="valid", padding_mode="replicate"),
    nn.Conv3d(4, 2, 2, padding="same"),
    nn.ConvTranspose1d(4, 6, 3, stride=2, padding=1, output_padding=1, groups=2),
    nn.ConvTranspose2d(4, 3, 3, stride=2, dilation=2),
    nn.ConvTranspose3d(4, 2, 2, stride=2),
]


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel")
@pytest.mark.parametrize("layer", GEOMETRIES, ids=str)
def test_every_geometry_against_the_matrix_of_the_map(layer: Any) -> None:
    """The penalty is E Σ_i |a_i|^alpha Σ_j J_ji² with the Jacobian J of the layer itself."""
    torch.manual_seed(0)
    layer = layer.double()
    sides = (5, 6, 4)[: layer.weight.ndim - 2]
    net = nn.Sequential(
        nn.Flatten(), nn.Linear(4, 4 * int(np.prod(sides))), nn.Unflatten(1, (4, *sides)), layer
    ).double()
    x = torch.randn(2, 4, dtype=torch.float64)
    hidden = trace(net, x)[1]["2"].detach()
    jacobian: Any = torch.autograd.functional.jacobian(layer, hidden[:1]).reshape(-1, hidden[0].numel())
    expected = (hidden.flatten(1).abs() ** 1.5 @ (jacobian**2).sum(0)).mean()
    torch.testing.assert_close(weighted_activity(net, x, alpha=1.5, layers=["3"]).detach(), expected)


def test_mirrored_pixels_count_as_separate_pixels() -> None:
    mirrored = nn.Conv2d(4, 8, 3, padding=(1, 2), padding_mode="reflect")
    plain = nn.Conv2d(4, 8, 3)
    plain.load_state_dict(mirrored.state_dict())
    start, mirror, x = nn.Conv2d(1, 4, 3), nn.ReflectionPad2d((2, 2, 1, 1)), torch.randn(2, 1, 7, 8)
    torch.testing.assert_close(
        weighted_activity(nn.Sequential(start, mirrored), x),
        weighted_activity(nn.Sequential(start, mirror, plain), x),
    )


def test_an_image_without_batch_axis_and_tokens() -> None:
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.Conv2d(2, 3, 3))
    x = torch.randn(1, 7, 7)
    torch.testing.assert_close(weighted_activity(net, x), weighted_activity(net, x[None]))
    tokens = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    rows = torch.randn(5, 6, 3)
    folded = weighted_activity(tokens, rows.flatten(0, 1))
    torch.testing.assert_close(weighted_activity(tokens, rows), 6 * folded)
    torch.testing.assert_close(weighted_activity(tokens, rows.transpose(0, 1), examples=5), 6 * folded)
    torch.testing.assert_close(activity(tokens, rows.flatten(0, 1), examples=5), activity(tokens, rows))


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("widths", [{}, {"kdim": 5, "vdim": 3}])
def test_attention_counts_the_inputs_of_queries_keys_and_values(batch_first: bool, widths: Any) -> None:
    class Attending(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.before = nn.Linear(4, 4)
            self.attention = nn.MultiheadAttention(4, 2, batch_first=batch_first, **widths)

        def forward(self, x: Tensor) -> Tensor:
            q = self.before(x)
            k, v = (pad(q, (0, widths.get(name, 4) - 4)) for name in ("kdim", "vdim"))
            return self.attention(q, key=k, value=v)[0]

    net, x = Attending(), torch.randn(3, 5, 4)
    a = net.before(x)
    layer = net.attention
    if widths:
        weights = [layer.q_proj_weight, layer.k_proj_weight, layer.v_proj_weight]
    else:
        weights = list(layer.in_proj_weight.chunk(3))
    read = [a, pad(a, (0, widths.get("kdim", 4) - 4)), pad(a, (0, widths.get("vdim", 4) - 4))]
    expected = sum((linear(one**2, w**2)).sum() for one, w in zip(read, weights, strict=True)) / 3
    inputs = x if batch_first else x.transpose(0, 1)
    torch.testing.assert_close(weighted_activity(net, inputs), expected)
    if not widths:
        torch.testing.assert_close(
            weighted_activity(nn.Sequential(net), inputs, layers=["0.attention"]), expected
        )


def test_a_transformer_in_evaluation_without_gradients() -> None:
    """The same as in training mode: no fused path, and frozen or gradient-free activity counts as well."""
    net = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    x = torch.randn(3, 5, 8)
    expected = weighted_activity(net, x)
    with Watch(net) as watch:
        net(x)
    assert [read.name for read in watch.reads] == ["linear1", "linear2"]  # attention reads the input
    with torch.no_grad():
        torch.testing.assert_close(weighted_activity(net.eval(), x), expected.detach())
    torch.testing.assert_close(weighted_activity(net.requires_grad_(False), x), expected.detach())


class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return 2 * x

    @staticmethod
    def backward(ctx: Any, *slopes: Tensor) -> Any:
        return 2 * slopes[0]


class Branches(nn.Module):
    """Two layers read the input in different forms, a third reads both."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right, self.last = nn.Linear(4, 3), nn.Linear(4, 3), nn.Linear(3, 2)
        self.register_buffer("mean", torch.ones(4))

    def forward(self, x: Tensor) -> Tensor:
        filled = torch.zeros_like(x)
        filled[:] = (x - self.mean).clamp(-1, 1)
        return self.last(Twice.apply(self.left(x.flatten(1)) + self.right(filled.flatten(1))))


@pytest.mark.parametrize("where", ["plain", "no_grad", "frozen", "input with gradients", "scaled outside"])
def test_only_hidden_activity_counts(where: str) -> None:
    torch.manual_seed(0)
    net, x = Branches(), torch.randn(5, 4)
    hidden = Twice.apply(net.left(x) + net.right((x - 1).clamp(-1, 1)))
    expected = (hidden**2 @ (net.last.weight**2).sum(0)).mean().detach()
    if where == "frozen":
        net.requires_grad_(False)
    inputs = x.clone().requires_grad_() if where == "input with gradients" else x
    with torch.set_grad_enabled(where != "no_grad"):
        with Watch(net) as watch:
            net(inputs / 2 * 2 if where == "scaled outside" else inputs)
        torch.testing.assert_close(weighted_activity(watch).detach(), expected)
        torch.testing.assert_close(weighted_activity(net, inputs).detach(), expected)
    assert [read.name for read in watch.reads] == ["last"]


def test_parts_that_are_called_by_themselves() -> None:
    """An autoencoder used through its halves: the code is hidden, the input is not."""
    net = nn.ModuleDict({"encoder": nn.Linear(4, 3), "decoder": nn.Linear(3, 4)})
    x = torch.randn(5, 4)
    with Watch(net) as watch:
        code = net["encoder"](x)
        net["decoder"](code + 0.1 * torch.randn_like(code))
    assert [read.name for read in watch.reads] == ["decoder"]


def test_embeddings_are_hidden_activity() -> None:
    net = nn.Sequential(nn.Embedding(10, 4), nn.Linear(4, 2))
    assert weighted_activity(net, torch.tensor([[1, 2], [3, 4]])) > 0
    assert weighted_activity(nn.Linear(3, 2), torch.ones(5, 3)) == 0


def test_watching_the_loops_pass_agrees_with_a_separate_pass() -> None:
    net = peers.dense(3, 6, 5, 2)
    x = torch.randn(7, 3)
    watch = Watch(net)
    for _ in range(2):  # a new block begins anew
        with watch:
            output = net(x)
            inside = weighted_activity(watch)
        assert watch.output is output
        for penalty in (weighted_activity, activity):
            assert penalty(watch) == penalty(net, x)
        assert inside == weighted_activity(watch)
    with watch:
        net(x), net(x)
    torch.testing.assert_close(weighted_activity(watch), 2 * weighted_activity(net, x))


def test_statistics_modes_and_hooks_stay_as_they_were() -> None:
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2))
    net[2].eval()
    state = {name: value.clone() for name, value in net.state_dict().items()}
    weighted_activity(net, torch.randn(5, 3))
    assert all(torch.equal(value, state[name]) for name, value in net.state_dict().items())
    assert [part.training for part in net] == [True, True, False, True]
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        weighted_activity(net, torch.randn(5, 2))
    with pytest.raises(KeyError, match="mine"), Watch(net):
        raise KeyError("mine")
    assert not any(part._forward_hooks or part._forward_pre_hooks for part in net.modules())
    assert torch.backends.mha.get_fastpath_enabled()


def test_activity_that_is_overwritten_is_refused() -> None:
    class Stream(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.block = nn.Linear(3, 4), nn.Linear(4, 4)

        def forward(self, x: Tensor) -> Tensor:
            hidden = self.first(x)
            hidden += self.block(hidden)
            return hidden

    with pytest.raises(InputError, match=r"module: got .*what 'block' reads, overwritten.* expected h = h"):
        weighted_activity(Stream(), torch.ones(2, 3))
    with torch.inference_mode():
        weighted_activity(peers.dense(3, 4, 2), torch.ones(2, 3))


def test_layers_can_be_chosen() -> None:
    net, x = peers.dense(3, 6, 5, 2), torch.randn(7, 3)
    for penalty in (weighted_activity, activity):
        parts = [penalty(net, x, layers=[name]) for name in ("2", "4")]
        torch.testing.assert_close(sum(parts), penalty(net, x))


ELSEWHERE = [
    (nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), (5, 3)),
    (nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ConvTranspose2d(2, 1, 3)), (5, 1, 6, 6)),
    (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (3, 5, 8)),
]


@pytest.mark.parametrize(("net", "shape"), ELSEWHERE, ids=lambda part: type(part).__name__)
def test_everything_stays_on_the_device_and_in_the_precision_of_the_module(
    net: nn.Module, shape: Any
) -> None:
    for options in ({"device": "meta"}, {"dtype": torch.float64}, {"dtype": torch.bfloat16}):
        there = net.to(**options) if "dtype" not in options else net.to_empty(device="cpu").to(**options)
        for penalty in (weighted_activity, activity):
            result = penalty(there, torch.zeros(shape, **options))
            assert result.device.type == options.get("device", "cpu")
            assert result.dtype == options.get("dtype", torch.float32)


def test_mixed_precision() -> None:
    net, x = peers.dense(3, 6, 2), torch.randn(7, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16), Watch(net) as watch:
        net(x)
    assert weighted_activity(watch).item() == pytest.approx(weighted_activity(net, x).item(), rel=0.05)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: weighted_activity(nn.Linear(3, 2)), "x: got None, expected the module's input, or a Watch"),
        (
            lambda: weighted_activity(Watch(nn.Linear(3, 2))),
            "watch: got 'no call', expected a forward pass inside",
        ),
        (
            lambda: weighted_activity(Watch(nn.Linear(3, 2)), torch.ones(2, 3)),
            "x: got 'Tensor', expected None",
        ),
        (
            lambda: activity(nn.ReLU(), torch.ones(2, 3)),
            "module: got 'ReLU', expected a module that calls linear, convolutional or",
        ),
        (
            lambda: weighted_activity(peers.dense(3, 4, 2), torch.ones(2, 3), layers=["0"]),
            "layers: got '0', expected linear maps that read hidden activity: 2",
        ),
        (
            lambda: weighted_activity(peers.dense(3, 4, 2), torch.ones(2, 3), layers="2"),
            "layers: got '2', expected a list of names",
        ),
        (
            lambda: weighted_activity(peers.dense(3, 4, 2), torch.ones(2, 3), alpha=-1),
            "alpha: got -1, expected an exponent of 0 or more",
        ),
        (lambda: Watch(torch.relu), "module: got 'builtin_function_or_method', expected a torch"),
    ],
)
def test_bad_input(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
