"""Probes of nets on symbolic tasks, whether symbols are given as such or shown as pictures.

Right answers, margins, additivity, what levels and conjunctions are worth, and how salient they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.errors import InputError
from recombine.nets import evaluate
from recombine.probes.additivity import AdditiveFit, additive_fit, item_slope
from recombine.tasks import Task
from recombine.theory import estimate_salience

Values = dict[str, Any]


def answers(net: Any, task: Task) -> Values:
    """What a net answers for every row, and how right it is on seen and unseen cells.

    - `answers` `(rows,)`; `mse_in`, `mse_out`;
    - `right_in`, `right_out`: share of rows with the right sign (an answer of 0 is wrong); `margin_in`, `margin_out`:
        mean of answer times target, for targets of -1 and 1;
    - the same for `train` and `fresh`, the rows of seen cells that training has and has not, if there are such.

    ```python
    >>> import jax
    >>> from recombine import nets
    >>> from recombine.probes import symbols
    >>> from recombine.tasks import transitive_equivalence
    >>> net = nets.mlp(inputs=8, width=4, depth=1, outputs=1, key=jax.random.key(0))
    >>> symbols.answers(net, transitive_equivalence())["answers"].shape
    (16,)

    ```
    """
    found, targets = evaluate(net, task.inputs)[:, 0].astype(float), task.targets[:, 0].astype(float)
    values: Values = {"answers": found}
    sides = {"in": task.rows_in, "out": task.rows_out}
    if (fresh := np.setdiff1d(task.rows_in, task.train)).size:
        sides |= {"train": np.unique(task.train), "fresh": fresh}
    for side, rows in sides.items():
        if len(rows):
            values[f"mse_{side}"] = ((found[rows] - targets[rows]) ** 2).mean()
            values[f"right_{side}"] = (found[rows] * targets[rows] > 0).mean()
            values[f"margin_{side}"] = (found[rows] * targets[rows]).mean()
    return values


def additivity(net: Any, task: Task) -> Values:
    """Are the net's mean answers for every cell sums over conjunctions seen in training?

    `additive_in`, `additive_out`: shares of variance explained; only the second can fail.

    ```python
    >>> import jax
    >>> from recombine import nets
    >>> from recombine.probes import symbols
    >>> from recombine.tasks import addition
    >>> net = nets.mlp(inputs=18, width=4, depth=1, outputs=1, key=jax.random.key(0))
    >>> symbols.additivity(net, addition())["additive_out"] < 1
    True

    ```
    """
    fit = _fit(net, task)
    return {"additive_in": fit.r2_in, "additive_out": fit.r2_out}


def slopes(net: Any, task: Task) -> Values:
    """What levels are worth to the net against what they are, for factors whose levels are numbers.

    `slope`: mean over factors, over the levels that unseen cells have; `worth` `(factors, levels)`: the coefficients
    plus half the constant, NaN for levels that unseen cells do not have.

    ```python
    >>> import jax
    >>> from recombine import nets
    >>> from recombine.probes import symbols
    >>> from recombine.tasks import addition
    >>> net = nets.mlp(inputs=18, width=4, depth=1, outputs=1, key=jax.random.key(0))
    >>> symbols.slopes(net, addition())["worth"].shape
    (2, 9)

    ```
    """
    fit, space = _fit(net, task), task.split.space
    unseen = space.cells[task.cell[task.rows_out]]
    worth = np.full((len(space.shape), max(space.shape)), np.nan)
    found = []
    for axis, factor in enumerate(space.factors):
        keep = np.unique(unseen[:, axis])
        found.append(item_slope(fit, axis, np.array(factor.levels, dtype=float), keep.tolist()))
        levels = fit.levels[(axis,)][:, 0]
        inside = np.isin(levels, keep)
        worth[axis, levels[inside]] = fit.values[(axis,)][inside] + fit.constant / len(space.shape)
    return {"slope": np.mean(found), "worth": worth}


def conjunctions(net: Any, task: Task) -> Values:
    """What every conjunction that training has is worth to the net.

    `coefficients` `(conjunctions,)`, set of factors by set of factors in the order of `AdditiveFit.values`.

    ```python
    >>> import jax
    >>> from recombine import nets
    >>> from recombine.probes import symbols
    >>> from recombine.tasks import addition
    >>> net = nets.mlp(inputs=18, width=4, depth=1, outputs=1, key=jax.random.key(0))
    >>> symbols.conjunctions(net, addition())["coefficients"].shape
    (35,)

    ```
    """
    return {"coefficients": np.concatenate(list(_fit(net, task).values.values()))}


def salience(net: Any, task: Task, *, stage: str, exemplars: int = 11) -> Values:
    """The salience of conjunctions in a stage of the net, from a few rows of every cell that training does not use.

    - `salience` `(factors,)`: `S(k; C)` for k = 1 to C, a row never being compared with itself; `salience_low`,
        `salience_high`: its interval over resampled cells;
    - `salience_self`: with pairs of a row with itself, which count noise as similarity (as published).

    ```python
    >>> import jax
    >>> from recombine import nets
    >>> from recombine.parts import Part
    >>> from recombine.probes import symbols
    >>> from recombine.tasks import composite_images
    >>> task = composite_images(task=Part("recombine.tasks:addition"), total=340, fresh=3)
    >>> net = nets.image_resnet(channels=2, widths=(2,), blocks=1, key=jax.random.key(0))
    >>> found = symbols.salience(net, task, stage="stem", exemplars=3)
    >>> bool(found["salience_self"][0] < found["salience"][0])
    True

    ```
    """
    rows = np.setdiff1d(np.arange(len(task.inputs)), task.train)
    if not len(rows):
        raise InputError("task", "no row outside training", "fresh rows of every cell")
    place = np.zeros(len(rows), dtype=int)
    for cell in np.unique(task.cell[rows]):
        mine = task.cell[rows] == cell
        place[mine] = np.arange(mine.sum())
    rows = rows[place < exemplars]
    activity, levels = evaluate(net, task.inputs[rows], stage=stage), task.split.space.cells[task.cell[rows]]
    found = estimate_salience(activity, levels, self_pairs=False)
    published = estimate_salience(activity, levels, self_pairs=True, draws=0)
    return {
        "salience": found.order_shares,
        "salience_low": found.interval[:, 0],
        "salience_high": found.interval[:, 1],
        "salience_self": published.order_shares,
    }


def _fit(net: Any, task: Task) -> AdditiveFit:
    """Fits the mean answers of every cell, separately for rows that training has and has not."""
    trained = np.zeros(len(task.inputs), dtype=bool)
    trained[task.train] = True
    kinds, group = np.unique(2 * task.cell + trained, return_inverse=True)
    means = np.bincount(group, weights=evaluate(net, task.inputs)[:, 0]) / np.bincount(group)
    return additive_fit(means, task.split.space.cells[kinds // 2], task.split.seen[kinds // 2])
