"""Every route of a convolution against PyTorch, against XLA's own, and under jit, scan and vmap."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from jax import lax

from recombine.errors import InputError
from recombine.nets.layers.convolution import (
    Conv2d,
    ConvTranspose2d,
    conv2d,
    conv_transpose2d,
    forward_differentiable,
)
from recombine.nets.slots.slot_encoders import PixelTrunk

# (height, width), c_in, c_out, kernel, stride, padding
CONVOLUTIONS = [
    ((9, 7), 8, 6, 3, 1, 1),
    ((28, 28), 1, 8, 3, 2, 1),
    ((7, 9), 8, 8, 3, 2, 1),
    ((12, 12), 8, 8, 5, 1, 0),
    ((14, 13), 8, 8, 5, 1, 2),
    ((6, 6), 8, 8, 1, 1, 0),
    ((13, 12), 8, 8, 7, 1, 3),
    ((32, 32), 2, 2, 3, 1, 1),
    ((32, 32), 2, 1, 3, 1, 1),
    ((12, 12), 1, 6, 5, 1, 0),
    ((14, 14), 16, 1, 3, 1, 1),
    ((11, 10), 6, 8, 5, 3, 4),
]
TRANSPOSED = [
    ((1, 1), 8, 6, 7, 1, 0),
    ((1, 1), 8, 6, 4, 2, 1),
    ((7, 7), 16, 16, 4, 2, 1),
    ((5, 8), 6, 8, 4, 2, 1),
    ((9, 7), 8, 6, 3, 1, 1),
    ((28, 28), 16, 1, 3, 1, 1),
    ((32, 32), 2, 2, 3, 1, 1),
    ((32, 32), 2, 1, 3, 1, 1),
    ((6, 5), 8, 8, 3, 2, 1),
    ((6, 6), 8, 8, 5, 1, 0),
    ((4, 4), 8, 8, 2, 2, 0),
    ((4, 4), 8, 8, 2, 3, 0),
    ((5, 5), 8, 8, 7, 1, 2),
    ((6, 6), 8, 8, 3, 1, 3),
    ((6, 6), 1, 2, 4, 2, 1),
]
CASES = [(False, *case) for case in CONVOLUTIONS] + [(True, *case) for case in TRANSPOSED]
BATCH = 3


def functions(transposed, stride, padding):
    """Ours, PyTorch's and XLA's, each as a function of images and kernel in our layout."""

    def ours(x, w):
        function = conv_transpose2d if transposed else conv2d
        return function(x, w, stride=stride, padding=padding)

    def theirs(x, w):
        function = torch.nn.functional.conv_transpose2d if transposed else torch.nn.functional.conv2d
        w = w.permute(2, 3, 0, 1) if transposed else w.permute(3, 2, 0, 1)
        return function(x.permute(0, 3, 1, 2), w, stride=stride, padding=padding).permute(0, 2, 3, 1)

    def plain(x, w):
        layout = ("NHWC", "HWIO", "NHWC")
        if not transposed:
            return lax.conv_general_dilated(
                x, w, [stride] * 2, [(padding, padding)] * 2, dimension_numbers=layout
            )
        pads = [(k - 1 - padding, k - 1 - padding) for k in w.shape[:2]]
        return lax.conv_general_dilated(
            x, w[::-1, ::-1], (1, 1), pads, lhs_dilation=[stride] * 2, dimension_numbers=layout
        )

    return jax.jit(ours), theirs, jax.jit(plain)


def draw(case):
    _, size, c_in, c_out, kernel, _, _ = case
    random = np.random.default_rng(0)
    x = random.normal(size=(BATCH, *size, c_in)).astype(np.float32)
    return x, random.normal(size=(kernel, kernel, c_in, c_out)).astype(np.float32)


def assert_close(got, expected):
    expected = np.asarray(expected)
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=0, atol=2e-5 * np.abs(expected).max())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_output_and_gradients_equal_those_of_pytorch_and_xla(case):
    ours, theirs, plain = functions(case[0], *case[-2:])
    x, w = draw(case)
    tx, tw = (torch.tensor(a, requires_grad=True) for a in (x, w))
    expected = theirs(tx, tw)
    weights = np.random.default_rng(1).normal(size=expected.shape).astype(np.float32)
    (expected * torch.tensor(weights)).sum().backward()

    def scalar(x, w):
        y = ours(x, w)
        return jnp.sum(weights * y), y

    (_, y), (dx, dw) = jax.jit(jax.value_and_grad(scalar, argnums=(0, 1), has_aux=True))(x, w)
    assert_close(y, expected.detach())
    assert_close(y, plain(x, w))
    assert_close(dx, tx.grad)
    assert_close(dw, tw.grad)


ROUTES = [
    (False, (9, 7), 8, 6, 3, 1, 1),  # Winograd
    (True, (5, 6), 8, 6, 4, 2, 1),  # Winograd after removing the stride
    (True, (8, 8), 2, 2, 3, 1, 1),  # planes
    (False, (9, 9), 1, 6, 3, 2, 1),  # patches first
    (True, (8, 8), 8, 1, 3, 1, 1),  # product first
    (True, (1, 1), 8, 6, 7, 1, 0),  # a single pixel
]


@pytest.mark.parametrize("case", ROUTES[1:], ids=str)
def test_vmap_over_images_and_over_kernels(case):
    ours, _, _ = functions(case[0], *case[-2:])
    x, w = draw(case)
    xs, ws = jnp.stack([x, 2 * x[::-1]]), jnp.stack([w, w[::-1] - 1])

    @jax.jit
    def passes(x, w):
        def scalar(x, w):
            y = ours(x, w)
            return jnp.sum(y**2), y

        (_, y), gradients = jax.value_and_grad(scalar, argnums=(0, 1), has_aux=True)(x, w)
        return y, *gradients

    for axes, pairs in [((0, 0), zip(xs, ws, strict=True)), ((None, 0), [(x, w) for w in ws])]:
        got = jax.vmap(passes, axes)(x if axes[0] is None else xs, ws)
        for one, *expected in zip(got, *[passes(*pair) for pair in pairs], strict=True):
            assert_close(one, jnp.stack(expected))


@pytest.mark.parametrize("case", ROUTES, ids=str)
def test_gradient_descent_inside_scan_equals_a_loop_with_pytorch(case):
    ours, theirs, _ = functions(case[0], *case[-2:])
    x, w = draw(case)

    def descend(w, _):
        return w - 0.01 * jax.grad(lambda w: jnp.mean(ours(x, w) ** 2))(w), None

    tw = torch.tensor(w)
    for _ in range(4):
        tw.requires_grad_(True)
        (gradient,) = torch.autograd.grad((theirs(torch.tensor(x), tw) ** 2).mean(), tw)
        tw = (tw - 0.01 * gradient).detach()
    assert_close(jax.jit(lambda w: lax.scan(descend, w, length=4)[0])(w), tw)


@pytest.mark.parametrize("case", ROUTES, ids=str)
def test_the_accelerator_route_gives_the_same_numbers(case, monkeypatch):
    ours, theirs, _ = functions(case[0], *case[-2:])
    x, w = draw(case)
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    assert "conv_general_dilated" in str(jax.make_jaxpr(ours)(x, w))
    assert_close(ours(x, w), theirs(torch.tensor(x), torch.tensor(w)))


@pytest.mark.parametrize(("case", "layer"), [(CONVOLUTIONS[1], Conv2d), (TRANSPOSED[1], ConvTranspose2d)])
def test_layers_add_the_bias_and_ignore_the_key(case, layer):
    _, c_in, c_out, kernel, stride, padding = case
    ours, _, _ = functions(layer is ConvTranspose2d, stride, padding)
    net = layer(c_in, c_out, kernel, stride=stride, padding=padding, key=jax.random.key(0))
    x, _ = draw((None, *case))
    assert_close(net(x), ours(x, net.weight) + net.bias)
    assert_close(net(x, key=jax.random.key(1)), net(x))


@pytest.mark.parametrize(
    ("layer", "reference"), [(Conv2d, torch.nn.Conv2d), (ConvTranspose2d, torch.nn.ConvTranspose2d)]
)
def test_initial_distribution_and_parameter_count_are_those_of_pytorch(layer, reference):
    net, theirs = layer(64, 16, 5, key=jax.random.key(0)), reference(64, 16, 5)
    assert net.weight.size + net.bias.size == sum(p.numel() for p in theirs.parameters())
    bound = theirs.weight.detach().abs().max().item()  # of 25,600 draws, so within 0.1% of the true bound
    np.testing.assert_allclose(jnp.abs(net.weight).max(), bound, rtol=2e-3)
    np.testing.assert_allclose(jnp.std(net.weight), bound / np.sqrt(3), rtol=2e-2)
    assert jnp.abs(net.bias).max() <= bound * 1.002
    assert not np.array_equal(net.weight, layer(64, 16, 5, key=jax.random.key(1)).weight)


@pytest.mark.parametrize(
    ("x", "w", "settings"),
    [
        ((4, 4, 8), (3, 3, 8, 8), {"padding": 1}),
        ((1, 4, 4, 8), (3, 3, 7, 8), {"padding": 1}),
        ((1, 2, 2, 8), (5, 5, 8, 8), {"padding": 1}),
        ((1, 4, 4, 8), (3, 3, 8, 8), {"padding": 1, "stride": 0}),
    ],
)
def test_shapes_that_do_not_fit_are_named(x, w, settings):
    with pytest.raises(InputError, match="expected"):
        conv2d(jnp.zeros(x), jnp.zeros(w), **settings)


def test_padding_that_leaves_nothing_is_named():
    with pytest.raises(InputError, match="padding: got 3"):
        conv_transpose2d(jnp.zeros((1, 2, 2, 8)), jnp.zeros((3, 3, 8, 8)), padding=3)


@pytest.mark.parametrize(
    ("kind", "settings"),
    [(Conv2d, {"kernel": 3, "padding": 1}), (ConvTranspose2d, {"kernel": 5, "stride": 2, "padding": 1})],
    ids=["plain", "transposed"],
)
def test_forward_mode(kind, settings):
    """A convolution is linear: its derivative along a direction is the direction convolved."""
    layer = kind(20, 20, **settings, key=jax.random.key(0))
    x, direction = (np.random.default_rng(i).normal(size=(2, 4, 5, 20)).astype(np.float32) for i in (0, 1))
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jvp(layer, (x,), (direction,))
    changed = forward_differentiable({"layers": [layer, "kept"]})
    assert changed["layers"][1] == "kept"
    value, slope = jax.jit(lambda a, b: jax.jvp(changed["layers"][0], (a,), (b,)))(x, direction)
    assert_close(value, layer(x))
    assert_close(slope, layer(direction) - layer.bias)
    assert not layer.plain


def test_forward_mode_of_an_encoder():
    trunk = PixelTrunk((4, 4, 3), 20, channels=20, key=jax.random.key(0))
    x = jnp.ones((1, 4, 4, 3))
    slope = jax.eval_shape(lambda x: jax.jvp(forward_differentiable(trunk), (x,), (x,))[1], x)
    assert slope.shape == (1, 16, 20)
