from __future__ import annotations

from itertools import pairwise
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

from recombine.nets import Chain, Conv2d, Linear, Net, Reshape, mlp, parallel_mlp, weight_matrices
from recombine.remedies import l1, l1_of, l2, l2_of, l12, l12_of, l21, l21_of

pytestmark = pytest.mark.usefixtures("compile_quickly")
KEY = jax.random.key(0, impl="rbg")  # compiles faster
SHAPES = ((3, 5), (5, 4), (4, 2))


def by_a_loop(weights: list[np.ndarray]) -> dict[str, float]:
    results = {"l1": 0.0, "l2": 0.0, "l12": 0.0, "l21": 0.0}
    for matrix in weights:
        for w in matrix.ravel():
            results["l1"] += abs(w)
            results["l2"] += w * w
    for before, after in pairwise(weights):
        for i in range(before.shape[1]):
            results["l12"] += sum(abs(before[:, i])) * sum(after[i] ** 2)
            results["l21"] += sum(before[:, i] ** 2) * sum(abs(after[i]))
    return results


def test_the_sums_in_three_frameworks() -> None:
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=shape) for shape in SHAPES]
    expected = by_a_loop(weights)
    for name, of in {"l1": l1_of, "l2": l2_of, "l12": l12_of, "l21": l21_of}.items():
        assert of(weights) == pytest.approx(expected[name])
        tensors = [torch.tensor(matrix, requires_grad=True) for matrix in weights]
        value = of(tensors)
        value.backward()
        assert value.item() == pytest.approx(expected[name])
        slopes = jax.jit(jax.grad(of))([jnp.asarray(matrix, jnp.float32) for matrix in weights])
        for tensor, slope in zip(tensors, slopes, strict=True):
            np.testing.assert_allclose(tensor.grad, slope, rtol=1e-4, atol=1e-5)


@eqx.filter_jit
def penalised(net: Any, penalty: Any) -> tuple[jax.Array, Any]:
    return eqx.filter_value_and_grad(lambda net: penalty(net, {}, None))(net)


def test_the_penalties_of_a_net_leave_biases_alone() -> None:
    net = mlp(inputs=3, width=(5, 4), outputs=2, key=KEY)
    expected = by_a_loop([np.asarray(matrix) for matrix in weight_matrices(net)])
    for name, penalty in {"l1": l1, "l2": l2, "l12": l12, "l21": l21}.items():
        value, slopes = penalised(net, penalty)
        assert float(value) == pytest.approx(expected[name], rel=1e-5)
        for stage in slopes.layers:
            assert (stage.layers[0].bias == 0).all()
            assert (stage.layers[0].weight != 0).all()


def test_a_convolution_counts_by_channel_behind_which_a_dense_layer_is_summed_over_pixels() -> None:
    kernel = Conv2d(2, 4, 3, padding=1, key=KEY)
    dense = Linear(25 * 4, 3, key=KEY)
    net = Net(("pixels", "output"), (Chain(kernel, jax.nn.relu), Chain(Reshape((100,)), dense)))
    before = np.sqrt((np.asarray(kernel.weight) ** 2).sum(axis=(0, 1)))
    after = np.sqrt((np.asarray(dense.weight).reshape(25, 4, 3) ** 2).sum(axis=0))
    np.testing.assert_allclose(weight_matrices(net)[1], after, rtol=1e-5)
    expected = by_a_loop([before, after])
    assert float(penalised(net, l12)[0]) == pytest.approx(expected["l12"], rel=1e-5)
    assert float(penalised(net, l21)[0]) == pytest.approx(expected["l21"], rel=1e-5)


def test_blocks_count_as_matrices() -> None:
    net = parallel_mlp(modules=3, width=4, depth=2, key=KEY)
    expected = by_a_loop([np.asarray(matrix) for matrix in weight_matrices(net)])
    for name, penalty in {"l1": l1, "l2": l2, "l12": l12, "l21": l21}.items():
        assert float(penalised(net, penalty)[0]) == pytest.approx(expected[name], rel=1e-5)
