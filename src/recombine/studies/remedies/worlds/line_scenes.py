"""Two coloured bars on a line, of which some pairs of hues are never shown together (interaction asymmetry)."""

from __future__ import annotations

from typing import Any

from recombine.nets import dense_decoder, dense_slots, slot_autoencoder
from recombine.parts import Part
from recombine.studies.evidence import Scale
from recombine.studies.remedies.failing_world import FailingWorld
from recombine.tasks import Task, line_world
from recombine.training import Recipe, adam

PIXELS = 32
SLOTS, LATENTS = 2, 8
HIDDEN = {"smoke": (32,), "quick": (128, 128), "paper": (256, 256)}
STEPS = {"smoke": 20, "quick": 1500, "paper": 20_000}
BINS, DELTA = 12, 0.08
"""Ranges of hue, and how far apart the hues of the two bars are in training at most, divided by √2."""
ROWS = {"smoke": 200, "quick": 1000, "paper": 50_000}


def line_scene_world(scale: Scale) -> FailingWorld:
    """An autoencoder of slots, trained on scenes with two similar hues."""
    net = Part(
        slot_autoencoder,
        shape=(1, PIXELS, 3),
        slots=SLOTS,
        width=LATENTS,
        variational=False,
        encoder=Part(dense_slots, hidden=HIDDEN[scale]),
        decoder=Part(dense_decoder, hidden=HIDDEN[scale]),
    )
    return FailingWorld(
        "line world",
        "encode and decode two coloured bars; training shows bars of similar hues only",
        "interaction-asymmetry",
        outputs="images",
        task=Part(line_scenes, rows=ROWS[scale]),
        net=net,
        recipe=Recipe(steps=STEPS[scale], batch=64, optimiser=adam(1e-3), record_rows=100),
        loss_size=0.15,
        noisy=("slots",),
        blocks="inputs are pixels; the net has to find the factors",
        alone=Part(one_bar),
        rendering="inputs are images, not codes of factors",
        autoencoder=True,
    )


def line_scenes(*, rows: int, seed: int = 0) -> Task:
    """Scenes with twelve ranges of hue for each bar; cells of similar hues are seen."""
    made = line_world(
        rows=rows,
        test=max(100, rows // 5),
        support="diagonal",
        on=("hue",),
        bins=BINS,
        delta=DELTA,
        seed=seed,
    )
    return Task(made.split, made.inputs, made.targets, "regression", made.cell, made.train)


def one_bar(task: Task) -> tuple[Any, Any]:
    """As many scenes of a single bar, of any hue."""
    made = line_world(rows=len(task.train), test=1, objects=1, seed=len(task.inputs))
    images = made.inputs[made.train]
    return images, images
