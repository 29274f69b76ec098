"""Teachers of named features: set expressions, the published pairs, and the rows drawn for them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine import InputError
from recombine.tasks import (
    Teacher,
    diagonal_teachers,
    pooled_task,
    relu_teachers,
    sphere_inputs,
    teacher_task,
)


@pytest.fixture
def teacher():
    return Teacher(("a", "b", "c"), np.eye(3, 6), np.array([1.0, -2.0, 0.5]), "relu")


def test_targets(teacher):
    x = np.array([[1.0, 1, 1, 0, 0, 0], [-1.0, 1, -1, 0, 0, 0]])
    np.testing.assert_allclose(teacher(x), [-0.5, -2.0])
    linear = Teacher(teacher.names, teacher.directions, teacher.weights)
    np.testing.assert_allclose(linear(x), x @ linear.coefficients)


def test_set_expressions(teacher):
    fresh = Teacher(("d",), np.eye(6)[3:4], np.array([4.0]), "relu")
    main = teacher.subset(["c", "a"]) | fresh.rescaled(0.5)
    assert main.names == ("c", "a", "d")
    np.testing.assert_allclose(main.weights, [0.5, 1.0, 2.0])
    assert (teacher | teacher.subset(["b"])).names == teacher.names
    assert teacher.reweighted({"b": 3.0}).weights.tolist() == [1.0, 3.0, 0.5]
    others = Teacher(("x", "y", "z"), np.eye(6)[3:], np.ones(3), "relu")
    turned = teacher.rotated([1.0, 0.9, 0.0], others)
    np.testing.assert_allclose((turned.directions * teacher.directions).sum(axis=1), [1, 0.9, 0])
    np.testing.assert_allclose(np.linalg.norm(turned.directions, axis=1), 1)
    assert turned.names == ("a", "b at 0.9", "c at 0")


@settings(max_examples=30)
@given(st.integers(1, 10), st.integers(1, 10), st.integers(0, 10**6), st.data())
def test_diagonal_pairs_share_what_was_asked_for(known, active, seed, data):
    overlap = data.draw(st.integers(0, min(known, active)))
    pair = diagonal_teachers(inputs=40, known=known, active=active, overlap=overlap, seed=seed)
    aux, main = pair.aux.coefficients, pair.main.coefficients
    both = (aux != 0) & (main != 0)
    assert (both.sum(), (aux != 0).sum(), (main != 0).sum()) == (overlap, known, active)
    assert (np.sign(aux[both]) == np.sign(main[both])).all()
    assert np.linalg.norm(aux) == pytest.approx(1) == pytest.approx(np.linalg.norm(main))


def test_amplitudes_of_sparse_tasks():
    small = diagonal_teachers(inputs=50, known=8, active=4, overlap=4, amplitude="1/k")
    assert np.unique(np.abs(small.main.coefficients)).tolist() == [0.0, 0.25]


def test_relu_pairs():
    pair = relu_teachers((1.0, 0.9, 0.0), magnitude=0.1, seed=3)
    gram = pair.aux.directions @ pair.aux.directions.T
    np.testing.assert_allclose(gram, np.eye(6), atol=1e-12)
    cosines = pair.aux.directions @ pair.main.directions.T
    np.testing.assert_allclose(np.diag(cosines[:3]), [1, 0.9, 0], atol=1e-12)
    np.testing.assert_allclose(np.abs(pair.main.weights), 0.1 / np.sqrt(3))
    same = relu_teachers((1.0,), seed=3)
    np.testing.assert_array_equal(same.aux.directions, pair.aux.directions)  # the first task is drawn first


def test_one_unit_has_the_expected_power():
    y = relu_teachers((1.0,), seed=0).main(sphere_inputs(200_000, 15, np.random.default_rng(0)))
    assert (y**2).mean() == pytest.approx(0.5, rel=0.02)


def test_rows_have_a_seed_of_their_own():
    teacher = relu_teachers(seed=0).main
    few, many = (teacher_task(teacher, train=n, test=50, seed=1) for n in (8, 16))
    np.testing.assert_array_equal(few.inputs[:8], many.inputs[:8])
    np.testing.assert_array_equal(few.inputs[few.rows_out], many.inputs[many.rows_out])
    assert (teacher_task(teacher, train=8, test=50, seed=2).inputs[:8] != few.inputs[:8]).all()
    np.testing.assert_allclose((few.inputs**2).mean(axis=1), 1, rtol=1e-5)


def test_pooled_rows_say_which_task_they_belong_to():
    pair = relu_teachers(seed=0)
    aux, main = teacher_task(pair.aux, train=20, test=5), teacher_task(pair.main, train=4, test=6, seed=1)
    task = pooled_task(aux, main)
    assert task.inputs.shape == (30, 17)
    np.testing.assert_array_equal(task.inputs[:20, -2:], np.tile([1, 0], (20, 1)))
    np.testing.assert_array_equal(task.inputs[20:, -2:], np.tile([0, 1], (10, 1)))
    np.testing.assert_array_equal(task.targets[task.rows_out], main.targets[main.rows_out])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda t: t.subset(["x"]), "names: got 'x', expected some of a, b, c"),
        (lambda t: t.subset([]), "names"),
        (lambda t: t.rescaled(np.nan), "factor: got nan"),
        (lambda t: t | t.rescaled(2), "different names for different features"),
        (lambda t: t | Teacher(("d",), np.eye(6)[:1], np.ones(1)), "relu features of 6 inputs"),
        (lambda t: t.rotated(2.0, t), "cosines: got 2.0"),
        (lambda t: t.rotated(0.5, t), "directions orthogonal"),
        (lambda t: t.coefficients, "kind: got 'relu'"),
        (lambda t: Teacher(("a", "a"), np.eye(2), np.ones(2)), "a different name for each feature"),
        (lambda t: Teacher(("a",), 2 * np.eye(1), np.ones(1)), "vectors of length 1"),
        (lambda t: Teacher(("a",), np.eye(1), np.array([np.inf])), "NaN or infinity"),
        (lambda t: Teacher(("a",), np.eye(1), np.ones(1), "step"), "kind: got 'step'"),
        (lambda t: diagonal_teachers(overlap=50), "overlap: got 50"),
        (lambda t: diagonal_teachers(inputs=10), "inputs: got 10"),
        (lambda t: diagonal_teachers(amplitude="2"), "amplitude: got '2'"),
        (lambda t: relu_teachers((1.0,) * 7), "at most 6"),
        (lambda t: relu_teachers(inputs=8), "inputs: got 8"),
        (lambda t: teacher_task(t, train=0), "train: got 0"),
        (
            lambda t: pooled_task(
                teacher_task(t, train=2, test=2), teacher_task(relu_teachers().main, train=2, test=2)
            ),
            "as many inputs and outputs",
        ),
    ],
)
def test_wrong_input_gets_one_line(teacher, make, message):
    with pytest.raises(InputError, match=message) as error:
        make(teacher)
    assert "\n" not in str(error.value)
