from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.metrics.connectivity import Perceptron, jacobian_ratio, numerical_jacobian, unit_purity


@given(st.integers(0, 1000))
def test_numerical_against_exact_jacobian(seed: int) -> None:
    """y = W₂ᵀ tanh(W₁ᵀ x): ∂y/∂x = W₂ᵀ diag(1 - tanh²) W₁ᵀ."""
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(3, 5)), rng.normal(size=(5, 2))
    net = Perceptron((first, second), (rng.normal(size=5), rng.normal(size=2)), np.tanh)
    x = rng.normal(size=(4, 3))
    exact = np.einsum("ih,rh,ho->roi", first, 1 - net.activities(x)[0] ** 2, second)
    np.testing.assert_allclose(numerical_jacobian(net, x, step=1e-4), exact, atol=1e-6)
    np.testing.assert_allclose(numerical_jacobian(net, x), exact, atol=0.02)


def test_jacobian_ratio_by_a_loop() -> None:
    jacobian = np.random.default_rng(0).normal(size=(6, 3, 4))
    inputs, outputs = [0, 1, 1, 2], [1, 2, 0]
    within, between = [], []
    for o in range(3):
        for i in range(4):
            (within if outputs[o] == inputs[i] else between).extend(np.abs(jacobian[:, o, i]))
    assert jacobian_ratio(jacobian, inputs, outputs) == pytest.approx(np.mean(between) / np.mean(within))


def test_jacobian_ratio_of_a_dense_linear_map_is_one() -> None:
    assert jacobian_ratio(np.ones((2, 3, 3))) == 1
    assert jacobian_ratio(np.eye(3)[None]) == 0


@pytest.mark.parametrize(
    ("jacobian", "settings", "message"),
    [
        (np.ones((3, 3)), {}, r"jacobian: got 'shape \(3, 3\)', expected \(rows, outputs, inputs\)"),
        (
            np.ones((1, 2, 3)),
            {},
            r"jacobian: got '2 outputs and 3 inputs', expected as many of each \(square\)",
        ),
        (
            np.ones((1, 2, 2)),
            {"inputs": [0]},
            r"inputs: got \[0\], expected a module number, 0 or more, for each of 2",
        ),
        (np.ones((1, 2, 2)), {"outputs": [0, 1, 2]}, r"outputs: got \[0, 1, 2\]"),
        (np.ones((1, 2, 2)), {"inputs": [0, 0], "outputs": [0, 0]}, "modules: got '4 of 4 pairs within'"),
        (np.zeros((1, 2, 2)), {}, "jacobian: got 'no output that depends on its own input'"),
        (np.full((1, 2, 2), np.nan), {}, "jacobian: got 'values that are not finite'"),
    ],
)
def test_bad_jacobians(jacobian: np.ndarray, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        jacobian_ratio(jacobian, **settings)


def test_bad_points() -> None:
    with pytest.raises(InputError, match=r"points: got 'shape \(3,\)', expected \(rows, inputs\)"):
        numerical_jacobian(np.tanh, np.ones(3))


def test_units_that_nothing_reaches_have_no_purity() -> None:
    (result,) = unit_purity([np.array([[1.0, 0.0], [3.0, 0.0]])])
    np.testing.assert_array_equal(result["purity"], [0.75, np.nan])
    np.testing.assert_array_equal(result["participation"], [1 - 0.75**2 - 0.25**2, np.nan])
