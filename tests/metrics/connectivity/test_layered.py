from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from recombine.errors import InputError
from recombine.metrics.connectivity import all_live, assign_known, layer_weights, live_units

RNG = np.random.default_rng(0)


def test_kernels_become_one_number_per_pair_of_channels_in_both_layouts() -> None:
    kernel = RNG.normal(size=(3, 3, 2, 4))
    (ours,) = layer_weights([kernel])
    (theirs,) = layer_weights([kernel.transpose(3, 2, 0, 1)], orientation="outputs-first")
    np.testing.assert_allclose(ours, theirs)
    for i in range(2):
        for j in range(4):
            assert ours[i, j] == pytest.approx(np.sqrt((kernel[:, :, i, j] ** 2).sum()))


def test_a_dense_layer_behind_a_flattened_convolution() -> None:
    """Ours puts channels last and PyTorch channels first, so the same map has its rows in another order."""
    kernel, dense = RNG.normal(size=(3, 3, 2, 4)), RNG.normal(size=(5 * 6 * 4, 3))
    first_channels = dense.reshape(5 * 6, 4, 3).transpose(1, 0, 2).reshape(-1, 3)
    ours = layer_weights([kernel, dense])
    theirs = layer_weights([kernel.transpose(3, 2, 0, 1), first_channels.T], orientation="outputs-first")
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other)
    assert ours[1][1, 2] == pytest.approx(np.sqrt((dense.reshape(30, 4, 3)[:, 1, 2] ** 2).sum()))


def test_a_dense_layer_behind_pooled_channels_is_left_alone() -> None:
    dense = RNG.normal(size=(4, 3))
    np.testing.assert_array_equal(layer_weights([np.ones((3, 3, 2, 4)), dense])[1], dense)


def test_weights_of_a_torch_module() -> None:
    module = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3), torch.nn.Flatten(), torch.nn.Linear(4 * 36, 2))
    weights = layer_weights(
        [p.detach() for n, p in module.named_parameters() if "weight" in n], orientation="outputs-first"
    )
    assert [matrix.shape for matrix in weights] == [(1, 4), (4, 2)]


@pytest.mark.parametrize(
    ("weights", "orientation", "message"),
    [
        (
            [np.ones((2, 3)), np.ones((4, 2))],
            "inputs-first",
            r"weights\[1\]: got 'shape \(4, 2\) behind \(2, 3\)', expected 3 rows",
        ),
        (
            [np.ones((8, 3)), np.ones((2, 8))],
            "inputs-first",
            r"transposed they fit together: orientation='outputs-first'",
        ),
        (
            [np.ones((3, 8)), np.ones((8, 2))],
            "outputs-first",
            r"transposed they fit together: orientation='inputs-first'",
        ),
        (
            [np.ones((3, 3, 1, 4)), np.ones((3, 3, 8, 2))],
            "inputs-first",
            r"weights\[1\]: got 'shape \(8, 2\) behind",
        ),
        (
            [np.ones((3, 3, 1, 4)), np.ones((30, 2))],
            "inputs-first",
            r"weights\[1\]: got 'shape \(30, 2\) behind",
        ),
        (
            [np.array([[1.0, np.nan], [np.inf, 1.0]])],
            "inputs-first",
            r"weights\[0\]: got '2 values that are not finite'",
        ),
        ([np.ones(3)], "inputs-first", r"weights\[0\]: got 'float64 of shape \(3,\)', expected a matrix"),
        ([np.ones((0, 3))], "inputs-first", r"weights\[0\]: got 'float64 of shape \(0, 3\)'"),
        ([np.array([["a"]])], "inputs-first", r"weights\[0\]: got 'str.* of shape \(1, 1\)'"),
        (np.ones((3, 2)), "inputs-first", r"weights: got 'one matrix \(3, 2\)', expected a list of matrices"),
        ([], "inputs-first", r"weights: got 'no matrix', expected at least one"),
        (
            [np.ones((3, 2))],
            "columns",
            r"orientation: got 'columns', expected 'inputs-first' or 'outputs-first'",
        ),
    ],
)
def test_bad_weights(weights: Any, orientation: Any, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        layer_weights(weights, orientation=orientation)
    assert "\n" not in str(caught.value)


def test_live_units_against_a_loop() -> None:
    weights = layer_weights([RNG.normal(size=(3, 6)), RNG.normal(size=(6, 5)), RNG.normal(size=(5, 2))])
    activity = [RNG.normal(size=(20, 6)) * 10.0 ** RNG.integers(-3, 1, 6), RNG.normal(size=(4, 5, 5))]
    activity[1][..., 2] = 7.0  # constant: silent, whatever its weights
    for activations in (None, activity):
        live = live_units(weights, activations, threshold=0.1)
        assert live[0].all()
        assert live[-1].all()
        for layer in (0, 1):
            strength = []
            for unit in range(weights[layer].shape[1]):
                moved = (
                    np.linalg.norm(weights[layer][:, unit])
                    if activations is None
                    else activations[layer][..., unit].std()
                )
                strength.append(moved * np.linalg.norm(weights[layer + 1][unit]))
            np.testing.assert_array_equal(live[layer + 1], np.array(strength) >= 0.1 * max(strength))
    assert not live[2][2]


CHAIN = layer_weights([np.ones((2, 3)), np.ones((3, 2))])


@pytest.mark.parametrize(
    ("weights", "activations", "threshold", "message"),
    [
        (CHAIN, [], 0.01, "activations: got '0 arrays', expected one for each of 1 hidden layers"),
        (CHAIN, [np.ones((5, 4))], 0.01, r"activations\[0\]: got 'shape \(5, 4\)', expected \(rows, 3\)"),
        (CHAIN, [np.ones(3)], 0.01, r"activations\[0\]: got 'shape \(3,\)'"),
        (CHAIN, [np.full((5, 3), np.nan)], 0.01, r"activations\[0\]: got 'values that are not finite'"),
        (CHAIN, [np.ones((5, 3))], 0.01, r"weights\[1\]: got 'all 3 units of hidden layer 1 dead'"),
        ((CHAIN[0], 0 * CHAIN[1]), None, 0.01, r"weights\[1\]: got 'all 3 units of hidden layer 1 dead'"),
        (CHAIN, None, 1.0, "threshold: got 1.0, expected a share from 0 to below 1"),
    ],
)
def test_bad_activations(weights: Any, activations: Any, threshold: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        live_units(weights, activations, threshold=threshold)


def test_a_mask_must_fit() -> None:
    assert [mask.tolist() for mask in all_live(CHAIN)] == [[True] * 2, [True] * 3, [True] * 2]
    with pytest.raises(
        InputError, match=r"live: got \[2, 2, 2\], expected a mask for layers of \[2, 3, 2\] units"
    ):
        assign_known(CHAIN, live=(np.ones(2, bool),) * 3)
