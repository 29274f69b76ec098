"""Nets that are modular by construction, and bottlenecks: as dense nets with zeros in them."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import numpy as np
import pytest

from recombine.errors import InputError
from recombine.nets import (
    BlockLinear,
    leaky_relu,
    matched_width,
    mlp,
    modules_then_dense,
    parallel_mlp,
    parameter_count,
    trace,
    weight_matrices,
    with_matrices,
)
from recombine.parts import Part

pytestmark = pytest.mark.usefixtures("compile_quickly")
KEY = jax.random.key(0, impl="rbg")  # compiles faster
run = eqx.filter_jit(trace)


def rows(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("bias", [True, False])
def test_a_block_layer_is_a_dense_layer_with_zeros(bias: bool) -> None:
    layer = BlockLinear(3, 2, 4, bias=bias, key=KEY)
    x, matrix = rows(5, 7, 6), np.asarray(layer.matrix)
    expected = x @ matrix + (np.asarray(layer.bias) if bias else 0)
    np.testing.assert_allclose(eqx.filter_jit(layer)(x), expected, rtol=1e-5, atol=1e-6)
    inside = np.arange(3).repeat(2)[:, None] == np.arange(3).repeat(4)
    assert (matrix[~inside] == 0).all()
    assert (matrix[inside] != 0).all()
    assert np.abs(matrix).max() <= 2**-0.5  # by the fan-in of one block


def test_parallel_perceptrons_are_a_dense_one_with_block_weights() -> None:
    modular = parallel_mlp(modules=3, width=4, depth=2, inputs=2, outputs=2, key=KEY)
    dense = mlp(inputs=6, width=12, depth=2, outputs=6, activation=leaky_relu, key=KEY)
    dense = with_matrices(dense, weight_matrices(modular))
    biases = [modular.layers[0].layers[0].bias, modular.layers[1].layers[0].bias, modular.layers[2].bias]
    dense = eqx.tree_at(lambda net: [stage.layers[0].bias for stage in net.layers], dense, biases)
    x = rows(5, 6)
    for name, value in run(modular, x)[1].items():
        np.testing.assert_allclose(run(dense, x)[1][name], value, rtol=1e-4, atol=1e-6)


def test_a_module_sees_only_its_own_inputs() -> None:
    net, x = parallel_mlp(modules=3, width=4, depth=1, inputs=2, outputs=1, key=KEY), rows(5, 6)
    before, after = run(net, x)[0], run(net, x + np.array([0, 0, 1, 1, 0, 0], np.float32))[0]
    assert ((before != after) == np.array([False, True, False])).all()


def test_modules_then_dense_mixes_only_behind_the_scalars() -> None:
    net = modules_then_dense(modules=3, module_width=4, module_depth=2, width=5, depth=1, outputs=2, key=KEY)
    assert net.names == ("module0", "module1", "scalars", "hidden0", "output")
    _, stages = run(net, x := rows(5, 3))
    _, moved = run(net, x + np.array([1, 0, 0], np.float32))
    assert {name: stage.shape[1] for name, stage in stages.items()} == {
        "module0": 12, "module1": 12, "scalars": 3, "hidden0": 5, "output": 2,
    }  # fmt: skip
    assert ((stages["scalars"] != moved["scalars"]) == np.array([True, False, False])).all()
    assert (stages["output"] != moved["output"]).all()


def test_without_hidden_layers() -> None:
    assert parallel_mlp(modules=2, width=9, depth=0, key=KEY).names == ("output",)
    net = modules_then_dense(modules=2, module_width=9, module_depth=0, width=9, depth=0, outputs=3, key=KEY)
    assert net.names == ("scalars", "output")
    assert run(net, rows(4, 2))[0].shape == (4, 3)


@pytest.mark.parametrize(
    ("net", "parameters"),
    [
        (
            Part(
                modules_then_dense, modules=2, module_width=64, module_depth=1, width=128, depth=1, outputs=1
            ),
            899,
        ),
        (Part(mlp, inputs=2, width=128, depth=3, outputs=1), 33537),
        (Part(mlp, inputs=2, width=(128, 2, 128), outputs=1), 1155),
        (Part(mlp, inputs=4, width=32, depth=3, outputs=4), 2404),
        (Part(mlp, inputs=4, width=32, depth=3, outputs=4, bias=False), 2304),
    ],
)
def test_published_sizes(net: Part, parameters: int) -> None:
    """Modular, full and bottleneck nets of the fact sheet, then the sine task's net and its linear variant."""
    assert parameter_count(eqx.filter_eval_shape(lambda: net(key=KEY))) == parameters


def test_widths_of_a_bottleneck() -> None:
    net = mlp(inputs=2, width=(8, 2, 8), outputs=1, bias=False, key=KEY)
    assert [matrix.shape for matrix in weight_matrices(net)] == [(2, 8), (8, 2), (2, 8), (8, 1)]
    assert all(stage.layers[0].bias is None for stage in net.layers)
    same = [mlp(inputs=2, outputs=1, key=KEY, **how) for how in ({"width": 8, "depth": 2}, {"width": (8, 8)})]
    for one, other in zip(*map(weight_matrices, same), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("parameters", [1, 13, 899, 1155, 33537])
def test_matched_width_is_the_nearest(parameters: int) -> None:
    make = Part(mlp, inputs=2, depth=3, outputs=1)
    width = matched_width(make, parameters)

    def off(width: int) -> int:
        return abs(2 * width * width + 6 * width + 1 - parameters)  # 2-w-w-w-1 with biases

    assert off(width) <= min(off(width + 1), off(width - 1) if width > 1 else off(width))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: parallel_mlp(modules=0, width=2, depth=1, key=KEY),
            "modules: got 0, expected a positive number",
        ),
        (
            lambda: parallel_mlp(modules=2, width=2, depth=-1, key=KEY),
            "depth: got -1, expected a number of hidden",
        ),
        (
            lambda: mlp(inputs=2, width=3, outputs=1, key=KEY),
            "depth: got None, expected a number of hidden layers",
        ),
        (
            lambda: mlp(inputs=2, width=(3,), depth=1, outputs=1, key=KEY),
            "depth: got 1, expected None, since width lists",
        ),
        (
            lambda: matched_width(Part(mlp, inputs=2, depth=1, outputs=1), 0),
            "parameters: got 0, expected a positive",
        ),
        (
            lambda: matched_width(Part(mlp, inputs=2, depth=0, outputs=1), 99),
            "make: got '3 parameters at any width', expected a net that grows with its width",
        ),
    ],
)
def test_bad_settings(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
