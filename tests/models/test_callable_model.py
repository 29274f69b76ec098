"""Plain functions: rows together or one at a time, and nothing imported for their sake."""

import os
import subprocess
import sys

import numpy as np
import pytest

from recombine import InputError
from recombine.models import ModelError, as_model

X = np.random.default_rng(0).normal(size=(11, 3))


def outputs(model, **how):
    return np.concatenate([chunk.outputs for chunk in model.run(**how)])


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x @ np.ones((3, 2)), X @ np.ones((3, 2))),
        (lambda x: x.sum(), X.sum(axis=1)),  # one number, so one row
        (lambda x: float(x[0]) ** 2, X[:, 0] ** 2),
        (lambda x: [row * 2 for row in x], X * 2),
        (lambda x: [[float(v) for v in row] for row in x], X),
        (lambda x: (x[:, 0], x), X[:, 0]),
        (lambda x: np.where(x[..., 0] > 0, "a", "b"), np.where(X[:, 0] > 0, "a", "b")),
    ],
    ids=["rows", "number", "row", "list", "numbers", "tuple", "labels"],
)
def test_calling_conventions_are_detected(function, expected):
    for batch in (None, 4):
        result = outputs(as_model(function, X), batch=batch)
        np.testing.assert_array_equal(
            result, expected
        ) if result.dtype.kind == "U" else np.testing.assert_allclose(result, expected)


def test_notes_say_what_was_chosen():
    assert as_model(lambda x: float(x[0]), X).notes == ["the model takes one row at a time"]
    assert "different outputs than one row" in as_model(lambda x: x / x.sum(), X).notes[0]
    assert as_model(lambda x: x @ np.ones(3), X).notes == []


def test_layers_are_functions():
    model = as_model(
        lambda x: x.sum(axis=1), X, layers={"squares": np.square, "first": lambda row: float(row[0])}
    )
    assert model.layers == ("squares", "first")
    chunk = next(model.run(["first", "squares"], batch=4))
    np.testing.assert_allclose(chunk.activities["first"], X[:4, 0])
    np.testing.assert_allclose(chunk.activities["squares"], X[:4] ** 2)
    assert model.weights() is None
    with pytest.raises(InputError, match=r"layers\['a'\]: got 'int', expected a function"):
        as_model(np.square, X, layers={"a": 3})
    with pytest.raises(InputError, match="a mapping from names to functions"):
        as_model(np.square, X, layers=["a"])


def test_wrong_numbers_of_rows():
    with pytest.raises(InputError, match=r"3 outputs .* for 2 rows of inputs"):
        as_model(lambda x: np.concatenate([x, x[:1]]), X)
    with pytest.raises(InputError, match="expected an array of outputs"):
        as_model(lambda x: None, X)
    late = as_model(lambda x: x[: min(len(x), 5)], X)
    with pytest.raises(InputError, match=r"5 outputs .* for 11 rows"):
        list(late.run())


def test_inputs_are_checked():
    cases = [
        ((X, X[:5]), "11 rows in '0' and 5 in '1'"),
        ({"x": X, "t": X[:2]}, "11 rows in 'x' and 2 in 't'"),
        (np.float64(3), "a single number"),
        (X[:0], "no rows"),
        ({}, "none"),
        (object(), "object"),
        ([[1], [1, 2]], "list"),
    ]
    for inputs, words in cases:
        with pytest.raises(InputError, match="inputs") as caught:
            as_model(np.square, inputs)
        assert words in str(caught.value)
    assert outputs(as_model(np.square, [1, 2, 3])).tolist() == [1, 4, 9]
    assert outputs(as_model(np.add, (X, X))).shape == X.shape


def test_values_that_are_not_models():
    for model, words in ((3, "'int'"), (dict, "the class dict")):
        with pytest.raises(InputError, match=words):
            as_model(model, X)


def test_exceptions_in_the_function():
    def broken(x):
        raise ZeroDivisionError

    with pytest.raises(ModelError, match=r"failed while trying a few rows: ZeroDivisionError$") as caught:
        as_model(broken, X)
    assert caught.value.stage == "while trying a few rows"
    assert caught.value.trace.count("in broken") == 2
    assert "One row at a time" in caught.value.trace
    assert "recombine/auditing" not in caught.value.trace


def test_values_that_are_not_finite_are_passed_on():
    with np.errstate(invalid="ignore"):
        assert np.isnan(outputs(as_model(lambda x: x * np.nan, X))).all()
        assert as_model(lambda x: x * np.nan, X).notes == []


def test_functions_need_no_framework():
    code = (
        "import sys, numpy as np; from recombine.models import as_model;"
        "list(as_model(lambda x: x + 1, np.ones((5, 2))).run());"
        "print([name for name in ('jax', 'torch', 'sklearn', 'equinox') if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ
    )
    assert result.stdout.strip() == "[]"
