"""What an arm trains on: never an unseen cell, except those that `advise` proposes."""

from __future__ import annotations

import numpy as np
import pytest

from recombine.parts import Part
from recombine.studies.remedies.prepared_task import held_out_cells, prepared_task
from recombine.studies.remedies.proposed_cells import proposed_cells
from recombine.studies.remedies.worlds import worlds

WORLDS = {world.name: world for world in worlds("smoke")}


@pytest.mark.parametrize("name", WORLDS)
def test_tuning_never_touches_unseen_cells(name: str) -> None:
    whole = WORLDS[name].task(seed=3)
    task = prepared_task(task=WORLDS[name].task, held_out=0.2, seed=3)
    unseen = {row.tobytes() for row in whole.inputs[whole.rows_out]}
    assert not unseen & {row.tobytes() for row in task.inputs}
    assert len(task.rows_out) > 0
    assert not set(task.train) & set(task.rows_out)
    assert len(task.train) < len(whole.train)


@pytest.mark.parametrize("name", WORLDS)
def test_held_out_cells_leave_every_level_in_training(name: str) -> None:
    split = WORLDS[name].task(seed=1).split
    if len(split.space.shape) < 2:
        pytest.skip("no combinations of factors")
    held = held_out_cells(split, 0.2, seed=1)
    assert held.any()
    assert not (held & ~split.seen).any()
    for axis in range(len(split.space.shape)):
        levels = split.space.cells[:, axis]
        assert set(levels[split.seen & ~held]) == set(levels[split.seen])


def test_proposed_cells_are_trained_in_one_arm_and_tested_in_none() -> None:
    world = WORLDS["context dependence"]
    whole = world.task(seed=0)
    proposed = proposed_cells(whole)
    assert 0 < proposed.sum() <= (~whole.split.seen).sum() / 2
    assert not (proposed & whole.split.seen).any()
    plain = prepared_task(task=world.task)
    added = prepared_task(task=world.task, additions=True)
    np.testing.assert_array_equal(plain.rows_out, added.rows_out)
    np.testing.assert_array_equal(plain.rows_in, added.rows_in)
    assert not proposed[plain.cell[plain.rows_out]].any()
    new = np.setdiff1d(added.train, plain.train)
    np.testing.assert_array_equal(np.sort(whole.cell[new]), np.flatnonzero(proposed))


@pytest.mark.parametrize("name", [n for n, w in WORLDS.items() if isinstance(w.alone, Part)])
def test_single_factors_add_rows_that_show_no_cell(name: str) -> None:
    world = WORLDS[name]
    assert isinstance(world.alone, Part)
    plain = prepared_task(task=world.task)
    more = prepared_task(task=world.task, alone=world.alone, repeats=2)
    rows = np.setdiff1d(more.train, plain.train)
    assert len(rows) > 0
    assert len(rows) % 2 == 0
    assert (more.cell[rows] == -1).all()
    np.testing.assert_array_equal(more.rows_out, plain.rows_out)


def test_a_summand_alone_is_its_own_sum() -> None:
    world = WORLDS["addition"]
    task = world.task()
    inputs, targets = world.alone(task)  # type: ignore[operator]
    # The codes of the two summands of a cell add up to the cell's code, and their values to its target.
    first, second = task.split.space.cells[10]
    np.testing.assert_allclose(inputs[first] + inputs[9 + second], task.inputs[10])
    np.testing.assert_allclose(targets[first] + targets[9 + second], task.targets[10])
