"""Proximal gradient descent: a smooth loss plus a penalty that sets whole groups of parameters to exactly zero.

A penalty such as a group norm has no gradient where a group vanishes, which is where it acts. A proximal step takes a
gradient step on the loss alone, and then shrinks the parameters by the penalty's own rule (`shrink`). Steps are
accelerated, and start afresh where acceleration overshoots (Beck & Teboulle 2009; O'Donoghue & Candès 2015).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, PyTree

from recombine.errors import InputError
from recombine.training.descent import Loss

Shrink = Callable[[PyTree, Any], PyTree]
"""From parameters and a threshold to the parameters that minimise threshold · penalty + half the squared distance."""


@dataclass(frozen=True, eq=False)
class ProximalDescent:
    """What proximal gradient descent ended at.

    - `parameters`: at the last strength, as NumPy arrays.
    - `loss`: without the penalty, at the end of each strength.
    - `steps`: taken at each strength.
    - `settled`: whether the last strength ended because parameters no longer changed.
    """

    parameters: PyTree
    loss: tuple[float, ...]
    steps: tuple[int, ...]
    settled: bool


def descend_proximal(
    loss: Loss,
    parameters: PyTree,
    data: PyTree,
    shrink: Shrink,
    *,
    strengths: Sequence[float],
    rate: float = 1.0,
    tolerance: float = 1e-10,
    steps: int = 100_000,
) -> ProximalDescent:
    """Minimises `loss + strength · penalty` for every strength in turn, each from where the one before it ended.

    Falling strengths lead to the interpolant of smallest penalty. For a convex loss the result is the global minimum.

    **Arguments:**

    - `loss`: from parameters and data to a number, with a gradient everywhere.
    - `shrink`: the penalty's proximal rule, such as `recombine.remedies.shrink_groups`.
    - `rate`: the learning rate to begin with; halved until steps are short enough for the loss.
    - `tolerance`: a strength has settled if a step changes no parameter by more than this share of the largest one.
    - `steps`: at most so many for each strength.

    ```python
    >>> import numpy as np
    >>> from recombine.remedies import shrink_groups
    >>> from recombine.training import descend_proximal
    >>> target = np.array([[3.0, 0.1], [4.0, 0.1]])  # two tasks, two features
    >>> loss = lambda beta, y: 0.5 * ((beta - y) ** 2).sum()
    >>> found = descend_proximal(loss, np.zeros((2, 2)), target, shrink_groups, strengths=[1.0])
    >>> found.parameters.round(6) + 0.0  # the large feature loses length 1 of 5, the small one is dropped
    array([[2.4, 0. ],
           [3.2, 0. ]])

    ```
    """
    if not len(strengths) or any(not 0 < s < np.inf for s in strengths):
        raise InputError("strengths", list(strengths), "positive numbers, at least one")
    for name, setting in (("rate", rate), ("tolerance", tolerance), ("steps", steps)):
        if not setting > 0:
            raise InputError(name, setting, "a positive number")
    with jax.enable_x64(True):
        state = jax.tree.map(lambda a: jnp.asarray(a, jnp.float64), parameters)
        data = jax.tree.map(jnp.asarray, data)
        pace: Array = jnp.asarray(rate, jnp.float64)
        losses, taken, settled = [], [], False
        size = jnp.abs(loss(state, data))
        for strength in strengths:
            numbers = (size, jnp.float64(strength), pace, jnp.float64(tolerance), jnp.int64(steps))
            state, pace, count, change, value = _settle(loss, shrink, state, data, *numbers)
            losses.append(float(value))
            taken.append(int(count))
            settled = bool(change <= tolerance)
        ended = jax.tree.map(np.asarray, state)
    return ProximalDescent(ended, tuple(losses), tuple(taken), settled)


@eqx.filter_jit
def _settle(
    loss: Loss,
    shrink: Shrink,
    start: PyTree,
    data: PyTree,
    size: Array,
    strength: Array,
    rate: Array,
    tolerance: Array,
    steps: Array,
) -> tuple[PyTree, Array, Array, Array, Array]:
    """Steps at one strength until parameters settle: they, the rate, the steps, the last change and the loss.

    `size` is the loss before the first step of all, which says how much rounding to expect.
    """

    def go_on(carry: Any) -> Array:
        _, _, _, _, step, change = carry
        return (step < steps) & ~(change <= tolerance)

    def advance(carry: Any) -> Any:
        now, ahead, inertia, rate, step, change = carry
        value, slope = jax.value_and_grad(loss)(ahead, data)
        moved = shrink(jax.tree.map(lambda a, g: a - rate * g, ahead, slope), rate * strength)
        shift = jax.tree.map(jnp.subtract, moved, ahead)
        # The step is short enough if a parabola of curvature 1 / rate bounds the loss there. Residuals are rounded
        # relative to the targets, so a squared error is rounded relative to the root of what it was at first.
        bound = value + _dot(slope, shift) + _dot(shift, shift) / (2 * rate)
        short = loss(moved, data) <= bound + 1e-12 * jnp.sqrt(jnp.abs(value) * size)
        onward = jax.tree.map(jnp.subtract, moved, now)
        inertia = jnp.where(_dot(shift, onward) < 0, 1.0, inertia)  # overshot: without momentum
        later = (1 + jnp.sqrt(1 + 4 * inertia**2)) / 2
        far = jax.tree.map(lambda m, o: m + (inertia - 1) / later * o, moved, onward)
        largest = jnp.maximum(_largest(moved), np.finfo(np.float64).tiny)
        good = (moved, far, later, rate, step + 1, _largest(shift) / largest)
        bad = (now, ahead, inertia, rate / 2, step + 1, change)
        return jax.tree.map(lambda a, b: jnp.where(short, a, b), good, bad)

    carry = (start, start, jnp.float64(1), rate, jnp.int64(0), jnp.float64(jnp.inf))
    ended, _, _, rate, step, change = jax.lax.while_loop(go_on, advance, carry)
    return ended, rate, step, change, loss(ended, data)


def _dot(one: PyTree, other: PyTree) -> Array:
    products = jax.tree.map(lambda a, b: (a * b).sum(), one, other)
    return jnp.asarray(sum(jax.tree.leaves(products)))


def _largest(tree: PyTree) -> Array:
    return jnp.max(jnp.stack([jnp.abs(leaf).max() for leaf in jax.tree.leaves(tree)]))
