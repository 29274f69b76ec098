"""The error on images that a net was not trained on, for tasks with and without unseen combinations."""

from __future__ import annotations

from typing import Any

from recombine.metrics import squared_error
from recombine.nets import evaluate
from recombine.probes.decoders import cell_rows, is_trained
from recombine.tasks import Task


def held_out_error(net: Any, task: Task) -> dict[str, Any]:
    """Mean squared error on unseen cells, or, if nothing is unseen, on all rows that were not trained on.

    **Returns:** `held_out_error`, and `held_out_blank`, the error of a blank image on the same rows.

    ```python
    >>> import jax
    >>> from recombine import nets
    >>> from recombine.studies.forced_rendering.held_out_error import held_out_error
    >>> from recombine.tasks import bumps_real
    >>> task = bumps_real(n=8, p=None, train=20, test_out="grid")
    >>> net = nets.mlp(inputs=16, width=8, depth=1, outputs=(8, 8), key=jax.random.key(0))
    >>> sorted(held_out_error(net, task))
    ['held_out_blank', 'held_out_error']

    ```
    """
    rows, seen = cell_rows(task)
    rows = rows[~seen] if (~seen).any() else rows[~is_trained(task, rows)]
    targets = task.targets[rows]
    return {
        "held_out_error": squared_error(evaluate(net, task.inputs[rows]), targets).mean(),
        "held_out_blank": ((targets - task.blank) ** 2).mean(),
    }
