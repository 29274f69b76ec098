"""Weighted activity: its arithmetic in three frameworks, its gradients, and what it is blind to."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from jax.flatten_util import ravel_pytree

from recombine.errors import InputError
from recombine.nets import (
    BlockLinear,
    Chain,
    Conv2d,
    Linear,
    Net,
    Reshape,
    cnn_decoder,
    leaky_relu,
    mlp,
    trace,
)
from recombine.remedies import (
    activity,
    activity_of,
    l1,
    l2,
    l12,
    l12_of,
    pushed_activity_of,
    weighted_activity,
    weighted_activity_of,
)

pytestmark = pytest.mark.usefixtures("compile_quickly")
KEY = jax.random.key(0, impl="rbg")  # compiles faster
ALPHAS = [0, 0.5, 1, 1.5, 2, 3]


def arrays(seed: int = 0, batch: int = 6, units: int = 5, after: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(batch, units)), rng.normal(size=(units, after))


@pytest.mark.parametrize("alpha", ALPHAS)
def test_the_definition_by_a_loop(alpha: float) -> None:
    a, w = arrays()
    expected = plain = 0.0
    for row in a:
        for i, value in enumerate(row):
            expected += abs(value) ** alpha * sum(w[i, j] ** 2 for j in range(3)) / len(a)
            plain += abs(value) ** alpha / len(a)
    assert weighted_activity_of(a, w, alpha=alpha) == pytest.approx(expected)
    assert pushed_activity_of(a, lambda v: v @ w**2, alpha=alpha) == pytest.approx(expected)
    assert activity_of(a, alpha=alpha) == pytest.approx(plain)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_numpy_jax_and_torch_agree(alpha: float) -> None:
    """So do the gradients of the two that have them, also at silent units (where |a| may have any slope)."""
    a, w = (array.astype(np.float32) for array in arrays())
    a[0, 0] = 0.0 if alpha != 1 else 0.1

    @jax.jit
    def ours(a: jax.Array, w: jax.Array) -> Any:
        return jax.value_and_grad(lambda a, w: weighted_activity_of(a, w, alpha=alpha), (0, 1))(a, w), forms(
            a
        )

    def forms(a: Any) -> list[Any]:
        return [
            activity_of(a, alpha=alpha),
            pushed_activity_of(a, lambda v: 2 * v[:, 1:] - v[:, :1], alpha=alpha),
        ]

    (value, slopes), result = ours(a, w)
    ta, tw = (torch.tensor(array, requires_grad=True) for array in (a, w))
    theirs = weighted_activity_of(ta, tw, alpha=alpha)
    theirs.backward()
    assert float(value) == pytest.approx(weighted_activity_of(a, w, alpha=alpha), rel=1e-5)
    assert theirs.item() == pytest.approx(float(value), rel=1e-5)
    for slope, tensor in zip(slopes, (ta, tw), strict=True):
        assert np.isfinite(slope).all()
        np.testing.assert_allclose(slope, 0 if tensor.grad is None else tensor.grad, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(result, forms(a), rtol=1e-5)
    np.testing.assert_allclose(forms(torch.tensor(a)), forms(a), rtol=1e-5)


def test_a_convolution_in_torch() -> None:
    rng = np.random.default_rng(0)
    images, kernel = rng.normal(size=(2, 3, 5, 6)), rng.normal(size=(4, 3, 3, 3))
    push = torch.nn.functional.conv2d
    theirs = pushed_activity_of(torch.tensor(images), lambda v: push(v, torch.tensor(kernel) ** 2, padding=1))
    ours = _conv_by_hand(images.transpose(0, 2, 3, 1), kernel.transpose(2, 3, 1, 0), stride=1, padding=1)
    assert theirs.item() == pytest.approx(ours)


def _conv_by_hand(images: np.ndarray, kernel: np.ndarray, *, stride: int, padding: int) -> float:
    """Σ over output pixels of Σ a² w², images `(batch, height, width, channels)`."""
    padded = np.pad(images, [(0, 0), (padding, padding), (padding, padding), (0, 0)])
    k, total = kernel.shape[0], 0.0
    for top in range(0, padded.shape[1] - k + 1, stride):
        for left in range(0, padded.shape[2] - k + 1, stride):
            patch = padded[:, top : top + k, left : left + k]
            total += np.einsum("bhwi,hwio->", patch**2, kernel**2)
    return total / len(images)


@pytest.mark.parametrize(("stride", "padding"), [(1, 0), (1, 1), (2, 1)])
def test_a_convolution_by_brute_force(stride: int, padding: int) -> None:
    keys = jax.random.split(KEY, 3)
    second = Conv2d(2, 4, 3, stride=stride, padding=padding, key=keys[1])
    net = Net(("first", "output"), (Chain(Conv2d(1, 2, 3, padding=1, key=keys[0]), leaky_relu), second))
    x = np.random.default_rng(0).normal(size=(2, 5, 7, 1)).astype(np.float32)
    stages, penalties = penalised(net, x)
    images, kernel = np.asarray(stages["first"], float), np.asarray(second.weight, float)
    expected = _conv_by_hand(images, kernel, stride=stride, padding=padding)
    np.testing.assert_allclose(penalties, expected, rtol=1e-5)


@eqx.filter_jit
def penalised(net: Any, x: Any, **settings: Any) -> tuple[dict[str, jax.Array], jax.Array]:
    """Every stage's output, and what the penalty is."""
    _, stages = trace(net, x)
    return stages, weighted_activity(net, stages, None, **settings)


