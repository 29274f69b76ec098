"""Gated linear networks trained in the span of their training rows: the same steps with fewer multiplications.

A gradient step adds multiples of input rows to the weights of a unit, so after any number of steps

    w_hc = w_hc(0) + sum_i a_ihc x_i

over the training rows `x_i`. Outputs on these rows need only the products of rows `<x_i, x_j>`, the products of rows
with the initial weights, and the contexts, all computed once. A step of gradient descent with momentum on `w` is the
same step on `a`, where the gradient is that of the layer's output, entered at the batch's rows: the backward pass has
no matrix product at all, and gates are never evaluated again. Pays if there are fewer rows than about twice the inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from recombine.errors import InputError
from recombine.nets import Net
from recombine.nets.gated import GatedUnits
from recombine.nets.stages import Buffer
from recombine.tasks import Task
from recombine.tasks.modular import train_and_test
from recombine.training.loop import Fitted, fit
from recombine.training.recipe import Recipe


class _SpannedUnits(eqx.Module):
    """Gated units on training rows, which are named by their number: input `(batch, 1)`, output `(batch, units)`."""

    coefficients: Float[Array, "rows weights"]  # weights: units * contexts
    products: Buffer  # (rows, rows)
    initial: Buffer  # (rows, weights): products of rows with the initial weights
    contexts: Buffer  # (rows, units, contexts), one-hot; zero where a unit is off

    def __call__(self, x: Float[Array, "batch 1"], *, key: PRNGKeyArray | None = None) -> Array:
        row = x[:, 0].astype(jnp.int32)
        moved = _combine(self.coefficients, self.products.value[row], row)
        picked = self.contexts.value[row]  # (batch, units, contexts)
        return ((self.initial.value[row] + moved).reshape(picked.shape) * picked).sum(axis=2)


@jax.custom_vjp
def _combine(coefficients: Array, products: Float[Array, "batch rows"], row: Int[Array, " batch"]) -> Array:
    return products @ coefficients


def _forward(coefficients: Array, products: Array, row: Array) -> tuple[Array, tuple[Array, Array]]:
    return products @ coefficients, (row, coefficients)


def _backward(kept: tuple[Array, Array], cotangent: Array) -> tuple[Array, None, None]:
    # Not the gradient of the coefficients, but the coefficients of the gradient: dL/dw = sum_i x_i cotangent_i.
    row, coefficients = kept
    return jnp.zeros_like(coefficients).at[row].add(cotangent), None, None


_combine.defvjp(_forward, _backward)


def fit_in_row_span(
    net_fn: Callable[..., Net], task: Task, recipe: Recipe, seeds: Sequence[int] = (0,)
) -> Fitted:
    """`fit` for nets of `recombine.nets.gated`: the same steps up to rounding, several times faster with few rows.

    **Arguments:**

    - `net_fn`, `task`, `recipe`, `seeds`: see `fit`. The recipe must be gradient descent, with or without momentum,
        and nothing else that acts on weights or gradients. Losses on unseen rows are not recorded.

    ```python
    >>> import jax, numpy as np
    >>> from functools import partial
    >>> from recombine.nets.gated import random_gates, two_layer_gated
    >>> from recombine.tasks import Task
    >>> from recombine.tasks.modular import train_and_test
    >>> from recombine.training import Recipe, fit, fit_in_row_span, sgd
    >>> x = np.random.default_rng(0).normal(size=(20, 50)).astype(np.float32)
    >>> split, cell = train_and_test(20, 0)
    >>> task = Task(split, x, np.sign(x[:, :1]), cell=cell)
    >>> make = partial(two_layer_gated, random_gates(units=3, inputs=50, key=jax.random.key(0)), inputs=50)
    >>> recipe = Recipe(steps=30, batch=5, optimiser=sgd(0.01, momentum=0.9))
    >>> one, other = (run(make, task, recipe).net() for run in (fit, fit_in_row_span))
    >>> bool(np.allclose(one.layers[0].weight, other.layers[0].weight, atol=1e-5))
    True

    ```
    """
    more = recipe.optimiser.weight_decay, recipe.penalties, recipe.noise, recipe.clip_norm, recipe.validation
    if recipe.optimiser.kind != "sgd" or any(more):
        plain = "gradient descent without penalties, weight decay, noise, clipping and validation rows"
        raise InputError("recipe", recipe, plain)
    x = task.inputs[task.train].astype(np.float32)
    split, cell = train_and_test(len(x), 0)
    numbered = Task(split, np.arange(len(x), dtype=np.float32)[:, None], task.targets[task.train], cell=cell)
    products = Buffer(jnp.asarray(x @ x.T))
    started: list[tuple[Net, GatedUnits]] = []

    def make(key: PRNGKeyArray) -> Net:
        net = net_fn(key=key)
        units = net.layers[0]
        if not isinstance(units, GatedUnits):
            raise InputError("net_fn", type(units).__name__, "a net whose first layer are gated units")
        started.append((net, units))
        n_units, n_contexts, inputs = units.weight.shape
        weight = recipe.initial_scale * units.weight.reshape(-1, inputs)
        spanned = _SpannedUnits(
            jnp.zeros((len(x), n_units * n_contexts)),
            products,
            Buffer(x @ weight.T),
            Buffer(jax.nn.one_hot(units.gates(jnp.asarray(x)), n_contexts)),
        )
        return Net(net.names, (spanned, *net.layers[1:]))

    fitted = fit(make, numbered, recipe, seeds)
    nets = []
    for position, (net, units) in enumerate(started):
        spanned, *further = fitted.net(position).layers
        moved = (spanned.coefficients.T @ x).reshape(units.weight.shape)
        weight = recipe.initial_scale * units.weight + moved
        nets.append(Net(net.names, (eqx.tree_at(lambda u: u.weight, units, weight), *further)))
    parted = [eqx.partition(net, eqx.is_array) for net in nets]
    arrays = jax.tree.map(lambda *leaves: jnp.stack(leaves), *[arrays for arrays, _ in parted])
    return replace(fitted, arrays=arrays, static=parted[0][1])
