"""Probes of nets on symbolic tasks, with one-hot symbols or images as inputs.

They measure accuracy, margins, additivity, the contributions of levels and conjunctions, and their salience.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.metrics.additivity import AdditiveFit, additive_fit, item_slope
from recombine.nets import evaluate
from recombine.tasks import Task
from recombine.theory import estimate_salience

Values = dict[str, Any]


def predictions(net: Any, task: Task) -> Values:
    """The net's prediction for every row, and its accuracy on seen and unseen cells.

    **Returns:**

    - `predictions` `(rows,)`; `mse_in`, `mse_out`;
    - `right_in`, `right_out`: share of rows with the right sign (a prediction of 0 is wrong); `margin_in`,
        `margin_out`: mean of prediction times target, for targets of -1 and 1;
    - the same for `train` and `fresh`: the rows of seen cells that are and are not in the training set, if any.

    ```python
    >>> import jax
    >>> from recombine import nets
    >>> from recombine.studies.kernel_theory import symbol_probes
    >>> from recombine.tasks import transitive_equivalence
    >>> net = nets.mlp(inputs=8, width=4, depth=1, outputs=1, key=jax.random.key(0))
    >>> symbol_probes.predictions(net, transitive_equivalence())["predictions"].shape
    (16,)

    ```
    """
    outputs, targets = evaluate(net, task.inputs)[:, 0].astype(float), task.targets[:, 0].astype(float)
    values: Values = {"predictions": outputs}
    sides = {"in": task.rows_in, "out": task.rows_out}
    if (fresh := np.setdiff1d(task.rows_in, task.train)).size:
        sides |= {"train": np.unique(task.train), "fresh": fresh}
    for side, rows in sides.items():
        if len(rows):
            values[f"mse_{side}"] = ((outputs[rows] - targets[rows]) ** 2).mean()
            values[f"right_{side}"] = (outputs[rows] * targets[rows] > 0).mean()
            values[f"margin_{side}"] = (outputs[rows] * targets[rows]).mean()
    return values


def additivity(net: Any, task: Task) -> Values:
    """Are the net's mean predictions for every cell sums over conjunctions seen in training?

    `additive_in`, `additive_out`: shares of variance explained; only the second can fail.

    ```python
    >>> import jax
    >>> from recombine import nets
    >>> from recombine.studies.kernel_theory import symbol_probes
    >>> from recombine.tasks import addition
    >>> net = nets.mlp(inputs=18, width=4, depth=1, outputs=1, key=jax.random.key(0))
    >>> symbol_probes.additivity(net, addition())["additive_out"] < 1
    True

    ```
    """
    fit = _fit(net, task)
    return {"additive_in": fit.r2_in, "additive_out": fit.r2_out}


def slopes(net: Any, task: Task) -> Values:
    """The contribution of each level to the net's output compared with its value, for factors whose levels are numbers.

    `slope`: mean over factors, over the levels of unseen cells; `worth` `(factors, levels)`: the coefficients
    plus half the constant, NaN for levels that no unseen cell has.

    ```python
    >>> import jax
    >>> from recombine import nets
    >>> from recombine.studies.kernel_theory import symbol_probes
    >>> from recombine.tasks import addition
    >>> net = nets.mlp(inputs=18, width=4, depth=1, outputs=1, key=jax.random.key(0))
    >>> symbol_probes.slopes(net, addition())["worth"].shape
    (2, 9)

    ```
    """
    fit, space = _fit(net, task), task.split.space
    unseen = space.cells[task.cell[task.rows_out]]
    worth = np.full((len(space.shape), max(space.shape)), np.nan)
    values = []
    for axis, factor in enumerate(space.factors):
        keep = np.unique(unseen[:, axis])
        values.append(item_slope(fit, axis, np.array(factor.levels, dtype=float), keep.tolist()))
        levels = fit.levels[(axis,)][:, 0]
        inside = np.isin(levels, keep)
        worth[axis, levels[inside]] = fit.values[(axis,)][inside] + fit.constant / len(space.shape)
    return {"slope": np.mean(values), "worth": worth}


def conjunctions(net: Any, task: Task) -> Values:
    """The coefficient of every conjunction in training in an additive fit to the net's predictions.

    `coefficients` `(conjunctions,)`, one set of factors after another in the order of `AdditiveFit.values`.

    ```python
    >>> import jax
    >>> from recombine import nets
    >>> from recombine.studies.kernel_theory import symbol_probes
    >>> from recombine.tasks import addition
    >>> net = nets.mlp(inputs=18, width=4, depth=1, outputs=1, key=jax.random.key(0))
    >>> symbol_probes.conjunctions(net, addition())["coefficients"].shape
    (35,)

    ```
    """
    return {"coefficients": np.concatenate(list(_fit(net, task).values.values()))}


def salience(net: Any, task: Task, *, stage: str, exemplars: int = 11) -> Values:
    """The salience of conjunctions in a stage of the net, from a few rows of every cell that are not in training.

    **Returns:**

    - `salience` `(factors,)`: `S(k; C)` for k = 1 to C, without comparing a row with itself; `salience_low`,
        `salience_high`: its interval over resampled cells;
    - `salience_self`: including pairs of a row with itself, which count noise as similarity (as published).

    ```python
    >>> import jax
    >>> from recombine import nets
    >>> from recombine.parts import Part
    >>> from recombine.studies.kernel_theory import symbol_probes
    >>> from recombine.tasks import composite_images
    >>> task = composite_images(task=Part("recombine.tasks:addition"), total=340, fresh=3)
    >>> net = nets.image_resnet(channels=2, widths=(2,), blocks=1, key=jax.random.key(0))
    >>> values = symbol_probes.salience(net, task, stage="stem", exemplars=3)
    >>> bool(values["salience_self"][0] < values["salience"][0])
    True

    ```
    """
    rows = np.setdiff1d(np.arange(len(task.inputs)), task.train)
    if not len(rows):
        raise InputError("task", "no row outside training", "fresh rows of every cell")
    number = np.zeros(len(rows), dtype=int)
    for cell in np.unique(task.cell[rows]):
        mine = task.cell[rows] == cell
        number[mine] = np.arange(mine.sum())
    rows = rows[number < exemplars]
    activity, levels = evaluate(net, task.inputs[rows], stage=stage), task.split.space.cells[task.cell[rows]]
    values = estimate_salience(activity, levels, self_pairs=False)
    published = estimate_salience(activity, levels, self_pairs=True, draws=0)
    return {
        "salience": values.order_shares,
        "salience_low": values.interval[:, 0],
        "salience_high": values.interval[:, 1],
        "salience_self": published.order_shares,
    }


def _fit(net: Any, task: Task) -> AdditiveFit:
    """Fits the mean predictions of every cell, separately for rows that are and are not in training."""
    trained = np.zeros(len(task.inputs), dtype=bool)
    trained[task.train] = True
    kinds, group = np.unique(2 * task.cell + trained, return_inverse=True)
    means = np.bincount(group, weights=evaluate(net, task.inputs)[:, 0]) / np.bincount(group)
    return additive_fit(means, task.split.space.cells[kinds // 2], task.split.seen[kinds // 2])
