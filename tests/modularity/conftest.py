"""Nets whose modules are known, because they were built from them."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.linalg import block_diag


def _sized(rng, shape):
    """Weights of either sign and of about the same size, so that no unit is weak."""
    return rng.uniform(0.5, 1.5, size=shape) * rng.choice([-1, 1], size=shape)


@pytest.fixture(scope="session")
def blocks():
    """Weights of K equal modules, with hidden units in random order and weights between modules of a given size."""

    def build(modules=4, units=5, depth=2, between=0.0, seed=0):
        rng = np.random.default_rng(seed)
        shapes = [(1, units), *[(units, units)] * (depth - 1), (units, 1)]
        weights = [block_diag(*_sized(rng, (modules, *shape))) for shape in shapes]
        weights = [matrix + between * rng.normal(size=matrix.shape) for matrix in weights]
        for layer in range(depth):
            order = rng.permutation(modules * units)
            weights[layer] = weights[layer][:, order]
            weights[layer + 1] = weights[layer + 1][order]
        return weights

    return build


@pytest.fixture(scope="session")
def dense():
    """Random weights without any modules."""

    def build(sizes=(4, 20, 20, 4), seed=0):
        rng = np.random.default_rng(seed)
        return [rng.normal(size=pair) / pair[0] ** 0.5 for pair in pairwise(sizes)]

    return build
