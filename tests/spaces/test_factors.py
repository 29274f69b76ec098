"""Spaces: known answers, and that numbering cells and naming them are inverse to each other."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine import errors
from recombine.spaces import Factor, Space

shapes = st.lists(st.integers(1, 5), min_size=1, max_size=4)


def space_of(shape: list[int]) -> Space:
    return Space({f"f{i}": size for i, size in enumerate(shape)})


def test_cells_run_in_c_order() -> None:
    space = Space({"a": 2, "b": ["p", "q", "r"]})
    assert space.cells.tolist() == [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]
    assert space.describe(5) == {"a": 1, "b": "r"}
    assert (space.names, space.shape, space.n_cells) == (("a", "b"), (2, 3), 6)


@given(shapes)
def test_index_is_the_inverse_of_cells(shape: list[int]) -> None:
    space = space_of(shape)
    assert space.n_cells == np.prod(shape)
    np.testing.assert_array_equal(space.index(space.cells), np.arange(space.n_cells))


@given(shapes)
def test_grid_puts_every_value_at_its_levels(shape: list[int]) -> None:
    space = space_of(shape)
    grid = space.grid(np.arange(space.n_cells))
    assert grid.shape == tuple(shape)
    assert [grid[tuple(cell)] for cell in space.cells] == list(range(space.n_cells))


def test_spaces_are_equal_by_their_factors_and_hashable() -> None:
    assert Space({"a": 2}) == Space({"a": [0, 1]})
    assert Space({"a": 2}) != Space({"b": 2})
    assert len({Space({"a": 2}), Space({"a": 2})}) == 1


def test_cells_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        Space({"a": 2}).cells[0] = 1


@pytest.mark.parametrize(
    ("build", "line"),
    [
        (lambda: Space({}), "factors: got {}, expected at least one factor"),
        (lambda: Space({"a": 0}), "factor 'a': got 0, expected a positive number of levels"),
        (lambda: Space({"a": []}), r"factor 'a': got \(\), expected at least one level"),
        (
            lambda: Space({"a": ["u", "v", "u"]}),
            "factor 'a': got 'u', expected levels that are all different",
        ),
        (lambda: Factor("a", ()), "at least one level"),
        (lambda: Space({"a": 2}).axis("b"), "factor: got 'b', expected one of a"),
        (lambda: Space({"a": 2}).grid([1, 2, 3]), r"values: got \(3,\), expected one row for each of the 2"),
    ],
)
def test_bad_spaces_are_refused_in_one_line(build, line: str) -> None:
    with pytest.raises(errors.InputError, match=line):
        build()
