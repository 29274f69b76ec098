"""Update rules and learning rates whose numbers are arguments, not constants, of the compiled program."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PyTree

from recombine.training.recipe import Recipe


def update_rule(structure: Recipe, numbers: dict[str, Any]) -> optax.GradientTransformation:
    """The gradient transformation of a recipe, before the learning rate is applied.

    **Arguments:**

    - `structure`: `Recipe.structure()`, which says what kind of rule it is.
    - `numbers`: `Recipe.numbers()`, which may be traced.
    """
    optimiser, parts = structure.optimiser, []
    if structure.clip_norm is not None:
        parts.append(optax.clip_by_global_norm(numbers["clip_norm"]))
    decay = optax.add_decayed_weights(numbers["weight_decay"])
    if optimiser.weight_decay and optimiser.kind != "adamw":
        parts.append(decay)
    if optimiser.kind in {"adam", "adamw"}:
        parts.append(_adam(numbers["b1"], numbers["b2"], numbers["epsilon"]))
    elif optimiser.momentum:
        parts.append(optax.trace(numbers["momentum"]))
    if optimiser.weight_decay and optimiser.kind == "adamw":
        parts.append(decay)
    return optax.chain(*parts) if parts else optax.identity()


class _AdamState(NamedTuple):
    """How many updates there were, and running means of the gradient and of its square."""

    updates: Float[Array, ""]
    mean: PyTree
    square: PyTree


def _adam(b1: Any, b2: Any, epsilon: Any) -> optax.GradientTransformation:
    """Adam, with its two bias corrections folded into one factor and epsilon.

    The usual form divides every weight's running means by their corrections. That is three divisions and a
    square root per weight; here it is one of each, which is what the update of a large layer costs.
    """

    def init(params: PyTree) -> _AdamState:
        return _AdamState(jnp.zeros(()), *(jax.tree.map(jnp.zeros_like, params) for _ in range(2)))

    def update(grads: PyTree, state: _AdamState, params: PyTree = None) -> tuple[PyTree, _AdamState]:
        updates = state.updates + 1
        mean = jax.tree.map(lambda m, g: m + (1 - b1) * (g - m), state.mean, grads)
        square = jax.tree.map(lambda v, g: v + (1 - b2) * (g * g - v), state.square, grads)
        root = jnp.sqrt(1 - b2**updates)
        factor, floor = root / (1 - b1**updates), epsilon * root
        return (
            jax.tree.map(lambda m, v: factor * m / (jnp.sqrt(v) + floor), mean, square),
            _AdamState(updates, mean, square),
        )

    return optax.GradientTransformation(init, update)


def learning_rate(
    structure: Recipe, numbers: dict[str, Any], step: Int[Array, ""], total: Float[Array, ""]
) -> Float[Array, ""]:
    """The learning rate at a step; plateaus are applied by the loop, between records."""
    schedule = structure.schedule
    rate: Array = jnp.asarray(numbers["learning_rate"])
    if schedule.kind == "cosine":
        rate = rate * 0.5 * (1 + jnp.cos(jnp.pi * step / total))
    elif schedule.kind == "exponential":
        since = jnp.maximum(step - numbers["start"], 0)
        drop = jnp.where(step < numbers["start"], 1.0, numbers["drop"])
        rate = rate * drop * jnp.power(numbers["factor"], since / numbers["every"])
    elif schedule.kind == "drops":
        rate = rate * jnp.power(numbers["factor"], jnp.floor(step / numbers["every"]))
    if schedule.warmup:
        rate = rate * jnp.minimum(1.0, (step + 1) / numbers["warmup"])
    return rate
