"""Kernel machines: exact, safe when singular, and true to the published settings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.tasks import dispersed_addition, transitive_equivalence, transitive_ordering
from recombine.theory import (
    OverlapKernel,
    max_margin,
    max_margin_by_pivoting,
    min_norm,
    ridge,
    support_vector_regression,
)


def split_of(task):
    """Level indices and targets, training rows first mask."""
    cells = task.split.space.cells[task.cell]
    return cells, task.targets.ravel().astype(float), task.split.seen[task.cell]


@given(st.integers(0, 1000), st.booleans())
def test_ridge_solves_its_normal_equations(seed, offset):
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(6, 4))
    targets, penalty = rng.normal(size=6), rng.uniform(0.1, 1)
    machine = ridge(features @ features.T, targets, penalty, offset=offset)
    slopes = features.T @ machine.weights
    residual = targets - features @ slopes - machine.offset
    np.testing.assert_allclose(penalty * slopes, features.T @ residual, atol=1e-9)
    if offset:
        assert residual.sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("offset", [False, True])
def test_singular_kernels_give_the_smallest_solution(offset):
    kernel = OverlapKernel.by_count([0, 0.5, 1])  # no salience for whole cells: addition is solved exactly
    cells, targets, seen = split_of(dispersed_addition(seed=1))
    machine = min_norm(kernel.gram(cells[seen]), targets[seen], offset=offset)
    np.testing.assert_allclose(machine(kernel.gram(cells, cells[seen])), targets, atol=1e-8)


def test_the_published_tube_leaves_a_bias():
    errors = {"exact": [], "tube": []}
    kernel = OverlapKernel.by_count([0, 0.3, 1])
    for seed in range(1, 51):
        cells, targets, seen = split_of(dispersed_addition(seed=seed))
        gram, across = kernel.gram(cells[seen]), kernel.gram(cells[~seen], cells[seen])
        for name, machine in (
            ("exact", min_norm(gram, targets[seen], offset=True)),
            ("tube", support_vector_regression(gram, targets[seen])),
        ):
            errors[name].append(np.mean((machine(across) - targets[~seen]) ** 2))
    assert np.mean(errors["exact"]) == pytest.approx(5.064, abs=1e-3)
    assert np.mean(errors["tube"]) == pytest.approx(5.2075, abs=0.01)


@pytest.mark.parametrize(("classes", "hubs"), [((2, 2), (1, 1)), ((5, 5), (1, 1)), ((5, 5), (4, 4))])
@pytest.mark.parametrize("offset", [False, True])
def test_transitive_equivalence_is_out_of_reach(classes, hubs, offset):
    cells, targets, seen = split_of(transitive_equivalence(classes=classes, hubs=hubs))
    kernel = OverlapKernel.by_count([0, 0.3, 1])
    machine = min_norm(kernel.gram(cells[seen]), targets[seen], offset=offset)
    result = machine(kernel.gram(cells[~seen], cells[seen]))
    assert np.mean(result * targets[~seen]) == pytest.approx(0, abs=1e-9)
    if not offset:
        np.testing.assert_allclose(result, 0, atol=1e-8)


def test_transitive_ordering_and_its_distance_effect():
    cells, targets, seen = split_of(transitive_ordering())
    distance = np.abs(cells[:, 0] - cells[:, 1])
    kernel = OverlapKernel.by_count([0, 0.3, 1])
    margin = min_norm(kernel.gram(cells[seen]), targets[seen])(kernel.gram(cells, cells[seen])) * targets
    results = [margin[distance == d].mean() for d in range(1, 7)]
    np.testing.assert_allclose(results, [1, 0.2654, 0.3565, 0.4753, 0.6636, 0.9982], atol=1e-3)
    assert margin.min() == pytest.approx(0.099, abs=1e-3)


def test_the_largest_margin_of_four_points():
    gram = np.array([[1.0, 0], [0, 1]])
    machine = max_margin(gram, np.array([1.0, -1.0]))
    np.testing.assert_allclose(machine.weights, [1, -1], atol=1e-6)
    assert machine.offset == pytest.approx(0, abs=1e-6)


def test_bad_input_is_named():
    with pytest.raises(InputError, match="gram: got"):
        min_norm(np.eye(2), np.zeros(3))
    with pytest.raises(InputError, match="-1 and 1, both of them"):
        max_margin(np.eye(2), np.ones(2))
    with pytest.raises(InputError, match="finite numbers"):
        min_norm(np.array([[np.nan]]), np.zeros(1))
    with pytest.raises(InputError, match="did not converge"):
        max_margin(np.ones((2, 2)), np.array([1.0, -1.0]), max_steps=1)


@pytest.mark.parametrize("seed", range(20))
def test_pivoting_agrees_with_the_solver(seed):
    """Two independent ways to the same machine; few rows of random labels are all support vectors."""
    rng = np.random.default_rng(seed)
    cells = np.indices((4, 3, 3)).reshape(3, -1).T
    train = rng.permutation(36)[: rng.integers(6, 30)]
    labels = np.where(rng.random(len(train)) < 0.3, 1.0, -1.0)
    labels[:2] = 1, -1
    kernel = OverlapKernel.by_order([0, *rng.dirichlet([4, 2, 1])])
    gram = kernel.gram(cells[train])
    machine, expected = max_margin_by_pivoting(gram, labels), max_margin(gram, labels, tolerance=1e-8)
    across = kernel.gram(cells, cells[train])
    np.testing.assert_allclose(machine(across), expected(across), atol=1e-5)
    # The conditions of optimality, exactly: margins of at least 1, and weights only where they are 1.
    margins = labels * machine(gram)
    assert margins.min() > 1 - 1e-8
    assert (labels * machine.weights > -1e-8).all()
    assert machine.weights.sum() == pytest.approx(0, abs=1e-8)
    np.testing.assert_allclose(machine.weights[margins > 1 + 1e-8], 0, atol=1e-8)


def test_pivoting_gives_up_on_singular_kernels():
    assert max_margin_by_pivoting(np.ones((3, 3)), np.array([1.0, -1.0, 1.0])) is None
