"""The training loop, compiled as a whole.

Training is cut into rounds, one per record. A round is one call of one compiled program: a scan over its
steps for every seed, then the losses on seen and unseen rows. Between rounds the host inspects the losses and
handles progress, divergence, early stopping and plateaus. All numbers are arguments of the program, so trials
that differ in seed, learning rate or penalty weight share it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, PyTree

from recombine.errors import InputError
from recombine.nets import noisy, observe, parameter_count, trace, trainable
from recombine.nets.stages import Perturb
from recombine.tasks import Task
from recombine.training.batches import batches
from recombine.training.freeing_memory import release_freed_memory
from recombine.training.optimisers import learning_rate, update_rule
from recombine.training.recipe import Recipe, Schedule
from recombine.training.spread import Spread, choose, over_seeds

EVALUATION_ROWS = 64
"""Rows per block when losses are recorded; bounds the memory that recording takes."""
PENALTIES = 1000
"""Where the keys of random penalties begin among the keys of a step; stages come first."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """The trained nets of all seeds, their loss curves, and why each stopped.

    **Attributes:**

    - `seeds`; `status`, for every seed `"finished"`, `"stopped"` (by `stop_below`) or `"diverged"`.
    - `curves`: `step` `(records,)`, and the losses without penalties, each `(seeds, records)`: `train` (mean
        over the round), `in` and `out` (seen and unseen cells, after the round; NaN where there are none) and
        `validation`. A seed that has ended keeps its last values.
    - `seconds`: wall time of training, compilation included.
    """

    seeds: tuple[int, ...]
    status: tuple[str, ...]
    curves: dict[str, np.ndarray]
    seconds: float
    arrays: PyTree
    static: PyTree

    def net(self, position: int = 0) -> Any:
        """The trained net of the seed at `position`."""
        return eqx.combine(jax.tree.map(lambda leaf: leaf[position], self.arrays), self.static)

    def __repr__(self) -> str:
        last = {name: values[:, -1] for name, values in self.curves.items() if name != "step"}
        losses = ", ".join(f"{name} {np.nanmean(v):.3g}" for name, v in last.items() if np.isfinite(v).any())
        return f"Fitted({len(self.seeds)} seeds, {'/'.join(sorted(set(self.status)))}; {losses})"


@dataclass(frozen=True)
class _Program:
    """What a compiled program depends on apart from the shapes of its arguments."""

    structure: Recipe
    steps: int
    how: Spread


def fit(
    net_fn: Callable[..., Any],
    task: Task | Sequence[Task],
    recipe: Recipe,
    seeds: Sequence[int] = (0,),
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Fitted:
    """Trains one net per seed.

    **Arguments:**

    - `net_fn`: called as `net_fn(key=key)` for every seed; returns a net with `stages`.
    - `task`: what to learn; or one task per seed, of equal shapes, if the seed also determines the data.
    - `recipe`: how to train.
    - `seeds`: they determine every random choice (initial weights, order of batches, noise).
    - `progress`: called with the number of steps done and the total number of steps.

    ```python
    >>> import numpy as np
    >>> from recombine import Part, Space, Split, Task, nets
    >>> from recombine.training import Recipe, adam, fit
    >>> split = Split(Space({"a": 3, "b": 3}), [0, 1, 2, 3, 6])
    >>> codes = np.concatenate([np.eye(3)[split.space.cells[:, i]] for i in (0, 1)], axis=1)
    >>> task = Task(split, codes, split.space.cells.sum(axis=1, keepdims=True))
    >>> net = Part(nets.mlp, inputs=6, width=16, depth=1, outputs=1)
    >>> fitted = fit(net, task, Recipe(steps=400, batch=None, optimiser=adam(1e-2)), seeds=(0, 1))
    >>> bool((fitted.curves["train"][:, -1] < 1e-3).all())
    True

    ```
    """
    seeds = tuple(int(seed) for seed in seeds)
    tasks = [task] * len(seeds) if isinstance(task, Task) else list(task)
    if not seeds or len(tasks) != len(seeds):
        raise InputError("seeds", f"{len(seeds)} seeds and {len(tasks)} tasks", "a task for every seed")
    if not all(0 <= seed < 2**32 for seed in seeds):
        raise InputError("seeds", seeds, "whole numbers from 0 to 2**32 - 1")
    started = time.perf_counter()
    shared, own = _arrange(tasks, recipe, seeds)
    keys = jax.vmap(jax.random.key)(jnp.asarray(seeds, dtype=jnp.uint32))
    own["key"] = keys

    nets = [net_fn(key=jax.random.fold_in(keys[i], 0)) for i in range(len(seeds))]
    _check_output(nets[0], tasks[0], recipe)
    _check_noise(nets[0], recipe)
    split_nets = [eqx.partition(net, trainable(net)) for net in nets]
    params = _stack([jax.tree.map(lambda w: w * recipe.initial_scale, trained) for trained, _ in split_nets])
    fixed = [eqx.partition(rest, eqx.is_array) for _, rest in split_nets]
    buffers, static = _stack([buffer for buffer, _ in fixed]), fixed[0][1]

    structure = recipe.structure()
    numbers = jax.tree.map(jnp.float32, recipe.numbers())
    rows = own["train"].shape[1] if "train" in own else len(shared["train"])
    total, every = recipe.steps_for(rows), recipe.record_every_for(rows)
    draw = partial(batches, rows=rows, batch=recipe.batch_for(rows), sampling=recipe.sampling)
    how = choose(parameter_count(nets[0]), convolutional=any(w.ndim > 3 for w in jax.tree.leaves(params)))
    optimiser_state = jax.vmap(update_rule(structure, numbers).init)(params)
    state = (params, buffers, optimiser_state)
    plateau = _Plateau(recipe.schedule, len(seeds), recipe.optimiser.learning_rate)
    active = np.ones(len(seeds), dtype=bool)
    records: list[tuple[int, dict[str, np.ndarray]]] = []
    status, step = ["finished"] * len(seeds), 0
    while step < total and active.any():
        steps = min(every, total - step)
        program = _Program(structure, steps, how)
        moment = (jnp.int32(step), jnp.float32(total))
        own |= {"active": jnp.asarray(active), "rate": jnp.asarray(plateau.rate)}
        own["batches"] = _stack([draw(seed, step, steps=steps) for seed in seeds])
        state, round_losses = _advance((program, static, numbers, shared, own, moment), state)
        step += steps
        losses = {name: np.asarray(value) for name, value in round_losses.items()}
        if not records:
            release_freed_memory()
        else:
            losses = {name: np.where(active, value, records[-1][1][name]) for name, value in losses.items()}
        records.append((step, losses))
        for i in np.flatnonzero(active):
            lost = len(tasks[i].rows_in) and not np.isfinite(losses["in"][i])  # by the round's last step
            if lost or not losses["train"][i] <= recipe.diverge_above:
                status[i], active[i] = "diverged", False
            elif recipe.stop_below is not None and losses["train"][i] < recipe.stop_below:
                status[i], active[i] = "stopped", False
        plateau.see(losses["validation"] if recipe.validation else losses["train"])
        if progress is not None:
            progress(step, total)
    names = tuple(records[0][1]) if records else ()
    curves = {name: np.stack([losses[name] for _, losses in records], axis=1) for name in names}
    curves["step"] = np.array([at for at, _ in records])
    arrays = eqx.combine(state[0], state[1])
    return Fitted(seeds, tuple(status), curves, time.perf_counter() - started, arrays, static)


@eqx.filter_jit(donate="all-except-first")
def _advance(fixed: tuple[Any, ...], state: PyTree) -> tuple[PyTree, dict[str, Array]]:
    """One round for all seeds."""
    program, static, numbers, shared, own, (start, total) = fixed
    structure, rule = program.structure, update_rule(program.structure, numbers)

    def objective(
        params: PyTree, buffers: PyTree, x: Array, y: Array, weight: Array | None, key: Array, position: Array
    ) -> Any:
        net = eqx.combine(params, buffers, static)
        perturb = _noise(structure, numbers, evaluation=False)
        output, outputs, after = observe(net, x, key=key, weight=weight, perturb=perturb)
        per_example = structure.loss(output, y)
        loss = per_example.mean() if weight is None else (per_example * weight).sum() / weight.sum()
        objective = loss
        for source, (penalty, (strength, warmup)) in enumerate(
            zip(structure.penalties, numbers["penalties"], strict=True)
        ):
            if penalty.warmup:
                strength = strength * jnp.minimum(1.0, position / warmup)
            draw = {"key": jax.random.fold_in(key, PENALTIES + source)} if penalty.random else {}
            objective = objective + strength * penalty.of(net, outputs, (x, y), **draw)
        untrained = eqx.filter(after, trainable(after), inverse=True)
        return objective, (loss, eqx.filter(untrained, eqx.is_array))

    def one_seed(mine: tuple[PyTree, dict[str, Any]]) -> Any:
        seed_state, data = mine
        data = {**shared, **data}
        noise_key = jax.random.fold_in(data["key"], 2)
        inputs, targets, rows = data["inputs"], data["targets"], data["train"]
        index, weights = data["batches"]
        everything = (inputs[rows], targets[rows]) if index is None else None
        index = None if index is None else rows[index]

        def step(carry: PyTree, now: Any) -> tuple[PyTree, Array]:
            params, buffers, rule_state = carry
            position, taken, weight = now
            x, y = (inputs[taken], targets[taken]) if everything is None else everything
            key = jax.random.fold_in(noise_key, position)
            grads, (loss, buffers) = jax.grad(objective, has_aux=True)(
                params, buffers, x, y, weight, key, position
            )
            updates, rule_state = rule.update(grads, rule_state, params)
            rate = learning_rate(structure, numbers, position, total) * data["rate"]
            params = optax.apply_updates(params, jax.tree.map(lambda u: -rate * u, updates))
            return (params, buffers, rule_state), loss

        def train(seed_state: PyTree) -> tuple[PyTree, Array]:
            positions = start + jnp.arange(program.steps)
            seed_state, losses = jax.lax.scan(step, seed_state, (positions, index, weights))
            return seed_state, losses.mean()

        def rest(seed_state: PyTree) -> tuple[PyTree, Array]:
            return seed_state, jnp.float32(jnp.nan)

        seed_state, loss = jax.lax.cond(data["active"], train, rest, seed_state)
        net = eqx.combine(seed_state[0], seed_state[1], static)
        losses, perturb = {"train": loss}, _noise(structure, numbers, evaluation=True)
        for position, name in enumerate(("in", "out", "validation")):
            key = jax.random.fold_in(jax.random.fold_in(data["key"], 4 + position), start)
            losses[name] = _loss_on(net, structure.loss, data, data[f"rows_{name}"], perturb, key)
        return seed_state, losses

    return over_seeds(one_seed, (state, own), program.how)


def _noise(structure: Recipe, numbers: dict[str, Any], *, evaluation: bool) -> Perturb | None:
    """All noise sources of a recipe, or only those that are also on in evaluation."""
    chosen = [
        (source, noisy(noise.stages, level=level, exponent=noise.exponent))
        for source, (noise, level) in enumerate(zip(structure.noise, numbers["noise"], strict=True))
        if noise.evaluation or not evaluation
    ]

    def perturb(name: str, activity: Array, key: Array) -> Array:
        for source, add in chosen:
            activity = add(name, activity, jax.random.fold_in(key, source))
        return activity

    return perturb if chosen else None


def _loss_on(
    net: Any,
    loss: Callable[..., Array],
    data: dict[str, Array],
    rows: Array,
    perturb: Perturb | None,
    key: Array,
) -> Array:
    """The mean loss over some rows, NaN if there are none."""
    if not len(rows):
        return jnp.float32(jnp.nan)
    block = min(EVALUATION_ROWS, len(rows))
    blocks = -(-len(rows) // block)
    padded = jnp.concatenate([rows, jnp.repeat(rows[:1], blocks * block - len(rows))]).reshape(blocks, block)

    def losses_of(taken: Array, number: Array) -> Array:
        noise_key = None if perturb is None else jax.random.fold_in(key, number)
        output, _ = trace(net, data["inputs"][taken], perturb=perturb, noise_key=noise_key)
        return loss(output, data["targets"][taken])

    losses = jax.lax.map(lambda one: losses_of(*one), (padded, jnp.arange(blocks)))
    return losses.reshape(-1)[: len(rows)].mean()


def _arrange(
    tasks: Sequence[Task], recipe: Recipe, seeds: Sequence[int]
) -> tuple[dict[str, Array], dict[str, Array]]:
    """The tasks' arrays: those that all seeds share, and those with one slice per seed."""
    columns: dict[str, list[np.ndarray]] = {}
    for task, seed in zip(tasks, seeds, strict=True):
        train, held = task.train, task.train[:0]
        if recipe.validation:
            order = np.random.default_rng([seed, 3]).permutation(len(train))
            n_held = max(1, round(recipe.validation * len(train)))
            train, held = train[order[n_held:]], train[order[:n_held]]
        task_arrays = {
            "inputs": task.inputs,
            "targets": task.targets,
            "train": train,
            "rows_validation": held,
        }
        task_arrays |= {
            f"rows_{side}": _thinned(rows, recipe.record_rows) for side, rows in _sides(task).items()
        }
        for name, array in task_arrays.items():
            columns.setdefault(name, []).append(array)
    shared, own = {}, {}
    for name, arrays in columns.items():
        first = arrays[0]
        if all(array is first or np.array_equal(array, first) for array in arrays[1:]):
            shared[name] = jnp.asarray(first)
        elif any(array.shape != first.shape for array in arrays):
            raise InputError("task", [array.shape for array in arrays], f"{name} of one shape for all seeds")
        else:
            own[name] = jnp.asarray(np.stack(arrays))
    return shared, own