def test_a_dense_layer_behind_a_flattened_image_and_tokens() -> None:
    keys = jax.random.split(KEY, 3)
    dense = Linear(2 * 5 * 5, 3, key=keys[1])
    conv = Chain(Conv2d(1, 2, 3, padding=1, key=keys[0]), leaky_relu)
    net = Net(("pixels", "output"), (conv, Chain(Reshape((-1,)), dense)))
    stages, penalties = penalised(net, np.ones((2, 5, 5, 1), np.float32))
    expected = weighted_activity_of(np.asarray(stages["pixels"]).reshape(2, -1), np.asarray(dense.weight))
    np.testing.assert_allclose(penalties, expected, rtol=1e-5)
    x = np.random.default_rng(0).normal(size=(2, 6, 4)).astype(np.float32)
    tokens = Net(("tokens", "output"), (leaky_relu, Linear(4, 3, key=keys[2])))
    stages, penalties = penalised(tokens, x)
    a, weight = np.asarray(stages["tokens"]), np.asarray(tokens.layers[1].weight)
    np.testing.assert_allclose(
        penalties, sum(weighted_activity_of(a[:, t], weight) for t in range(6)), rtol=1e-5
    )


def test_a_block_layer_counts_as_its_matrix() -> None:
    keys = jax.random.split(KEY)
    hidden, block = Chain(Linear(3, 6, key=keys[0]), leaky_relu), BlockLinear(2, 3, 2, key=keys[1])
    stages, penalties = penalised(Net(("h", "o"), (hidden, block)), arrays(units=3)[0])
    expected = weighted_activity_of(np.asarray(stages["h"]), np.asarray(block.matrix))
    np.testing.assert_allclose(penalties, expected, rtol=1e-5)


def slopes(function: Any, at: jax.Array, step: float = 1e-6) -> np.ndarray:
    """Central differences."""
    moves = step * np.eye(len(at))
    return np.array([float(function(at + move) - function(at - move)) / (2 * step) for move in moves])


@pytest.mark.parametrize("alpha", [1, 2])
def test_gradients_against_finite_differences(alpha: float) -> None:
    with jax.enable_x64(True):
        net = mlp(inputs=3, width=(5, 4), outputs=2, activation=leaky_relu, key=KEY)
        net = jax.tree.map(lambda leaf: jnp.asarray(leaf, float) if eqx.is_array(leaf) else leaf, net)
        x = jnp.asarray(arrays(units=3)[0])
        params, static = eqx.partition(net, eqx.is_array)
        flat, unravel = ravel_pytree(params)

        @jax.jit
        def penalty(flat: jax.Array) -> jax.Array:
            return weighted_activity(eqx.combine(unravel(flat), static), x, alpha=alpha)

        exact = np.asarray(jax.jit(jax.grad(penalty))(flat))
        assert np.linalg.norm(exact - slopes(penalty, flat)) < 1e-4 * np.linalg.norm(exact)
        assert (exact[-2:] == 0).all()  # the output's biases are free, all other numbers are not
        assert (exact[:-2] != 0).all()


