"""Training of a classifier with one head per task: any number of passes over tasks in every epoch.

Pretraining and finetuning have one pass, over the auxiliary or the main task. Multi-task learning has two, as
published: over the main task, and then over the auxiliary task with a loss so much smaller that both tasks have the
same weight. One optimiser goes through all passes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PyTree

from recombine.nets import Net, evaluate, observe, trainable
from recombine.tasks import Task
from recombine.training import Optimiser, Recipe
from recombine.training.batches import batches
from recombine.training.optimisers import update_rule

EVALUATE_EVERY = 5
"""Epochs between two measurements of accuracy; the last epoch is always measured."""


@dataclass(frozen=True, eq=False)
class Pass:
    """Once over a task's training rows in every epoch.

    - `low`, `high`: the outputs that are the task's head; targets are numbers of outputs.
    - `weight`: of its loss.
    """

    task: Task
    low: int
    high: int
    batch: int
    weight: float = 1.0

    @property
    def steps(self) -> int:
        """Batches in every epoch."""
        return -(-len(self.task.train) // self.batch)

    def accuracy(self, net: Net) -> float:
        """The share of test rows whose class gets the largest output of the head."""
        test = self.task.rows_out
        chosen = evaluate(net, self.task.inputs[test])[:, self.low : self.high].argmax(axis=1) + self.low
        return float((chosen == self.task.targets[test]).mean())


@dataclass(frozen=True, eq=False)
class TrainedClassifier:
    """The net, the mean loss of the first pass in every epoch, and best and final accuracy on its test rows."""

    net: Net
    loss: tuple[float, ...]
    best: float
    final: float


def train_in_passes(
    net: Net, passes: Sequence[Pass], *, optimiser: Optimiser, epochs: int, goal: float, seed: int
) -> TrainedClassifier:
    """Trains until the mean loss of the first pass in an epoch is below `goal`, at most for `epochs` epochs.

    Accuracies are NaN if training diverges.
    """
    recipe = Recipe(epochs=epochs, optimiser=optimiser)
    structure, numbers = recipe.structure(), jax.tree.map(jnp.float32, recipe.numbers())
    params, rest = eqx.partition(net, trainable(net))
    buffers, static = eqx.partition(rest, eqx.is_array)
    state = (params, buffers, update_rule(structure, numbers).init(params))
    key = jax.random.key(seed)
    rows = [
        (jnp.asarray(p.task.inputs[p.task.train]), jnp.asarray(p.task.targets[p.task.train])) for p in passes
    ]
    losses: list[float] = []
    accuracies: list[float] = []
    for epoch in range(epochs):
        means = []
        for number, (one, data) in enumerate(zip(passes, rows, strict=True)):
            index, counts = _batches(one, seed + number, epoch)
            fixed = (structure, static, (one.low, one.high), numbers, jnp.float32(one.weight))
            fresh = jax.random.fold_in(jax.random.fold_in(key, epoch), number)
            state, mean = _one_pass(fixed, state, *data, index, counts, fresh)
            means.append(float(mean))
        losses.append(means[0])
        if not np.isfinite(means).all():
            return TrainedClassifier(net, tuple(losses), np.nan, np.nan)
        last = losses[-1] < goal or epoch == epochs - 1
        if last or epoch % EVALUATE_EVERY == EVALUATE_EVERY - 1:
            accuracies.append(passes[0].accuracy(eqx.combine(state[0], state[1], static)))
        if last:
            break
    return TrainedClassifier(
        eqx.combine(state[0], state[1], static), tuple(losses), max(accuracies), accuracies[-1]
    )


def _batches(one: Pass, seed: int, epoch: int) -> tuple[Int[np.ndarray, "steps batch"], np.ndarray]:
    """The rows of every step of an epoch, and weights of 0 where rows only fill up the last batch."""
    count, size = len(one.task.train), min(one.batch, len(one.task.train))
    start = epoch * one.steps
    index, counts = batches(seed, start, rows=count, batch=size, steps=one.steps, sampling="shuffled")
    index = np.arange(count)[None] if index is None else index
    return index, np.ones(index.shape, dtype=np.float32) if counts is None else counts


@eqx.filter_jit
def _one_pass(
    fixed: Any, state: PyTree, inputs: Array, targets: Array, index: Any, counts: Any, key: Array
) -> tuple[PyTree, Array]:
    """One epoch of one pass: the new parameters, buffers and state of the optimiser, and the mean loss."""
    structure, static, (low, high), numbers, strength = fixed
    rule = update_rule(structure, numbers)

    def objective(params: PyTree, buffers: PyTree, taken: Array, count: Array, key: Array) -> Any:
        net = eqx.combine(params, buffers, static)
        output, _, after = observe(net, inputs[taken], key=key, weight=count)
        each = head_cross_entropy(output, targets[taken], low=low, high=high)
        loss = (each * count).sum() / count.sum()
        untrained = eqx.filter(after, trainable(after), inverse=True)
        return strength * loss, (loss, eqx.filter(untrained, eqx.is_array))

    def step(carry: PyTree, now: Any) -> tuple[PyTree, Array]:
        params, buffers, rule_state = carry
        taken, count, number = now
        fresh = jax.random.fold_in(key, number)
        slope, (loss, buffers) = jax.grad(objective, has_aux=True)(params, buffers, taken, count, fresh)
        updates, rule_state = rule.update(slope, rule_state, params)
        params = optax.apply_updates(params, jax.tree.map(lambda u: -numbers["learning_rate"] * u, updates))
        return (params, buffers, rule_state), loss

    state, losses = jax.lax.scan(step, state, (index, counts, jnp.arange(len(index))))
    return state, losses.mean()


def head_cross_entropy(
    outputs: Float[Array, "batch classes"], targets: Int[Array, " batch"], *, low: int, high: int
) -> Float[Array, " batch"]:
    """Cross-entropy among the classes of one head."""
    logits = jax.nn.log_softmax(outputs[:, low:high])
    return -jnp.take_along_axis(logits, (targets - low)[:, None], axis=1)[:, 0]
