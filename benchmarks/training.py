"""Training steps: the compiled loop compared with an eager PyTorch loop, and many seeds with one."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np
import torch
from torch import nn

from benchmarks import peers
from benchmarks.measure import Row, in_turns, median_ratio
from recombine.nets import cnn_decoder, mlp
from recombine.parts import Part
from recombine.remedies.forced_rendering import forced_rendering
from recombine.spaces import Space, Split
from recombine.tasks import Task
from recombine.training import Optimiser, Recipe, adam, adamw, fit


@dataclass(frozen=True)
class Case:
    """One net with its counterpart, and how many times less CPU time than PyTorch it should take."""

    name: str
    net: Part
    peer: Callable[[], nn.Module]
    task: Task
    recipe: Recipe
    goal: float


def cases() -> dict[str, Case]:
    """What is measured, by short names."""
    forced = forced_rendering((32, 32))
    return {
        "small": Case(
            "dense 10-64-64-4, batch 128",
            Part(mlp, inputs=10, width=64, depth=2, outputs=4),
            lambda: peers.dense(10, 64, 64, 4),
            _task(_gaussian(256, 10), _gaussian(256, 4)),
            Recipe(steps=4000, batch=128, optimiser=adam()),
            goal=8,
        ),
        "wide": Case(
            "dense 20-1000-1, batch 64",
            Part(mlp, inputs=20, width=1000, depth=1, outputs=1),
            lambda: peers.dense(20, 1000, 1),
            _task(_gaussian(256, 20), _gaussian(256, 1)),
            Recipe(steps=4000, batch=64, optimiser=adam()),
            goal=5,
        ),
        "mlp": Case(
            "MLP decoder 56-256-256-784, batch 32",
            Part(mlp, inputs=56, width=256, depth=2, outputs=784),
            lambda: peers.dense(56, 256, 256, 784),
            _task(_gaussian(256, 56), _gaussian(256, 784)),
            Recipe(steps=1000, batch=32, optimiser=adam()),
            goal=2.5,
        ),
        "cnn": Case(
            "CNN decoder h64 d4, batch 32",
            Part(cnn_decoder, inputs=56, width=64, depth=4),
            lambda: peers.cnn_decoder(inputs=56, width=64, depth=4),
            _task(_gaussian(64, 56), _gaussian(64, 28, 28)),
            Recipe(steps=16, batch=32, optimiser=adamw()),
            goal=1,
        ),
        "render": Case(
            "render net N=32 with both penalties, batch 32",
            forced.net,
            lambda: peers.RenderNet(32),
            _task(_one_hot_pairs(32, rows=256), _gaussian(256, 32, 32)),
            Recipe(steps=400, batch=32, optimiser=adamw(weight_decay=1e-4), penalties=forced.penalties),
            goal=2,
        ),
    }


def against_pytorch(case: Case, *, repeats: int) -> Row:
    """CPU time per step of the eager loop over that of `fit`, everything but compilation included."""
    torch.manual_seed(0)
    module, rows = case.peer(), len(case.task.train)
    batch, steps = case.recipe.batch_for(rows), case.recipe.steps_for(rows)
    inputs, targets = torch.tensor(case.task.inputs), torch.tensor(case.task.targets)
    penalty = getattr(module, "penalty", None)
    batches = peers.ordered if case.recipe.sampling == "ordered" else peers.shuffled
    optimiser = _torch_optimiser(module, case.recipe.optimiser)

    def eager() -> None:
        peers.train(module, inputs, targets, batches(rows, batch, steps), optimiser, penalty=penalty)

    theirs, ours = in_turns(eager, compiled(case, seeds=1), repeats=repeats)
    return Row(
        name=case.name,
        quantity="times less CPU time than PyTorch",
        measured=median_ratio(theirs, ours),
        goal=case.goal,
        at_least=True,
        detail={"PyTorch µs/step": per_step(theirs, steps), "recombine µs/step": per_step(ours, steps)},
    )


def many_seeds(case: Case, *, seeds: int, repeats: int) -> list[Row]:
    """CPU time of many seeds in one call over that of one seed, and how often the training loop compiled."""
    programs: list[str] = []

    def listen(event: str, seconds: float, **labels: Any) -> None:
        if event == "/jax/core/compile/backend_compile_duration" and "_advance" in labels.get("fun_name", ""):
            programs.append(event)

    together, alone = compiled(case, seeds=seeds), compiled(case, seeds=1)
    alone()
    jax.monitoring.register_event_duration_secs_listener(listen)
    many, one = in_turns(together, alone, repeats=repeats)
    name, steps = f"{case.name}, {seeds} seeds in one call", case.recipe.steps_for(len(case.task.train))
    detail = {f"{seeds} seeds µs/step": per_step(many, steps), "one seed µs/step": per_step(one, steps)}
    return [
        Row(name, "times the CPU time of one seed", median_ratio(many, one), seeds, False, detail),
        Row(name, "compilations", len(programs), 1, False, {}),
    ]


def compiled(case: Case, *, seeds: int = 1) -> Callable[[], object]:
    """The case by `fit`, with one record at the end."""
    steps = case.recipe.steps_for(len(case.task.train))
    recipe = replace(case.recipe, record_every=steps)
    return lambda: fit(case.net, case.task, recipe, seeds=range(seeds))


def per_step(seconds: list[float], steps: int) -> float:
    """Microseconds."""
    return statistics.median(seconds) / steps * 1e6


def _torch_optimiser(module: nn.Module, optimiser: Optimiser) -> torch.optim.Optimizer:
    kinds = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}
    rate, decay = optimiser.learning_rate, optimiser.weight_decay
    return kinds[optimiser.kind](module.parameters(), lr=rate, weight_decay=decay)


def _task(inputs: np.ndarray, targets: np.ndarray) -> Task:
    space = Space({"row": len(inputs)})
    return Task(Split(space, np.ones(space.n_cells, dtype=bool)), inputs, targets)


def _gaussian(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).normal(size=shape)


def _one_hot_pairs(levels: int, *, rows: int) -> np.ndarray:
    pairs = np.random.default_rng(0).integers(levels, size=(rows, 2))
    return np.eye(levels)[pairs].reshape(rows, 2 * levels)