@given(st.integers(0, 1000), st.floats(0.01, 100), st.sampled_from([0, 1, 2, 3]))
def test_rescaling_a_unit(seed: int, c: float, alpha: int) -> None:
    """(a, W) -> (c a, W / c) changes the penalty by c^(alpha - 2): only alpha 2 cannot be escaped."""
    a, w = arrays(seed)
    before, after = weighted_activity_of(a, w, alpha=alpha), weighted_activity_of(c * a, w / c, alpha=alpha)
    assert after == pytest.approx(before * c ** (alpha - 2), rel=1e-6)


@pytest.mark.parametrize("alpha", [1, 2])
def test_rescaling_the_units_of_a_net(alpha: float) -> None:
    """A hidden layer of leaky units with weights and biases times c and outgoing weights over c: the same function."""
    net, c = mlp(inputs=3, width=6, depth=1, outputs=2, activation=leaky_relu, key=KEY), 4.0
    first, last = net.layers[0].layers[0], net.layers[1].layers[0]
    scaled = eqx.tree_at(
        lambda n: (n.layers[0].layers[0].weight, n.layers[0].layers[0].bias, n.layers[1].layers[0].weight),
        net,
        (c * first.weight, c * first.bias, last.weight / c),
    )
    x = arrays(units=3)[0]
    (before, plain), (after, rescaled) = penalised(net, x, alpha=alpha), penalised(scaled, x, alpha=alpha)
    np.testing.assert_allclose(after["output"], before["output"], rtol=1e-5)
    assert float(rescaled / plain) == pytest.approx(c ** (alpha - 2), rel=1e-6)


def test_stages_can_be_chosen() -> None:
    net = mlp(inputs=3, width=(6, 5), outputs=2, key=KEY)
    x = arrays(units=3)[0]

    @eqx.filter_jit
    def parts(net: Net, penalty: Any) -> list[jax.Array]:
        return [penalty(net, x, stages=names) for names in (["hidden0"], ["hidden1"], None)]

    for penalty in (weighted_activity, activity):
        first, second, both = parts(net, penalty)
        assert float(first + second) == pytest.approx(float(both), rel=1e-6)
    with pytest.raises(
        InputError, match="stages: got 'hidden7', expected stages that a linear map reads: hidden0, hid"
    ):
        weighted_activity(net, x, stages=["hidden7"])
    with pytest.raises(InputError, match="stages: got 'output'"):
        weighted_activity(net, x, stages=["output"])


def equal_nets() -> dict[str, tuple[Any, Net, np.ndarray]]:
    """Nets of Equinox's own layers, and of ours with the same weights."""
    keys = jax.random.split(KEY, 3)
    rng = np.random.default_rng(0)
    perceptron = eqx.nn.MLP(3, 2, width_size=6, depth=2, key=KEY)
    ours = mlp(inputs=3, width=6, depth=2, outputs=2, key=KEY)
    for i, layer in enumerate(perceptron.layers):
        ours = eqx.tree_at(
            lambda net, i=i: (net.layers[i].layers[0].weight, net.layers[i].layers[0].bias),
            ours,
            (layer.weight.T, layer.bias),
        )
    theirs = eqx.nn.Sequential(
        [
            eqx.nn.Conv2d(1, 3, 3, padding=1, key=keys[0]),
            eqx.nn.Lambda(jax.nn.relu),
            eqx.nn.Conv2d(3, 4, 3, stride=2, key=keys[1]),
            eqx.nn.Lambda(jax.nn.relu),
            eqx.nn.Lambda(jnp.ravel),
            eqx.nn.Dropout(0.5),
            eqx.nn.Linear(4 * 2 * 2, 2, key=keys[2]),
        ]
    )
    first, second = Conv2d(1, 3, 3, padding=1, key=keys[0]), Conv2d(3, 4, 3, stride=2, key=keys[1])
    dense = Linear(16, 2, key=keys[2])
    swapped = theirs.layers[6].weight.T.reshape(4, 4, 2).transpose(1, 0, 2).reshape(16, 2)
    kernels = [layer.weight.transpose(2, 3, 1, 0) for layer in (theirs.layers[0], theirs.layers[2])]
    biases = [theirs.layers[i].bias.ravel() for i in (0, 2, 6)]
    layers = [
        eqx.tree_at(lambda one: (one.weight, one.bias), layer, (weight, bias))
        for layer, weight, bias in zip((first, second, dense), (*kernels, swapped), biases, strict=True)
    ]
    stages = (Chain(layers[0], jax.nn.relu), Chain(layers[1], jax.nn.relu), Chain(Reshape((16,)), layers[2]))
    return {
        "MLP": (perceptron, ours, rng.normal(size=(7, 3))),
        "Sequential": (theirs, Net(("hidden0", "hidden1", "output"), stages), rng.normal(size=(7, 5, 5, 1))),
    }


