"""Interpolants of minimum penalty, against gradient descent, general convex solvers and closed forms."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine import InputError
from recombine.tasks import sphere_inputs
from recombine.theory import (
    DiagonalWeights,
    group_norm,
    min_diagonal_penalty,
    min_group_norm,
    min_l1,
    min_l2,
)


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    x = sphere_inputs(10, 30, rng)
    aux, main = np.zeros(30), np.zeros(30)
    aux[:8] = rng.choice([-1, 1], size=8) / np.sqrt(8)
    main[:3] = np.sign(aux[:3]) / 3
    main[20] = 0.2
    return x, x @ main, aux


def descended(weights, x, y, *, goal=1e-11):
    """Full-batch gradient descent in float64 until the loss is below `goal`."""
    w, v, p, q = (a.copy() for a in (weights.w_plus, weights.v_plus, weights.w_minus, weights.v_minus))
    for _ in range(400_000):
        error = x @ (w * v - p * q) - y
        if (error**2).mean() < goal:
            break
        slope = 0.02 * x.T @ error / len(y)
        w, v, p, q = w - slope * v, v - slope * w, p + slope * q, q + slope * p
    return w * v - p * q


@pytest.mark.parametrize("readout", [1e-3, 0.1, 0.5])
@pytest.mark.parametrize("initial", [1e-3, 0.1])
def test_gradient_descent_ends_at_the_programme(problem, readout, initial):
    x, y, aux = problem
    start = DiagonalWeights.constant(30, w=initial, v=initial).trained_to(aux).with_readout(readout)
    solution = min_diagonal_penalty(x, y, start.penalty())
    assert solution.residual < 1e-10
    trained = descended(start, x, y)
    assert np.abs(trained - solution.coefficients).max() < 5e-3 * np.abs(trained).max()


def test_the_programme_equals_a_general_solver(problem):
    """The penalty as a sum of entropies: A e^u / 4 and B e^-u / 4 are the two parts of a coefficient."""
    x, y, aux = problem
    start = DiagonalWeights.constant(30, w=0.2, v=0.1).trained_to(aux).with_readout(0.3)
    penalty = start.penalty()
    up, down = cp.Variable(30), cp.Variable(30)
    entropy = cp.sum(cp.kl_div(up, penalty.A / 4) + cp.kl_div(down, penalty.B / 4))
    # kl_div(p, a) = p ln(p / a) - p + a; at the optimum up · down = c² / 16
    cp.Problem(cp.Minimize(entropy), [x @ (up - down) == y]).solve(
        solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11
    )
    found = min_diagonal_penalty(x, y, penalty).coefficients
    np.testing.assert_allclose(found, up.value - down.value, atol=1e-5)


def test_limits_are_l1_and_l2(problem):
    x, y, _ = problem
    small = min_diagonal_penalty(x, y, DiagonalWeights.constant(30, w=1e-12, v=1e-12).penalty())
    sparse = min_l1(x, y)
    assert np.abs(small.coefficients).sum() == pytest.approx(sparse.objective, rel=0.02)
    large = min_diagonal_penalty(x, y, DiagonalWeights.constant(30, w=1e3, v=1e3).penalty())
    np.testing.assert_allclose(large.coefficients, min_l2(x, y).coefficients, atol=1e-8)


def test_l1_and_the_group_norm_equal_a_general_solver(problem):
    x, y, aux = problem
    beta = cp.Variable(30)
    smallest = cp.Problem(cp.Minimize(cp.norm1(beta)), [x @ beta == y]).solve(solver="CLARABEL")
    assert min_l1(x, y).objective == pytest.approx(smallest, rel=1e-6)
    other = sphere_inputs(12, 30, np.random.default_rng(4))
    both = cp.Variable((2, 30))
    constraints = [x @ both[0] == y, other @ both[1] == other @ aux]
    smallest = cp.Problem(cp.Minimize(cp.sum(cp.norm(both, 2, axis=0))), constraints).solve(solver="CLARABEL")
    found = min_group_norm([x, other], [y, other @ aux])
    assert found.objective == pytest.approx(smallest, rel=1e-6)
    assert group_norm(found.coefficients) == pytest.approx(found.objective)
    assert found.residual < 1e-8
    known = min_group_norm([x], [y], known=aux[None])
    fixed = cp.Problem(
        cp.Minimize(cp.sum(cp.norm(cp.vstack([beta, aux]), 2, axis=0))), [x @ beta == y]
    ).solve(solver="CLARABEL")
    assert known.objective == pytest.approx(fixed, rel=1e-6)


def test_a_linear_probe_uses_strong_features(problem):
    x, y, aux = problem
    weights = np.abs(aux) + 1e-6
    found = min_l2(x, y, weights=weights)
    root = np.sqrt(weights)
    np.testing.assert_allclose(found.coefficients, root * (np.linalg.pinv(x * root) @ y), atol=1e-8)
    start = np.full(30, 0.1)
    moved = min_l2(x, y, weights=weights, start=start)
    np.testing.assert_allclose(x @ moved.coefficients, y, atol=1e-8)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1e-6, 1e-3, 0.1, 1.0, 30.0]))
def test_solutions_are_optimal(seed, scale):
    """The gradient of the penalty lies in the span of the rows, and the constraints hold."""
    rng = np.random.default_rng(seed)
    features = int(rng.integers(2, 40))
    rows = int(rng.integers(1, features + 1))
    x = rng.normal(size=(rows, features))
    y = x @ (rng.normal(size=features) * 10.0 ** rng.uniform(-3, 3))
    weights = DiagonalWeights(*(scale * rng.normal(size=(4, features))))
    penalty = weights.penalty()
    found = min_diagonal_penalty(x, y, penalty)
    assert found.residual < 1e-8
    slope = penalty.position(found.coefficients)
    left = slope - x.T @ np.linalg.lstsq(x.T, slope, rcond=None)[0]
    assert np.abs(left).max() < 1e-6 * max(1.0, np.abs(slope).max())


def test_more_rows_than_features_and_repeated_rows(problem):
    x, y, _ = problem
    penalty = DiagonalWeights.constant(30, w=0.1, v=0.1).penalty()
    once = min_diagonal_penalty(x, y, penalty).coefficients
    twice = min_diagonal_penalty(np.vstack([x, x]), np.concatenate([y, y]), penalty).coefficients
    np.testing.assert_allclose(once, twice, atol=1e-10)
    many = sphere_inputs(50, 30, np.random.default_rng(0))
    beta = np.linspace(-1, 1, 30)
    found = min_diagonal_penalty(many, many @ beta, penalty).coefficients
    np.testing.assert_allclose(found, beta, atol=1e-9)


def test_zero_targets(problem):
    x, y, _ = problem
    zero = np.zeros(len(y))
    penalty = DiagonalWeights.constant(30, w=0.1, v=0.1).penalty()
    for solution in (min_diagonal_penalty(x, zero, penalty), min_l1(x, zero), min_l2(x, zero)):
        np.testing.assert_allclose(solution.coefficients, 0, atol=1e-12)


@pytest.mark.parametrize(
    "solve",
    [
        lambda x, y: min_diagonal_penalty(x, y, DiagonalWeights.constant(2, w=1, v=1).penalty()),
        min_l1,
        min_l2,
        lambda x, y: min_group_norm([x], [y]),
    ],
)
def test_targets_that_contradict_each_other_are_refused(solve):
    x = np.array([[1.0, 0.0], [1.0, 0.0]])
    with pytest.raises(InputError, match="targets: got '2 values', expected targets that a linear function"):
        solve(x, np.array([0.0, 1.0]))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: min_l1(np.ones((2, 3)), np.ones(3)), "one per row of the inputs, 2"),
        (lambda: min_l1(np.full((2, 3), np.nan), np.ones(2)), "inputs: got 'NaN or infinity'"),
        (lambda: min_l1("abc", np.ones(2)), "inputs: got 'abc', expected numbers"),
        (lambda: min_l2(np.ones((1, 3)), np.ones(1), weights=[-1.0, 1, 1]), "weights: got -1.0"),
        (lambda: min_l2(np.ones((1, 3)), np.ones(1), weights=[1.0]), "weights: got 1, expected one entry"),
        (lambda: min_group_norm([], []), "one of each per task"),
        (
            lambda: min_group_norm([np.ones((1, 2)), np.ones((1, 3))], [np.ones(1)] * 2),
            "as many features in every task",
        ),
        (
            lambda: min_diagonal_penalty(
                np.ones((1, 3)), np.ones(1), DiagonalWeights.constant(2, w=1, v=1).penalty()
            ),
            "penalty: got 2, expected one entry per feature",
        ),
    ],
)
def test_wrong_input_gets_one_line(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_a_sign_that_the_weights_cannot_reach_is_infeasible():
    """Without a minus pathway coefficients stay positive."""
    one_sided = DiagonalWeights(np.ones(3), np.ones(3), np.zeros(3), np.zeros(3)).penalty()
    with pytest.raises(InputError, match="targets"):
        min_diagonal_penalty(np.eye(3)[:1], np.array([-1.0]), one_sided)


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1e6, 1e12])
def test_units_of_inputs_and_targets_do_not_matter(problem, unit):
    x, y, _ = problem
    for solve in (min_l1, min_l2, lambda x, y: min_group_norm([x], [y])):
        once = solve(x, y).coefficients
        np.testing.assert_allclose(solve(unit * x, y).coefficients * unit, once, atol=1e-8)
        np.testing.assert_allclose(solve(x, unit * y).coefficients / unit, once, atol=1e-8)


@pytest.mark.parametrize("unit", [1e-12, 1e-9, 1e-6])
def test_small_targets_are_in_the_lazy_limit(problem, unit):
    x, y, _ = problem
    penalty = DiagonalWeights.constant(30, w=1.0, v=1.0).penalty()
    found = min_diagonal_penalty(x, unit * y, penalty)
    np.testing.assert_allclose(found.coefficients / unit, min_l2(x, y).coefficients, atol=1e-5)
    assert found.residual < 1e-9


def test_targets_of_zero_take_back_what_was_learned(problem):
    x, y, aux = problem
    zero = np.zeros(len(y))
    start = DiagonalWeights.constant(30, w=1e-3, v=1e-3).trained_to(aux)
    for found in (min_diagonal_penalty(x, zero, start.penalty()), min_l2(x, zero, start=aux)):
        assert found.residual < 1e-9
        assert np.abs(x @ found.coefficients).max() < 1e-9 * np.abs(x @ aux).max()


def test_inputs_of_zero_change_nothing():
    zero = np.zeros((3, 4))
    start = DiagonalWeights.constant(4, w=0.1, v=0.1).trained_to(np.arange(4.0))
    np.testing.assert_allclose(
        min_diagonal_penalty(zero, np.zeros(3), start.penalty()).coefficients, np.arange(4.0), atol=1e-12
    )
    for solve in (min_l1, min_l2, lambda x, y: min_group_norm([x], [y])):
        np.testing.assert_allclose(solve(zero, np.zeros(3)).coefficients, 0, atol=1e-9)


@pytest.mark.parametrize("unit", [1e-12, 1e-9, 1.0])
def test_a_task_of_zeros_does_not_set_the_scale_of_another(problem, unit):
    x, y, _ = problem
    found = min_group_norm([x, x], [unit * y, 0 * y]).coefficients
    np.testing.assert_allclose(found[0] / unit, min_l1(x, y).coefficients, atol=1e-5)
    np.testing.assert_allclose(found[1] / unit, 0, atol=1e-5)
