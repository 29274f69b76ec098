from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine.errors import InputError
from recombine.nets import (
    Chain,
    Conv2d,
    Linear,
    Net,
    Reshape,
    links,
    mlp,
    parallel_mlp,
    staged,
    trace,
    weight_matrices,
    weighted_layers,
    with_matrices,
)
from recombine.nets.connections import with_squared_weights
from recombine.studies.poisson_modularity.film_net import film_net

pytestmark = pytest.mark.usefixtures("compile_quickly")
KEY = jax.random.key(0, impl="rbg")  # compiles faster
run = eqx.filter_jit(trace)


def ends(net: Any) -> list[tuple[str | None, str, tuple[int, ...]]]:
    return [(link.source, link.target, link.matrix.shape) for link in links(net)]


def test_links_of_perceptrons() -> None:
    plain = mlp(inputs=3, width=(5, 4), outputs=(2, 2), key=KEY)
    assert ends(plain) == [
        (None, "hidden0", (3, 5)),
        ("hidden0", "hidden1", (5, 4)),
        ("hidden1", "output", (4, 4)),
    ]
    normalised = mlp(inputs=3, width=(5,), outputs=2, normalise=True, key=KEY)
    assert ends(normalised) == [(None, "linear0", (3, 5)), ("hidden0", "output", (5, 2))]
    assert ends(parallel_mlp(modules=2, width=3, depth=1, key=KEY)) == [
        (None, "hidden0", (2, 6)),
        ("hidden0", "output", (6, 2)),
    ]


def test_a_link_reads_what_its_layer_sees() -> None:
    keys = jax.random.split(KEY)
    net = Net(
        ("pixels", "output"),
        (Conv2d(1, 4, 3, padding=1, key=keys[0]), Chain(Reshape((100,)), Linear(100, 3, key=keys[1]))),
    )
    output, stages = run(net, np.ones((2, 5, 5, 1), np.float32))
    last = links(net)[1]
    np.testing.assert_allclose(last.layer(last.reads(stages["pixels"])), output, rtol=1e-5)
    assert [matrix.shape for matrix in weight_matrices(net)] == [(1, 4), (4, 3)]


def test_a_stage_that_is_more_than_a_map_has_no_link() -> None:
    net = eqx.filter_eval_shape(lambda: film_net(frames=2, widths=(4, 8), blocks=1, key=KEY))
    results = [(link.source, link.target) for link in links(net)]
    assert results == [(None, "stem"), ("pool", "head"), ("head", "output")]


def test_every_map_counts_wherever_it_stands() -> None:
    net = eqx.filter_eval_shape(lambda: film_net(frames=2, widths=(4, 8), blocks=1, key=KEY))
    result = weighted_layers(net)
    kernels = [leaf for leaf in jax.tree.leaves(net) if hasattr(leaf, "ndim") and leaf.ndim in {2, 4}]
    assert sorted(layer.weight.shape for layer in result) == sorted(leaf.shape for leaf in kernels)


def test_other_weights_into_the_same_net() -> None:
    net = mlp(inputs=3, width=(5, 4), outputs=2, key=KEY)
    doubled = with_matrices(net, [2 * matrix for matrix in weight_matrices(net)])
    for before, after in zip(weight_matrices(net), weight_matrices(doubled), strict=True):
        np.testing.assert_allclose(after, 2 * before, rtol=1e-6)
        assert before.dtype == np.float64
    np.testing.assert_array_equal(doubled.layers[0].layers[0].bias, net.layers[0].layers[0].bias)
    with pytest.raises(
        InputError, match=r"matrices: got \[\(3, 5\)\], expected shapes \[\(3, 5\), \(5, 4\), \(4, 2\)\]"
    ):
        with_matrices(net, [np.ones((3, 5))])
    with pytest.raises(
        InputError, match="net: got 'a layer that is not dense', expected a net of dense layers"
    ):
        with_matrices(parallel_mlp(modules=2, width=3, depth=1, key=KEY), [])


def test_staged_shares_weights_and_outputs() -> None:
    keys = jax.random.split(KEY, 3)
    layers = [
        eqx.nn.Lambda(jnp.ravel),
        eqx.nn.Linear(6, 5, use_bias=False, key=keys[0]),
        eqx.nn.Lambda(jnp.tanh),
        eqx.nn.Identity(),
        eqx.nn.Linear(5, 2, key=keys[1]),
        eqx.nn.Lambda(jax.nn.sigmoid),
    ]
    theirs = eqx.nn.Sequential(layers)
    net, x = staged(theirs), np.random.default_rng(0).normal(size=(4, 2, 3)).astype(np.float32)
    assert net.names == ("hidden0", "output")
    assert staged(net) is net
    np.testing.assert_allclose(run(net, x)[0], jax.jit(jax.vmap(theirs))(x), rtol=1e-5)
    matrices = weight_matrices(net)
    for matrix, layer in zip(matrices, (layers[1], layers[4]), strict=True):
        np.testing.assert_allclose(matrix, layer.weight.T)


@pytest.mark.parametrize("scalar", [True, False])
def test_staged_perceptrons(scalar: bool) -> None:
    theirs = eqx.nn.MLP(3, "scalar" if scalar else 2, 5, 2, final_activation=jnp.tanh, key=KEY)
    x = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    np.testing.assert_allclose(run(staged(theirs), x)[0], jax.jit(jax.vmap(theirs))(x), rtol=1e-5)
    assert [matrix.shape for matrix in weight_matrices(staged(theirs))] == [
        (3, 5),
        (5, 5),
        (5, 1 if scalar else 2),
    ]


def test_squared_weights_carry_variances() -> None:
    """The variance of a sum of independent inputs, by drawing them."""
    rng = np.random.default_rng(0)
    spread = rng.uniform(0.5, 2, size=(5, 5, 2))
    draws = (spread * rng.normal(size=(4000, 5, 5, 2))).astype(np.float32)
    ours = Conv2d(2, 3, 3, padding=1, stride=2, key=KEY)
    theirs = (
        staged(eqx.nn.Sequential([eqx.nn.Conv2d(2, 3, 3, padding=1, stride=2, key=KEY)])).layers[0].layers[0]
    )
    for layer, axes in ((ours, (0, 1, 2, 3)), (theirs, (0, 3, 1, 2))):
        x, variance = draws.transpose(axes), (spread**2)[None].astype(np.float32).transpose(axes)
        expected = np.asarray(eqx.filter_jit(layer)(x)).var(axis=0)
        np.testing.assert_allclose(
            eqx.filter_jit(with_squared_weights(layer))(variance)[0], expected, rtol=0.12
        )


def test_nets_that_cannot_be_read() -> None:
    with pytest.raises(InputError, match="net: got 'GRUCell', expected a net with stages"):
        staged(eqx.nn.GRUCell(2, 2, key=KEY))
    with pytest.raises(
        InputError, match="net: got 'PReLU', expected Linear and Conv2d layers, and functions"
    ):
        staged(eqx.nn.Sequential([eqx.nn.PReLU()]))
