"""Rows drawn for a teacher: one task, or two tasks that share a net with one readout each."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from recombine.errors import InputError
from recombine.tasks.modular import train_and_test
from recombine.tasks.task import Task
from recombine.tasks.teachers.teacher import Teacher


def sphere_inputs(rows: int, inputs: int, rng: np.random.Generator) -> Float[np.ndarray, "rows inputs"]:
    """Rows drawn uniformly from the sphere on which the mean square is 1."""
    x = rng.normal(size=(rows, inputs))
    return x / np.sqrt((x**2).mean(axis=1, keepdims=True))


def teacher_task(teacher: Teacher, *, train: int, test: int = 10_000, seed: int = 0) -> Task:
    """Training and test rows of one teacher, without noise.

    `seed` determines the rows, and nothing about the teacher.

    ```python
    >>> from recombine.tasks import relu_teachers, teacher_task
    >>> teacher_task(relu_teachers().main, train=32, test=100)
    Task(regression, 132 rows, inputs (15,), targets (1,), 32 in training; part 2: 1 seen, 1 unseen)

    ```
    """
    for name, value in (("train", train), ("test", test)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InputError(name, value, "a positive whole number")
    # Test rows have a stream of their own, so that more training rows leave them as they are.
    parts = [
        sphere_inputs(rows, teacher.directions.shape[1], np.random.default_rng([seed, stream]))
        for stream, rows in enumerate((train, test))
    ]
    x = np.concatenate(parts)
    split, cell = train_and_test(train, test)
    return Task(split, x, teacher(x)[:, None], cell=cell)


def pooled_task(first: Task, second: Task) -> Task:
    """Two tasks in one training set; two further inputs say which of them a row belongs to.

    Test rows are those of the second task.

    ```python
    >>> from recombine.tasks import pooled_task, relu_teachers, teacher_task
    >>> aux, main = (teacher_task(t, train=n, test=10) for t, n in zip(relu_teachers(), (64, 8)))
    >>> pooled_task(aux, main)
    Task(regression, 82 rows, inputs (17,), targets (1,), 72 in training; part 2: 1 seen, 1 unseen)

    ```
    """
    if (
        first.inputs.shape[1:] != second.inputs.shape[1:]
        or first.targets.shape[1:] != second.targets.shape[1:]
    ):
        raise InputError("tasks", (first, second), "two tasks with as many inputs and outputs")
    rows = [(first, first.train, 0), (second, second.train, 1), (second, second.rows_out, 1)]
    inputs = [
        np.hstack([task.inputs[taken], np.tile(np.eye(2)[head], (len(taken), 1))])
        for task, taken, head in rows
    ]
    targets = [task.targets[taken] for task, taken, _ in rows]
    split, cell = train_and_test(len(first.train) + len(second.train), len(second.rows_out))
    return Task(split, np.concatenate(inputs), np.concatenate(targets), cell=cell)
