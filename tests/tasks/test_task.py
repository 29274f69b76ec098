"""The task: defaults, rows that do not belong to a cell, and everything it refuses."""

import numpy as np
import pytest

from recombine.errors import InputError
from recombine.spaces import Space, Split
from recombine.tasks import Task

SPLIT = Split(Space({"a": 2, "b": 2}), [0, 1, 2])


def task(**changes: object) -> Task:
    settings = {"inputs": np.eye(4), "targets": np.arange(4.0)[:, None]} | changes
    return Task(SPLIT, **settings)


def test_by_default_row_i_is_cell_i_and_seen_cells_are_trained_on() -> None:
    made = task()
    assert made.cell.tolist() == [0, 1, 2, 3]
    assert made.train.tolist() == made.rows_in.tolist() == [0, 1, 2]
    assert made.rows_out.tolist() == [3]
    assert made.inputs.dtype == made.targets.dtype == np.float32


def test_arrays_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        task().inputs[0] = 1


def test_rows_that_are_no_cells_belong_to_neither_side() -> None:
    made = task(latents=np.zeros((4, 2))).with_rows(np.ones((2, 4)), np.ones((2, 1)))
    assert made.cell.tolist() == [0, 1, 2, 3, -1, -1]
    assert made.train.tolist() == [0, 1, 2, 4, 5]
    assert made.rows_in.tolist() == [0, 1, 2]
    assert made.rows_out.tolist() == [3]
    assert np.isnan(made.latents[4:]).all()
    assert task().with_rows(np.ones((1, 4)), np.ones((1, 1)), train=False).train.tolist() == [0, 1, 2]


def test_another_training_set_may_repeat_rows() -> None:
    assert task().trained_on(np.array([1, 1, 0])).train.tolist() == [1, 1, 0]


def test_classes_are_integers() -> None:
    assert task(targets=np.array([0, 1, 1, 0]), kind="classification").targets.dtype == np.int32


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"kind": "ranking"}, "kind: got 'ranking'"),
        ({"targets": np.zeros((3, 1))}, r"rows: got \(4, 3, 4\), expected as many inputs as targets"),
        ({"cell": np.array([0, 1, 2, 4])}, r"cell: got \(0, 4\), expected numbers from -1 to 3"),
        ({"inputs": np.full((4, 4), np.nan)}, "inputs: got 'a value that is not finite in row 0'"),
        (
            {"targets": np.array([[0], [1], [np.inf], [3]])},
            "targets: got 'a value that is not finite in row 2'",
        ),
        ({"train": np.array([], dtype=int)}, "train: got 'no row', expected at least one training row"),
        ({"train": np.array([0, 3])}, "train: got 'row 3', expected rows of seen cells only"),
    ],
)
def test_a_bad_task_is_refused_in_one_line(changes: dict[str, object], line: str) -> None:
    with pytest.raises(InputError, match=line):
        task(**changes)
