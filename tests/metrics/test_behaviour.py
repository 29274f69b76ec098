import re
from pathlib import Path

import numpy as np
import pytest

import recombine.metrics
from recombine.errors import InputError
from recombine.metrics import code_accuracy, squared_error, summarise, within_tolerance


def test_metrics_do_not_import_jax():
    for source in Path(recombine.metrics.__file__).parent.glob("*.py"):
        assert not re.search(r"^(import|from) jax[ .\n]", source.read_text(), flags=re.MULTILINE), source


def test_squared_error_is_the_mean_over_pixels(donut):
    outputs = np.random.default_rng(0).normal(size=donut.images.shape)
    expected = [np.mean((a - b) ** 2) for a, b in zip(outputs, donut.images, strict=True)]
    np.testing.assert_allclose(squared_error(outputs, donut.images), expected)


def test_squared_error_never_broadcasts():
    with pytest.raises(InputError, match="same shape"):
        squared_error(np.zeros((3, 2)), np.zeros((3, 1)))


def test_summary_of_one_sided_splits():
    summary = summarise(np.array([1.0, 2.0, 6.0]), np.ones(3, bool))
    assert (summary["in_mean"], summary["in_median"], summary["in_max"]) == (3.0, 2.0, 6.0)
    assert all(np.isnan(summary[f"out_{name}"]) for name in ("mean", "std", "median", "max"))


def test_summary_accepts_grids_and_refuses_misfits():
    assert summarise(np.ones((2, 2)), np.eye(2, dtype=bool))["out_mean"] == 1.0
    with pytest.raises(InputError, match="seen"):
        summarise(np.ones(4), np.eye(2, dtype=bool))


def test_every_coordinate_must_be_within_tolerance():
    true = np.zeros((3, 2))
    assert within_tolerance(np.array([[0.5, -0.5], [0.0, 0.6], [np.nan, 0.0]]), true, 0.5).tolist() == [
        True,
        False,
        False,
    ]


def test_code_accuracy_reads_each_part(codes):
    levels = np.indices((28, 28)).reshape(2, -1).T
    for name in ("one_hot", "bump"):
        flat = codes[name].reshape(784, -1)
        assert code_accuracy(flat, levels).all()
        assert not code_accuracy(flat, (levels + np.array([0, 1])) % 28).any()
        wrong_halves = code_accuracy(np.roll(flat, 28, axis=1), levels)
        np.testing.assert_array_equal(wrong_halves, levels[:, 0] == levels[:, 1])


def test_code_accuracy_with_unequal_parts():
    codes = np.array([[0.0, 1.0, 0.0, 0.0, 1.0]])
    assert code_accuracy(codes, np.array([[1, 2]]), sizes=(2, 3)).all()
    with pytest.raises(InputError, match="codes"):
        code_accuracy(codes, np.array([[1, 2]]))
