"""What slot autoencoders cost: training steps compared with eager PyTorch, and the probes of a trained one."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import Any

import jax
import torch

from benchmarks import peers, slot_peers
from benchmarks.measure import Row, cpu_seconds, in_turns, median_ratio
from benchmarks.training import Case, compiled
from recombine.parts import Part
from recombine.studies.interaction_asymmetry import table1_line_world as lines
from recombine.studies.interaction_asymmetry import table1_sprites as sprites
from recombine.studies.interaction_asymmetry.slot_probes import decoder_interaction, slot_quality
from recombine.studies.interaction_asymmetry.slot_training import BETA, PEAK, slot_recipe
from recombine.tasks import SceneTask, line_world
from recombine.tasks import sprites as sprite_world

LINE_MS, TIMES_PYTORCH, SPRITE_SECONDS, QUALITY_SECONDS, PROFILE_SECONDS = 30, 3, 0.2, 60, 20
"""The goals: at most, at least, at most, at most, at most."""
LINE_STEPS, SPRITE_STEPS = 200, 10
SAMPLED = 64
IMAGES, SCENES = 100, 16


def line_steps(*, repeats: int, steps: int = LINE_STEPS) -> list[Row]:
    """A step on the line world with both penalties: its CPU time, and that of the same net in eager PyTorch."""
    case = line_case(steps)
    inputs, alpha = torch.tensor(case.task.inputs), case.recipe.penalties[-1]
    torch.manual_seed(0)
    module = case.peer()
    optimiser = torch.optim.Adam(module.parameters(), lr=PEAK)
    balance = {"error": lines.ERROR_WEIGHT, "alpha": alpha.weight, "beta": BETA, "warmup": alpha.warmup}

    def eager() -> None:
        batches = peers.shuffled(len(case.task.train), case.recipe.batch or 0, steps)
        slot_peers.train(module, inputs, batches, optimiser, **balance)  # type: ignore[arg-type]

    theirs, ours = in_turns(eager, compiled(case), repeats=repeats)
    detail = {"PyTorch ms/step": _ms(theirs, steps), "recombine ms/step": _ms(ours, steps)}
    name, ratio = case.name, median_ratio(theirs, ours)
    return [
        Row(name, "ms of CPU time per step", _ms(ours, steps), LINE_MS, False, {}),
        Row(name, "times less CPU time than PyTorch", ratio, TIMES_PYTORCH, True, detail),
    ]


def line_case(steps: int, *, rows: int = 2000) -> Case:
    """The arm with both penalties."""
    how = replace(
        slot_recipe(steps, alpha=lines.ALPHA, beta=BETA, error_weight=lines.ERROR_WEIGHT), record_rows=64
    )
    return Case(
        "line world, both penalties, batch 64",
        lines.line_net("quick", variational=True),
        slot_peers.LineAutoencoder,
        line_world(rows=rows, test=1),
        how,
        goal=TIMES_PYTORCH,
    )


def sprite_steps(*, repeats: int, steps: int = SPRITE_STEPS) -> list[Row]:
    """A step on small sprites with both penalties, with all pixels and with some of them."""
    task = small_sprites(rows=256, test=1)
    how = slot_recipe(steps, alpha=sprites.SMALL_ALPHA, beta=BETA, error_weight=sprites.ERROR_WEIGHT)
    how = replace(how, record_rows=1)
    whole = Case(
        "sprites 16 × 16, both penalties, batch 64",
        sprites.small_net(variational=True),
        slot_peers.LineAutoencoder,
        task,
        how,
        goal=SPRITE_SECONDS,
    )
    some = replace(
        whole,
        name=f"{whole.name}, {SAMPLED} of 256 pixels",
        net=sprites.small_net(variational=True, sampled=SAMPLED),
    )
    times = in_turns(compiled(whole), compiled(some), repeats=repeats)
    return [
        Row(case.name, "s of CPU time per step", _ms(taken, steps) / 1000, SPRITE_SECONDS, False, {})
        for case, taken in zip((whole, some), times, strict=True)
    ]


def probes(*, images: int = IMAGES, scenes: int = SCENES) -> list[Row]:
    """Slot scores and the interaction profile of a net for small sprites, compilation included."""
    task = small_sprites(rows=1, test=max(images, scenes))
    net = sprites.small_net(variational=True)(key=jax.random.key(0))
    quality = cpu_seconds(lambda: slot_quality(net, task, images=images))
    profile = cpu_seconds(lambda: decoder_interaction(net, task, scenes=scenes, max_order=3))
    name = "sprites 16 × 16"
    return [
        Row(f"{name}, slot scores of {images} images", "s of CPU time", quality, QUALITY_SECONDS, False, {}),
        Row(
            f"{name}, profile to order 3, {scenes} scenes",
            "s of CPU time",
            profile,
            PROFILE_SECONDS,
            False,
            {},
        ),
    ]


def small_sprites(**rows: Any) -> SceneTask:
    """Two objects on 16 × 16 pixels."""
    frame = {"size": sprites.SMALL, "objects": 2, "scale": (0.25, 0.35), "x": (0.2, 0.8), "y": (0.2, 0.8)}
    made: SceneTask = Part(sprite_world, **frame, **rows)(seed=0)
    return made


def _ms(seconds: list[float], steps: int) -> float:
    return statistics.median(seconds) / steps * 1e3
