"""Machines of minimum group norm: primal against dual, Newton against cones, special cases in closed form."""

from dataclasses import replace

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.theory.gated import (
    DiagonalRows,
    GatedRows,
    InseparableError,
    group_norm_by_cones,
    kernel_margin,
    min_group_norm_machine,
    one_against_rest,
    published_groups,
)


def problem(seed, *, on_off=False, separable=True):
    """Random rows and contexts; with separable labels if asked for."""
    rng = np.random.default_rng(seed)
    n, D, H, C = (int(rng.integers(*ends)) for ends in ((8, 40), (3, 12), (1, 6), (1, 4)))
    contexts = rng.integers(-1 if on_off else 0, 1 if on_off else C, size=(n, H))
    contexts[:, 0] = np.maximum(contexts[:, 0], 0)  # every row is used by some unit
    rows = GatedRows.of(rng.normal(size=(n, D)), contexts, n_contexts=1 if on_off else C)
    labels = np.sign(rng.normal(size=n))
    if separable:
        labels = np.sign(rows.predict(rng.normal(size=(H, rows.n_contexts, D))))
    labels[:2] = (1, -1) if len(np.unique(labels)) < 2 else labels[:2]
    return rows, labels


def test_rows_of_very_different_size_are_not_inseparable():
    labels = np.array([1.0, -1.0])
    rows = GatedRows.of([[1e6, 0.0], [0.0, 1.0]], [[0], [0]])
    assert min_group_norm_machine(rows, labels).norm == pytest.approx(1.0, rel=1e-5)


def test_primal_and_dual_agree_on_100_random_problems():
    solved = 0
    for seed in range(100):
        rows, labels = problem(seed, on_off=seed % 4 == 3)
        try:
            machine = min_group_norm_machine(rows, labels, tolerance=1e-7)
        except InseparableError:
            continue
        solved += 1
        assert 0 <= machine.gap + 1e-12 <= 1e-5, seed
        assert (labels * machine.predict(rows)).min() >= 1 - 1e-9
        # The bound is what it says: every unit's dual constraint holds.
        sizes = np.linalg.norm(rows.sums(machine.dual * labels), axis=(1, 2))
        assert sizes.max() <= 1 + 1e-9
        assert (machine.dual >= 0).all()
        assert machine.dual.sum() == pytest.approx(machine.bound)
        assert np.linalg.norm(machine.weights, axis=(1, 2)).sum() == pytest.approx(machine.norm)
    assert solved >= 95


@pytest.mark.parametrize(
    ("kind", "cost"), [("hard margin", None), ("soft margin", 0.3), ("regression", None)]
)
@pytest.mark.parametrize("seed", range(12))
def test_newton_and_cones_agree(seed, kind, cost):
    rows, labels = problem(seed, separable=kind == "hard margin")
    answers = []
    for solve in (min_group_norm_machine, group_norm_by_cones):
        try:
            machine = solve(rows, labels, kind=kind, cost=cost)
            answers.append((machine.primal, machine.bound))
            assert machine.gap < 1e-5
        except InputError as error:
            answers.append(type(error).__name__)
    if isinstance(answers[0], str) or isinstance(answers[1], str):
        assert answers[0] == answers[1]
    else:
        assert answers[0] == pytest.approx(answers[1], rel=1e-5)


def test_cvxpy_finds_the_same_optimum():
    cvxpy = pytest.importorskip("cvxpy")
    rows, labels = problem(5)
    weights = [cvxpy.Variable((rows.n_contexts, rows.inputs.shape[1])) for _ in range(rows.units)]
    outputs = sum(
        cvxpy.sum(cvxpy.multiply(rows.indicator[:, h] @ w, rows.inputs), axis=1)
        for h, w in enumerate(weights)
    )
    goal = cvxpy.Problem(
        cvxpy.Minimize(sum(cvxpy.norm(w, "fro") for w in weights)), [cvxpy.multiply(labels, outputs) >= 1]
    )
    goal.solve(solver="CLARABEL")
    assert min_group_norm_machine(rows, labels).norm == pytest.approx(goal.value, rel=1e-5)


def test_reweighting_reaches_the_same_norm_and_starts_save_rounds():
    rows, labels = problem(7)
    newton = min_group_norm_machine(rows, labels)
    slow = min_group_norm_machine(rows, labels, reweighting=True, tolerance=1e-3)
    assert slow.norm == pytest.approx(newton.norm, rel=2e-3)
    assert slow.rounds >= newton.rounds
    assert min_group_norm_machine(rows, labels, start=newton).rounds <= newton.rounds


def test_a_start_may_have_other_units_and_rows():
    rows, labels = problem(9)
    fewer = GatedRows(rows.inputs[:-3], rows.indicator[:-3, :1])
    if len(np.unique(labels[:-3])) == 2:
        start = min_group_norm_machine(fewer, labels[:-3], kind="soft margin", cost=1.0)
        again = min_group_norm_machine(rows, labels, start=start)
        assert again.norm == pytest.approx(min_group_norm_machine(rows, labels).norm, rel=1e-5)


