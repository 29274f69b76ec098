"""The same rows with other cells held out."""

from __future__ import annotations

from recombine.errors import InputError
from recombine.parts import Part
from recombine.spaces import Split, random_hole
from recombine.tasks.task import Task


def with_random_hole(*, task: Part, held_out: int, seed: int = 0) -> Task:
    """A task whose rows are its cells, with `held_out` random cells unseen instead of its own.

    **Arguments:**

    - `task`: the task as a part, built with its own seed 0.
    - `seed`: of the hole; every level of every factor stays seen.

    ```python
    >>> from recombine import Part
    >>> from recombine.tasks import addition, with_random_hole
    >>> with_random_hole(task=Part(addition), held_out=30, seed=1).split
    Split(first 9 × second 9: 51 seen, 30 unseen)

    ```
    """
    base = task()
    if not isinstance(base, Task) or len(base.cell) != base.split.space.n_cells:
        raise InputError("task", task.name, "a task with one row for every cell")
    hole = random_hole(base.split.space, held_out=held_out, seed=seed)
    split = Split(base.split.space, ~hole)
    return Task(
        split, base.inputs, base.targets, base.kind, base.cell, latents=base.latents, blank=base.blank
    )
