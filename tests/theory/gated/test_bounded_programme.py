"""The inner programme of margin machines: optimality where pivoting works, and where it goes in circles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.theory.gated.bounded_programme import _by_interior_point, solve_bounded


def programme(seed, n, features, noise):
    """Products of rows with labels, of low rank if there are more rows than features, and nearly singular."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, features))
    labels = np.sign(x @ rng.normal(size=features) + noise * rng.normal(size=n))
    F = x * labels[:, None]
    Q = F @ F.T
    Q[np.diag_indices(n)] += 1e-10 * np.trace(Q) / n
    return Q


def assert_optimal(Q, t, high, values, tolerance=1e-6):
    gradient = Q @ values - t
    assert (values >= 0).all()
    assert (values <= high).all()
    size = tolerance * np.abs(values).max()
    slack = tolerance * max(1.0, np.abs(t).max())
    assert (gradient[values <= high - size] >= -slack).all()
    assert (gradient[values >= size] <= slack).all()


@given(
    st.integers(0, 10_000),
    st.integers(2, 40),
    st.integers(1, 50),
    st.sampled_from([0.0, 1.0]),
    st.floats(1e-3, 10),
)
def test_solutions_meet_the_conditions_of_optimality(seed, n, features, noise, high):
    Q = programme(seed, n, features, noise)
    t = np.ones(n)
    found = solve_bounded(Q, t, high=high)
    assert found.converged
    assert_optimal(Q, t, high, found.values)


@pytest.mark.parametrize("high", [0.05, 1.0, np.inf])
def test_the_interior_point_method_agrees_with_pivoting(high):
    Q, t = programme(0, 40, 60, 0.0), np.linspace(0.5, 1.5, 40)
    exact = solve_bounded(Q, t, high=high)
    near = _by_interior_point(Q, t, high, 1e-10)
    assert near.converged
    np.testing.assert_allclose(near.values, exact.values, atol=1e-5 * exact.values.max())
    np.testing.assert_array_equal(near.free, exact.free)


def test_many_rows_with_few_features_and_wrong_labels_are_solved_exactly():
    Q, t = programme(3, 400, 5, 2.0), np.ones(400)
    found = solve_bounded(Q, t, high=0.1)
    assert found.converged
    assert (found.values == 0.1).sum() > 100
    assert_optimal(Q, t, 0.1, found.values)


def test_nothing_to_reach_and_nothing_to_reach_it_with():
    nothing = _by_interior_point(np.eye(3), np.zeros(3), np.inf, 1e-10)
    assert nothing.converged
    assert not nothing.values.any()
    assert not _by_interior_point(np.zeros((3, 3)), np.ones(3), np.inf, 1e-10).converged
