"""Other cells held out, everything else as it was."""

import numpy as np
import pytest

from recombine import Part
from recombine.errors import InputError
from recombine.tasks import addition, bumps, transitive_ordering, with_random_hole


def test_rows_and_targets_stay():
    base = addition()
    task = with_random_hole(task=Part(addition), held_out=20, seed=3)
    np.testing.assert_array_equal(task.inputs, base.inputs)
    np.testing.assert_array_equal(task.targets, base.targets)
    assert len(task.rows_out) == 20
    assert not np.array_equal(
        task.split.seen, with_random_hole(task=Part(addition), held_out=20, seed=4).split.seen
    )


def test_images_keep_their_background():
    assert with_random_hole(task=Part(bumps, n=8), held_out=5).blank == 1.0


def test_a_task_without_a_row_for_every_cell_is_refused():
    with pytest.raises(InputError, match="one row for every cell"):
        with_random_hole(task=Part(transitive_ordering), held_out=3)
