"""Probes of nets on symbolic tasks: right answers, margins, additivity, and the slope of what each level is worth."""

from __future__ import annotations

from typing import Any

import numpy as np

from recombine.nets import evaluate
from recombine.probes.additivity import additive_fit, item_slope
from recombine.tasks import Task

Values = dict[str, Any]


def answers(net: Any, task: Task) -> Values:
    """What a net answers for every row, and how right it is on seen and unseen cells.

    - `answers` `(rows,)`; `mse_in`, `mse_out`;
    - `right_in`, `right_out`: share of rows with the right sign (an answer of 0 is wrong); `margin_in`, `margin_out`:
        mean of answer times target, for targets of -1 and 1.

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
    for side, rows in (("in", task.rows_in), ("out", task.rows_out)):
        if len(rows):
            values[f"mse_{side}"] = ((found[rows] - targets[rows]) ** 2).mean()
            values[f"right_{side}"] = (found[rows] * targets[rows] > 0).mean()
            values[f"margin_{side}"] = (found[rows] * targets[rows]).mean()
    return values


def additivity(net: Any, task: Task) -> Values:
    """Are the net's answers sums over conjunctions seen in training? For rows that are cells, one each.

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


def _fit(net: Any, task: Task) -> Any:
    found = evaluate(net, task.inputs)[:, 0]
    return additive_fit(found, task.split.space.cells[task.cell], task.split.seen[task.cell])
