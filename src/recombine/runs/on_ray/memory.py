"""How much memory a trial needs, roughly: what Ray is asked for, so that a node is not given too many at once."""

from __future__ import annotations

import logging
from typing import Any

from recombine.runs.trial import Trial

_log = logging.getLogger(__name__)

PROCESS = 300 * 2**20
"""A process with NumPy, SciPy and this package."""

COMPILER = 500 * 2**20
"""JAX, and what it takes to compile a program (half a gigabyte for a convolutional net)."""

COPIES_OF_DATA = 3
"""The task's arrays, the same as JAX arrays, and one array that a probe makes from them."""

COPIES_OF_PARAMETERS = 6
"""Parameters, gradients, two moments of Adam, and the state before and after a round."""

COPIES_OF_ACTIVITY = 3
"""Outputs of the stages, their gradients, and what the compiler keeps in between."""

NUMBER = 4  # bytes of a float32


def estimated_memory(trial: Trial) -> int:
    """Bytes that a worker needs to run a trial; rather too many than too few.

    Builds the task of the first seed, and the net's shapes without its numbers. If that fails, the trial will fail in
    the same way when it is run; the estimate is then that of a trial without data.

    ```python
    >>> from recombine.parts import Part
    >>> from recombine.runs import Trial
    >>> from recombine.runs.on_ray.memory import estimated_memory
    >>> trial = Trial(Part("types:SimpleNamespace", n=3), probes=(Part("builtins:vars"),), seeds=(0,))
    >>> estimated_memory(trial) // 2**20
    300

    ```
    """
    memory = PROCESS + (0 if trial.net is None else COMPILER)
    try:
        task = trial.task(seed=trial.seeds[0])
        arrays = [getattr(task, name, None) for name in ("inputs", "targets")]
        data = sum(getattr(array, "nbytes", 0) for array in arrays)
        memory += COPIES_OF_DATA * data * len(trial.seeds)
        if trial.net is not None:
            memory += _training_memory(trial, task) * len(trial.seeds)
    except Exception:
        _log.debug("no estimate of the memory of trial %s", trial, exc_info=True)
    return memory


def _training_memory(trial: Trial, task: Any) -> int:
    import equinox as eqx
    import jax

    from recombine.nets import trace

    assert trial.net is not None
    assert trial.recipe is not None
    net = eqx.filter_eval_shape(trial.net, key=jax.random.key(0))
    batch = trial.recipe.batch_for(len(task.train))
    x = jax.eval_shape(lambda: jax.numpy.zeros((batch, *task.inputs.shape[1:]), task.inputs.dtype))
    _, outputs = eqx.filter_eval_shape(lambda n, x: trace(n, x), net, x)
    parameters, activity = (
        sum(leaf.size for leaf in jax.tree.leaves(tree) if hasattr(leaf, "size")) for tree in (net, outputs)
    )
    return NUMBER * (COPIES_OF_PARAMETERS * parameters + COPIES_OF_ACTIVITY * activity)
