from __future__ import annotations

import numpy as np
import pytest

from recombine.studies.interaction_asymmetry.functions import (
    FUNCTIONS,
    g1,
    g2,
    g3,
    grid,
    gs,
    reparametrised,
    rotated,
)


def test_values_by_hand():
    a, b = 0.3, -0.7
    z = np.array([a, b])
    np.testing.assert_allclose(g2(z, np) - g1(z, np), a * b * np.array([0, 1, 0, 2, 0, -1, 0, 0]))
    np.testing.assert_allclose(g3(z, np) - g2(z, np), [a * a * b, 0, 0, 0, 0, a * b * b, 0, 0], atol=1e-15)
    m = 1 / (1 + np.exp(-4 * (a - b)))
    np.testing.assert_allclose(
        gs(z, np)[:4],
        [m * a + (1 - m) * b, m * np.sin(a) + (1 - m) * b**2, m * np.exp(a / 2) + (1 - m) * np.cos(b), m],
    )


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_one_formula_in_both_namespaces(name):
    import jax

    z = np.array([0.4, -0.2])
    with jax.enable_x64(True):
        in_jax = np.asarray(FUNCTIONS[name](jax.numpy.asarray(z)))
    np.testing.assert_allclose(in_jax, FUNCTIONS[name](z, np), rtol=1e-12)
    assert in_jax.shape == (8,)


def test_the_same_function_of_other_latents():
    z = np.array([0.4, -0.2])
    np.testing.assert_allclose(rotated(g1, 90)(z, np), g1(np.array([0.2, 0.4]), np))
    np.testing.assert_allclose(reparametrised(g1)(z, np), g1(np.array([0.4 + 0.3 * 0.4**3, -0.2]), np))


def test_the_grid():
    points = grid(3)
    assert points.shape == (9, 2)
    assert points[1].tolist() == [-1, 0]
