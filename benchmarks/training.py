"""Training steps: the compiled loop compared with an eager PyTorch loop and the core's peak, and many seeds with one.

The share of the peak counts the multiplications and additions of a step as PyTorch's layers define them. A convolution
by Winograd's algorithm does fewer, so its share may exceed that of the core's arithmetic.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import equinox as eqx
import jax
import numpy as np
import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from benchmarks import peers
from benchmarks.measure import Row, in_turns, median_ratio
from recombine.nets import cnn_decoder, mlp
from recombine.nets.layers import convolution
from recombine.parts import Part
from recombine.remedies.forced_rendering import forced_rendering
from recombine.spaces import Space, Split
from recombine.tasks import Task
from recombine.training import Fitted, Optimiser, Recipe, adam, adamw, fit

ROUTE_STEPS = 16
"""Steps of one measurement when routes of convolution are compared."""


@dataclass(frozen=True)
class Case:
    """One net with its counterpart, and how many times less CPU time than PyTorch it should take."""

    name: str
    net: Part
    peer: Callable[[], nn.Module]
    task: Task
    recipe: Recipe
    goal: float
    run: Callable[..., Fitted] = fit


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
    flops = step_flops(module, inputs[:batch], targets[:batch], penalty)
    return Row(
        name=case.name,
        quantity="times less CPU time than PyTorch",
        measured=median_ratio(theirs, ours),
        goal=case.goal,
        at_least=True,
        detail={
            "PyTorch µs/step": per_step(theirs, steps),
            "recombine µs/step": per_step(ours, steps),
            "share of the core's peak": flops / (statistics.median(ours) / steps) / peak_flops(),
            "PyTorch's share": flops / (statistics.median(theirs) / steps) / peak_flops(),
        },
    )


@cache
def peak_flops(size: int = 2048, repeats: int = 7) -> float:
    """Operations per second of one core: the fastest of a few large float32 matrix products."""
    a, b = torch.randn(size, size), torch.randn(size, size)
    torch.mm(a, b)
    seconds = []
    for _ in range(repeats):
        started = time.process_time()
        torch.mm(a, b)
        seconds.append(time.process_time() - started)
    return 2 * size**3 / min(seconds)


def step_flops(
    module: nn.Module, inputs: torch.Tensor, targets: torch.Tensor, penalty: Callable[[], torch.Tensor] | None
) -> float:
    """Multiplications and additions of matrix products and convolutions in one step, forwards and backwards."""
    with FlopCounterMode(display=False) as counter:
        loss = nn.functional.mse_loss(module(inputs).reshape(targets.shape), targets)
        (loss + penalty() if penalty else loss).backward()
    return float(counter.get_total_flops())


def winograd(case: Case, *, repeats: int) -> list[Row]:
    """Gradient steps with Winograd tiles of 4 × 4 outputs, as built in, against 2 × 2 outputs and whole patches."""
    default = (convolution._POINTS, convolution._NOT_MANY)
    built_in = _by_route(case, *default)
    routes = {
        "tiles of 2 × 2 outputs": _by_route(case, {2: 3, 3: 4}, default[1]),
        "patches and one product": _by_route(case, default[0], 10**9),
    }
    ours, *others = in_turns(built_in, *routes.values(), repeats=repeats)
    return [
        Row(
            f"{case.name}, Winograd with tiles of 4 × 4 outputs",
            f"times less CPU time than {route}",
            median_ratio(times, ours),
            1.2 if "patches" in route else None,
            True,
            {
                "ms/step": per_step(ours, ROUTE_STEPS) / 1e3,
                f"{route} ms/step": per_step(times, ROUTE_STEPS) / 1e3,
            },
        )
        for route, times in zip(routes, others, strict=True)
    ]


def _by_route(case: Case, points: dict[int, int], patches: int) -> Callable[[], object]:
    """Steps of gradient descent, compiled while the convolution's constants have these values."""
    rows = case.recipe.batch_for(len(case.task.train))
    inputs, targets = case.task.inputs[:rows], case.task.targets[:rows]
    weights, static = eqx.partition(case.net(key=jax.random.key(0)), eqx.is_inexact_array)

    def step(weights: Any, _: None) -> tuple[Any, None]:
        def loss(weights: Any) -> jax.Array:
            return ((eqx.combine(weights, static)(inputs) - targets) ** 2).mean()

        return jax.tree.map(lambda w, g: w - 1e-4 * g, weights, jax.grad(loss)(weights)), None

    before = (convolution._POINTS, convolution._NOT_MANY)
    convolution._POINTS, convolution._NOT_MANY = points, patches
    convolution._toom_cook.cache_clear()
    jax.clear_caches()
    try:
        steps = jax.jit(lambda weights: jax.lax.scan(step, weights, length=ROUTE_STEPS)[0])
        program = steps.lower(weights).compile()
    finally:
        convolution._POINTS, convolution._NOT_MANY = before
        convolution._toom_cook.cache_clear()
        jax.clear_caches()
    return lambda: jax.block_until_ready(program(weights))


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
    """The case by `fit`, or by what it names instead, with one record at the end."""
    steps = case.recipe.steps_for(len(case.task.train))
    recipe = replace(case.recipe, record_every=steps)
    return lambda: case.run(case.net, case.task, recipe, seeds=range(seeds))


def per_step(seconds: list[float], steps: int) -> float:
    """Microseconds."""
    return statistics.median(seconds) / steps * 1e6


def _torch_optimiser(module: nn.Module, optimiser: Optimiser) -> torch.optim.Optimizer:
    kinds = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}
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
