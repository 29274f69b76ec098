"""Does the forecast come true? Random splits, forecast from the split, then trained on."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.advice import retention
from recombine.nets import evaluate
from recombine.tasks import Task
from recombine.theory import Determinacy, max_margin, min_norm, named_profile

Values = dict[str, Any]

PROFILE = "relu:1"
"""The saliences of the nets that are trained: one hidden layer, lazy."""


def forecast(net: Any, task: Task, *, signs: bool = False) -> Values:
    """What the split foretells of every unseen cell, and what the trained net does there.

    - `determined`: at order 1; `retained`: the share of the truth that should remain, both from the split alone;
    - `foretold`: the error of the exact kernel machine, which knows the training labels too; `measured`: the net's.
        Errors are squared, averaged over outputs, as a share of the error of a constant; with `signs` they are 1 for
        a wrong sign and 0 for a right one, and the machine has the largest margin;
    - `start`: the error to add because a net does not start from 0 but from a random function, of which training
        takes back only what seen cells show (0 with `signs`); `sure`: how far the machine is from 0.
    """
    space, seen, unseen = task.split.space, task.rows_in, task.rows_out
    train, cells = space.cells[task.cell[seen]], space.cells[task.cell[unseen]]
    targets = task.targets.reshape(len(task.targets), -1).astype(np.float64)
    answers = evaluate(net, task.inputs[unseen]).reshape(len(unseen), -1)
    kernel = named_profile(PROFILE, len(space.shape))
    gram, across = kernel.gram(train), kernel.gram(cells, train)
    known = Determinacy.of(train, space.shape, 1)
    (retained,) = retention([kernel], train, cells, space.shape)
    if signs:
        machine = max_margin(gram, targets[seen, 0], tolerance=1e-4)(across)[:, None]
        errors = [(guess * targets[unseen] <= 0).mean(axis=1).astype(float) for guess in (machine, answers)]
        start = np.zeros(len(unseen))
    else:
        machine = np.stack(
            [min_norm(gram, column, offset=True)(across) for column in targets[seen].T], axis=1
        )
        constant = ((targets[unseen] - targets[seen].mean(axis=0)) ** 2).mean()
        errors = [((guess - targets[unseen]) ** 2).mean(axis=1) / constant for guess in (machine, answers)]
        start = initial_variance(task) * left_over(gram, across) / constant
    return {
        "determined": known.determined(cells).astype(float),
        "retained": retained,
        "foretold": errors[0],
        "measured": errors[1],
        "start": start,
        "sure": np.abs(machine).mean(axis=1),
    }


def initial_variance(task: Task) -> float:
    """Variance of the outputs of an untrained net of one hidden layer on one-hot codes side by side.

    Weights have variance 2 / fan_in, biases 1 / (3 fan_in), so ReLU units pass on the variance that they get; the bias
    of the output is left out.
    """
    inputs, factors = task.inputs.shape[1], len(task.split.space.shape)
    return (2 * factors + 1 / 3) / inputs


def left_over(gram: np.ndarray, across: np.ndarray) -> np.ndarray:
    """The share of a random function's variance that its values on seen cells leave open, `(unseen,)`.

    The function is a Gaussian process whose kernel is 1 for a cell with itself: `1 - k G^-1 k'`.
    """
    return 1 - (across * np.linalg.solve(gram, across.T).T).sum(axis=1)
