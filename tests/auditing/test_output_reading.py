"""Targets and predictions of every form end up in one, and bad ones are refused in a line."""

import numpy as np
import pytest

from recombine import InputError
from recombine.auditing.output_reading import read_outputs


def labels(outputs):
    return [outputs.classes[i] for i in outputs.predictions.argmax(axis=1)]


def test_text_means_classes():
    outputs = read_outputs(np.array(["cat", "dog", "cat"]), np.array(["dog", "dog", "fox"], dtype=object))
    assert outputs.kind == "classification"
    assert outputs.classes == ("cat", "dog", "fox")
    assert outputs.row_errors().tolist() == [1, 0, 1]


def test_scores_name_the_largest():
    outputs = read_outputs(np.array([0, 2, 1]), np.array([[0.1, 5.0, 2.0], [0.0, 0.1, 0.2], [1.0, 9.0, 3.0]]))
    assert outputs.kind == "classification"
    assert labels(outputs) == [1, 2, 1]


def test_scores_follow_the_order_of_classes():
    outputs = read_outputs(
        np.array(["dog", "cat"]), np.array([[0.9, 0.1, 0.0], [0.0, 0.1, 0.9]]), classes=["dog", "fox", "cat"]
    )
    assert labels(outputs) == ["dog", "cat"]


def test_classes_that_are_numbers_stand_for_targets_that_are_text():
    found = read_outputs(np.array(["1", "0"]), np.array([[0.1, 0.9], [0.2, 0.8]]), classes=[0, 1])
    assert labels(found) == ["1", "1"]
    assert found.row_errors().tolist() == [0, 1]


@pytest.mark.parametrize(
    ("target", "scores", "expected"),
    [
        ([0, 1, 1], [0.2, 0.4, 0.9], [0, 0, 1]),
        ([0, 1, 1], [-9.0, 0.3, 8.0], [0, 1, 1]),
        ([-1, 1, 1], [-0.1, 0.1, -2.0], [-1, 1, -1]),
        ([False, True, True], [0.1, 0.6, 0.7], [0, 1, 1]),
    ],
    ids=["probabilities", "log-odds", "signs", "booleans"],
)
def test_two_classes_by_one_score(target, scores, expected):
    assert labels(read_outputs(np.array(target), np.array(scores))) == expected


def test_whole_numbers_that_are_labels_and_quantities():
    target = np.array([3, 5, 7, 3])
    assert read_outputs(target, np.array([3, 3, 7, 5])).kind == "classification"
    assert read_outputs(target, np.array([3.2, 3.0, 7.0, 5.0])).kind == "regression"
    assert read_outputs(target, np.array([3, 3, 7, 5]), kind="regression").row_errors().tolist() == [
        0,
        4,
        0,
        4,
    ]


def test_images_keep_their_shape():
    target = np.zeros((4, 5, 6))
    target[1] = 2.0
    outputs = read_outputs(target, np.ones((4, 5, 6), dtype=np.float32))
    assert outputs.shape == (5, 6)
    assert outputs.predictions.shape == (4, 30)
    assert outputs.row_errors().tolist() == [1.0] * 4


def test_axes_of_length_one_do_not_matter():
    target = np.arange(4 * 5 * 6, dtype=float).reshape(4, 5, 6)
    for shape in ((4, 1, 5, 6), (4, 5, 6, 1), (4, 1, 5, 1, 6)):
        outputs = read_outputs(target, target.reshape(shape) + 1)
        assert outputs.row_errors().tolist() == [1.0] * 4
        assert read_outputs(target.reshape(shape), target).row_errors().tolist() == [0.0] * 4
    with pytest.raises(InputError, match="the targets' shape"):
        read_outputs(target, target.reshape(4, 6, 5))


def test_missing_targets_are_left_out():
    outputs = read_outputs(np.array([1.0, np.nan, 2.5]), np.array([1.0, 1.0, 2.0]))
    assert outputs.known.tolist() == [True, False, True]
    assert np.isnan(outputs.row_errors()[1])
    words = read_outputs(np.array(["a", None, "b"], dtype=object), np.array(["a", "b", "b"], dtype=object))
    assert words.known.tolist() == [True, False, True]


def test_no_targets_at_all():
    outputs = read_outputs(None, np.ones((3, 4, 4)))
    assert not outputs.known.any()
    assert outputs.shape == (4, 4)


@pytest.mark.parametrize(
    ("target", "prediction", "settings", "words"),
    [
        ([1.0, 2.5], [1.0, np.inf], {}, "not finite in row 2"),
        ([1.0, 2.5, 3.5], [[1.0, 2.0]] * 3, {}, "the targets' shape"),
        (["a", "b"], [[1.0, 2.0, 3.0]] * 2, {}, "a score for every class"),
        (["a", "a"], ["a", "a"], {}, "at least two classes"),
        ([1.0, 2.5], [1.0, 2.0], {"kind": "ranking"}, "'regression' or 'classification'"),
        (["a", "b"], [["a"], ["b"]], {"kind": "regression"}, "words"),
        (["a", "b"], ["a", "b"], {"classes": ["a"]}, "one of the classes a"),
        ([1.0], [1.0, 2.0], {}, "as many as there are targets"),
    ],
)
def test_bad_predictions_are_refused(target, prediction, settings, words):
    with pytest.raises(InputError, match=words):
        read_outputs(np.array(target), np.array(prediction), **settings)
