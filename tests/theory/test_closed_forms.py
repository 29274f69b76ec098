"""Closed forms against the kernel machines that they describe."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.tasks import addition, context_dependence, invariance, logical, partial_exposure
from recombine.theory import (
    OverlapKernel,
    addition_line,
    addition_slope,
    closed_forms,
    context_margin,
    context_squared,
    held_out_corner,
    implied_salience,
    max_margin,
    min_norm,
    random_network,
)

VALUES = np.arange(-4, 5)


def predictions(task, kernel, *, offset=False, solve=min_norm):
    """Predictions of a kernel machine for the task's unseen cells, and their targets."""
    cells, seen = task.split.space.cells, task.split.seen
    targets = task.targets.ravel().astype(float)
    settings = {} if solve is max_margin else {"offset": offset}
    machine = solve(kernel.gram(cells[seen]), targets[seen], **settings)
    return machine(kernel.gram(cells[~seen], cells[seen])), targets[~seen]


@settings(max_examples=60)
@given(st.sets(st.integers(0, 8), min_size=1, max_size=5), st.sampled_from([0.1, 0.3, 0.45]), st.booleans())
def test_addition_is_a_line(anchors, salience, offset):
    kernel = OverlapKernel.by_count([0, salience, 1])
    outputs, truth = predictions(addition(anchors=sorted(anchors)), kernel, offset=offset)
    line = addition_line(VALUES, sorted(anchors), salience, offset=offset)
    np.testing.assert_allclose(outputs, line.offset + line.slope * truth, atol=1e-9)


def test_published_slopes():
    results = [addition_slope(s, 1) for s in (0.3, 0.35, 0.4, 0.45, 0.5)]
    np.testing.assert_allclose(results, [0.4286, 0.5385, 0.6667, 0.8182, 1], atol=5e-5)
    relu = [addition_slope(random_network(2, depth).order_shares[0], 1) for depth in (1, 2, 3, 4, 10)]
    np.testing.assert_allclose(relu, [0.7434, 0.6016, 0.5090, 0.4430, 0.2551], atol=5e-5)
    assert addition_slope(0.0, 3) == 0
    line = addition_line(VALUES, [0], 0.3, offset=False)
    assert line == pytest.approx((0.428571, -0.82616), abs=5e-6)


@given(st.floats(0.01, 0.5), st.integers(1, 8))
def test_a_slope_implies_a_salience(salience, partners):
    assert implied_salience(addition_slope(salience, partners), partners) == pytest.approx(salience)


@given(st.floats(0.01, 0.5))
def test_two_by_two(k):
    kernel = OverlapKernel.by_count([0, k, 1])
    assert predictions(partial_exposure(), kernel)[0] == pytest.approx(
        [held_out_corner(k, -1, -1, 1)], abs=1e-9
    )
    np.testing.assert_allclose(
        predictions(invariance(), kernel)[0], np.array([-1, 1]) * closed_forms.invariance(k), atol=1e-9
    )
    for operation, labels in (("and", (-1, -1, -1)), ("or", (-1, 1, 1)), ("xor", (-1, 1, 1))):
        outputs, _ = predictions(logical(operation=operation), kernel)
        assert outputs == pytest.approx([held_out_corner(k, *labels)], abs=1e-9)


def test_and_and_xor_come_out_wrong():
    for operation, right in (("and", False), ("or", True), ("xor", False)):
        outputs, truth = predictions(logical(operation=operation), OverlapKernel.by_count([0, 0.3, 1]))
        assert (outputs[0] * truth[0] > 0) == right


saliences = st.tuples(*[st.floats(0.05, 1.0)] * 3)


@settings(max_examples=60)
@given(saliences, st.sampled_from([2, 3, 4]))
def test_context_dependence_with_squared_loss(salience, per_class):
    task = context_dependence(hidden=per_class, per_class=per_class)
    outputs, truth = predictions(task, OverlapKernel.by_order([0, *salience]), offset=True)
    expected = context_squared(*salience, per_class=per_class)
    np.testing.assert_allclose(outputs * truth, expected.margin, atol=1e-8)
    assert expected.generalises == (expected.margin > 0) or abs(expected.margin) < 1e-9


@settings(max_examples=40)
@given(saliences, st.sampled_from([2, 3]))
def test_context_dependence_with_the_largest_margin(salience, per_class):
    task = context_dependence(hidden=per_class, per_class=per_class)
    outputs, truth = predictions(task, OverlapKernel.by_order([0, *salience]), solve=max_margin)
    expected = context_margin(*salience, per_class=per_class)
    np.testing.assert_allclose(outputs * truth, expected.margin, atol=1e-4)
    assert expected.generalises == (expected.margin > 0) or abs(expected.margin) < 1e-9


def test_random_networks_and_the_loss_decide():
    margins = [context_margin(*random_network(3, depth).order_shares).margin for depth in (1, 7, 8, 25)]
    np.testing.assert_allclose(margins, [-0.559, -0.0065, 0.016, -0.0018], atol=6e-4)
    squared = [context_squared(*random_network(3, depth).order_shares).margin for depth in (1, 3, 10)]
    np.testing.assert_allclose(squared, [0.795, 0.522, 0.176], atol=6e-4)
    assert context_squared(1.0, 0.3, 0.0).margin == pytest.approx(1)


def test_bad_input_is_named():
    with pytest.raises(InputError, match=r"salience: got 0.6"):
        addition_slope(0.6, 1)
    with pytest.raises(InputError, match="a salience above 0"):
        addition_line(VALUES, [0], 0.0)
