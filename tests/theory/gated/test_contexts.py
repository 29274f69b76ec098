"""Kernels of l2 norms, joint contexts, the toy problem of four half-planes, and bounds by context."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.theory.gated import (
    GatedRows,
    InseparableError,
    context_bounds,
    context_coverage,
    context_kernel,
    effective_weights,
    enclosing_radius,
    kernel_margin,
    leave_one_conjunction_out,
    min_group_norm_machine,
    published_groups,
    published_l2_kernel,
)


@given(st.integers(1, 5), st.integers(2, 3), st.integers(0, 2**16))
@settings(max_examples=25, deadline=None)
def test_the_mean_square_of_effective_weights_has_a_closed_form(units, contexts, seed):
    """Over all joint contexts: `|M|² + (1/C) sum |zeta - m|²`."""
    zeta = np.random.default_rng(seed).normal(size=(units, contexts, 3))
    everything = [
        sum(zeta[h, c] for h, c in enumerate(joint)) for joint in product(range(contexts), repeat=units)
    ]
    brute = np.mean([w @ w for w in everything])
    means = zeta.mean(axis=1)
    total = means.sum(axis=0)
    closed = total @ total + ((zeta - means[:, None]) ** 2).sum() / contexts
    assert brute == pytest.approx(closed, rel=1e-10)


def primal_l2(rows, labels, weigh):
    """`min |A zeta|²` with margins, by Clarabel through CVXPY, and its outputs."""
    cvxpy = pytest.importorskip("cvxpy")
    H, C = rows.indicator.shape[1:]
    D = rows.inputs.shape[1]
    zeta = cvxpy.Variable((H * C, D))
    outputs = cvxpy.sum(cvxpy.multiply(rows.pieces @ zeta, rows.inputs), axis=1)
    cvxpy.Problem(
        cvxpy.Minimize(cvxpy.sum_squares(weigh(H, C) @ zeta)), [cvxpy.multiply(labels, outputs) >= 1]
    ).solve(solver="CLARABEL")
    return outputs.value


def _effective(H, C):
    mean = np.kron(np.ones((1, H)), np.full((1, C), 1 / C))
    deviation = np.eye(H * C) - np.kron(np.eye(H), np.full((C, C), 1 / C))
    return np.vstack([mean, deviation / np.sqrt(C)])


def _as_coded(H, C):
    total = np.full((H * C, H * C), 1 / (H * C))
    return total - np.kron(np.eye(H), np.ones((C, C))) + C * np.eye(H * C)


@pytest.mark.parametrize(
    ("kernel", "weigh"),
    [
        (lambda rows: context_kernel("units", rows), lambda H, C: np.eye(H * C)),
        (lambda rows: context_kernel("effective", rows), _effective),
        (published_l2_kernel, _as_coded),
    ],
)
def test_kernels_solve_the_primal_programmes(kernel, weigh):
    rng = np.random.default_rng(0)
    rows = GatedRows.of(rng.normal(size=(14, 4)), rng.integers(0, 2, size=(14, 3)), n_contexts=2)
    labels = np.sign(rng.normal(size=14))
    machine = kernel_margin(kernel(rows), labels)
    np.testing.assert_allclose(
        machine.predict(kernel(rows)), primal_l2(rows, labels, weigh), rtol=1e-4, atol=1e-4
    )


def test_the_joint_kernel_is_one_layer_with_a_gate_for_every_conjunction():
    rng = np.random.default_rng(1)
    contexts = rng.integers(0, 2, size=(12, 2))
    x, labels = rng.normal(size=(12, 5)), np.sign(rng.normal(size=12))
    rows = GatedRows.of(x, contexts, n_contexts=2)
    joint = GatedRows.of(x, contexts @ [[2], [1]], n_contexts=4)
    one = min_group_norm_machine(joint, labels, tolerance=1e-10)
    kernel = context_kernel("joint", rows)
    np.testing.assert_allclose(kernel_margin(kernel, labels).predict(kernel), one.predict(joint), atol=1e-6)


def test_directions_without_a_penalty_are_cheap_in_the_published_groups():
    rng = np.random.default_rng(2)
    rows = GatedRows.of(rng.normal(size=(10, 3)), rng.integers(0, 2, size=(10, 3)), n_contexts=2)
    own, mixed = published_l2_kernel(rows), published_l2_kernel(published_groups(rows))
    assert np.trace(own) < 1e3 < np.trace(mixed)


POINTS = np.array(
    [
        *[(0.2, 0.3), (0.4, 0.1), (0.8, 0.9), (0.6, 0.9)],
        *[(-0.3, 0.1), (-0.5, 0.25), (-0.8, 0.75), (-0.6, 0.8)],
        *[(0.3, -0.3), (0.3, -0.25), (0.9, -0.85), (0.8, -0.6)],
        *[(-0.2, -0.2), (-0.1, -0.35), (-0.6, -0.9), (-0.95, -0.65)],
    ]
)
LABELS = np.tile([-1.0, -1.0, 1.0, 1.0], 4)


def toy():
    """Inner points against outer points; one unit gates on the sign of x1, the other on that of x2."""
    x = np.concatenate([POINTS, np.ones((16, 1))], axis=1)
    return GatedRows.of(x, (POINTS > 0).astype(int))


def test_the_drawn_parts_of_the_toy_problem_form_a_diamond():
    parts = np.array([[[-1.0, 0, -0.5], [1, 0, -0.5]], [[0, -1.0, -0.5], [0, 1, -0.5]]])
    outputs = toy().predict(parts)
    np.testing.assert_allclose(outputs, np.abs(POINTS).sum(axis=1) - 1)
    assert (np.sign(outputs) == LABELS).all()


def test_an_unseen_quadrant_is_answered_by_the_sum_of_its_parts():
    rows = toy()
    out = (POINTS > 0).all(axis=1)
    seen, unseen = (GatedRows(rows.inputs[part], rows.indicator[part]) for part in (~out, out))
    machine = min_group_norm_machine(seen, LABELS[~out])
    assert set(context_coverage(seen, unseen).status) == {"determined"}
    parts = effective_weights(machine.weights, rows)
    quadrant = {(a, b): parts[((POINTS > 0) == (a, b)).all(axis=1)][0] for a in (0, 1) for b in (0, 1)}
    np.testing.assert_allclose(quadrant[1, 1], quadrant[1, 0] + quadrant[0, 1] - quadrant[0, 0], atol=1e-8)
    # One layer whose gate is the whole conjunction has learned nothing about the quadrant.
    joint = kernel_margin(context_kernel("joint", seen), LABELS[~out])
    np.testing.assert_array_equal(joint.predict(context_kernel("joint", unseen, seen)), 0)


def test_leaving_out_one_conjunction_after_another():
    rows = toy()
    left = leave_one_conjunction_out(rows, LABELS, lambda r, y: min_group_norm_machine(r, y).predict)
    assert set(left.status) == {"determined"}
    assert 0 < left.error(LABELS) < 0.5  # a sum of parts is an answer, not always the right one
    assert len(np.unique(left.conjunction)) == 4

    def impossible(rows, labels):
        raise InseparableError(np.ones(len(rows)) / len(rows), 0.0)

    assert np.isnan(leave_one_conjunction_out(rows, LABELS, impossible).error(LABELS))


def test_wrong_labels_are_not_mistaken_for_labels_that_cannot_be_fitted():
    def fit(rows, labels):
        return min_group_norm_machine(rows, labels).predict

    with pytest.raises(InputError, match="labels -1 and 1"):
        leave_one_conjunction_out(toy(), (LABELS > 0).astype(int), fit)
    with pytest.raises(InputError, match="one per row"):
        leave_one_conjunction_out(toy(), LABELS[:3], fit)


def test_coverage_tells_seen_determined_recombined_and_new_parts():
    train = GatedRows.of(np.ones((3, 1)), [[0, 0], [1, 1], [1, 1]], n_contexts=3)
    other = GatedRows.of(np.ones((4, 1)), [[0, 0], [0, 1], [2, 0], [1, 1]], n_contexts=3)
    found = context_coverage(train, other)
    assert found.status.tolist() == ["seen", "recombined", "new part", "seen"]
    assert (found.seen, found.possible, found.empty_parts) == (2, 9.0, ((0, 2), (1, 2)))
    assert found.share("seen") == 0.5
    with pytest.raises(InputError, match="others: got"):
        context_coverage(train, GatedRows.of(np.ones((1, 1)), [[0]]))


def test_the_bound_holds_for_the_leave_one_out_error():
    rng = np.random.default_rng(4)
    x = np.concatenate([rng.normal(size=(40, 3)), np.ones((40, 1))], axis=1)
    contexts, labels = rng.integers(0, 2, size=40), np.sign(x[:, 0] + 0.3)
    rows = GatedRows.of(x, contexts[:, None], n_contexts=2)
    machine = min_group_norm_machine(rows, labels, tolerance=1e-10)
    bounds = context_bounds(machine, rows)
    wrong = 0
    for i in range(40):
        rest = np.arange(40) != i
        alone = min_group_norm_machine(GatedRows(x[rest], rows.indicator[rest]), labels[rest])
        one = GatedRows(x[[i]], rows.indicator[[i]])
        wrong += np.sign(alone.predict(one)[0]) != labels[i]
    assert wrong / 40 <= bounds.leave_one_out <= 1
    assert bounds.leave_one_out <= bounds.radius_margin + 1e-12
    assert bounds.rows.sum() == 40


@given(st.integers(1, 40), st.integers(1, 6), st.integers(0, 2**16))
@settings(max_examples=30, deadline=None)
def test_the_smallest_ball_holds_every_point_and_is_no_larger_than_the_spread(n, d, seed):
    x = np.random.default_rng(seed).normal(size=(n, d))
    radius = enclosing_radius(x)
    apart = np.linalg.norm(x[:, None] - x[None], axis=2).max()
    assert apart / 2 - 1e-6 <= radius <= apart * np.sqrt(d / (2 * (d + 1))) + 1e-6  # Jung's theorem


@pytest.mark.parametrize(
    ("gram", "kind", "message"),
    [
        (np.zeros((2, 2)), "hard margin", "gram: got .*not all 0"),
        (np.ones((2, 3)), "hard margin", "a square matrix"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "hard margin", "gram: got 'NaN or infinity'"),
        (np.ones((2, 2)), "regression", "targets that the kernel can produce"),
    ],
)
def test_kernels_that_say_nothing_are_refused(gram, kind, message):
    with pytest.raises(InputError, match=message):
        kernel_margin(gram, np.array([1.0, -1.0]), kind=kind)


def test_units_that_can_be_silent_have_one_more_state_and_many_units_do_not_overflow():
    on = np.random.default_rng(0).random((200, 6)) < 0.5
    rows = GatedRows.of(np.ones((200, 2)), on)
    assert context_coverage(rows, rows).possible == 64
    many = GatedRows.of(np.ones((4, 1)), np.tile([[0], [1]], (2, 1100)))
    assert context_coverage(many, many).possible == np.inf


@pytest.mark.parametrize(
    ("gram", "line"),
    [
        (-np.eye(2), "not positive semidefinite"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "not positive semidefinite"),
        (np.array([[1.0, 0.5], [0.0, 1.0]]), "not symmetric"),
    ],
)
def test_matrices_that_hold_no_products_are_refused(gram, line):
    with pytest.raises(InputError, match=line):
        kernel_margin(gram, np.array([1.0, -1.0]))
