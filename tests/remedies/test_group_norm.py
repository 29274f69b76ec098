"""The group norm and its proximal rule, by their definitions."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize

from recombine.remedies import group_norm_of, shrink_groups
from recombine.theory import group_norm


def test_the_norm_is_that_of_the_theory():
    weights = np.random.default_rng(0).normal(size=(3, 7))
    np.testing.assert_allclose(group_norm_of(weights), group_norm(weights))


def test_shrinking_minimises_norm_plus_distance():
    weights = np.random.default_rng(1).normal(size=(2, 5))

    def objective(flat, threshold):
        moved = flat.reshape(2, 5)
        return threshold * group_norm_of(moved) + 0.5 * ((moved - weights) ** 2).sum()

    for threshold in (0.1, 0.8):
        shrunk = np.asarray(shrink_groups(weights, threshold))
        best = minimize(objective, weights.ravel(), args=(threshold,), method="Powell", tol=1e-10)
        assert objective(shrunk.ravel(), threshold) <= best.fun + 1e-6


def test_large_thresholds_leave_nothing_and_zero_leaves_all():
    weights = np.random.default_rng(2).normal(size=(2, 5))
    assert (np.asarray(shrink_groups(weights, 100.0)) == 0).all()
    np.testing.assert_allclose(shrink_groups(weights, 0.0), weights, rtol=1e-6)
    assert (np.asarray(shrink_groups(np.zeros((2, 3)), 0.5)) == 0).all()


def test_numpy_jax_and_pytorch_agree():
    torch = pytest.importorskip("torch")
    weights = np.random.default_rng(3).normal(size=(2, 5)).astype(np.float32)
    expected = shrink_groups(weights, 0.7)
    np.testing.assert_allclose(shrink_groups(jnp.asarray(weights), 0.7), expected, rtol=1e-5)
    np.testing.assert_allclose(shrink_groups(torch.tensor(weights), 0.7).numpy(), expected, rtol=1e-5)
