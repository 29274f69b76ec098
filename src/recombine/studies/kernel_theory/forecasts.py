"""Are the forecasts right? Random splits whose errors are forecast first and then measured on trained nets."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.nets import evaluate
from recombine.tasks import Task
from recombine.theory import Determinacy, max_margin, min_norm, named_profile, retention

Values = dict[str, Any]

PROFILE = "relu:1"
"""The salience profile of the trained nets: one hidden layer, lazy."""


def forecast(net: Any, task: Task, *, signs: bool = False) -> Values:
    """The forecast for every unseen cell, and what the trained net does there.

    **Returns:**

    - `determined`: whether the cell is determined at order 1; `retained`: the share of the target that should remain;
        both from the split alone;
    - `predicted`: the error of the exact kernel machine, which also uses the training labels; `measured`: the net's.
        Errors are squared, averaged over outputs, relative to the error of a constant; with `signs` they are 1 for
        a wrong sign and 0 for a right one, and the machine has the maximum margin;
    - `start`: the error to add because a net does not start from 0 but from a random function, of which training
        removes only the part that seen cells determine (0 with `signs`); `sure`: the size of the machine's output.
    """
    space, seen, unseen = task.split.space, task.rows_in, task.rows_out
    train, cells = space.cells[task.cell[seen]], space.cells[task.cell[unseen]]
    targets = task.targets.reshape(len(task.targets), -1).astype(np.float64)
    outputs = evaluate(net, task.inputs[unseen]).reshape(len(unseen), -1)
    kernel = named_profile(PROFILE, len(space.shape))
    gram, across = kernel.gram(train), kernel.gram(cells, train)
    known = Determinacy.of(train, space.shape, 1)
    (retained,) = retention([kernel], train, cells, space.shape)
    if signs:
        machine = max_margin(gram, targets[seen, 0], tolerance=1e-4)(across)[:, None]
        errors = [(guess * targets[unseen] <= 0).mean(axis=1).astype(float) for guess in (machine, outputs)]
        start = np.zeros(len(unseen))
    else:
        machine = np.stack(
            [min_norm(gram, column, offset=True)(across) for column in targets[seen].T], axis=1
        )
        constant = ((targets[unseen] - targets[seen].mean(axis=0)) ** 2).mean()
        errors = [((guess - targets[unseen]) ** 2).mean(axis=1) / constant for guess in (machine, outputs)]
        start = initial_variance(task) * left_over(gram, across) / constant
    return {
        "determined": known.determined(cells).astype(float),
        "retained": retained,
        "predicted": errors[0],
        "measured": errors[1],
        "start": start,
        "sure": np.abs(machine).mean(axis=1),
    }


def initial_variance(task: Task) -> float:
    """Variance of the outputs of an untrained net with one hidden layer on concatenated one-hot codes.

    Weights have variance 2 / fan_in, biases 1 / (3 fan_in), so ReLU units preserve the variance of their input; the
    bias of the output is ignored.
    """
    inputs, factors = task.inputs.shape[1], len(task.split.space.shape)
    return (2 * factors + 1 / 3) / inputs


def left_over(gram: np.ndarray, across: np.ndarray) -> np.ndarray:
    """The share of a random function's variance that its values on seen cells leave undetermined, `(unseen,)`.

    The function is a Gaussian process whose kernel is 1 for a cell with itself: `1 - k G^-1 k'`.
    """
    return 1 - (across * np.linalg.solve(gram, across.T).T).sum(axis=1)
