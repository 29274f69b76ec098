"""Full-batch gradient descent to a target loss in double precision, for many small problems in one compiled program.

`recombine.fit` trains nets in single precision for a given time. Here a model is any function of arrays; training goes
on until its loss is below a target such as 1e-10, which single precision cannot reach, and starts again with a tenth
of the learning rate if it diverges.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PyTree

from recombine.errors import InputError

Loss = Callable[[PyTree, PyTree], Array]
"""From parameters and data of one problem to a number."""


@dataclass(frozen=True, eq=False)
class Descended:
    """What gradient descent ended at, for every problem.

    - `parameters`: the last ones, as NumPy arrays with the problems as first axis.
    - `loss`: the last training loss.
    - `steps`: taken since the last restart.
    - `rate`: the learning rate of the last start.
    - `status`: `"reached"` the target, `"stopped"` after the maximum of steps, or `"diverged"` at every rate.
    - `best`, `final`: the lowest and the last test loss, if there is a test.
    """

    parameters: PyTree
    loss: Float[np.ndarray, " problems"]
    steps: Int[np.ndarray, " problems"]
    rate: Float[np.ndarray, " problems"]
    status: tuple[str, ...]
    best: Float[np.ndarray, " problems"] | None
    final: Float[np.ndarray, " problems"] | None


def descend(
    loss: Loss,
    parameters: PyTree,
    data: PyTree,
    *,
    rate: float,
    target: float,
    steps: int,
    test: Loss | None = None,
    test_every: int = 50,
    diverge_above: float = 100.0,
    restarts: int = 4,
) -> Descended:
    """Trains every problem by gradient descent until its loss is at most `target`, or for `steps` steps.

    **Arguments:**

    - `loss`: of one problem.
    - `parameters`, `data`: arrays with the problems as first axis.
    - `rate`: the learning rate; a tenth of it after every divergence, at most `restarts` times.
    - `test`: another number of one problem, recorded every `test_every` steps and at the end.
    - `diverge_above`: a loss above this, or one that is not finite, is a divergence.

    ```python
    >>> import numpy as np
    >>> from recombine.training import descend
    >>> x, y = np.array([[[2.0, 0.0], [0.0, 1.0]]]), np.array([[2.0, 1.0]])
    >>> ended = descend(
    ...     lambda b, d: ((d[0] @ b - d[1]) ** 2).mean(), np.zeros((1, 2)), (x, y), rate=0.2, target=1e-20, steps=1000
    ... )
    >>> ended.status, bool(np.allclose(ended.parameters, 1, atol=1e-9))
    (('reached',), True)

    ```
    """
    for name, value in (("rate", rate), ("target", target), ("steps", steps), ("test_every", test_every)):
        if not value > 0:
            raise InputError(name, value, "a positive number")
    with jax.enable_x64(True):
        start = jax.tree.map(lambda a: jnp.asarray(a, jnp.float64), parameters)
        data = jax.tree.map(jnp.asarray, data)
        count = len(jax.tree.leaves(start)[0])
        state = start
        rates = np.full(count, float(rate))
        taken, left = np.zeros(count, dtype=int), np.full(count, restarts)
        status = np.full(count, "", dtype=object)
        measure = jax.jit(jax.vmap(test)) if test is not None else None
        best = None if measure is None else np.asarray(measure(state, data))
        losses = np.full(count, np.inf)
        while (active := status == "").any():
            limits = np.where(active, np.minimum(test_every, steps - taken), 0)
            arguments = (jnp.asarray(rates), jnp.asarray(limits), target, diverge_above)
            state, found, done = _advance(loss, state, data, *arguments)
            losses = np.where(active, np.asarray(found), losses)
            taken += np.where(active, np.asarray(done), 0)
            lost = active & ~(losses <= diverge_above)
            status[active & (losses <= target)] = "reached"
            status[active & ~lost & (status == "") & (taken >= steps)] = "stopped"
            status[lost & (left == 0)] = "diverged"
            again = lost & (left > 0)
            if again.any():
                rates[again], taken[again], left[again] = rates[again] / 10, 0, left[again] - 1
                mask = jnp.asarray(again)
                state = jax.tree.map(lambda s, a, m=mask: jnp.where(_like(m, s), a, s), state, start)
            if measure is not None and best is not None:
                now = np.asarray(measure(state, data))
                best = np.where(active & (now < best), now, best)
        final = None if measure is None else np.asarray(measure(state, data))
        ended = jax.tree.map(np.asarray, state)
    return Descended(ended, losses, taken, rates, tuple(status), best, final)


def _like(mask: Array, leaf: Array) -> Array:
    return mask.reshape(-1, *[1] * (leaf.ndim - 1))


@eqx.filter_jit
def _advance(
    loss: Loss, state: PyTree, data: PyTree, rates: Array, limits: Array, target: float, ceiling: float
) -> tuple[PyTree, Array, Array]:
    """Up to `limits` steps of every problem; fewer if it reaches the target or diverges on the way."""

    def one(mine: tuple[PyTree, PyTree, Array, Array]) -> tuple[PyTree, Array, Array]:
        parameters, data, rate, limit = mine

        def go_on(carry: tuple[PyTree, Array, Array]) -> Array:
            _, value, step = carry
            return (step < limit) & (value > target) & (value <= ceiling)

        def step(carry: tuple[PyTree, Array, Array]) -> tuple[PyTree, Array, Array]:
            parameters, _, taken = carry
            value, slope = jax.value_and_grad(loss)(
                parameters, data
            )  # the value before the step comes for free
            return jax.tree.map(lambda p, g: p - rate * g, parameters, slope), value, taken + 1

        start = (parameters, loss(parameters, data), jnp.int64(0))
        parameters, _, taken = jax.lax.while_loop(go_on, step, start)
        return parameters, loss(parameters, data), taken

    return jax.lax.map(one, (state, data, rates, limits))
