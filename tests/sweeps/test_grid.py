"""The algebra of grids."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine import InputError, Part
from recombine.sweeps.grid import grid

PATHS = ["net.width", "net.depth", "recipe.steps", "task.n", "task.low"]
PLAIN = st.one_of(st.integers(-5, 5), st.text(max_size=3), st.floats(allow_nan=False, allow_infinity=False))


@st.composite
def dictionaries(draw):
    paths = draw(st.lists(st.sampled_from(PATHS), unique=True, max_size=4))
    return {path: draw(st.lists(PLAIN, min_size=1, max_size=4, unique_by=lambda v: v)) for path in paths}


@given(dictionaries())
def test_points_are_the_product_and_the_last_axis_changes_fastest(over):
    points = grid(over)
    expected = [dict(zip(over, values, strict=True)) for values in itertools.product(*over.values())]
    assert len(points) == math.prod(map(len, over.values()))
    assert [points[i] for i in range(len(points))] == expected
    assert points.paths == tuple(over)
    assert all(points.values(path) == values for path, values in over.items())


@given(dictionaries())
def test_the_product_given_point_by_point_is_the_same(over):
    points = grid(over)
    if over:
        one_by_one = grid([points[i] for i in range(len(points))])
        assert [one_by_one[i] for i in range(len(points))] == [points[i] for i in range(len(points))]


@given(dictionaries(), st.integers())
def test_points_outside_do_not_exist(over, index):
    points = grid(over)
    if not 0 <= index < len(points):
        with pytest.raises(IndexError):
            points[index]


def test_paths_that_change_together_are_one_axis():
    points = grid({("net.width", "net.depth"): [(8, 1), (16, 2)], "task.n": [3, 4]})
    assert len(points) == 4
    assert points[2] == {"net.width": 16, "net.depth": 2, "task.n": 3}


def test_values_become_those_of_trials():
    points = grid({"net.width": np.array([3, 4]), "net.outputs": [[2, 2]]})
    assert type(points[0]["net.width"]) is int
    assert points[0]["net.outputs"] == (2, 2)
    assert grid({"task.hole": [math.sqrt]})[0] == {"task.hole": Part("math:sqrt")}


@pytest.mark.parametrize(
    ("over", "words"),
    [
        ({"net.width": []}, "net.width: got [], expected at least one value"),
        ({"net.width": [3, 3]}, "net.width: got 3, expected every value once"),
        ({"net.width": [3, 3.0]}, "every value once"),
        ({"net.width": 3}, "net.width: got 3, expected a list of values"),
        ({"net.width": "abc"}, "a list of values"),
        ({"net.width": {3, 4}}, "a list of values"),  # without an order
        ({"task.low": [float("nan")]}, "task.low: got nan, expected finite numbers"),
        ({"task.low": [1.0, float("inf")]}, "got inf"),
        ({"net.width": [np.zeros(2)]}, "plain values, Parts or settings"),
        (
            {("net.width", "net.depth"): [(1, 2), 3]},
            "net.width, net.depth: got 3, expected a tuple of 2 values",
        ),
        (
            {("net.width", "net.depth"): [(1, 2)], "net.width": [3]},
            "got 'net.width', expected every path once",
        ),
        ({(): [1]}, "paths such as 'net.width'"),
        ({3: [1]}, "got 3, expected paths such as"),
        ({"net..width": [1]}, "paths such as"),
        ({"nett.width": [1]}, "begins with task, net or recipe; did you mean 'net'?"),
        ({"seeds": [1]}, "use seeds="),
        ({"task.seed": [1]}, "trials set seed from their seeds; use seeds="),
        ([], "got [], expected at least one point"),
        ([{}], "at least one path in every dictionary"),
        (
            [{"net.width": 1}, {"net.depth": 1}],
            "over[1]: got 'net.depth, net.width', expected the same paths",
        ),
        ([{"net.width": 1}, 3], "over[1]: got 3"),
        ("net.width", "a dictionary of lists by path"),
        (3, "a dictionary of lists by path"),
        ({"task.n": range(10**9)}, "more than 1,000,000 values"),
        ({"task.n": itertools.count()}, "more than 1,000,000 values"),
        (
            {f"task.{letter}": range(1000) for letter in "abc"},
            "got '1,000,000,000 points', expected at most 1,000,000",
        ),
        ({f"task.{'a' * i}": range(10) for i in range(1, 40)}, "points', expected at most 1,000,000"),
    ],
)
def test_what_is_not_a_grid_is_refused(over, words):
    with pytest.raises(InputError) as error:
        grid(over)
    assert words in str(error.value)
    assert "\n" not in str(error.value)