@pytest.mark.parametrize("kind", ["MLP", "Sequential"])
def test_equinox_nets_have_the_penalty_of_equal_nets_of_ours(kind: str) -> None:
    theirs, ours, x = equal_nets()[kind]
    y = x.transpose(0, 3, 1, 2) if x.ndim == 4 else x

    @eqx.filter_jit
    def costs(net: Any, x: Any) -> list[jax.Array]:
        return [penalty(net, x) for penalty in (weighted_activity, activity, l1, l2, l12)]

    outputs = jax.jit(jax.vmap(eqx.nn.inference_mode(theirs)))(y)
    np.testing.assert_allclose(outputs, eqx.filter_jit(ours)(x), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(costs(theirs, y), costs(ours, x), rtol=1e-5)
    gradients = eqx.filter_jit(eqx.filter_grad(lambda net: weighted_activity(net, y)))(theirs)
    weights = [layer.weight for layer in gradients.layers if hasattr(layer, "weight")]
    assert len(weights) == 3
    assert all(float(jnp.abs(weight).max()) > 0 for weight in weights)


def test_decay_reaches_transposed_convolutions() -> None:
    net = cnn_decoder(inputs=4, width=2, depth=2, key=KEY)
    kernels = [leaf for leaf in jax.tree.leaves(eqx.filter(net, eqx.is_array)) if leaf.ndim == 4]
    expected = sum((np.asarray(kernel) ** 2).sum() for kernel in kernels)
    result, weighted = eqx.filter_jit(
        lambda net: (l2(net, {}, None), weighted_activity(net, jnp.ones((2, 4))))
    )(net)
    assert len(kernels) == 4
    assert float(result) == pytest.approx(expected, rel=1e-5)
    assert weighted > 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: weighted_activity_of(np.ones((4, 3)), np.ones((2, 3))),
            r"weights: got 'activity \(4, 3\), next_weight",
        ),
        (lambda: weighted_activity_of(np.ones(3), np.ones((3, 3))), r"weights: got 'activity \(3,\)"),
        (lambda: activity_of(np.ones((4, 3)), alpha=-1), "alpha: got -1, expected an exponent of 0 or more"),
        (
            lambda: weighted_activity(jnp.tanh, jnp.ones((2, 3))),
            "net: got '.*', expected a net with stages, equinox.nn.MLP or",
        ),
        (
            lambda: weighted_activity(eqx.nn.Sequential([eqx.nn.LayerNorm(3)]), jnp.ones((2, 3))),
            "net: got 'LayerNorm', expected Linear and Conv2d layers, and functions without weights",
        ),
    ],
)
def test_bad_input(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


@settings(max_examples=20)
@given(st.integers(0, 100))
def test_linear_units_and_single_inputs(seed: int) -> None:
    """Activity of alpha 1 in a linear net is E|x| / K times L12 if one of K inputs at a time is active."""
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(4, 6)), rng.normal(size=(6, 2))
    values = rng.uniform(-2, 2, size=50)
    x = (values[:, None, None] * np.eye(4)).reshape(-1, 4)
    penalty = weighted_activity_of(x @ first, second, alpha=1)
    assert penalty == pytest.approx(np.abs(values).mean() / 4 * l12_of([first, second]), rel=1e-9)