def test_without_gates_it_is_the_linear_machine():
    """Identical units share the weights; the group norm is then the l2 norm."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(15, 6))
    labels = np.sign(x @ rng.normal(size=6))
    linear = kernel_margin(x @ x.T, labels)
    for units in (1, 4):
        machine = min_group_norm_machine(GatedRows.of(x, np.zeros((15, units), dtype=int)), labels)
        assert machine.norm == pytest.approx(linear.norm, rel=1e-5)
        np.testing.assert_allclose(
            machine.weights.sum(axis=(0, 1)), x.T @ linear.signed, rtol=1e-4, atol=1e-6
        )


def test_one_gate_decouples_into_a_machine_per_context():
    rng = np.random.default_rng(3)
    x, contexts = rng.normal(size=(24, 8)), rng.integers(0, 3, size=24)
    labels = np.sign(rng.normal(size=24))
    together = min_group_norm_machine(GatedRows.of(x, contexts[:, None]), labels, tolerance=1e-12)
    squares = 0.0
    for context in range(3):
        own = contexts == context
        alone = kernel_margin(x[own] @ x[own].T, labels[own])
        np.testing.assert_allclose(
            together.weights[0, context], x[own].T @ alone.signed, rtol=1e-6, atol=1e-8
        )
        squares += alone.norm**2
    assert together.norm**2 == pytest.approx(squares, rel=1e-6)


def test_units_that_share_a_gate_are_one_unit():
    rng = np.random.default_rng(4)
    x, contexts = rng.normal(size=(20, 7)), rng.integers(0, 2, size=(20, 1))
    labels = np.sign(rng.normal(size=20))
    one = min_group_norm_machine(GatedRows.of(x, contexts), labels)
    many = min_group_norm_machine(GatedRows.of(x, np.repeat(contexts, 5, axis=1)), labels)
    assert many.norm == pytest.approx(one.norm, rel=1e-5)


def test_diagonal_rows_give_the_l1_machine():
    from scipy.optimize import linprog

    rng = np.random.default_rng(5)
    x = rng.normal(size=(12, 20))
    labels = np.sign(x[:, 0] + 0.3 * x[:, 1])
    machine = min_group_norm_machine(DiagonalRows(x), labels)
    both = np.hstack([x, -x]) * labels[:, None]
    programme = linprog(np.ones(40), A_ub=-both, b_ub=-np.ones(12), bounds=(0, None))
    assert machine.norm == pytest.approx(programme.fun, rel=1e-5)


def test_a_machine_without_a_margin_yet_has_an_infinite_gap_and_is_replaced():
    """A first guess may miss the margin by rounding; its gap must not hide every better one."""
    machine = min_group_norm_machine(*problem(2))
    assert replace(machine, primal=np.inf).gap == np.inf > machine.gap


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_the_units_of_the_inputs_do_not_matter(factor):
    rows, labels = problem(3)
    scaled = GatedRows(factor * rows.inputs, rows.indicator)
    weights = np.random.default_rng(0).normal(size=(rows.units, rows.n_contexts, rows.inputs.shape[1]))
    for kind, targets in (("hard margin", labels), ("regression", rows.predict(weights))):
        one, other = (min_group_norm_machine(r, targets, kind=kind) for r in (rows, scaled))
        assert other.norm * factor == pytest.approx(one.norm, rel=1e-5)
        assert other.gap < 1e-5


def test_active_units_and_support_vectors():
    """Unit 1 has the same gate everywhere but sees only noise: it stays unused."""
    rng = np.random.default_rng(6)
    x = np.concatenate([np.repeat([[3.0], [-3.0]], 10, axis=0), rng.normal(size=(20, 2)) * 0.01], axis=1)
    contexts = np.stack(
        [np.zeros(20, dtype=int), np.arange(20)], axis=1
    )  # unit 1 has a context of its own per row
    machine = min_group_norm_machine(GatedRows.of(x, contexts), np.sign(x[:, 0]))
    assert machine.active.tolist() == [0]
    assert 0 < len(machine.support) < 20


def test_inseparable_labels_come_with_rows_that_cancel():
    x = np.array([[1.0], [1.0], [2.0]])
    rows = GatedRows.of(x, np.zeros((3, 1), dtype=int))
    labels = np.array([1.0, -1.0, 1.0])
    for solve in (min_group_norm_machine, group_norm_by_cones):
        with pytest.raises(InseparableError, match=r"rows cancel, among them .*soft margin") as found:
            solve(rows, labels)
        shares = found.value.certificate
        assert shares.min() >= 0
        assert shares.sum() == pytest.approx(1)
        np.testing.assert_allclose(rows.sums(shares * labels), 0, atol=1e-5)
    soft = min_group_norm_machine(rows, labels, kind="soft margin", cost=1.0)
    assert soft.gap < 1e-5


def test_the_published_groups_mix_units():
    """A known tensor of 785 inputs, 3 units and 4 contexts: 168.40711693 by units, 168.40239530 as published."""
    tensor = np.random.RandomState(1).randn(785, 3, 4)
    weights = tensor.transpose(1, 2, 0)  # (units, contexts, inputs)
    norms = np.linalg.norm(weights, axis=2)
    assert np.sqrt((norms**2).sum(axis=1)).sum() == pytest.approx(168.40711693, abs=1e-7)
    flat = (norms**2).ravel()  # k = unit * 4 + context
    mixed = flat.reshape(4, 3).T  # group k mod 3
    assert np.sqrt(mixed.sum(axis=1)).sum() == pytest.approx(168.40239530, abs=1e-7)
    rows = GatedRows.of(np.ones((1, 1)), [[0, 1, 2]], n_contexts=4)
    numbers = [h * 4 + c for h, c in enumerate((0, 1, 2))]
    regrouped = {tuple(place) for place in np.argwhere(published_groups(rows).indicator[0]).tolist()}
    assert regrouped == {(k % 3, k // 3) for k in numbers}


def test_one_against_rest_needs_two_classes():
    rows = GatedRows.of(np.eye(3), np.zeros((3, 1), dtype=int))
    with pytest.raises(InputError, match="labels: got \\[1\\], expected at least two classes"):
        one_against_rest(rows, [1, 1, 1])


@pytest.mark.parametrize(
    ("call", "line"),
    [
        (
            lambda r: min_group_norm_machine(r, np.ones(3)),
            "targets: got 'only the label 1', expected both labels",
        ),
        (lambda r: min_group_norm_machine(r, np.array([0, 1, 1])), "targets: got .*expected labels -1 and 1"),
        (lambda r: min_group_norm_machine(r, np.ones(2)), "targets: got 2, expected one per row, 3"),
        (lambda r: min_group_norm_machine(r, [1, -1, np.nan]), "targets"),
        (lambda r: min_group_norm_machine(r, [1, -1, 1], kind="margin"), "kind: got 'margin'"),
        (lambda r: min_group_norm_machine(r, [1, -1, 1], cost=1.0), "cost: got 1.0"),
        (lambda r: min_group_norm_machine(r, [1, -1, 1], kind="soft margin"), "cost: got None"),
        (lambda r: min_group_norm_machine(r, [1, -1, 1], kind="soft margin", cost=-1), "cost: got -1"),
        (lambda r: min_group_norm_machine(r, [0.0, 0, 0], kind="regression"), "targets: got 'zeros'"),
        (lambda r: GatedRows.of([[1.0], [np.nan]], [[0], [0]]), "inputs"),
        (lambda r: GatedRows.of([[1.0], [2.0, 3.0]], [[0], [0]]), "inputs"),
        (lambda r: GatedRows.of([[1.0]], [[0.5]]), "contexts: got 'float64'"),
        (lambda r: GatedRows.of([[1.0]], [[-2]]), "contexts: got '-2 to"),
        (lambda r: GatedRows.of([[1.0]], [[3]], n_contexts=2), "contexts"),
        (lambda r: GatedRows.of([[1.0]], [[0], [1]]), "contexts: got \\(2, 1\\)"),
        (lambda r: r.predict(np.ones((1, 1, 5))), "weights: got \\(1, 1, 5\\)"),
    ],
)
def test_bad_input_is_refused_in_one_line(call, line):
    rows = GatedRows.of(np.eye(3), np.zeros((3, 1), dtype=int))
    with pytest.raises(InputError, match=line):
        call(rows)


def test_rows_of_zeros_are_refused():
    rows = GatedRows.of(np.zeros((3, 2)), np.zeros((3, 1), dtype=int))
    with pytest.raises(InputError, match="only zeros"):
        min_group_norm_machine(rows, np.array([1.0, -1.0, 1.0]))


def test_the_advice_for_inseparable_labels_works():
    rows = GatedRows.of([[1.0], [1.0]], [[0], [0]])
    labels = np.array([1.0, -1.0])
    with pytest.raises(InputError, match=r"kind='soft margin' with cost=1\.0"):
        min_group_norm_machine(rows, labels)
    assert np.isfinite(min_group_norm_machine(rows, labels, kind="soft margin", cost=1.0).primal)


@pytest.mark.parametrize("kind", ["hard margin", "regression"])
def test_many_more_units_than_rows_are_solved_to_the_same_gap(kind):
    rng = np.random.default_rng(0)
    rows = GatedRows.of(rng.normal(size=(30, 4)), rng.integers(0, 2, size=(30, 900)))
    machine = min_group_norm_machine(rows, rng.choice([-1.0, 1.0], size=30), kind=kind)
    assert machine.gap < 1e-6
    assert len(machine.active) < 300
