"""What is predicted in conjunctions of contexts that training left out."""

from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from recombine.studies.gated_linear.conjunction_probes import composed_rows, unseen_conjunctions


@pytest.fixture(scope="module")
def composed():
    rows = composed_rows(inputs=3, units=3, train=200, test=800, seed=1)
    return unseen_conjunctions(rows, units=3, steps=1000)


def test_sums_of_parts_are_right_where_labels_are_sums(composed):
    assert np.mean(composed["two layers"]) < np.mean(composed["linear"]) - 0.03
    assert np.mean(composed["seen"]) < 0.06


def test_one_layer_has_no_answer_in_a_context_without_rows(composed):
    np.testing.assert_array_equal(composed["one layer"], np.full(8, 0.5))


def test_every_conjunction_is_left_out_once(composed):
    assert {len(values) for values in composed.values()} == {8}


def test_labels_are_linear_in_each_joint_context_of_the_students_gates_and_not_beyond():
    rows = composed_rows(inputs=3, units=2, train=4000, test=10, seed=2)
    train, _ = rows.gated(rows.gates(units=2, bits=1, median=True))
    contexts = train.indicator.argmax(axis=2)  # (rows, units)

    def accuracy_of_a_plane(inside):
        x, y = train.inputs[inside], rows.train_labels[inside]
        return LogisticRegression(C=1e6, fit_intercept=False, max_iter=5000).fit(x, y).score(x, y)

    for pair in product((0, 1), repeat=2):
        assert accuracy_of_a_plane((contexts == pair).all(axis=1)) > 0.99
    assert accuracy_of_a_plane(np.ones(4000, dtype=bool)) < 0.95


def test_the_same_seed_gives_the_same_rows():
    one, two = (composed_rows(inputs=3, units=2, train=20, test=10, seed=5) for _ in range(2))
    np.testing.assert_array_equal(one.train, two.train)
    np.testing.assert_array_equal(one.train_labels, two.train_labels)
