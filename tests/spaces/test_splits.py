"""Splits and holes: the published counts, what is refused, and splits read from tables."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recombine.errors import InputError
from recombine.spaces import (
    Space,
    Split,
    centre_hole,
    corner_hole,
    cross_hole,
    fraction_hole,
    masked_hole,
    random_hole,
)

SQUARE = Space({"x": 28, "y": 28})


@pytest.mark.parametrize(
    ("n", "hole", "seen", "unseen"),
    [
        (28, lambda s: centre_hole(s, low=6, high=22), 495, 289),
        (28, lambda s: centre_hole(s, low=10, high=18), 703, 81),
        (32, lambda s: corner_hole(s, low=12), 624, 400),
        (28, lambda s: corner_hole(s, low=14), 588, 196),
        (28, lambda s: fraction_hole(s, p=0.5, where="corner"), 588, 196),
        (28, lambda s: fraction_hole(s, p=0.5), 588, 196),
    ],
)
def test_published_counts(n: int, hole, seen: int, unseen: int) -> None:
    space = Space({"x": n, "y": n})
    split = Split(space, ~hole(space))
    assert (split.seen.sum(), split.unseen.sum()) == (seen, unseen)


@given(st.integers(3, 12), st.integers(1, 3), st.data())
def test_a_centre_hole_is_a_cube(n: int, factors: int, data: st.DataObject) -> None:
    low = data.draw(st.integers(0, n - 1))
    high = data.draw(st.integers(low, n - 1))
    space = Space({f"f{i}": n for i in range(factors)})
    assert centre_hole(space, low=low, high=high).sum() == (high - low + 1) ** factors
    assert corner_hole(space, low=low).sum() == (n - low) ** factors
    outside = n - (high - low + 1)
    assert cross_hole(space, low=low, high=high).sum() == n**factors - outside**factors


@given(st.lists(st.integers(2, 5), min_size=2, max_size=3), st.data())
def test_masks_of_either_shape_and_cell_numbers_agree(shape: list[int], data: st.DataObject) -> None:
    space = Space({f"f{i}": size for i, size in enumerate(shape)})
    flags = data.draw(st.lists(st.booleans(), min_size=space.n_cells, max_size=space.n_cells))
    mask = np.array(flags)
    mask[0] = True
    ways = [mask, mask.reshape(shape), np.flatnonzero(mask)]
    splits = [Split(space, way, allow_unseen_levels=True) for way in ways]
    for split in splits:
        np.testing.assert_array_equal(split.seen, mask)
        np.testing.assert_array_equal(split.unseen, ~mask)
    np.testing.assert_array_equal(masked_hole(space, mask=mask.reshape(shape).tolist()), mask)


def test_a_hidden_level_is_refused_unless_allowed() -> None:
    hole = cross_hole(SQUARE, low=10, high=17)
    with pytest.raises(InputError, match="hole: got 'every cell with x = 10', expected a hole that leaves"):
        Split(SQUARE, ~hole)
    assert Split(SQUARE, ~hole, allow_unseen_levels=True).seen.sum() == 400


@pytest.mark.parametrize(
    ("build", "line"),
    [
        (lambda: Split(SQUARE, np.zeros(784, dtype=bool)), "seen: got 'no cell', expected at least one seen"),
        (lambda: Split(SQUARE, np.ones(783, dtype=bool)), r"mask: got \(783,\), expected shape \(28, 28\)"),
        (lambda: Split(SQUARE, [0, 784]), "cell numbers below 784"),
        (lambda: Split(SQUARE, [-1]), "cell numbers below 784"),
        (lambda: Split(SQUARE, np.array([np.nan])), "a boolean mask, or cell numbers"),
        (lambda: centre_hole(SQUARE, low=5, high=4), r"hole: got \(5, 4\), expected low <= high"),
        (lambda: fraction_hole(SQUARE, p=1.0), "p: got 1.0, expected a fraction strictly between 0 and 1"),
        (lambda: fraction_hole(SQUARE, p=0.5, where="left"), "where: got 'left'"),
        (
            lambda: masked_hole(SQUARE, mask=np.zeros((3, 3))),
            r"mask: got \(3, 3\), expected shape \(28, 28\)",
        ),
        (lambda: masked_hole(SQUARE, mask=np.full(784, np.nan)), "only true and false"),
    ],
)
def test_bad_splits_are_refused_in_one_line(build, line: str) -> None:
    with pytest.raises(InputError, match=line):
        build()


@pytest.mark.parametrize("frame", [dict, pl.DataFrame, pd.DataFrame])
def test_a_split_from_any_table(frame) -> None:
    table = frame(
        {
            "colour": ["red", "blue", "red", "blue", "red"],
            "size": [2, 1, 1, 2, 2],
            "train": [True, True, False, True, False],
        }
    )
    split, rows = Split.from_table(table, factors=["colour", "size"], seen="train")
    assert split.space == Space({"colour": ["blue", "red"], "size": [1, 2]})
    assert rows.tolist() == [3, 0, 2, 1, 3]
    assert split.seen.tolist() == [True, True, False, True]


def test_a_bad_table_is_refused_in_one_line() -> None:
    table = {"a": [0, 1], "train": [1, 2]}
    with pytest.raises(InputError, match="column 'train' is not true or false"):
        Split.from_table(table, factors=["a"], seen="train")
    with pytest.raises(
        InputError, match=r"factors: got 'b', expected a column of the table \(columns: a, train\)"
    ):
        Split.from_table(table, factors=["b"], seen="train")
    many = np.arange(10_000)
    with pytest.raises(InputError, match=r"space: got '3 factors with 1e\+12 combinations'"):
        Split.from_table(None, factors={"a": many, "b": many, "c": many}, seen=many > 0)


def test_a_split_takes_what_advise_takes(tmp_path) -> None:
    table = {"colour": ["red", "blue", "red", "blue"], "size": [2, 1, 1, 2]}
    marks, names = [True, True, True, False], ["train", "train", "train", "test"]
    pl.DataFrame(table | {"split": names}).write_csv(tmp_path / "rows.csv")
    splits = [
        Split.from_table(table | {"train": marks}, factors="colour,size", seen="train"),
        Split.from_table(table, factors=["colour", "size"], seen=np.array(marks)),
        Split.from_table(None, factors=table, seen=marks),
        Split.from_table(tmp_path / "rows.csv", factors=["colour", "size"], seen="split=train"),
    ]
    for split, rows in splits:
        assert split.space == Space({"colour": ["blue", "red"], "size": [1, 2]})
        assert rows.tolist() == [3, 0, 2, 1]
        assert split.seen.tolist() == [True, False, True, True]


@given(st.integers(0, 1000), st.integers(1, 9))
def test_a_random_hole_leaves_every_level_seen(seed, held_out):
    space = Space({"x": 4, "y": 4})
    hole = random_hole(space, held_out=held_out, seed=seed)
    assert hole.sum() == held_out
    Split(space, ~hole)


def test_a_random_hole_has_a_limit():
    with pytest.raises(InputError, match="held_out: got 16"):
        random_hole(Space({"x": 4, "y": 4}), held_out=16, seed=0)
