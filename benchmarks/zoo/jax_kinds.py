"""JAX networks, by Equinox and Optax; the whole training is one compiled program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from benchmarks.zoo import tasks
from benchmarks.zoo.designs import Design, draw_design, one_hot
from benchmarks.zoo.sample import Fit, Fitted, Sample, noisy_labels, noisy_numbers


@eqx.filter_jit
def trained(net: Any, x: jax.Array, goal: jax.Array, steps: int, rate: float, decay: float) -> Any:
    """The network after so many steps of AdamW on all rows at once; whole numbers are labels."""
    labels = jnp.issubdtype(goal.dtype, jnp.integer)
    arrays, static = eqx.partition(net, eqx.is_inexact_array)
    optimiser = optax.adamw(rate, weight_decay=decay)

    def loss(arrays: Any) -> jax.Array:
        out = jax.vmap(eqx.combine(arrays, static))(x)
        if labels:
            return optax.softmax_cross_entropy_with_integer_labels(out, goal).mean()
        return ((out - goal) ** 2).mean()

    def step(_: int, state: Any) -> Any:
        arrays, memory = state
        updates, memory = optimiser.update(jax.grad(loss)(arrays), memory, arrays)
        return eqx.apply_updates(arrays, updates), memory

    arrays, _ = jax.lax.fori_loop(0, steps, step, (arrays, optimiser.init(arrays)))
    return eqx.combine(arrays, static)


@eqx.filter_jit
def outputs_of(net: Any, x: jax.Array) -> jax.Array:
    """The outputs for all rows."""
    return jax.vmap(net)(x)


def network(
    make: Callable[[Design, int, Any], Any], *, steps: int = 300, rate: float = 0.01, decay: float = 0.0
) -> Fit:
    """Trains a network on one-hot codes; quantities are standardised for it.

    **Arguments:**

    - `make`: from the design, the number of outputs or classes and a key to a network.
    """

    def fit(design: Design, target: np.ndarray, seed: int) -> Fitted:
        y, labels = target[design.train], target.ndim == 1
        mean, scale = (np.zeros(1), np.ones(1)) if labels else (y.mean(axis=0), y.std(axis=0) + 1e-9)
        x = jnp.asarray(one_hot(design.cells[design.cell[design.train]], design.sizes), dtype=jnp.float32)
        goal = jnp.asarray(y) if labels else jnp.asarray((y - mean) / scale, dtype=jnp.float32)
        start = make(design, int(target.max()) + 1 if labels else target.shape[1], jax.random.key(seed))
        net = trained(start, x, goal, steps, rate, decay)

        def predict(cells: np.ndarray) -> np.ndarray:
            codes = jnp.asarray(one_hot(cells, design.sizes), dtype=jnp.float32)
            out = np.asarray(outputs_of(net, codes), dtype=float)
            return out.argmax(axis=1) if labels else out * scale + mean

        return Fitted(predict)

    return fit


class AdditiveNet(eqx.Module):
    """A small network for every factor; their outputs are added."""

    parts: list[eqx.nn.MLP]
    sizes: tuple[int, ...] = eqx.field(static=True)

    def __init__(self, design: Design, outputs: int, key: Any) -> None:
        keys = jax.random.split(key, len(design.sizes))
        self.sizes = design.sizes
        self.parts = [
            eqx.nn.MLP(size, outputs, 8, 1, key=one) for size, one in zip(design.sizes, keys, strict=True)
        ]

    def __call__(self, x: Any) -> Any:
        ends = np.cumsum(self.sizes)
        pieces = zip(self.parts, self.sizes, ends, strict=True)
        return sum(part(x[end - size : end]) for part, size, end in pieces)


def perceptron(design: Design, outputs: int, key: Any) -> Any:
    """A ReLU network with one hidden layer."""
    return eqx.nn.MLP(sum(design.sizes), outputs, 96, 1, key=key)


def additive_net_sum(rng: np.random.Generator) -> Sample:
    """A neural additive model on a sum."""
    design = draw_design(rng, factors=(2, 3, 4))
    clean = tasks.sums(rng, design, int(rng.integers(1, 3)))
    target, noise = noisy_numbers(rng, design, clean)
    return Sample(design, clean, target, network(AdditiveNet, rate=0.02), noise)


def additive_net_labels(rng: np.random.Generator) -> Sample:
    """A neural additive model of scores, with flipped labels."""
    design = draw_design(rng, factors=(3, 4, 5), levels=(3, 4), rows=(4, 8, 20), cells=(50, 300))
    clean = tasks.score_labels(rng, design, int(rng.integers(2, 4)))
    target, noise = noisy_labels(rng, design, clean, (0.0, 0.15, 0.3))
    return Sample(design, clean, target, network(AdditiveNet, steps=150, rate=0.02, decay=0.1), noise)


def additive_net_product(rng: np.random.Generator) -> Sample:
    """A neural additive model where factors multiply."""
    design = draw_design(rng, factors=(2, 3))
    clean = tasks.products(rng, design, int(rng.integers(1, 3)), low=float(rng.uniform(-1.0, -0.2)))
    target, noise = noisy_numbers(rng, design, clean)
    return Sample(design, clean, target, network(AdditiveNet, rate=0.02), noise)


def barely_trained_jax(rng: np.random.Generator) -> Sample:
    """A classifier after a handful of steps."""
    design = draw_design(rng, rows=(2, 4, 8))
    clean = tasks.score_labels(rng, design, int(rng.integers(2, 5)))
    target, noise = noisy_labels(rng, design, clean, (0.0, 0.1))
    return Sample(
        design, clean, target, network(perceptron, steps=int(rng.integers(1, 4)), rate=0.003), noise
    )


KINDS = {
    one.__name__: one
    for one in (additive_net_sum, additive_net_labels, additive_net_product, barely_trained_jax)
}