def _sides(task: Task) -> dict[str, np.ndarray]:
    return {"in": task.rows_in, "out": task.rows_out}


def _thinned(rows: np.ndarray, maximum: int | None) -> np.ndarray:
    """At most `maximum` of the rows, evenly spaced."""
    if maximum is None or len(rows) <= maximum:
        return rows
    return rows[np.linspace(0, len(rows) - 1, maximum).round().astype(int)]


def _check_output(net: Any, task: Task, recipe: Recipe) -> None:
    """Compares shapes once, so that no loss is ever computed by silent broadcasting."""
    example = jnp.asarray(task.inputs[:1])
    output = eqx.filter_eval_shape(lambda n, x: trace(n, x)[0], net, example)
    if task.kind == "regression" and output.shape[1:] != task.targets.shape[1:]:
        raise InputError("net", f"output {output.shape[1:]}", f"the targets' shape {task.targets.shape[1:]}")


def _check_noise(net: Any, recipe: Recipe) -> None:
    """A misspelt stage would silently be trained without noise."""
    names = [name for name, _ in net.stages]
    for noise in recipe.noise:
        unknown = sorted(set(noise.stages) - set(names))
        if unknown:
            raise InputError("noise", unknown[0], f"a stage of the net: {', '.join(names)}")


def _stack(trees: list[PyTree]) -> PyTree:
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *trees)


class _Plateau:
    """Lowers each seed's learning rate when its monitored loss stops improving (`Schedule`)."""

    def __init__(self, schedule: Schedule, seeds: int, learning_rate: float) -> None:
        self.schedule, self.on = schedule, schedule.kind == "plateau"
        self.rate = np.ones(seeds, dtype=np.float32)
        self.floor = schedule.minimum / learning_rate if learning_rate else 0.0
        self.best, self.waited = np.full(seeds, np.inf), np.zeros(seeds, dtype=int)

    def see(self, losses: np.ndarray) -> None:
        if not self.on:
            return
        better = losses < self.best * (1 - 1e-4)
        self.best = np.where(better, losses, self.best)
        self.waited = np.where(better, 0, self.waited + 1)
        lower = self.waited > self.schedule.every
        self.rate = np.where(lower, np.maximum(self.rate * self.schedule.factor, self.floor), self.rate)
        self.rate = self.rate.astype(np.float32)
        self.waited[lower] = 0
